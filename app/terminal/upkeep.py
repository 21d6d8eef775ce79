"""Commands that keep a studio running and intact."""

import argparse
import shlex
import time
from collections.abc import Iterator
from dataclasses import asdict

from rich.console import Console

from app.services import upkeep
from app.services.pruning import prune
from app.services.studio import Studio
from app.services.training.jobs import cancel_job, list_jobs, read_log, resume_job
from app.terminal.job_table import show_jobs
from app.terminal.output import opened, places_of, print_json, report, say, settings_of, table, tell
from core.errors import InvalidInput, StudioError
from core.text import counted, size_words
from storage.database import damage, older_database
from storage.faults import damaged
from storage.records import JobRecord

_POLL_SECONDS = 0.5
_REPRINT_SECONDS = 2.0


def jobs(options: argparse.Namespace) -> None:
    """List the jobs, following them with --watch; or print what one of them has printed."""
    if options.verb_of_job:
        _print_log(options)
        return
    console = Console(quiet=options.json)
    with opened(options) as studio:
        pause = _POLL_SECONDS if console.is_terminal else _REPRINT_SECONDS
        records = show_jobs(_looks(studio, pause if options.watch else None), console)
    if options.json:
        print_json({"jobs": records})


def _print_log(options: argparse.Namespace) -> None:
    if options.job is None:
        raise InvalidInput("No job was named.", "`intent-studio jobs` lists them.")
    with opened(options) as studio:
        job, log = read_log(studio, options.job)
    words = log.rstrip() or f"Job {job.id} has printed nothing."
    report(options, words, {"job": job.id, "state": job.state, "log": log})


def _looks(studio: Studio, pause: float | None) -> Iterator[list[JobRecord]]:
    """Yield the jobs once; with a pause in seconds, repeatedly until all have ended."""
    while True:
        records = list_jobs(studio)
        yield records
        if pause is None or all(job.ended for job in records):
            return
        time.sleep(pause)


def cancel(options: argparse.Namespace) -> None:
    """Ask a job to stop."""
    with opened(options) as studio:
        job = cancel_job(studio, options.job)
    did = f"has ended: {job.state}." if job.ended else "was asked to stop."
    report(options, f"Job {job.id} {did}", {"job": job.id, "state": job.state})


def resume(options: argparse.Namespace) -> None:
    """Continue a cancelled job."""
    with opened(options) as studio:
        job = resume_job(studio, options.job)
    words = f"Job {job.id} goes on from where it was. `intent-studio jobs --watch` follows it."
    report(options, words, {"job": job.id, "state": job.state})


def backup(options: argparse.Namespace) -> None:
    """Copy everything into one file; with --keep, into a dated one of a folder."""
    if options.keep is not None:
        _back_up_dated(options)
        return
    with opened(options) as studio:
        count = upkeep.back_up(studio, options.out)
    report(options, f"Wrote {counted(count, 'file')} to {options.out}.", {"files": count})


def _back_up_dated(options: argparse.Namespace) -> None:
    if options.keep < 1:
        raise InvalidInput("At least one backup is kept.", "Say --keep 7, for instance.")
    with opened(options) as studio:
        made = upkeep.back_up_dated(studio, options.out, options.keep)
    files, older = counted(made.files, "file"), counted(made.deleted, "older one")
    words = f"Wrote {files} to {made.file}; {older} deleted."
    report(options, words, {**asdict(made), "file": str(made.file)})


def restore(options: argparse.Namespace) -> None:
    """Restore a backup into an empty home."""
    settings = settings_of(options)
    if settings.database_url:
        raise InvalidInput(
            "A backup is restored into a home, with the database in it.",
            "Leave out --database-url, and unset the variable STUDIO_DATABASE_URL.",
        )
    home = settings.folder
    count = upkeep.restore(options.file, home)
    words = f"Brought {counted(count, 'file')} to {home}."
    report(options, words, {"files": count, "home": str(home)})
    if not options.json:
        tell(f"Next: intent-studio --home {shlex.quote(str(home))} doctor")


def doctor(options: argparse.Namespace) -> None:
    """Check the studio for faults; with --prune, count or delete what nothing needs any more."""
    if options.prune:
        _prune(options)
        return
    findings = _examine(options)
    if options.json:
        print_json({"healthy": all(f.healthy for f in findings), "findings": findings})
    else:
        rows = [("ok" if f.healthy else "AMISS", f.subject, f.detail) for f in findings]
        table("Doctor", ("", "subject", "finding"), rows)
    if any(f.mends for f in findings) and not options.json:
        say("`intent-studio doctor --repair` mends some of it, and loses nothing.")
    ill = [f.subject for f in findings if not f.healthy]
    if "database" in ill:
        raise damaged(places_of(options).database)
    rest = [f for f in findings if not f.healthy and not f.mends]
    if rest:
        remedies = dict.fromkeys(f.remedy for f in rest if f.remedy)
        raise StudioError(f"Out of order: {', '.join(ill)}.", " ".join(remedies))


def _prune(options: argparse.Namespace) -> None:
    with opened(options) as studio:
        pruned = prune(studio, now=options.now)
    if options.json:
        print_json({"done": options.now, "pruned": pruned})
        return
    rows = [(one.kind, f"{one.count:,}", size_words(one.bytes)) for one in pruned]
    table("Pruned" if options.now else "To prune", ("what", "how many", "files"), rows)
    if not options.now and any(one.count for one in pruned):
        say("`intent-studio doctor --prune --now` deletes it.")


def _examine(options: argparse.Namespace) -> list[upkeep.HealthCheck]:
    database = places_of(options).database
    found = damage(database)
    if found:
        return upkeep.examine_damaged(settings_of(options), found, repair=options.repair)
    older = None if options.repair else older_database(database)
    if older is not None:  # to open it upgrades it
        return upkeep.examine_older(settings_of(options), older)
    with opened(options) as studio:
        return upkeep.examine(studio, repair=options.repair)


def completion(options: argparse.Namespace) -> None:
    """Print the script by which a shell completes commands, derived from their parser."""
    import shtab

    from app.terminal.arguments.parser import build_parser

    say(shtab.complete(build_parser(), options.shell))
