"""The arguments of `export`: of utterances and labels, and of what people said."""

import argparse
from pathlib import Path
from typing import get_args

from app.terminal.arguments.importing import FORMATS, SPLITS
from app.terminal.arguments.shared import Commands, add_command, add_options
from core.exports.targets import Target


def add_export(commands: Commands) -> None:
    """Add the command."""
    export = add_command(
        commands,
        "export",
        "export utterances and labels",
        "exchange.packages.export",
        "project",
    )
    listed = "texts.csv or texts.jsonl lists all texts with labels, with --split those of one split"
    add_options(export, "file", help=f"the file to write; {listed}")
    formats = dict.fromkeys((*FORMATS, "spreadsheet", *get_args(Target)))
    export.add_argument(
        "--format",
        default="auto",
        choices=tuple(formats),
        metavar="FORMAT",
        help=f"one of {', '.join(formats)} (default: by the file's ending)",
    )
    export.add_argument("--language", help="code of texts that name none, such as de (en)")
    export.add_argument("--version", help="dataset version, such as 3 (default: as it is now)")
    export.add_argument("--split", choices=SPLITS, help="write the texts of one split alone")
    _add_onto(export)
    _add_traffic(export)
    add_options(export, "--dry-run", "--json")


def _add_onto(export: argparse.ArgumentParser) -> None:
    export.add_argument(
        "--onto",
        type=Path,
        metavar="PACKAGE",
        help="a platform's export: write it with these labels and marked values, all else as it is",
    )
    export.add_argument(
        "--remove-missing",
        action="store_true",
        help="with --onto: remove phrases that were deleted or reworded in the project",
    )


def _add_traffic(export: argparse.ArgumentParser) -> None:
    export.add_argument(
        "--traffic",
        action="store_true",
        help="write what people said as CSV, with times and sources; import --traffic reads it",
    )
    export.add_argument(
        "--after",
        metavar="DAY",
        help="with --traffic: the first day in UTC, such as 2026-11-26 (default: the oldest)",
    )
    export.add_argument(
        "--before",
        metavar="DAY",
        help="with --traffic: the day behind the last in UTC (default: after the newest)",
    )
