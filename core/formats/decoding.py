"""Find the encoding of a file, stream its lines, and refuse files that are not text."""

import codecs
import re
from collections.abc import Generator
from pathlib import Path

from charset_normalizer import from_bytes

from core.errors import InvalidInput
from core.formats.rows import LONGEST_RECORD

_CHUNK = 256 * 1024
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is a prefix of this one
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_MARKED = {
    "utf-8": "utf-8-sig",
    "utf-16-le": "utf-16",
    "utf-16-be": "utf-16",
    "utf-32-le": "utf-32",
    "utf-32-be": "utf-32",
}
"""Encodings that leave a mark among the data, with those that read it."""
_ZIP = b"PK\x03\x04"
_KINDS = (
    (b"\xd0\xcf\x11\xe0", "an Excel or Word file that is old or has a password"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x1f\x8b", "a gzip archive"),
)
_CONTROLS = bytes({*range(1, 9), *range(14, 27), *range(28, 32), 127})
_CONTINUATIONS = bytes(range(0x80, 0xC0))
_HINT = "Save it as UTF-8 text (CSV, TSV, JSONL, or one text a line), or as .xlsx."
_UNREADABLE = re.compile("[\0\udc80-\udcff]")


def find_encoding(path: Path, asked: str | None = None) -> str:
    """Return the encoding of a file, by its byte order mark or from all of its bytes.

    An encoding that the user asks for only has to exist: the file is not checked against it.

    Raises:
        InvalidInput: The file does not exist, is a folder, is empty or is not text, or the encoding
            is unknown or cannot be detected.
    """
    try:
        start = _start(path)
        if asked is not None:
            return _without_mark(_checked_encoding(asked), start)
        for mark, encoding in _MARKS:
            if start.startswith(mark):
                return encoding
        _refuse_what_is_not_text(path, start)
        piece = _piece_that_is_not_utf8(path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.", "") from error
    return "utf-8" if piece is None else _older_encoding(path, piece)


def _without_mark(asked: str, start: bytes) -> str:
    """Return the encoding that reads the byte order mark of a file, too, if it begins with one."""
    for mark, encoding in _MARKS:
        if start.startswith(mark) and _MARKED.get(codecs.lookup(asked).name) == encoding:
            return encoding
    return asked


def read_lines(path: Path, encoding: str) -> Generator[str, None, None]:
    """Stream the lines of a file with their ends; one over `LONGEST_RECORD` is yielded in pieces.

    Bytes that do not fit the encoding are yielded as U+DC80 to U+DCFF: see `unreadable`.

    Raises:
        InvalidInput: The file cannot be read, or its code units do not fit the encoding.
    """
    number = 0
    try:
        with path.open(encoding=encoding, errors="surrogateescape", newline="") as stream:
            while line := stream.readline(LONGEST_RECORD + 1):
                number += 1
                yield line
    except UnicodeError as error:
        raise InvalidInput(
            f"{path}, after row {number}: bytes that are not {encoding} text.", _HINT
        ) from error
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.", "") from error


def unreadable(line: str) -> tuple[int, str, str] | None:
    """Return position, fault and hint of the first character that text cannot hold, or None."""
    if "\0" not in line and line.isascii():
        return None
    match = _UNREADABLE.search(line)
    if match is None:
        return None
    if match.group() == "\0":
        return match.start(), "a NUL character", "Remove it, or save the file as text again."
    byte = ord(match.group()) - 0xDC00
    fault = f"the byte 0x{byte:02X} does not fit the encoding of the rest"
    return match.start(), fault, "Save the file as UTF-8, or name its encoding."


def _start(path: Path) -> bytes:
    if path.is_dir():
        raise InvalidInput(
            f"{path} is a folder without an export that is known here.",
            "Name a file in it, or the folder of one agent.",
        )
    if not path.exists():
        raise InvalidInput(f"There is no file {path}.", "Check the path.")
    if not path.is_file():  # a pipe or a device may never end
        raise InvalidInput(f"{path} is not an ordinary file.", "Save the rows as a file first.")
    with path.open("rb") as stream:
        start = stream.read(_CHUNK)
    if not start.removeprefix(codecs.BOM_UTF8).strip():
        raise InvalidInput(f"{path} is empty.", "Choose a file with at least one text.")
    return start


def _checked_encoding(asked: str) -> str:
    try:
        "".encode(asked)
    except (LookupError, ValueError) as error:
        raise InvalidInput(
            f"There is no text encoding named '{asked}'.",
            "Name one such as utf-8, utf-16, cp1252 or shift_jis, or let it be found out.",
        ) from error
    return asked


def _refuse_what_is_not_text(path: Path, start: bytes) -> None:
    if start.startswith(_ZIP):
        raise InvalidInput(
            f"{path} is a ZIP archive without an export that is known here.",
            "Choose the whole export of a platform or tool, or a file of the archive.",
        )
    for magic, kind in _KINDS:
        if start.startswith(magic):
            raise InvalidInput(f"{path} is not a text file but {kind}.", _HINT)
    nuls = start.count(0)
    controls = len(start) - len(start.translate(None, _CONTROLS))
    if 0.2 < nuls / len(start) <= 0.5 and controls * 50 < len(start):
        raise InvalidInput(
            f"{path} looks like UTF-16 without the mark that says so.",
            "Save it as UTF-8, or name its encoding (utf-16-le or utf-16-be).",
        )
    if (nuls + controls) * 20 > len(start) and nuls + controls > 2:
        raise InvalidInput(f"{path} is not a text file.", _HINT)


def _piece_that_is_not_utf8(path: Path) -> bytes | None:
    """Return the first chunk that is not UTF-8, with up to 4,096 bytes before it, or None."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    before = b""
    with path.open("rb") as stream:
        while True:
            chunk = stream.read(_CHUNK)
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError:
                return (before + chunk).lstrip(_CONTINUATIONS)
            if not chunk:
                return None
            before = chunk[-4096:]


def _older_encoding(path: Path, piece: bytes) -> str:
    """Accept UTF-8 with damaged bytes and Windows-1252; refuse every other encoding."""
    decoded = codecs.getincrementaldecoder("utf-8")("replace").decode(piece)
    damaged = decoded.count("\ufffd")
    whole = sum(not character.isascii() for character in decoded) - damaged
    if whole > damaged:
        return "utf-8"  # the reader names the row and column of the damage
    marked = b"\n".join(line for line in piece.splitlines() if not line.isascii())[:65_536]
    controls = len(marked) - len(marked.translate(None, _CONTROLS + b"\0"))
    # Among all code pages, the detector picks Polish, Baltic or DOS ones for a few accents. Asked
    # about cp1252 alone, it recognises western text.
    if not controls and from_bytes(marked, cp_isolation=["cp1252"]).best() is not None:
        return "cp1252"
    best = None if controls else from_bytes(marked).best()
    if best is None:
        raise InvalidInput(f"{path} is not a text file.", _HINT)
    raise InvalidInput(
        f"{path} is in an older encoding, perhaps {best.encoding}, which cannot be told for sure.",
        "Save it as UTF-8, or name its encoding.",
    )
