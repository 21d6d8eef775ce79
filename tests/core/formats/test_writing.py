"""Writing then reading gives back the same rows, and a failure leaves the old file."""

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import InvalidInput
from core.formats.reading import read_rows
from core.formats.rows import NO_INTENT, ImportedRow, ReadOptions
from core.formats.writing import encode_rows, write_rows
from core.text import is_blank

letters = st.characters(exclude_categories=["Cs", "Cc"])
texts = st.one_of(
    st.sampled_from(
        ["NA", "null", "None", "007", "=1+1", "a\r\nb", "a\rb", '"', "text,intent", "'"]
    ),
    st.text(st.one_of(letters, st.sampled_from('\n\r\t",;|')), min_size=1, max_size=30),
).filter(lambda text: not is_blank(text))
names = st.text(letters, min_size=1, max_size=12).map(str.strip).filter(bool)
parted = names.filter(lambda name: "|" not in name)
rows = st.lists(
    st.builds(
        ImportedRow,
        text=texts,
        intents=st.none() | st.lists(parted, max_size=3, unique=True).map(tuple),
        split=st.sampled_from([None, "train", "test", "pool"]),
        id=st.none() | names,
    ),
    min_size=1,
    max_size=8,
)


def unplaced(path: Path, options: ReadOptions) -> list[ImportedRow]:
    return [replace(row, line=0) for row in read_rows(path, options)]  # type: ignore[type-var]


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl"])
@settings(
    deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(written=rows)
def test_reading_gives_back_what_was_written(
    tmp_path: Path, format: str, written: list[ImportedRow]
) -> None:
    path = tmp_path / f"x.{format}"
    write_rows(path, written, format, "|")
    assert unplaced(path, ReadOptions(separator="|")) == written


@settings(
    deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    cells=st.lists(
        st.tuples(texts, names.filter(lambda name: name != NO_INTENT)), min_size=1, max_size=8
    )
)
def test_a_table_without_separator_keeps_any_name(
    tmp_path: Path, cells: list[tuple[str, str]]
) -> None:
    path = tmp_path / "x.csv"
    written = [ImportedRow(text, (name,)) for text, name in cells]
    write_rows(path, written, "csv")
    assert unplaced(path, ReadOptions()) == written


ROWS = (
    ImportedRow('=1+1, "x"', ("greet",), "train", "007", 5),
    ImportedRow("a\nb", None, None, None, 9),
)


@pytest.mark.parametrize(
    ("format", "content"),
    [
        ("csv", 'id,text,intent,split\n007,"=1+1, ""x""",greet,train\n,"a\nb",,\n'),
        ("spreadsheet", 'id,text,intent,split\n007,"\'=1+1, ""x""",greet,train\n,"a\nb",,\n'),
        ("tsv", 'id\ttext\tintent\tsplit\n007\t"=1+1, ""x"""\tgreet\ttrain\n\t"a\nb"\t\t\n'),
        (
            "jsonl",
            '{"id": "007", "text": "=1+1, \\"x\\"", "intents": ["greet"], "split": "train"}\n'
            '{"text": "a\\nb"}\n',
        ),
        ("text", '=1+1, "x"\na b\n'),
    ],
)
def test_the_bytes_are_these(tmp_path: Path, format: str, content: str) -> None:
    path = tmp_path / "x"
    write_rows(path, ROWS, format)
    assert path.read_bytes() == content.encode()
    assert b"".join(encode_rows(ROWS, format)) == path.read_bytes()


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\0"])
def test_no_cell_of_a_spreadsheet_is_taken_for_a_formula(start: str) -> None:
    table = b"".join(encode_rows([ImportedRow(start + "cmd", (start + "x",))], "spreadsheet"))
    _, text, intent, _ = table.decode().split("\n", 1)[1].split(",")
    assert text.strip('"').startswith("'" + start)
    assert intent.strip('"').startswith("'" + start)


def test_labels_that_do_not_fit_into_a_cell_are_refused_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    path = tmp_path / "x.csv"
    with pytest.raises(InvalidInput, match="'hi' has 2 intents"):
        write_rows(path, [ImportedRow("hi", ("a", "b"))], "csv")
    with pytest.raises(InvalidInput, match=r"'a\|b' has the separator"):
        write_rows(path, [ImportedRow("hi", ("a|b",))], "csv", "|")
    with pytest.raises(InvalidInput, match="half of a character"):
        write_rows(path, [ImportedRow("hi\ud800")], "jsonl")
    assert list(tmp_path.iterdir()) == []


def test_a_failure_half_way_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"old")

    def failing() -> Iterator[ImportedRow]:
        yield from ROWS
        raise KeyError("the source broke")

    with pytest.raises(KeyError):
        write_rows(path, failing(), "csv")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_an_error_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InvalidInput, match="No space left"):
        write_rows(path, ROWS, "csv")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_folders_that_are_not_there_or_in_the_way_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="There is no folder"):
        write_rows(tmp_path / "no" / "x.csv", ROWS, "csv")
    with pytest.raises(InvalidInput, match="is a folder"):
        write_rows(tmp_path, ROWS, "csv")


@pytest.mark.skipif(os.name == "nt", reason="permissions and links are POSIX's")
def test_permissions_and_links_stay(tmp_path: Path) -> None:
    target, link = tmp_path / "real.csv", tmp_path / "x.csv"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_rows(link, ROWS, "csv")
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    digest = hashlib.sha256(b"".join(encode_rows(ROWS, "csv"))).digest()
    assert hashlib.sha256(target.read_bytes()).digest() == digest
