"""The import of a log is taken back: its rows go, and so do its texts that nobody has touched."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from app.services.data.history import list_actions
from app.services.data.projects import (
    create_project,
    delete_project,
    rename_project,
    restore_project,
)
from app.services.labelling.decisions import Operation, decide
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.reports.audit import list_acts
from app.services.studio import Studio
from app.services.traffic import receiving
from app.services.traffic.logs import LogRequest, import_log
from app.services.traffic.receiving import Sent, receive_traffic
from app.services.traffic.undoing import UndoneLog, undo_log
from core.errors import NotFound
from storage.people.acts import ActFilter
from storage.queries import utterances
from storage.queries.utterances import Filter
from storage.said import kept_rows, traffic
from tests.builders.trained_home import change

KEY = "0123456789abcdef0123456789abcdef"
LINES = [f"2026-02-02 10:0{n},text {n},app" for n in range(6)]


@pytest.fixture
def live(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> LiveStudio:
    monkeypatch.setattr(receiving, "_CHUNK", 4)  # the log takes two transactions
    create_project(studio, "p")
    return open_live_studio(studio)


def load(live: LiveStudio, folder: Path, key: str = KEY) -> None:
    path = folder / "log.csv"
    path.write_text("\n".join(["time,text,source", *LINES]) + "\n", encoding="utf-8")
    import_log(live, LogRequest("p", path, upload=(key, "log.csv")))


def texts(live: LiveStudio) -> list[str]:
    with live.studio.database.read() as connection:
        return sorted(row.text for row in utterances.find_all(connection, 1, Filter()))


def said(live: LiveStudio) -> int:
    with live.studio.database.read() as connection:
        return len(traffic.sample(connection, 1, "2026-01-01", "2027-01-01", 1_000))


def test_rows_and_texts_of_a_log_go_and_it_can_be_imported_again(
    live: LiveStudio, tmp_path: Path
) -> None:
    load(live, tmp_path)
    assert (said(live), len(texts(live))) == (6, 6)
    assert undo_log(live, "p", KEY) == UndoneLog(6, 6, 0)
    assert (said(live), texts(live)) == (0, [])
    assert undo_log(live, "p", KEY) == UndoneLog(0, 0, 0)
    load(live, tmp_path, "f" * 32)
    assert (said(live), len(texts(live))) == (6, 6)


def test_what_was_changed_since_or_said_elsewhere_stays(live: LiveStudio, tmp_path: Path) -> None:
    receive_traffic(live, "p", [Sent("text 0", "2026-02-01T10:00:00Z", "bot")], mask=True)
    load(live, tmp_path)
    receive_traffic(live, "p", [Sent("text 1", "2026-02-03T10:00:00Z", "bot")], mask=True)
    change(live.studio, "text 5", "flagged", "look at it", project="p")
    assert undo_log(live, "p", KEY) == UndoneLog(6, 3, 2)
    assert texts(live) == ["text 0", "text 1", "text 5"]
    assert said(live) == 2


def test_an_undo_that_was_cut_off_goes_on(
    live: LiveStudio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.services.traffic import undoing

    load(live, tmp_path)
    whole, calls = undoing._take_back, []

    def cut_off(*given: object) -> object:
        calls.append(given)
        if len(calls) == 2:
            raise OSError("the power went off")
        return whole(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(undoing, "_take_back", cut_off)
    with pytest.raises(OSError, match="power"):
        undo_log(live, "p", KEY)
    assert len(texts(live)) == 2
    assert undo_log(live, "p", KEY) == UndoneLog(0, 2, 0)
    assert texts(live) == []


def test_a_decision_with_a_key_like_that_of_an_import_stays(
    live: LiveStudio, tmp_path: Path
) -> None:
    """It was taken for a part of the import, and the undo ended in a fault of the server."""
    load(live, tmp_path)
    with live.studio.database.read() as connection:
        found = {row.text: row.id for row in utterances.find_all(connection, 1, Filter())}
    [done] = decide(live.studio, "p", [Operation(f"{KEY}-zz", "skip", found["text 5"])])
    assert done.state == "saved"
    assert undo_log(live, "p", KEY) == UndoneLog(6, 5, 1)
    assert texts(live) == ["text 5"]


def test_history_names_the_log_and_nothing_else_is_taken_back(
    live: LiveStudio, tmp_path: Path
) -> None:
    load(live, tmp_path)
    assert {one.origin for one in list_actions(live.studio, "p")} == {"import log.csv"}
    with pytest.raises(NotFound, match="No log was imported under this key"):
        undo_log(live, "p", KEY[:-1])
    assert len(texts(live)) == 6


def test_history_lists_each_import_of_a_log_and_what_it_stored(
    live: LiveStudio, tmp_path: Path
) -> None:
    """A second log of the same texts added none, and History did not list it."""
    load(live, tmp_path)
    load(live, tmp_path, "e" * 32)
    undo_log(live, "p", KEY)
    done = list_acts(live.studio, "p", ActFilter()).acts
    assert [(one.verb, one.about) for one in done if one.verb.endswith(" log")] == [
        ("undo log", "log.csv: 6 rows, 6 texts gone"),
        ("import log", "log.csv: 6 rows read, 0 stored, 0 texts new, 6 stored before"),
        ("import log", "log.csv: 6 rows read, 6 stored, 6 texts new"),
    ]


def test_a_log_that_was_taken_back_can_come_again_under_its_key(
    live: LiveStudio, tmp_path: Path
) -> None:
    """Sent again while it was taken back, it ended in an error: its texts were not added."""
    load(live, tmp_path)
    undo_log(live, "p", KEY)
    load(live, tmp_path)
    assert (said(live), len(texts(live))) == (6, 6)
    load(live, tmp_path)
    assert (said(live), len(texts(live))) == (6, 6)
    assert undo_log(live, "p", KEY) == UndoneLog(6, 6, 0)
    assert (said(live), texts(live)) == (0, [])


def test_a_log_does_not_go_on_into_a_project_that_was_deleted(
    live: LiveStudio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest of it went there, too, and then the import ended in an error."""
    parts = iter(range(9))

    def give_way(*_: object) -> None:
        if next(parts) == 1:
            delete_project(live.studio, "p")

    monkeypatch.setattr(type(live.traffic), "give_way", give_way)
    with pytest.raises(NotFound, match="'p' was deleted meanwhile"):
        load(live, tmp_path)
    restore_project(live.studio, 1)
    assert (said(live), len(texts(live))) == (4, 4)


