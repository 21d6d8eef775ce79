"""What a platform exports, a file, a zip or a folder, as names and bytes; and back again."""

import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from core.errors import InvalidInput
from core.files import entry_fault, has_large_directory, replace_file, write_atomically
from core.platforms.json_places import Node, parse

_MOST_FILES = 20_000
_MOST_BYTES = 1 << 30
_SMALL_ENTRY = 10_000
_AGAIN = "Export it again from the platform, and do not repack it."

Kind = Literal["file", "zip", "folder"]


@dataclass(frozen=True, slots=True, eq=False)
class Package:
    """The files of an export.

    Attributes:
        path: Where it was read.
        files: Content by name; names in a zip or a folder are paths with `/`.
    """

    path: Path
    kind: Kind
    files: Mapping[str, bytes] = field(repr=False)
    _parsed: dict[str, Node] = field(default_factory=dict, repr=False)

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

    def document(self, name: str) -> Node:
        """Parse a file, once.

        Raises:
            InvalidInput: It is no JSON.
        """
        if name not in self._parsed:
            self._parsed[name] = parse(self.text(name), name)
        return self._parsed[name]


def open_package(path: Path) -> Package:
    """Read a file, a zip or a folder.

    Raises:
        InvalidInput: There is nothing to read, or a zip is damaged or hostile; the entry is named.
    """
    if path.is_dir():
        return Package(path, "folder", _folder_files(path))
    if not path.is_file():
        raise InvalidInput(f"There is no file {path}.", "Check the path.")
    if zipfile.is_zipfile(path):
        return Package(path, "zip", _zip_files(path))
    if path.stat().st_size > _MOST_BYTES:
        raise InvalidInput(f"{path.name} is over 1 GiB.", "Export a smaller part.")
    return Package(path, "file", {path.name: path.read_bytes()})


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
        for name, content in {**package.files, **changed}.items():
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


def _folder_files(folder: Path) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    total = 0
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not path.is_file() or name.split("/")[0] == ".git":
            continue
        total += path.stat().st_size
        if len(files) == _MOST_FILES or total > _MOST_BYTES:
            raise InvalidInput(
                f"{folder} holds over {_MOST_FILES:,} files or 1 GiB.",
                "Name the folder of the agent.",
            )
        files[name] = path.read_bytes()
    return files


def _zip_files(path: Path) -> dict[str, bytes]:
    try:
        if has_large_directory(path):
            raise InvalidInput(f"{path.name} has too many entries, a bomb.", _AGAIN)
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            _refuse_hostile(path, entries)
            return {entry.filename: archive.read(entry) for entry in entries}
    except (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, NotImplementedError) as error:
        raise InvalidInput(f"{path.name} is not a whole zip file: {error}.", _AGAIN) from error


def _refuse_hostile(path: Path, entries: list[zipfile.ZipInfo]) -> None:
    if len(entries) > _MOST_FILES or sum(entry.file_size for entry in entries) > _MOST_BYTES:
        raise InvalidInput(
            f"{path.name} unpacks to over {_MOST_FILES:,} files or 1 GiB, a bomb.", _AGAIN
        )
    seen: set[str] = set()
    for entry in entries:
        reason = entry_fault(entry, _SMALL_ENTRY)
        if reason is None and entry.filename in seen:
            reason = "occurs twice"
        if reason is not None:
            raise InvalidInput(f"{path.name}: the entry {entry.filename!r} {reason}.", _AGAIN)
        seen.add(entry.filename)
