"""What the processor lists, read from the system's own words."""

from pathlib import Path

import pytest

from core import processor


@pytest.mark.parametrize(
    ("facts", "amd", "quick"),
    [
        ("vendor_id\t: AuthenticAMD\nflags\t\t: fpu avx512f avx512_bf16\n", True, True),
        ("vendor_id\t: GenuineIntel\nflags\t\t: fpu amx_bf16\n", False, True),
        ("vendor_id\t: AuthenticAMD\nflags\t\t: fpu avx2\n", True, False),
        ("", False, False),
    ],
)
def test_maker_and_instructions_are_read(
    monkeypatch, tmp_path: Path, *, facts: str, amd: bool, quick: bool
) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text(facts)
    monkeypatch.setattr(processor, "_FACTS", file)
    processor._facts.cache_clear()
    try:
        assert (processor.is_amd(), processor.lists_bfloat16()) == (amd, quick)
    finally:
        processor._facts.cache_clear()


def test_a_system_that_does_not_tell_has_neither(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(processor, "_FACTS", tmp_path / "absent")
    processor._facts.cache_clear()
    try:
        assert not processor.is_amd()
        assert not processor.lists_bfloat16()
    finally:
        processor._facts.cache_clear()


def test_waiting_work_is_that_of_each_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(processor.os, "getloadavg", lambda: (3.0, 9.0, 9.0))
    assert processor.waiting_work() == 1.5
    monkeypatch.delattr(processor.os, "getloadavg")
    assert processor.waiting_work() == 0.0