def test_a_log_is_noted_in_a_project_that_was_renamed_meanwhile(
    live: LiveStudio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of it was stored, and the answer was: There is no project 'p'."""
    still_there = receiving._still_there

    def renamed(studio: Studio, project_id: int, keys: Sequence[str]) -> int:
        rename_project(studio, "p", "q")
        return still_there(studio, project_id, keys)

    monkeypatch.setattr(receiving, "_still_there", renamed)
    load(live, tmp_path)
    assert list_acts(live.studio, "q", ActFilter()).acts[0].verb == "import log"


def test_a_wrong_log_that_was_taken_back_thins_no_other_source(
    live: LiveStudio, tmp_path: Path
) -> None:
    """Its full day went on to thin all sources: 4 texts were taken for a sample of more."""
    settings = live.studio.settings.model_copy(update={"traffic_per_day": 4})
    object.__setattr__(live.studio, "settings", settings)
    busy = [Sent(f"busy {n}", f"2026-02-01T10:00:0{n}Z", "app") for n in range(6)]
    few = [Sent(f"few {n}", f"2026-02-02T10:00:0{n}Z", "phone") for n in range(4)]
    receive_traffic(live, "p", [*busy, *few], mask=True)
    load(live, tmp_path)
    assert [full_days(live, day) for day in (1, 2)] == [1, 1]
    undo_log(live, "p", KEY)
    assert [full_days(live, day) for day in (1, 2)] == [1, 0]
    with live.studio.database.read() as connection:
        assert traffic.count_sent(connection, 1, "2026-02-02", "2026-02-03") == 4
        assert len(traffic.sample(connection, 1, "2026-02-02", "2026-02-03", 100)) == 4


def full_days(live: LiveStudio, day: int) -> int:
    with live.studio.database.read() as connection:
        period = f"2026-02-0{day}", f"2026-02-0{day + 1}"
        return kept_rows.count_sampled_days(connection, 1, *period)
