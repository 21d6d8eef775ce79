"""The commands `import --traffic` and `export --traffic`: what users said comes in and goes out."""

import argparse
from collections.abc import Mapping
from datetime import date

from app.services.live.live_studio import open_live_studio
from app.services.traffic.exporting import ExportedTraffic, SaidChoice, export_traffic
from app.services.traffic.logs import LogRequest, TrafficLogReport, import_log
from app.terminal.arguments.given_file import given_file
from app.terminal.arguments.importing import OF_LOGS
from app.terminal.output import opened, print_json, report, say
from core.errors import InvalidInput
from core.formats.rows import ReadOptions, SaidFormat
from core.text import counted
from core.traffic.log_rows import LogColumns
from core.traffic.times import zone_named

_SOURCES_SHOWN = 10
_OF_LABELS = ("onto", "remove_missing", "dry_run", "language", "version", "split")
"""Options of `export` that say something of utterances and labels."""


def import_traffic(options: argparse.Namespace) -> None:
    """Import a log of what users said."""
    with given_file(options.file) as path, opened(options) as studio:
        request = LogRequest(
            project=options.project,
            path=path,
            options=ReadOptions(
                options.format, encoding=options.encoding, sheet=options.sheet, intent_column=""
            ),
            columns=LogColumns(
                text=options.text_column,
                speaker=options.speaker_column,
                **{name.removesuffix("_column"): vars(options)[name] for name in OF_LOGS},
            ),
            source=options.source or "",
            zone=zone_named(options.zone or "UTC"),
            mask=not options.unmasked,
            dry_run=options.dry_run,
        )
        done = import_log(open_live_studio(studio), request)
    if options.json:
        print_json(done)
    else:
        _say_log(done)


def _say_log(done: TrafficLogReport) -> None:
    timed = sum(done.sources.values())
    days = f", said from {done.first} to {done.last}" if timed else ""
    together = f" ({' and '.join(done.times)} together)" if done.times else ""
    say(f"{counted(timed, 'text')} with a time{together}{days}.")
    if done.kept is not None:
        say(f"  {done.kept:,} stored now")
    would = "would be" if done.dry_run else "is" if done.added == 1 else "are"
    notes = {
        "stored already": done.repeated,
        "left out: the sample of the day and source is full": done.left_out or 0,
        f"of the texts {would} new to the project": done.added,
    }
    for words, count in notes.items():
        if count:
            say(f"  {count:,} {words}")
    _say_left_out(done)
    for how, pieces in (("masked", done.masked), ("not masked", done.unmasked)):
        if pieces:
            say(f"  {how}: {', '.join(f'{count:,} {kind}' for kind, count in pieces.items())}")
    for line in _source_lines(done.sources):
        say(line)


def _say_left_out(done: TrafficLogReport) -> None:
    """Say which rows are none of the texts, and which column tells who spoke."""
    if done.speaker_column:
        say(f"  who spoke is told by the column '{done.speaker_column}'")
    untimed = ", ".join(f"'{time}'" for time in done.examples)
    rows = {
        "of a bot, an agent or a system: left out": done.others,
        "without a text, or with one that is too long: left out": done.textless,
        "with too few or too many cells: left out": done.misshapen,
        f"without a time that can be read, left out: {untimed}": done.untimed,
    }
    for words, count in rows.items():
        if count:
            say(f"  {counted(count, 'row')} {words}")


def _source_lines(sources: Mapping[str, int]) -> list[str]:
    return [f"  {source}: {count:,}" for source, count in list(sources.items())[:_SOURCES_SHOWN]]


def export_log(options: argparse.Namespace) -> None:
    """Export what users said, with its times and sources."""
    unfit = [name for name in _OF_LABELS if vars(options)[name]]
    if unfit:
        name = unfit[0].replace("_", "-")
        raise InvalidInput(f"--{name} does not go with --traffic.", "Leave one of them out.")
    choice = SaidChoice(_day(options.after), _day(options.before), _format(options))
    with opened(options) as studio:
        done = export_traffic(studio, options.project, options.file, choice)
    report(options, "\n".join(_export_lines(options, done)), done)


def _day(words: str | None) -> date | None:
    try:
        return None if words is None else date.fromisoformat(words)
    except ValueError:
        raise InvalidInput(f"'{words}' is no day.", "Write days like 2026-11-26.") from None


def _format(options: argparse.Namespace) -> SaidFormat:
    """Return how the file is written: as its ending or the option says."""
    if options.format == "spreadsheet":
        return "spreadsheet"
    is_csv = options.format == "csv" or options.file.suffix.lower() == ".csv"
    if not is_csv or options.format not in ("auto", "csv"):
        raise InvalidInput(
            "With --traffic, the file is a CSV.",
            "End its name with .csv, or add --format csv or --format spreadsheet.",
        )
    return "csv"


def _export_lines(options: argparse.Namespace, done: ExportedTraffic) -> list[str]:
    texts = counted(done.rows, "text")
    lines = [f"Wrote {texts}, said from {done.first} to {done.last}, to {options.file}."]
    lines += _source_lines(done.sources)
    if done.deleted:
        lines.append(f"  {counted(done.deleted, 'row')} left out: the text was deleted")
    if done.sampled_days:
        days = counted(done.sampled_days, "day")
        limit = f"the limit is {counted(done.limit, 'text')} of a day and source"
        lines.append(f"  of {days} a fair sample: {limit}")
    return lines
