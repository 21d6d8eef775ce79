"""What a platform exports, a file, a zip or a folder, as names and bytes; and back again."""

import io
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal

from core.errors import InvalidInput
from core.files import entry_fault, has_large_directory, replace_file, write_atomically
from core.platforms.json_places import Node, parse, require_few_values
from core.text import size_words

_MOST_FILES = 20_000
_MOST_BYTES = 1_000_000_000
_FREE_BYTES = 100_000_000
_MOST_RATIO = 50
"""A zip may unpack to so many bytes, and to so many times its size: agents shrink to a tenth."""
_SMALL_ENTRY = 10_000
_DAMAGES = (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, NotImplementedError)
_ZIP = b"PK\x03\x04"
_AGAIN = "Export it again from the platform, and do not repack it."

Kind = Literal["file", "zip", "folder"]


@dataclass(frozen=True, slots=True, eq=False)
class Package:
    """The files of an export.

    Attributes:
        path: Where it stands.
        files: Content by name, read when it is asked for; names in a zip or a folder are paths with
            `/`.
    """

    path: Path
    kind: Kind
    files: Mapping[str, bytes] = field(repr=False)
    _parsed: dict[str, Node] = field(default_factory=dict, repr=False)
    _counts: Counter[str] = field(default_factory=Counter, repr=False)

    def text(self, name: str) -> str:
        """Decode a file.

        Raises:
            InvalidInput: It is not UTF-8, or begins with a byte order mark.
        """
        try:
            text = self.files[name].decode("utf-8")
        except UnicodeDecodeError as error:
            raise InvalidInput(
                f"{self.path.name}: {name} is not UTF-8, at byte {error.start + 1}.", _AGAIN
            ) from error
        if text.startswith("\ufeff"):
            raise InvalidInput(
                f"{self.path.name}: {name} begins with a byte order mark; no platform writes one.",
                "Export it again, and do not save it with another editor.",
            )
        return text

    def stream(self, name: str) -> BinaryIO:
        """Open a file, to be read in pieces."""
        match self.kind:
            case "file":
                return self.path.open("rb")
            case "folder":
                return (self.path / name).open("rb")
            case "zip":
                return io.BytesIO(self.files[name])

    def document(self, name: str) -> Node:
        """Parse a file, once.

        Raises:
            InvalidInput: It is no JSON, or all that were parsed hold too many values.
        """
        if name not in self._parsed:
            text = self.text(name)
            n_values = require_few_values(text, self.path.name, self._counts["values"])
            self._parsed[name] = parse(text, name)
            self._counts["values"] = n_values
        return self._parsed[name]


class _ReadLater(Mapping[str, bytes]):
    """Files by name; a file is read when it is asked for, and kept."""

    def __init__(self, names: Iterator[str], read: Callable[[str], Mapping[str, bytes]]) -> None:
        self._names = dict.fromkeys(names)
        self._read = read
        self._known: dict[str, bytes] = {}

    def __getitem__(self, name: str) -> bytes:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._known:
            self._known |= self._read(name)
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def open_package(path: Path) -> Package:
    """List the files of a folder, of a zip or of one file, and read none of them yet.

    The entries of a zip are read all at once, so that damage to any of them is found.

    Raises:
        InvalidInput: There is nothing to read, or a zip is damaged or hostile; the entry is named.
    """
    if path.is_dir():
        return Package(path, "folder", _folder_files(path))
    if not path.is_file():
        raise InvalidInput(f"There is no file {path}.", "Check the path.")
    if zipfile.is_zipfile(path):
        return Package(path, "zip", _zip_files(path))
    if _begins_as_zip(path):
        raise InvalidInput(
            f"{path.name} is a damaged or incomplete ZIP archive: its end is missing.",
            "Download it again, or export it again from where it came from.",
        )
    if path.stat().st_size > _MOST_BYTES:
        most = size_words(_MOST_BYTES)
        raise InvalidInput(f"{path.name} is over {most}.", "Export a smaller part.")
    name = path.name
    return Package(path, "file", _ReadLater(iter([name]), lambda _: {name: path.read_bytes()}))


