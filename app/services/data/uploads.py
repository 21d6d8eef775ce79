"""Files that were dropped on the page: kept until they are imported or forgotten."""

import re
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from app.services.data.importing import ImportReport, ImportRequest, import_file
from app.services.studio import Studio
from core.errors import InvalidInput, NotFound
from core.formats.preview import FilePreview, preview
from core.formats.rows import ReadOptions
from core.types import Split

MOST_BYTES = 50 << 20
_KEPT_SECONDS = 24 * 3600.0
_LONGEST_NAME = 120
_KEY = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Mapping:
    """How a person reads an uploaded file.

    Attributes:
        text_column: Column of the text; None leaves it to the file.
        intent_column: Column of the intent; None leaves it to the file.
        separator: What parts several intents in one cell.
        split: Split of rows that name none.
        header: Whether the first row names the columns; None leaves it to the file.
    """

    text_column: str | None = None
    intent_column: str | None = None
    separator: str | None = None
    split: Split | None = None
    header: bool | None = None

    def options(self) -> ReadOptions:
        """How the readers are told."""
        return ReadOptions(
            text_column=self.text_column or None,
            intent_column=self.intent_column or None,
            separator=self.separator or None,
            header=self.header,
        )


@dataclass(frozen=True, slots=True)
class Incoming:
    """A look at an uploaded file: its beginning, and what importing it would do or did."""

    key: str
    name: str
    preview: FilePreview
    report: ImportReport | None
    problem: str
    hint: str


@dataclass(frozen=True, slots=True)
class Limit:
    """How large an uploaded file may be, and what to do with a larger one."""

    most_bytes: int
    instead: str


def keep(studio: Studio, name: str, chunks: Iterable[bytes], limit: Limit | None = None) -> str:
    """Keep an uploaded file; return the key under which it waits.

    Raises:
        InvalidInput: It is larger than the limit, or than 50 MB where none is given.
    """
    limit = limit or Limit(MOST_BYTES, "intent-studio import PROJECT FILE")
    home = studio.places.uploads
    home.mkdir(parents=True, exist_ok=True)
    _forget_old(home)
    key = uuid.uuid4().hex
    folder = home / key
    folder.mkdir(mode=0o700)
    try:
        _write(folder / _safe(name), name, chunks, limit)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return key


def receive(studio: Studio, project: str, name: str, chunks: Iterable[bytes]) -> Incoming:
    """Keep an uploaded file and look at it; one that cannot be looked at is not kept.

    Raises:
        InvalidInput: It is larger than 50 MB, or cannot be read at all.
        NotFound: There is no such project.
    """
    key = keep(studio, name, chunks)
    try:
        return look(studio, project, key, Mapping())
    except BaseException:
        forget(studio, key)
        raise


def _write(path: Path, name: str, chunks: Iterable[bytes], limit: Limit) -> None:
    size = 0
    with path.open("wb") as stream:
        for chunk in chunks:
            size += len(chunk)
            if size > limit.most_bytes:
                raise InvalidInput(
                    f"'{name[:80]}' has more than {limit.most_bytes >> 20} MB.",
                    f"Import it on the command line: {limit.instead}",
                )
            stream.write(chunk)


def look(studio: Studio, project: str, key: str, mapping: Mapping) -> Incoming:
    """Show the beginning of an uploaded file and, as a dry run, what importing it would do.

    Raises:
        InvalidInput: The file cannot be read at all.
        NotFound: It is not there any more.
    """
    path = waiting(studio, key)
    with by_name(path):
        found = preview(path, mapping.options())
    try:
        with by_name(path):
            report = import_file(studio, _request(project, path, mapping, dry_run=True))
    except InvalidInput as error:
        return Incoming(key, path.name, found, None, error.message, error.hint)
    return Incoming(key, path.name, found, report, "", "")


def bring_in(studio: Studio, project: str, key: str, mapping: Mapping) -> ImportReport:
    """Import an uploaded file, all or nothing, and forget it."""
    path = waiting(studio, key)
    with by_name(path):
        report = import_file(studio, _request(project, path, mapping, dry_run=False))
    forget(studio, key)
    return report


def forget(studio: Studio, key: str) -> None:
    """Delete an uploaded file."""
    shutil.rmtree(waiting(studio, key).parent, ignore_errors=True)


@contextmanager
def by_name(path: Path) -> Iterator[None]:
    """Let errors speak of the file as the person knows it, not of where it is kept."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(error.message.replace(f"{path}", path.name), error.hint) from error


def _request(project: str, path: Path, mapping: Mapping, *, dry_run: bool) -> ImportRequest:
    return ImportRequest(project, path, mapping.options(), mapping.split, dry_run)


def waiting(studio: Studio, key: str) -> Path:
    """Where an uploaded file lies.

    Raises:
        NotFound: It is not there any more.
    """
    folder = studio.places.uploads / key
    found = sorted(folder.iterdir()) if _KEY.fullmatch(key) and folder.is_dir() else []
    if not found:
        raise NotFound("The uploaded file is not there any more.", "Drop it on the page again.")
    return found[0]


def _safe(name: str) -> str:
    """Keep a name readable, and harmless whatever it was."""
    bare = re.sub(r"[^\w. -]+", "_", Path(name.replace("\\", "/")).name).strip(". ")
    while len(bare.encode()) > _LONGEST_NAME:  # file systems count bytes; the ending is kept
        bare = bare[1:]
    return bare.lstrip(". ") or "upload"


def _forget_old(home: Path) -> None:
    for folder in home.iterdir():
        with suppress(FileNotFoundError):  # another upload may have swept it just now
            if time.time() - folder.stat().st_mtime > _KEPT_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
