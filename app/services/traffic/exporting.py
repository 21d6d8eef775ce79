"""Write what people said to a file, with its times and sources, as an import of a log reads it."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

from app.services.studio import Studio
from core.errors import InvalidInput
from core.files import write_atomically
from core.formats.rows import SaidFormat
from core.formats.writing import encode_table
from core.text import counted
from storage import projects
from storage.database import Transaction
from storage.people.acts import Act, note_aside
from storage.said import kept_rows

COLUMNS = ("time", "source", "text")


@dataclass(frozen=True, slots=True)
class SaidChoice:
    """Which days to write, in UTC, and how.

    Attributes:
        after: The first day; None begins with the oldest text.
        before: The day behind the last; None ends with the newest text.
        format: `spreadsheet` is a CSV to look at, in which no cell is computed.
    """

    after: date | None = None
    before: date | None = None
    format: SaidFormat = "csv"

    @property
    def since(self) -> str:
        """The day with which the period begins."""
        return str(self.after or date.min)

    @property
    def until(self) -> str:
        """The day before which it ends."""
        return str(self.before or date.max)

    @property
    def words(self) -> str:
        """The period in words; "" is all of it."""
        end = f"before {self.before}" if self.before else ""
        if self.after is None:
            return end
        return f"from {self.after} to {end}" if end else f"from {self.after} on"


@dataclass(frozen=True, slots=True)
class ExportedTraffic:
    """What was written.

    Attributes:
        rows: Each is one time that a text was said.
        first, last: Days of the oldest and of the newest, in UTC.
        sources: Number of rows by source, the largest first.
        deleted: Rows of the period that are left out: their text was deleted.
        sampled_days: Days of the period of which a fair sample is kept, because more texts came.
        limit: How many texts of a day and source are kept.
    """

    rows: int
    first: str
    last: str
    sources: dict[str, int]
    deleted: int
    sampled_days: int
    limit: int


def export_traffic(
    studio: Studio, name: str, out: Path, choice: SaidChoice = SaidChoice()
) -> ExportedTraffic:
    """Write the rows of a period with their time, source and text, the oldest first.

    Equal data gives equal bytes. No more than some thousand rows are in memory at once.

    Raises:
        NotFound: There is no such project.
        InvalidInput: Nothing was said in this period, or the file cannot be written.
    """
    if choice.since >= choice.until:
        raise InvalidInput(
            f"From {choice.since} to before {choice.until} there is no day.",
            "The day behind the last comes after the first day.",
        )
    with studio.database.read() as connection:
        project_id = projects.find(connection, name).id
        found = _look(connection, project_id, choice, studio.settings.traffic_per_day)
        rows = kept_rows.stream_rows(connection, project_id, choice.since, choice.until)
        write_atomically(out, encode_table(COLUMNS, rows, choice.format))
    about = f"{counted(found.rows, 'row')}, {found.first} to {found.last}"
    note_aside(studio.database, project_id, Act("export log", studio.settings.actor, about))
    return found


def _look(
    connection: Transaction, project_id: int, choice: SaidChoice, limit: int
) -> ExportedTraffic:
    """Count what will be written; InvalidInput where that is nothing."""
    period = choice.since, choice.until
    sources = kept_rows.count_by_source(connection, project_id, *period)
    n = sum(one.n for one in sources)
    deleted = kept_rows.count_rows(connection, project_id, *period) - n
    if not sources:
        raise _nothing(connection, project_id, choice, deleted)
    return ExportedTraffic(
        rows=n,
        first=min(one.first for one in sources),
        last=max(one.last for one in sources),
        sources={one.source: one.n for one in sources},
        deleted=deleted,
        sampled_days=kept_rows.count_sampled_days(connection, project_id, *period),
        limit=limit,
    )


def _nothing(
    connection: Transaction, project_id: int, choice: SaidChoice, deleted: int
) -> InvalidInput:
    """Say why there is nothing to write."""
    if deleted:
        return InvalidInput(
            "All texts that were said in these days were deleted.",
            "Choose other days, or bring the texts back by Undo.",
        )
    every = SaidChoice()
    sources = kept_rows.count_by_source(connection, project_id, every.since, every.until)
    if not sources:
        return InvalidInput(
            "Nothing that people said is stored here.",
            "Import a log, or let a program send what people say.",
        )
    first, last = min(one.first for one in sources), max(one.last for one in sources)
    return InvalidInput(
        f"No text was said {choice.words}.", f"The texts were said from {first} to {last}."
    )