def _begins_as_zip(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(_ZIP)) == _ZIP


def write_package(package: Package, changed: Mapping[str, bytes], out: Path) -> None:
    """Write a package with the content of some files changed, or files added.

    Entries of a zip keep their order, time, rights and packing; a folder is written beside what is
    in `out` already, file by file.
    """
    if package.kind == "file":
        (name,) = package.files
        write_atomically(out, [changed.get(name, package.files[name])])
        return
    if package.kind == "folder":
        besides = {name: (package.path / name).read_bytes() for name in _beside(package)}
        for name, content in {**package.files, **besides, **changed}.items():
            target = out / name
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(target, [content])
        return
    with (
        zipfile.ZipFile(package.path) as source,
        replace_file(out) as stream,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as copy,
    ):
        for entry in source.infolist():
            new = changed.get(entry.filename)
            copy.writestr(entry, source.read(entry) if new is None else new)
        for name in sorted(set(changed) - set(package.files)):
            copy.writestr(name, changed[name])


def _is_of_mac(name: str) -> bool:
    """Whether a file is one that macOS puts beside each in a zip, under the same ending."""
    *folders, last = name.split("/")
    return "__MACOSX" in folders or last.startswith("._")


def _beside(package: Package) -> list[str]:
    """Return the files of a folder that are copied and never read."""
    return [name for name in _names_in(package.path) if _is_of_mac(name)]


def _folder_files(folder: Path) -> Mapping[str, bytes]:
    names = [name for name in _names_in(folder) if not _is_of_mac(name)]
    return _ReadLater(iter(names), lambda name: {name: (folder / name).read_bytes()})


def _names_in(folder: Path) -> list[str]:
    names: list[str] = []
    total = 0
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not path.is_file() or name.split("/")[0] == ".git":
            continue
        total += path.stat().st_size
        if len(names) == _MOST_FILES or total > _MOST_BYTES:
            raise InvalidInput(
                f"{folder} holds over {_MOST_FILES:,} files or {size_words(_MOST_BYTES)}.",
                "Name the folder of the agent.",
            )
        names.append(name)
    return sorted(names)


def _zip_files(path: Path) -> Mapping[str, bytes]:
    try:
        if has_large_directory(path):
            raise InvalidInput(f"{path.name} has too many entries, a bomb.", _AGAIN)
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    except _DAMAGES as error:
        raise _damaged(path, error) from error
    _refuse_hostile(path, entries)
    names = (entry.filename for entry in entries if not _is_of_mac(entry.filename))
    return _ReadLater(names, lambda _: _unpacked(path, entries))


def _unpacked(path: Path, entries: list[zipfile.ZipInfo]) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(path) as archive:
            return {entry.filename: archive.read(entry) for entry in entries}
    except _DAMAGES as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> InvalidInput:
    return InvalidInput(f"{path.name} is not a whole zip file: {error}.", _AGAIN)


def _refuse_hostile(path: Path, entries: list[zipfile.ZipInfo]) -> None:
    most = min(_MOST_BYTES, _FREE_BYTES + _MOST_RATIO * path.stat().st_size)
    if len(entries) > _MOST_FILES or sum(entry.file_size for entry in entries) > most:
        raise InvalidInput(
            f"{path.name} unpacks to over {_MOST_FILES:,} files or {size_words(most)}, a bomb.",
            _AGAIN,
        )
    seen: set[str] = set()
    for entry in entries:
        reason = entry_fault(entry, _SMALL_ENTRY)
        if reason is None and entry.filename in seen:
            reason = "occurs twice"
        if reason is not None:
            raise InvalidInput(f"{path.name}: the entry {entry.filename!r} {reason}.", _AGAIN)
        seen.add(entry.filename)
