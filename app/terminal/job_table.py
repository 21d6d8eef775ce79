"""Jobs as a table that is updated in place."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import timedelta

from rich.console import Console
from rich.live import Live
from rich.table import Table

from app.terminal.output import build_table
from core.text import percent
from storage.records import JobRecord

_HEAD = ("job", "kind", "state", "done", "left", "stage", "message")


def job_table(records: Sequence[JobRecord]) -> Table:
    """Build a table of jobs, in the order given."""
    return build_table("Jobs", _HEAD, [_cells(job) for job in records])


def show_jobs(looks: Iterator[list[JobRecord]], console: Console) -> list[JobRecord]:
    """Show the jobs each time they are yielded; return the last ones.

    On a terminal each table replaces the one before; elsewhere, as in a file, a changed table is
    printed below. Ctrl-C ends the command, but not the jobs.
    """
    records: list[JobRecord] = []
    with suppress(KeyboardInterrupt):
        if console.is_terminal:
            with Live(console=console, auto_refresh=False) as live:
                for records in looks:
                    live.update(job_table(records), refresh=True)
        else:
            shown: list[tuple[str, ...]] | None = None
            for records in looks:
                cells = [_cells(job) for job in records]
                if cells != shown:
                    console.print(job_table(records))
                shown = cells
    return records


def _cells(job: JobRecord) -> tuple[str, ...]:
    left = (
        ""
        if job.ended or job.eta_seconds is None
        else str(timedelta(seconds=round(job.eta_seconds)))
    )
    return (job.id, job.kind, job.state, percent(job.progress), left, job.stage, job.message)
