"""Files dropped on the Data page, stored until they are imported or deleted."""

import json
import re
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from app.services.data.exporting import OntoReport, export_onto, summary_of
from app.services.data.import_cases import ImportChoices
from app.services.data.importing import ImportReport, ImportRequest, import_file
from app.services.studio import Studio
from core.errors import InvalidInput, NotFound
from core.formats.preview import FilePreview, preview_file
from core.formats.rows import ImportedRow, ReadFormat, ReadOptions
from core.text import size_words
from core.types import Split
from storage.people.request_keys import Keep, keep_nothing

MOST_BYTES = 50_000_000
_KEPT_SECONDS = 24 * 3600.0
_LONGEST_NAME = 120
_KEY = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """How to read an uploaded file; None is detected.

    Attributes:
        intent_column: Empty reads every row as unlabelled.
        separator: Splits the intents in one cell.
        split: For rows that name none.
        sheet: Sheet of an Excel workbook; None is the first with rows.
        split_column: Says which rows are for training and which for tests; empty reads none.
        choices: What to do in the cases that the preview counts.
    """

    text_column: str | None = None
    intent_column: str | None = None
    separator: str | None = None
    split: Split | None = None
    header: bool | None = None
    format: ReadFormat = "auto"
    sheet: str | None = None
    split_column: str | None = None
    choices: ImportChoices = field(default_factory=ImportChoices)

    def options(self) -> ReadOptions:
        """Convert to the readers' options."""
        return ReadOptions(
            format=self.format,
            text_column=self.text_column or None,
            intent_column=self.intent_column,
            separator=self.separator or None,
            header=self.header,
            sheet=self.sheet or None,
            split_column=self.split_column,
        )


@dataclass(frozen=True, slots=True)
class Incoming:
    """An uploaded file: its first rows, and what importing it would do or did."""

    key: str
    name: str
    preview: FilePreview
    report: ImportReport | None
    problem: str
    hint: str


@dataclass(frozen=True, slots=True)
class ReceivedPackage:
    """An uploaded package of a platform, and what the project's labels would change, in words."""

    key: str
    name: str
    report: OntoReport
    words: tuple[str, ...]


def store_upload(
    studio: Studio, name: str, chunks: Iterable[bytes], most_bytes: int | None = None
) -> str:
    """Store an uploaded file; return its key.

    Raises:
        InvalidInput: It is larger than the limit (default 50 MB).
    """
    home = studio.places.uploads
    home.mkdir(parents=True, exist_ok=True)
    forget_old(studio)
    key = uuid.uuid4().hex
    folder = home / key
    folder.mkdir(mode=0o700)
    try:
        _write(folder / _safe(name), name, chunks, most_bytes or MOST_BYTES)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return key


def receive_upload(studio: Studio, project: str, name: str, chunks: Iterable[bytes]) -> Incoming:
    """Store an uploaded file and preview it; an unreadable one is deleted.

    Raises:
        InvalidInput: It is larger than 50 MB, or cannot be read.
        NotFound: There is no such project.
    """
    key = store_upload(studio, name, chunks)
    try:
        return preview_upload(studio, project, key, ColumnMapping())
    except BaseException:
        delete_upload(studio, key)
        raise


def _write(path: Path, name: str, chunks: Iterable[bytes], most_bytes: int) -> None:
    size = 0
    with path.open("wb") as stream:
        for chunk in chunks:
            size += len(chunk)
            if size > most_bytes:
                raise InvalidInput(
                    f"'{name[:80]}' has more than {size_words(most_bytes)}.",
                    "Split it into smaller files, and import them one after the other.",
                )
            stream.write(chunk)


def preview_upload(studio: Studio, project: str, key: str, mapping: ColumnMapping) -> Incoming:
    """Return an uploaded file's first rows and, from a dry run, what importing it would do.

    Raises:
        InvalidInput: The file cannot be read.
        NotFound: The upload was deleted.
    """
    path = upload_path(studio, key)
    with naming_upload(path):
        beginning = preview_file(path, mapping.options())
    try:
        with naming_upload(path):
            report = import_file(studio, _request(project, path, mapping, dry_run=True))
    except InvalidInput as error:
        return Incoming(key, path.name, beginning, None, error.message, error.hint)
    return Incoming(key, path.name, beginning, report, "", "")


