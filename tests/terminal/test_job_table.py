"""`jobs --watch` without a terminal: what is laid out, when it is printed, and how it ends."""

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from app.cli import main
from app.services.studio import Studio
from app.terminal.job_table import job_table, show_jobs
from storage import jobs
from storage.records import JobRecord

TURN_UP = "\x1b[1A"
"""The terminal's cursor goes up a line."""


@pytest.fixture
def queued(studio: Studio) -> JobRecord:
    with studio.database.write() as connection:
        return jobs.enqueue(connection, "train", {})


@pytest.fixture
def running(queued: JobRecord) -> JobRecord:
    words = "tuning, epoch 2, loss [0.5]"
    return replace(queued, state="running", progress=0.416, stage=words, eta_seconds=65.4)


def cells(rows: list[JobRecord]) -> list[list[str]]:
    table = job_table(rows)
    return [[str(cell) for cell in column.cells] for column in table.columns]


def screen(*, terminal: bool) -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    console = Console(
        file=out, force_terminal=terminal, width=140, height=20, legacy_windows=False, _environ={}
    )
    return console, out


def test_a_row_tells_share_time_left_and_stage_as_they_are(
    queued: JobRecord, running: JobRecord
) -> None:
    failed = replace(queued, state="failed", message="There are no labels.")
    heads = [str(column.header) for column in job_table([]).columns]
    found = dict(zip(heads, cells([running, queued, failed]), strict=True))
    assert found == {
        "job": [queued.id] * 3,
        "kind": ["train"] * 3,
        "state": ["running", "queued", "failed"],
        "done": ["42 %", "0 %", "0 %"],
        "left": ["0:01:05", "", ""],
        "stage": ["tuning, epoch 2, loss [0.5]", "waiting", "waiting"],
        "message": ["", "", "There are no labels."],
    }


def test_on_a_terminal_each_look_takes_the_place_of_the_one_before(running: JobRecord) -> None:
    ended = replace(running, state="succeeded", progress=1.0, eta_seconds=None)
    console, out = screen(terminal=True)
    assert show_jobs(iter([[running], [ended]]), console) == [ended]
    assert out.getvalue().count(TURN_UP) >= 5  # the height of the table, to write over it
    assert out.getvalue().rindex("succeeded") > out.getvalue().rindex("42 %")


def test_elsewhere_only_what_differs_is_printed_again(running: JobRecord) -> None:
    beaten = replace(running, beat=running.beat + 1)
    ended = replace(running, state="succeeded", progress=1.0, eta_seconds=None)
    console, out = screen(terminal=False)
    show_jobs(iter([[running], [beaten], [ended]]), console)
    assert "\x1b" not in out.getvalue()
    assert [out.getvalue().count(word) for word in ("running", "succeeded")] == [1, 1]


@pytest.mark.parametrize("terminal", [True, False])
def test_ctrl_c_ends_the_looking_with_what_was_seen_last(
    running: JobRecord, *, terminal: bool
) -> None:
    def looks() -> Iterator[list[JobRecord]]:
        yield [running]
        raise KeyboardInterrupt

    console, out = screen(terminal=terminal)
    assert show_jobs(looks(), console) == [running]
    assert "42 %" in out.getvalue()


def test_watching_ends_by_itself_and_by_ctrl_c_with_exit_code_0(
    tmp_path: Path, running: JobRecord, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    ended = replace(running, state="succeeded", progress=1.0, eta_seconds=None)
    seen = iter([[running], [ended]])
    monkeypatch.setattr("app.terminal.upkeep.list_jobs", lambda _: next(seen))
    monkeypatch.setattr("app.terminal.upkeep._REPRINT_SECONDS", 0.0)
    assert main(["--home", str(tmp_path), "new", "p"]) == 0
    capsys.readouterr()
    assert main(["--home", str(tmp_path), "jobs", "--watch", "--json"]) == 0
    out = capsys.readouterr().out
    assert [job["state"] for job in json.loads(out)["jobs"]] == ["succeeded"]  # and nothing else

    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("app.terminal.upkeep.list_jobs", lambda _: [running])
    monkeypatch.setattr("app.terminal.upkeep.time.sleep", interrupted)
    assert main(["--home", str(tmp_path), "jobs", "--watch"]) == 0
    assert "running" in capsys.readouterr().out
