"""The command `import --traffic`: a log of what users said comes into a project."""

import argparse

from app.services.live.server_state import open_live_studio
from app.services.traffic.logs import LogRequest, TrafficLogReport, import_log
from app.terminal.arguments.given_file import given_file
from app.terminal.arguments.importing import OF_LOGS
from app.terminal.output import opened, print_json, say
from core.formats.rows import ReadOptions
from core.text import counted
from core.traffic.log_rows import LogColumns
from core.traffic.times import zone_named

_SOURCES_SHOWN = 10


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
    for source, count in list(done.sources.items())[:_SOURCES_SHOWN]:
        say(f"  {source}: {count:,}")


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
