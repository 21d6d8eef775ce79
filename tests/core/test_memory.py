"""Memory is asked for while enough is left to say that it is short."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core import memory
from core.errors import OutOfMemory
from core.memory import peak_bytes, resident_bytes, while_memory_lasts


def test_all_items_are_read_where_memory_is_left() -> None:
    assert list(while_memory_lasts(range(2_500))) == list(range(2_500))


def test_reading_stops_in_words_before_memory_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read to the last byte, one upload in twenty waited for ever, and one ended the server."""
    monkeypatch.setattr(memory, "_KEPT_BYTES", 1 << 60)  # more than any machine has
    read = []
    with pytest.raises(OutOfMemory, match="not enough memory"):
        read.extend(while_memory_lasts(range(2_500)))
    assert read == list(range(999))


def test_the_peak_is_that_of_the_process_and_not_of_the_one_that_started_it() -> None:
    """A server of 250 MB was told to take 834, which its parent had taken."""
    before = resident_bytes()
    large = np.ones(40 << 20)  # 320 MiB
    assert resident_bytes() - before > 300 << 20
    assert peak_bytes() >= resident_bytes()
    code = "from core.memory import peak_bytes, resident_bytes; print(peak_bytes())"
    command = [sys.executable, "-c", code]
    root = Path(__file__).parents[2]
    said = subprocess.run(command, capture_output=True, check=True, cwd=root, text=True).stdout
    assert int(said) < large.nbytes


def test_where_the_system_tells_no_memory_the_peak_of_its_usage_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    known = peak_bytes()
    monkeypatch.setattr(memory, "_STATUS", tmp_path / "absent")
    assert resident_bytes() == peak_bytes() >= known // 2
