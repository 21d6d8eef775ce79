"""Commands by which a project leaves for files, platforms and git, and comes back."""

import argparse
from pathlib import Path

from app.services.data.exporting import (
    ExportChoice,
    export_file,
    export_onto,
    number_of,
    words_of,
)
from app.services.exchange.handover import (
    HandoverChoice,
    look_at_handover,
    words_of_handover,
    write_project,
)
from app.services.sync.report import words_of as sync_words
from app.services.sync.syncing import SyncRequest, sync_folder
from app.terminal.output import opened, report, tell
from core.errors import InvalidInput
from core.exports.targets import TARGETS, Target
from core.files import write_atomically
from core.platforms.readers.rasa_yaml import RASA_ENDINGS
from core.sync.driver import merge_files
from core.text import counted

_BY_ENDING: dict[str, Target] = {".xlsx": "xlsx", ".parquet": "parquet", ".lu": "lu"}
"""Endings that say which format of a tool is meant."""


def export(options: argparse.Namespace) -> None:
    """Export a project, to a file or onto the package that it came from; or what people said."""
    if options.traffic:
        from app.terminal.exchange.traffic_logs import export_log

        export_log(options)
        return
    if options.after or options.before:
        raise InvalidInput("--after and --before go with --traffic.", "Add it, or leave them out.")
    if options.onto is not None:
        _export_onto(options)
    else:
        _export_whole(options)


def _export_whole(options: argparse.Namespace) -> None:
    """Export to a file, or as a platform or a tool keeps a project."""
    if options.remove_missing:
        raise InvalidInput("--remove-missing goes with --onto.", "Name the package, too.")
    if _is_handover(options):
        _hand_over(options)
        return
    if options.dry_run:
        raise InvalidInput(
            "--dry-run goes with --onto, or with the --format of a platform.",
            "Name the package or the platform, or leave it out.",
        )
    with opened(options) as studio:
        kind = None if options.format == "auto" else options.format
        choice = ExportChoice(kind, options.version, options.split)
        done = export_file(studio, options.project, options.file, choice)
    report(options, f"Wrote {counted(done.written, 'utterance')} to {options.file}.", done)
    if done.without_intent:
        tell(f"Left out: {counted(done.without_intent, 'text')} without an intent.")
    if done.left_out:
        texts = counted(done.left_out, "test text")
        tell(
            f"Left out: {texts}. Such a file has no place for the split; --split test writes them."
        )
    for line in (line for one in done.losses for line in one.lines("Not carried")):
        tell(line)


def _export_onto(options: argparse.Namespace) -> None:
    """Write a copy of the package that the project came from, with its labels."""
    with opened(options) as studio:
        written = export_onto(
            studio,
            options.project,
            options.onto,
            options.file,
            dry_run=options.dry_run,
            remove_missing=options.remove_missing,
        )
    report(options, "\n".join(words_of(written)), written)
    if written.missing > written.removed and not options.remove_missing:
        tell("--remove-missing removes phrases that were deleted or reworded in the project.")


def _is_handover(options: argparse.Namespace) -> bool:
    """Whether the format is a platform's or a tool's; Rasa's examples alone are one YAML file."""
    if options.format == "rasa":
        return options.file.suffix.lower() not in RASA_ENDINGS
    if options.format == "auto":
        return options.file.suffix.lower() in _BY_ENDING
    return options.format in TARGETS


def _hand_over(options: argparse.Namespace) -> None:
    """Write a whole project as a platform or a tool keeps it."""
    is_told = options.format != "auto"
    choice = HandoverChoice(
        target=options.format if is_told else _BY_ENDING[options.file.suffix.lower()],
        version=None if options.version is None else number_of(options.version),
        split=options.split,
        language=options.language,
    )
    with opened(options) as studio:
        if options.dry_run:
            done = look_at_handover(studio, options.project, choice)
        else:
            done = write_project(studio, options.project, choice, options.file)
    report(options, "\n".join(words_of_handover(done)), done)
    if done.warning:
        tell("To bring the labels into the agent that you have, name its export by --onto.")


def sync(options: argparse.Namespace) -> None:
    """Sync a project with a folder of text files."""
    with opened(options, makes=True) as studio:
        request = SyncRequest(options.project, options.folder, options.author, options.dry_run)
        done = sync_folder(studio, request)
    report(options, "\n".join(sync_words(done)), done)
    if done.first and not done.dry_run:
        tell("Once in each clone, so that git merges texts one by one:")
        tell('  git config merge.intent-studio.driver "intent-studio git-merge %O %A %B %P"')


def git_merge(options: argparse.Namespace) -> None:
    """Merge a file of a folder, as git asks for it: the result replaces `ours`."""
    base, ours, theirs = (
        path.read_bytes() for path in (options.base, options.ours, options.theirs)
    )
    done, n = merge_files(base, ours, theirs, Path(options.path).name)
    write_atomically(options.ours, [done])
    if n:
        raise InvalidInput(
            f"{options.path}: {counted(n, 'line')} changed differently on both sides.",
            "Choose one of the two lines of each, and remove git's marks.",
        )
