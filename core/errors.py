"""The errors that a user can cause or see, in the user's words.

StudioError
├── InvalidInput      an input cannot be used as it is
│   └── ChoiceMissing     a person has to choose how
├── NotFound          the thing named does not exist
├── Conflict          another person changed it first, or it is in use
├── TooManyJobs       too many jobs wait for a device
├── RunFailed         a training run could not finish
├── ArtifactDamaged   a stored file is missing or is not what was written
├── DatabaseDamaged   the database's file is not what was written
├── DatabaseBusy      another program held the database for too long
├── DiskFull          nothing more can be written
├── OutOfMemory       processor or GPU have too little memory for it
├── OutOfThreads      the machine starts no more threads or processes
└── ReadOnlyHome      the home may not be written to
"""

from core.characters import storable

MALFORMED = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What is raised about contents of another kind, shape or depth than the reader expects."""


class StudioError(Exception):
    """A failure that the user can understand and act upon.

    `message` says what happened and names the value at fault; `hint` is the next step, or "".
    Both may quote a file: characters that cannot be written are U+FFFD.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        """Store both sentences; `str(error)` is the message."""
        self.message, self.hint = storable(message), storable(hint)
        super().__init__(self.message)


class InvalidInput(StudioError):
    """An input cannot be used as it is."""


class ChoiceMissing(InvalidInput):
    """A person has to choose how: a page has fields for these `choices`, a command has options."""

    def __init__(self, message: str, hint: str, *choices: str) -> None:
        """Store the sentences, and by its name each thing that is to be chosen."""
        super().__init__(message, hint)
        self.choices = choices


class NotFound(StudioError):
    """The thing named does not exist."""


class Conflict(StudioError):
    """Another person changed it first, or it is in use."""


class TooManyJobs(StudioError):
    """Too many jobs wait for a device."""


class RunFailed(StudioError):
    """A training run could not finish."""


class ArtifactDamaged(StudioError):
    """A stored file is missing, or is not what was written."""


class DatabaseDamaged(StudioError):
    """The database's file is not what was written; `backup` is the newest one known, or ""."""

    def __init__(self, message: str, hint: str = "", backup: str = "") -> None:
        """Store the sentences, and the file from which the database can be restored."""
        super().__init__(message, hint)
        self.backup = backup


class DatabaseBusy(StudioError):
    """Another program held the database for too long."""


class DiskFull(StudioError):
    """Nothing more can be written."""


class OutOfMemory(StudioError):
    """Processor or GPU have too little memory for it."""


class OutOfThreads(StudioError):
    """The machine starts no more threads or processes."""


class ReadOnlyHome(StudioError):
    """The home may not be written to."""


MACHINE_FAULTS = (DatabaseDamaged, DatabaseBusy, DiskFull, OutOfMemory, OutOfThreads, ReadOnlyHome)
"""Faults of the machine, not of what was asked: the same request may succeed later."""
