"""Open texts that may be gzipped, and stop where a small file unpacks to more than any real one."""

import gzip
import io
from pathlib import Path
from typing import Any, TextIO

from core.errors import InvalidInput
from core.text import size_words

_ALWAYS = 1_000_000_000
_MOST_RATIO = 50
"""A file may unpack to so many bytes, and to so many times its size: logs shrink to a tenth."""
_PIECE = 1 << 20


def open_text(path: Path, newline: str | None = None) -> TextIO:
    """Open a UTF-8 file, gzipped if its name ends in `.gz`; `newline` as `open` takes it.

    Reading raises InvalidInput where the file unpacks to too much, and OSError, EOFError or
    zlib.error where it is damaged.
    """
    if not path.name.lower().endswith(".gz"):
        return path.open(encoding="utf-8-sig", newline=newline)
    most = _ALWAYS + _MOST_RATIO * path.stat().st_size
    bounded = io.BufferedReader(_Unpacked(gzip.GzipFile(path), most))
    return io.TextIOWrapper(bounded, "utf-8-sig", newline=newline)


class _Unpacked(io.RawIOBase):
    """The content of a gzipped file, which must not have more than so many bytes."""

    def __init__(self, file: gzip.GzipFile, most: int) -> None:
        self._file = file
        self._most = self._left = most

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fill the beginning of a buffer; return the number of bytes, 0 at the end."""
        room = memoryview(buffer)
        piece = self._file.read1(min(len(room), _PIECE))
        self._left -= len(piece)
        if self._left < 0:
            raise InvalidInput(
                f"{self._file.name} unpacks to over {size_words(self._most)}.",
                "Unpack it first, and leave out what is not needed.",
            )
        room[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()
