"""Commands that keep a studio running and intact."""

import argparse
import time
from collections.abc import Iterator

from rich.console import Console

from app.services import upkeep
from app.services.studio import Studio
from app.services.training.jobs import cancel_job, list_jobs, read_log, resume_job
from app.settings import Settings
from app.terminal.job_table import show_jobs
from app.terminal.output import opened, print_json, report, table
from core.errors import InvalidInput, StudioError
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
    """Copy everything into one file."""
    with opened(options) as studio:
        count = upkeep.back_up(studio, options.out)
    report(options, f"Wrote {count} files to {options.out}.", {"files": count})


def restore(options: argparse.Namespace) -> None:
    """Restore a backup into an empty home."""
    home = Settings(**({"home": options.home} if options.home else {})).folder
    count = upkeep.restore(options.file, home)
    report(options, f"Brought {count} files to {home}.", {"files": count, "home": str(home)})


def doctor(options: argparse.Namespace) -> None:
    """Check the studio for faults."""
    with opened(options) as studio:
        findings = upkeep.examine(studio)
    if options.json:
        print_json({"healthy": all(f.healthy for f in findings), "findings": findings})
    else:
        rows = [("ok" if f.healthy else "AMISS", f.subject, f.detail) for f in findings]
        table("Doctor", ("", "subject", "finding"), rows)
    ill = [f.subject for f in findings if not f.healthy]
    if ill:
        raise StudioError(f"Out of order: {', '.join(ill)}.", "Restore a backup, or train again.")
