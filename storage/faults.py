"""What SQLite says of a damaged, full, busy or read-only database, in the user's words."""

import errno
import json
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy.engine import ExceptionContext

from core.errors import (
    DatabaseBusy,
    DatabaseDamaged,
    DiskFull,
    InvalidInput,
    ReadOnlyHome,
    StudioError,
)
from core.files import disk_error, write_atomically
from storage.records import now

_DAMAGED = ("malformed", "not a database")
_REFUSED = ("disk i/o error",)
"""Said of a quota, a limit of a file's size, and a failing disk; what is stored may be sound."""
_FULL = ("disk is full",)
_READ_ONLY = ("readonly database",)
_NOT_OPENED = ("unable to open database file",)
_AGAIN = "Nothing was saved. Try again in 15 seconds."
_BUSY = ("is locked",)
_LAST = "last-backup.json"


@dataclass(frozen=True, slots=True)
class LastBackup:
    """The newest backup that is known; `at` is its time, as in all rows."""

    file: str
    at: str


def note_backup(database: Path, out: Path, made: datetime | None = None) -> None:
    """Remember beside a database where its newest backup lies; made now if no time is given."""
    at = now() if made is None else made.isoformat(timespec="milliseconds")
    note = json.dumps(asdict(LastBackup(str(out.absolute()), at)))
    with suppress(StudioError):  # the backup is made, wherever it is remembered
        write_atomically(database.parent / _LAST, [note.encode()])


def last_backup(database: Path) -> LastBackup | None:
    """Return the newest known backup of a database, if it is still there."""
    try:
        found = LastBackup(**json.loads((database.parent / _LAST).read_bytes()))
        return found if Path(found.file).is_file() else None
    except (OSError, ValueError, TypeError):
        return None


def in_words(said: str, database: Path) -> StudioError | None:
    """Return the error to raise for what SQLite said; None for anything unexpected."""
    said = said.casefold()
    if any(sign in said for sign in _REFUSED):
        return DiskFull(
            "The disk refused to read or write, so nothing was saved.",
            "It may be full, over a quota, or failing: make room on it, then try again.",
        )
    if any(sign in said for sign in _NOT_OPENED):
        return _why_not_opened(database.parent)
    if any(sign in said for sign in _DAMAGED):
        return damaged(database)
    if any(sign in said for sign in _FULL):
        return disk_error(OSError(errno.ENOSPC, said))
    if any(sign in said for sign in _READ_ONLY):
        return _read_only(database.parent)
    if any(sign in said for sign in _BUSY):
        return DatabaseBusy(
            "Another program is writing to the studio, and did not end in time.",
            _AGAIN,
        )
    return None


def _why_not_opened(folder: Path) -> StudioError:
    """Open a new file beside the database, for SQLite does not tell why it could not."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return DatabaseBusy("The database could not be opened just now.", _AGAIN)
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            return DatabaseBusy("Too many files and connections are open.", _AGAIN)
        return disk_error(error) or _read_only(folder)


def _read_only(folder: Path) -> ReadOnlyHome:
    return ReadOnlyHome(
        f"The studio's folder {folder} may not be written to.",
        "Give yourself the right to write there, or open another home.",
    )


def damaged(database: Path) -> DatabaseDamaged:
    """Return the error of a damaged database, which names the newest backup and what to do."""
    backup = last_backup(database)
    first = "Change nothing, and copy the whole folder aside."
    then = "No backup is known."
    if backup is not None:
        then = f"The newest backup, of {backup.at[:10]}, is {backup.file}: restore it elsewhere."
    known = "" if backup is None else backup.file
    return DatabaseDamaged(f"The database {database} is damaged.", f"{first} {then}", known)


def not_kept(error: BaseException) -> InvalidInput | None:
    """Return the error of a value that no database keeps; None for any other error."""
    if isinstance(error, OverflowError):  # of more than 64 bits
        return InvalidInput("A number is larger than any that is kept here.", "Check the number.")
    if isinstance(error, UnicodeEncodeError):
        # Of a row as JSON, the value at fault alone: others are what customers said.
        before = error.object[: error.start].rpartition('"')[2][-40:]
        after = error.object[error.start :].partition('"')[0][:40]
        return InvalidInput(
            f"'{before + after}' has half of a character in it.", "Write it in UTF-8."
        )
    return None


def translate(context: ExceptionContext) -> None:
    """Raise in the user's words what SQLite reports; a listener for `handle_error`.

    Raises:
        DatabaseDamaged: The file is not what was written.
        DiskFull: Nothing more can be written.
        ReadOnlyHome: The folder may not be written to.
        DatabaseBusy: Another program held the database for 15 seconds.
        InvalidInput: A number does not fit into 64 bits, or a text is not in UTF-8.
    """
    original, engine = context.original_exception, context.engine
    file = None if engine is None else engine.url.database
    error = not_kept(original) or in_words(str(original), Path(file or ""))
    if error is not None:
        raise error from original
