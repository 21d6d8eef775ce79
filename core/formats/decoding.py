"""From bytes to lines of text: encoding, and a refusal of what is not text."""

import codecs
from collections.abc import Iterator
from pathlib import Path

from charset_normalizer import from_bytes

from core.errors import InvalidInput
from core.formats.rows import LONGEST_CELL

_SAMPLE = 256 * 1024
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BINARY = (b"PK\x03\x04", b"\x89PNG", b"%PDF", b"SQLite format 3", b"\x1f\x8b", b"\xff\xd8\xff")
_HINT = "Save it as UTF-8 text: CSV, TSV, JSONL, or one utterance a line."


def find_encoding(path: Path) -> str:
    """Find out how a file's text is encoded.

    Raises:
        InvalidInput: There is no such file, it is empty, or it is not text.
    """
    sample = _sample(path)
    if not sample.strip():
        raise InvalidInput(f"{path} is empty.", "Choose a file with at least one utterance.")
    if sample.startswith(_BINARY):
        raise InvalidInput(f"{path} is not a text file.", _HINT)
    for mark, encoding in _MARKS:
        if sample.startswith(mark):
            return encoding
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=False)
    except UnicodeDecodeError:
        return _guess(path, sample)
    return "utf-8"


def lines(path: Path, encoding: str) -> Iterator[str]:
    """Stream a file's lines with their ends.

    Raises:
        InvalidInput: A NUL, bytes that do not fit the encoding, or a line without end.
    """
    with path.open(encoding=encoding, newline="") as stream:
        number = 0
        while True:
            try:
                line = stream.readline(LONGEST_CELL + 1)
            except UnicodeError as error:
                raise InvalidInput(
                    f"{path}, after row {number}: bytes that are not {encoding} text.", _HINT
                ) from error
            if not line:
                return
            number += 1
            _check_line(path, number, line)
            yield line


def _check_line(path: Path, number: int, line: str) -> None:
    if len(line) > LONGEST_CELL:
        column = 1 + line[:LONGEST_CELL].count(",")
        raise InvalidInput(
            f"{path}, row {number}, column {column}: a cell of over {LONGEST_CELL:,} characters.",
            "An utterance is a sentence or two; check the quotes and line ends of this row.",
        )
    if "\0" in line:
        column = 1 + line[: line.index("\0")].count(",")
        raise InvalidInput(f"{path}, row {number}, column {column}: a NUL character.", _HINT)


def _sample(path: Path) -> bytes:
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder.", "Name a file in it.")
    try:
        with path.open("rb") as stream:
            return stream.read(_SAMPLE)
    except FileNotFoundError as error:
        raise InvalidInput(f"There is no file {path}.", "Check the path.") from error
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from error


def _guess(path: Path, sample: bytes) -> str:
    controls = sum(byte < 32 and byte not in (9, 10, 13) for byte in sample)
    best = None if controls else from_bytes(sample).best()
    if best is None:
        raise InvalidInput(f"{path} is not a text file.", _HINT)
    return best.encoding
