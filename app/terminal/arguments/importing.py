"""The arguments of `import`: of files with labels, and of logs with times."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import get_args

from app.services.data.import_cases import Meaning
from app.terminal.arguments.shared import Commands, add_command, add_options
from core.errors import ChoiceMissing, InvalidInput
from core.formats.rows import Tool
from core.platforms.agent import Platform

FORMATS = ("auto", "csv", "tsv", "jsonl", "text", "rasa")
SPLITS = ("train", "test", "pool")
OF_LOGS = ("time_column", "source_column", "second_source_column", "began")
"""Options of a log whose names, without `_column`, are those of its columns."""

_BEGAN = "--began '2026-11-26 14:30'"
_CHOSEN_BY = {
    "traffic": f"--traffic and {_BEGAN}",
    "began": _BEGAN,
    "speaker": "--speaker-column NAME",
}
"""Options for what an import may have to be told, by how errors name that."""


def add_import(commands: Commands) -> None:
    """Add the command."""
    load = add_command(
        commands, "import", "import utterances, all or nothing", "data.import_", "project"
    )
    add_options(load, "file", help="the file to read; - for standard input")
    known = dict.fromkeys((*FORMATS, "xlsx", "parquet", *get_args(Platform), *get_args(Tool)))
    load.add_argument(
        "--format",
        default="auto",
        choices=tuple(known),
        metavar="FORMAT",
        help=f"one of {', '.join(known)} (default: by the content)",
    )
    load.add_argument(
        "--split",
        choices=SPLITS,
        help="split of rows without one: train, test or pool (default: train for rows with a "
        "label, pool for others)",
    )
    load.add_argument("--text-column", help="column that holds the text")
    load.add_argument("--intent-column", help="column that holds the intent")
    load.add_argument(
        "--split-column", help="column that says train or test (default: by its cells; '': none)"
    )
    load.add_argument("--sheet", help="sheet of an Excel workbook (default: the first with rows)")
    _import_choices(load)
    load.add_argument("--separator", help="what parts several intents in one cell, such as ;")
    load.add_argument("--encoding", help="such as cp1251, where it cannot be found out")
    _log_choices(load)
    add_options(load, "--dry-run", "--json")


def _import_choices(load: argparse.ArgumentParser) -> None:
    for name, choices, help_text in (
        (
            "--conflicts",
            ("mine", "file"),
            "a text that has another label here keeps mine, that of the project (default), or gets "
            "that of the file",
        ),
        (
            "--across",
            ("skip", "add"),
            "a text of the test set that the file has for another split, or the reverse: skip it "
            "(default), or add it to that split, too",
        ),
        (
            "--repeats",
            ("first", "last", "unlabelled"),
            "a text that the file labels differently gets its first label (default), its last, or "
            "stays unlabelled",
        ),
    ):
        load.add_argument(name, choices=choices, default=choices[0], help=help_text)
    load.add_argument(
        "--treat",
        action="append",
        default=[],
        metavar="LABEL=MEANING",
        help=f"what a label of the file means: {', '.join(get_args(Meaning))}; such as "
        "none=out-of-scope; may be repeated",
    )


def _log_choices(load: argparse.ArgumentParser) -> None:
    load.add_argument(
        "--traffic",
        action="store_true",
        help="the file is a log of what users said, with a column of times, or a transcript "
        "(.vtt, .srt, .txt)",
    )
    load.add_argument("--time-column", help="with --traffic: column that holds the time")
    load.add_argument("--source-column", help="with --traffic: column with the channel or campaign")
    load.add_argument(
        "--second-source-column",
        help="with --traffic: column whose value follows the source, such as the language",
    )
    load.add_argument(
        "--speaker-column",
        help="with --traffic: column that says who speaks; users' rows are read ('': all are); of a"
        " transcript, the customer's name",
    )
    load.add_argument(
        "--began", help="with --traffic: when a transcript began, such as '2026-11-26 14:30'"
    )
    load.add_argument("--source", help="with --traffic: source of rows without one")
    load.add_argument(
        "--zone", help="with --traffic: zone of times without one, such as Europe/Berlin (UTC)"
    )
    load.add_argument(
        "--unmasked", action="store_true", help="with --traffic: store personal data as it is"
    )


@contextmanager
def naming_options() -> Iterator[None]:
    """In errors, name the options by which to choose what has to be chosen; pages have fields."""
    try:
        yield
    except ChoiceMissing as error:
        options = " and ".join(_CHOSEN_BY[name] for name in error.choices)
        hint = f"{error.hint} On the command line, add {options}."
        raise InvalidInput(error.message, hint) from error
