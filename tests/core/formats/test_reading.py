"""Any file: which format it is, what is refused as a whole, and how little memory it takes."""

import gzip
import io
import os
import sqlite3
import tracemalloc
import zipfile
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import InvalidInput
from core.formats.platform_rows import export_in
from core.formats.reading import read_rows
from core.formats.rows import ImportedRow, ReadOptions, RowProblem


def rows_of(path: Path, content: str) -> list[tuple[str, tuple[str, ...] | None]]:
    path.write_bytes(content.encode())
    return [(row.text, row.intents) for row in read_rows(path) if isinstance(row, ImportedRow)]


@pytest.mark.parametrize("name", ["x.txt", "x", "x.data"])
@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("hello\nyes, please\n", [("hello", None), ("yes, please", None)]),
        ("yes, please\nno, thanks\n", [("yes, please", None), ("no, thanks", None)]),
        ("text,intent\nhello,greet\n", [("hello", ("greet",))]),
        ("hello there\tgreet\nbye\tpart\n", [("hello there", ("greet",)), ("bye", ("part",))]),
        ('{"text": "hello", "intent": "greet"}\n', [("hello", ("greet",))]),
    ],
)
def test_the_content_tells_the_format_where_the_name_does_not(
    tmp_path: Path, name: str, content: str, rows: list
) -> None:
    assert rows_of(tmp_path / name, content) == rows


def test_plain_text_keeps_its_lines_and_reports_blank_and_long_ones(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes("\ufeff hi, \u2028 you\r\n\r\n".encode() + b"x" * 5001 + b"\nNA")
    rows = list(read_rows(path, ReadOptions(default_split="pool")))
    assert rows[0] == ImportedRow(" hi, \u2028 you", None, "pool", None, 1)
    assert [row.kind for row in rows if isinstance(row, RowProblem)] == ["empty", "too-long"]
    assert rows[3] == ImportedRow("NA", None, "pool", None, 4)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("b\0c", "row 2, column 1: a NUL character, at character 2"),
        ("x" * 10_000_000, "row 2, column 1: a cell of more than 100,000 characters"),
    ],
)
def test_a_line_that_is_no_text_is_refused(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        rows_of(tmp_path / "x.txt", f"hello\n{line}\n")


def _zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("xl/workbook.xml", "<x/>")
    return buffer.getvalue()


def _sqlite() -> bytes:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (a TEXT)")
    content = connection.serialize()
    connection.close()
    return content


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "a PNG image"),
        (_zip(), "an Excel workbook"),
        (_sqlite(), "an SQLite database"),
        (gzip.compress(b"text,intent\n", mtime=0), "a gzip archive"),
        (b"%PDF-1.7\n", "a PDF"),
        (bytes(range(256)) * 50, "not a text file"),
        (b"\x7fELF" + bytes(5000), "not a text file"),
        (b"", "is empty"),
        (b" \n\r\n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        ("text,intent\nhello,greet\n".encode("utf-16-le"), "UTF-16 without the mark"),
        (b"\xff\xfet\0e\0x", "bytes that are not utf-16 text"),
    ],
)
@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.txt"])
def test_what_is_not_text_is_refused(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=said) as caught:
        list(read_rows(path))
    assert str(path) in caught.value.message
    assert caught.value.hint


def test_a_folder_a_missing_file_and_a_pipe_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is a folder"):
        read_rows(tmp_path)
    with pytest.raises(InvalidInput, match="There is no file"):
        read_rows(tmp_path / "missing.csv")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.csv")
        with pytest.raises(InvalidInput, match="not an ordinary file"):
            read_rows(tmp_path / "pipe.csv")


def test_a_workbook_is_not_looked_at_as_a_package(tmp_path: Path) -> None:
    """Importing a well packed workbook unpacked it as an agent's zip first, and refused a bomb."""
    path = tmp_path / "packed.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
        archive.writestr("xl/sharedStrings.xml", " " * 50_000_000)
    assert export_in(path, ReadOptions()) is None


def test_one_json_document_is_told_from_jsonl(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="one JSON document"):
        rows_of(tmp_path / "x.json", '[\n{"said": "a"}\n]\n')
    assert rows_of(tmp_path / "x.json", '[\n{"text": "a"}\n]\n') == [("a", None)]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("x.csv", "where is my card {},card_arrival\n"),
        ("x.jsonl", '{{"text": "where is my card {}", "intent": "card_arrival"}}\n'),
        ("x.txt", "where is my card {}\n"),
    ],
)
def test_memory_does_not_grow_with_the_file(tmp_path: Path, name: str, line: str) -> None:
    path = tmp_path / name
    with path.open("w") as stream:
        stream.writelines(line.format(number) for number in range(200_000))
    tracemalloc.start()
    try:
        read = sum(1 for _ in islice(read_rows(path), 50_000))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert read == 50_000
    assert peak < 3_000_000 < path.stat().st_size


WORDS = [b"text,intent\n", b"a", b" ", "\u00e9".encode(), b'{"text": "a"}']
SIGNS = [b'"', b"\n", b"\r", b",", b"\t", b";", b"|", b"{", b"}", b"["]
DAMAGE = [b"\0", b"\xff", b"\xc3", b"\xe9", b"\xef\xbb\xbf", b"\xff\xfe"]
noise = st.lists(
    st.sampled_from(WORDS + SIGNS + DAMAGE) | st.binary(min_size=1, max_size=4), max_size=30
).map(b"".join)


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.jsonl", "x.txt", "x"])
@settings(
    deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=noise)
def test_any_bytes_are_rows_or_an_error_in_words(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    try:
        rows = list(read_rows(path))
    except InvalidInput:
        return
    for row in rows:
        if isinstance(row, ImportedRow):
            assert row.text.strip()
            assert "\0" not in row.text
            row.text.encode()  # no halves of surrogate pairs
