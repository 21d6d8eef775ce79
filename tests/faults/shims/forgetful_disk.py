"""A disk that keeps only what was synced: what a loss of power leaves at its worst.

Python's `os` is watched: a file's content is kept at its `fsync`, a folder's entries at the `fsync`
of the folder. SQLite syncs by itself; its files are taken as they are at each moment.
"""

import os
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_FOLDER = -1
_DATABASE = ("studio.db", "studio.db-wal")


@dataclass
class ForgetfulDisk:
    """Watches a home; `cut` is called after each act with what a loss of power would leave.

    Attributes:
        home: What is watched.
        contents: Bytes of a file that are on disk, by its inode.
        entries: Names in a folder that are on disk, with their inodes or -1, by the folder's path.
    """

    home: Path
    contents: dict[int, bytes] = field(default_factory=dict)
    entries: dict[Path, dict[str, int]] = field(default_factory=dict)
    moments: list[str] = field(default_factory=list)

    def keep_all(self) -> None:
        """Take everything that is there as synced."""
        for folder in (self.home, *(p for p in self.home.rglob("*") if p.is_dir())):
            self._keep_folder(folder)
            for file in folder.iterdir():
                if file.is_file():
                    self.contents[file.stat().st_ino] = file.read_bytes()

    def watch(self, cut: Callable[[str], None]) -> None:
        """Watch `os` of this process; call in a fork."""
        real_sync = os.fsync

        def sync(descriptor: int) -> None:
            real_sync(descriptor)
            self._keep(descriptor)
            cut("fsync")

        os.fsync = sync
        for name in ("replace", "rename", "link", "unlink"):
            setattr(os, name, self._then_cut(name, getattr(os, name), cut))

    def leave(self, target: Path, *, renamed: bool) -> Path:
        """Write what a loss of power now would leave; `renamed` keeps all names, not contents."""
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(mode=0o700)
        if renamed:
            for file in self.home.rglob("*"):
                place = target / file.relative_to(self.home)
                self._put(place, file.stat().st_ino, is_folder=file.is_dir())
        else:
            self._put_folder(self.home, target)
        for name in _DATABASE:
            if (self.home / name).exists():
                shutil.copyfile(self.home / name, target / name)
        return target

    def _put_folder(self, folder: Path, target: Path) -> None:
        target.mkdir(parents=True, exist_ok=True)
        for name, inode in self.entries.get(folder, {}).items():
            if inode == _FOLDER:
                self._put_folder(folder / name, target / name)
            else:
                self._put(target / name, inode, is_folder=False)

    def _put(self, place: Path, inode: int, *, is_folder: bool) -> None:
        if is_folder:
            place.mkdir(parents=True, exist_ok=True)
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(self.contents.get(inode, b""))

    def _keep(self, descriptor: int) -> None:
        status = os.fstat(descriptor)
        place = Path(f"/proc/self/fd/{descriptor}").readlink()
        if stat.S_ISDIR(status.st_mode):
            self._keep_folder(place)
        else:
            self.contents[status.st_ino] = place.read_bytes()

    def _keep_folder(self, folder: Path) -> None:
        self.entries[folder] = {
            file.name: _FOLDER if file.is_dir() else file.stat().st_ino for file in folder.iterdir()
        }

    def _then_cut(
        self, name: str, real: Callable[..., Any], cut: Callable[[str], None]
    ) -> Callable[..., Any]:
        def act(*arguments: Any, **more: Any) -> Any:
            value = real(*arguments, **more)
            if any(str(argument).startswith(f"{self.home}/") for argument in arguments):
                cut(name)
            return value

        return act
