"""What a log would bring is counted before it is stored, and is what comes then."""

from pathlib import Path

import pytest

from app.services.data.projects import create_project
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.studio import Studio
from app.services.traffic import logs
from app.services.traffic.logs import (
    LogReading,
    LogRequest,
    TrafficLogReport,
    import_log,
    receive_log,
)
from core.errors import InvalidInput
from storage.log import edits, events
from storage.queries import utterances
from storage.queries.utterances import Filter


@pytest.fixture
def live(studio: Studio) -> LiveStudio:
    create_project(studio, "p")
    return open_live_studio(studio)


def load(live: LiveStudio, path: Path, *, dry_run: bool = False) -> TrafficLogReport:
    return import_log(live, LogRequest("p", path, dry_run=dry_run))


def test_what_the_preview_counts_is_what_is_stored(live: LiveStudio, tmp_path: Path) -> None:
    """Of 1,200 new texts of a full day, all were “new to the project”, and some 60 were added."""
    settings = live.studio.settings.model_copy(update={"traffic_per_day": 10})
    object.__setattr__(live.studio, "settings", settings)
    path = tmp_path / "log.csv"
    lines = [f"2026-02-0{2 + n // 1_200} {n % 12 + 9}:00,text {n}" for n in range(1_208)]
    path.write_text("\n".join(["time,text", *lines]) + "\n", encoding="utf-8")
    counted = load(live, path, dry_run=True)
    assert (counted.added, counted.left_out, counted.repeated) == (18, 1_190, 0)
    done = load(live, path)
    assert (done.kept, done.added, done.left_out) == (18, 18, 1_190)
    again = load(live, path, dry_run=True)
    assert (again.added, again.left_out, again.repeated) == (0, 1_190, 18)


def test_a_text_that_was_deleted_is_not_new_while_its_row_is_stored(
    live: LiveStudio, tmp_path: Path
) -> None:
    """The preview told of a new text to be labelled, and the import added none."""
    log = tmp_path / "log.csv"
    log.write_text("time,text\n2026-02-02 10:00,cancel it\n2026-02-02 10:01,where is it\n")
    load(live, log)
    with live.studio.database.write() as connection:
        [text] = (
            one for one in utterances.find_all(connection, 1, Filter()) if one.text == "cancel it"
        )
        events.record(
            connection, 1, events.Action("delete", "local"), [edits.delete_utterance(text)]
        )
    counted = load(live, log, dry_run=True)
    assert (counted.repeated, counted.added, counted.left_out) == (2, 0, 0)
    assert load(live, log).added == 0


def test_a_log_of_too_many_rows_is_refused_and_forgotten(
    live: LiveStudio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A packed log of 50 MB was read whole, however many gigabytes it had."""
    monkeypatch.setattr(logs, "_MOST_ROWS", 3)
    lines = ["time,text", *(f"2026-02-02 10:0{n},text {n}" for n in range(4))]
    log = tmp_path / "log.csv"
    log.write_text("\n".join(lines[:4]), encoding="utf-8")
    assert load(live, log).kept == 3
    log.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InvalidInput, match="has more than 3 rows"):
        load(live, log)
    with pytest.raises(InvalidInput, match=r"^log\.csv has more than 3 rows") as refused:
        receive_log(live, "p", "log.csv", [log.read_bytes()], LogReading("UTC"))
    assert refused.value.hint == "Cut it into several files, such as one for each week."
    assert not list(live.studio.places.uploads.iterdir())
