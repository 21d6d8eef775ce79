"""Print on a terminal: results on standard output, all else on standard error."""

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from app.bootstrap import open_studio
from app.home import Places
from app.jobs.local import LocalExecutor
from app.jobs.standby import start_standby
from app.jobs.supervisor import Orders
from app.services.studio import Studio
from app.settings import Settings, read_settings
from core.errors import NotFound


@contextmanager
def opened(
    options: argparse.Namespace, *, makes: bool = False, standby: bool = False
) -> Iterator[Studio]:
    """Open the studio that the command line names; close it at the end.

    With `standby`, a copy of this process, made before anything is opened, supervises its jobs.

    Raises:
        NotFound: The folder that `--home` names holds no studio, and the command does not `makes`
            one: a mistyped folder would look like a studio that has lost everything.
    """
    settings = settings_of(options)
    places = Places.of(settings)
    if options.home and not makes and not places.database.exists():
        if places.elsewhere:
            hint = "Check --database-url, or the variable STUDIO_DATABASE_URL."
            raise NotFound(f"There is no database {places.database}.", hint)
        hint = "Check --home; `intent-studio --home FOLDER new NAME` begins one there."
        raise NotFound(f"There is no studio in {settings.folder}.", hint)
    executor = LocalExecutor(settings, start_standby(Orders(settings)) if standby else None)
    studio = open_studio(settings, executor)
    try:
        yield studio
    finally:
        studio.database.close()


def places_of(options: argparse.Namespace) -> Places:
    """Return the paths of the home that the command line names, without opening it."""
    return Places.of(settings_of(options))


def settings_of(options: argparse.Namespace) -> Settings:
    """Return the settings that the command line names."""
    log = getattr(options, "log_format", None)
    flags = {"home": options.home, "database_url": options.database_url, "log": log}
    return read_settings(**{key: value for key, value in flags.items() if value})


def print_json(value: object) -> None:
    """Print one JSON object and nothing else."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, default=plain) + "\n")


def report(options: argparse.Namespace, sentence: str, value: object) -> None:
    """Print what was done: a sentence, or with --json one JSON object."""
    if options.json:
        print_json(value)
    else:
        say(sentence)


def plain(value: object) -> Any:
    """Convert a frozen value to plain JSON types."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    message = f"{type(value).__name__} is no JSON"
    raise TypeError(message)


def say(sentence: str) -> None:
    """Print a line of the result; markup in the text has no effect."""
    Console(soft_wrap=True).print(Text(sentence))


def tell(sentence: str) -> None:
    """Print a line on standard error."""
    Console(stderr=True, soft_wrap=True).print(Text(sentence))


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; markup in the cells has no effect."""
    Console().print(build_table(title, head, rows))


def build_table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """Build a table without printing it."""
    shown = Table(*head, title=Text(title), title_justify="left", header_style="bold")
    for row in rows:
        shown.add_row(*[Text(str(cell)) for cell in row])
    return shown


@contextmanager
def progress_bar(title: str) -> Iterator["Bar"]:
    """Show a bar on standard error while the block runs."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=Console(stderr=True), transient=False) as bar:
        yield Bar(bar, bar.add_task(title, total=1.0))


@dataclasses.dataclass(frozen=True, slots=True)
class Bar:
    """A bar that can be moved."""

    progress: Progress
    task: TaskID

    def move(self, share: float, words: str) -> None:
        """Show a share in [0, 1] and the current work."""
        self.progress.update(self.task, completed=share, description=words)