def import_upload(
    studio: Studio,
    project: str,
    key: str,
    mapping: ColumnMapping,
    keep: Keep[ImportReport] = keep_nothing,
) -> ImportReport:
    """Import an uploaded file, all or nothing, and delete the upload.

    `keep` is called with the report in the transaction that imports it.
    """
    path = upload_path(studio, key)
    with naming_upload(path):
        report = import_file(studio, _request(project, path, mapping, dry_run=False), keep)
    discard(path)
    return report


def import_rows(
    studio: Studio,
    project: str,
    rows: Sequence[ImportedRow],
    mapping: ColumnMapping,
    keep: Keep[ImportReport] = keep_nothing,
) -> ImportReport:
    """Import rows that came without a file, all or nothing; nothing of refused ones is left.

    `keep` is called with the report in the transaction that imports them.
    """
    lines = (
        json.dumps(
            {
                "text": row.text,
                "intents": None if row.intents is None else list(row.intents),
                "split": row.split,
            }
        )
        for row in rows
    )
    key = store_upload(studio, "texts.jsonl", (f"{line}\n".encode() for line in lines))
    try:
        return import_upload(studio, project, key, mapping, keep)
    except BaseException:
        delete_upload(studio, key)
        raise


def receive_package(
    studio: Studio, project: str, name: str, chunks: Iterable[bytes]
) -> ReceivedPackage:
    """Store a platform's package, and say what the project's labels would change in it.

    Raises:
        InvalidInput: It is larger than 50 MB, or no package of a known platform.
        NotFound: There is no such project.
    """
    key = store_upload(studio, name, chunks)
    try:
        return look_at_package(studio, project, key)
    except BaseException:
        delete_upload(studio, key)
        raise


def look_at_package(
    studio: Studio, project: str, key: str, *, remove_missing: bool = False
) -> ReceivedPackage:
    """Say what the project's labels would change in a stored package.

    Raises:
        InvalidInput: It is no package of a known platform.
        NotFound: There is no such project, or the package was deleted.
    """
    path = upload_path(studio, key)
    with naming_upload(path):
        report = export_onto(
            studio,
            project,
            path,
            path.parent / "out",
            dry_run=True,
            remove_missing=remove_missing,
        )
    return ReceivedPackage(key, path.name, report, tuple(summary_of(report)))


def delete_upload(studio: Studio, key: str) -> None:
    """Delete an uploaded file."""
    discard(upload_path(studio, key))


def discard(path: Path) -> None:
    """Delete an uploaded file with its folder, if it is still there."""
    shutil.rmtree(path.parent, ignore_errors=True)


def waiting(studio: Studio) -> list[Path]:
    """Return the uploaded files that wait for their import, of all projects."""
    return sorted(path for path in studio.places.uploads.rglob("*") if path.is_file())


def forget_old(studio: Studio) -> None:
    """Delete the files that have waited for a day."""
    for folder in studio.places.uploads.glob("*"):
        with suppress(FileNotFoundError):  # another upload may have deleted it just now
            if time.time() - folder.stat().st_mtime > _KEPT_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def naming_upload(path: Path) -> Iterator[None]:
    """In error messages, replace the path by the file's name, which the user knows."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(error.message.replace(f"{path}", path.name), error.hint) from error


def _request(project: str, path: Path, mapping: ColumnMapping, *, dry_run: bool) -> ImportRequest:
    options, split = mapping.options(), mapping.split
    return ImportRequest(project, path, options, split, dry_run, mapping.choices)


def upload_path(studio: Studio, key: str) -> Path:
    """Return the path of an uploaded file, or raise `NotFound`."""
    folder = studio.places.uploads / key
    files = sorted(folder.iterdir()) if _KEY.fullmatch(key) and folder.is_dir() else []
    if not files:
        raise NotFound("The uploaded file is not there any more.", "Drop it on the page again.")
    return files[0]


def _safe(name: str) -> str:
    """Return a readable file name without special characters."""
    bare = re.sub(r"[^\w. -]+", "_", Path(name.replace("\\", "/")).name).strip(". ")
    while len(bare.encode()) > _LONGEST_NAME:  # file systems limit bytes; the ending is kept
        bare = bare[1:]
    return bare.lstrip(". ") or "upload"
