"""What people said goes out with its times and sources, and comes in again as the same rows."""

import json
from datetime import date
from pathlib import Path

import pytest

from app.cli import main
from app.services.data.erasing import erase_texts
from app.services.data.projects import create_project
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.reports.audit import list_acts
from app.services.studio import Studio
from app.services.traffic.exporting import ExportedTraffic, SaidChoice, export_traffic
from app.services.traffic.logs import LogRequest, import_log
from app.services.traffic.receiving import Sent, receive_traffic
from core.errors import InvalidInput, NotFound
from storage.log import edits, events
from storage.people.acts import ActFilter
from storage.queries import utterances
from storage.queries.utterances import Filter
from storage.said import kept_rows

SAID = (
    Sent("first line\nsecond line", "2026-02-03T08:00:00Z", "app"),
    Sent("where is it, please", "2026-02-02T10:00:00Z", "app"),
    Sent("where is it, please", "2026-02-02T10:00:00Z", "app"),
    Sent("=1+1", "2026-02-02T10:00:00+01:00", "phone"),
    Sent('say "hi"', "2026-02-04T00:00:00Z", "phone"),
)
WRITTEN = """time,source,text
2026-02-02T09:00:00Z,phone,=1+1
2026-02-02T10:00:00Z,app,"where is it, please"
2026-02-02T10:00:00Z,app,"where is it, please"
2026-02-03T08:00:00Z,app,"first line
second line"
2026-02-04T00:00:00Z,phone,"say ""hi\"""
"""


@pytest.fixture
def live(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> LiveStudio:
    monkeypatch.setattr(kept_rows, "_READ_AT_ONCE", 2)  # five rows are read three times
    create_project(studio, "p")
    opened = open_live_studio(studio)
    receive_traffic(opened, "p", SAID, mask=True)
    return opened


def days(after: str | None = None, before: str | None = None) -> SaidChoice:
    first, behind = (None if day is None else date.fromisoformat(day) for day in (after, before))
    return SaidChoice(first, behind)


def delete(live: LiveStudio, text: str) -> None:
    with live.studio.database.write() as connection:
        found = utterances.find_all(connection, 1, Filter())
        changes = [edits.delete_utterance(row) for row in found if row.text == text]
        events.record(connection, 1, events.Action("delete", "local"), changes)


def test_what_is_written_is_read_again_as_the_same_rows(live: LiveStudio, tmp_path: Path) -> None:
    """Nothing took the times and sources out: a second studio began without them."""
    out, again = tmp_path / "said.csv", tmp_path / "again.csv"
    done = export_traffic(live.studio, "p", out)
    sources = {"app": 3, "phone": 2}
    assert done == ExportedTraffic(5, "2026-02-02", "2026-02-04", sources, 0, 0, 2_000)
    assert out.read_bytes() == WRITTEN.encode()
    create_project(live.studio, "q")
    loaded = import_log(live, LogRequest("q", out))
    assert (loaded.kept, loaded.added, loaded.sources) == (5, 4, sources)
    assert export_traffic(live.studio, "q", again) == done
    assert again.read_bytes() == out.read_bytes()


@pytest.mark.parametrize("project", ["p", "q"])
def test_a_file_that_is_imported_twice_adds_nothing(
    live: LiveStudio, tmp_path: Path, project: str
) -> None:
    out = tmp_path / "said.csv"
    export_traffic(live.studio, "p", out)
    if project == "q":
        create_project(live.studio, "q")
        import_log(live, LogRequest("q", out))
    again = import_log(live, LogRequest(project, out))
    assert (again.kept, again.repeated, again.added, again.left_out) == (0, 5, 0, 0)
    assert export_traffic(live.studio, project, out).rows == 5
    assert out.read_bytes() == WRITTEN.encode()


@pytest.mark.parametrize(
    ("choice", "n", "told"),
    [
        (days("2026-02-03"), 2, ("2026-02-03", "2026-02-04")),
        (days(before="2026-02-03"), 3, ("2026-02-02", "2026-02-02")),
        (days("2026-02-03", "2026-02-04"), 1, ("2026-02-03", "2026-02-03")),
        (days("2026-02-04", "2026-02-05"), 1, ("2026-02-04", "2026-02-04")),
        (days("2020-01-01", "2030-01-01"), 5, ("2026-02-02", "2026-02-04")),
    ],
)
def test_a_period_begins_with_its_first_day_and_ends_before_the_other(
    live: LiveStudio, tmp_path: Path, choice: SaidChoice, n: int, told: tuple[str, str]
) -> None:
    done = export_traffic(live.studio, "p", tmp_path / "said.csv", choice)
    assert (done.rows, done.first, done.last) == (n, *told)


def test_rows_of_deleted_and_erased_texts_are_left_out(live: LiveStudio, tmp_path: Path) -> None:
    """Erased rows are gone for good; those of a deleted text come back with Undo, and count."""
    out = tmp_path / "said.csv"
    delete(live, "where is it, please")
    done = export_traffic(live.studio, "p", out)
    assert (done.rows, done.deleted, done.sources) == (3, 2, {"phone": 2, "app": 1})
    assert "where is it" not in out.read_text(encoding="utf-8")
    assert export_traffic(live.studio, "p", out, days("2026-02-03")).deleted == 0
    erase_texts(live.studio, "p", ['say "hi"'], now=True)
    done = export_traffic(live.studio, "p", out)
    assert (done.rows, done.deleted, done.last) == (2, 2, "2026-02-03")
    assert "hi" not in out.read_text(encoding="utf-8")


def test_a_period_without_a_text_is_refused_in_words_and_the_old_file_stays(
    live: LiveStudio, tmp_path: Path
) -> None:
    out = tmp_path / "said.csv"
    out.write_bytes(b"old")
    for choice, words in (
        (days("2026-03-01", "2026-04-01"), "said from 2026-03-01 to before 2026-04-01"),
        (days("2026-03-01"), "said from 2026-03-01 on"),
        (days(before="2026-02-02"), "said before 2026-02-02"),
    ):
        with pytest.raises(InvalidInput, match=f"No text was {words}.") as refused:
            export_traffic(live.studio, "p", out, choice)
        assert refused.value.hint == "The texts were said from 2026-02-02 to 2026-02-04."
    with pytest.raises(InvalidInput, match="there is no day"):
        export_traffic(live.studio, "p", out, days("2026-02-03", "2026-02-03"))
    delete(live, 'say "hi"')
    with pytest.raises(InvalidInput, match="All texts that were said in these days were deleted"):
        export_traffic(live.studio, "p", out, days("2026-02-04"))
    create_project(live.studio, "q")
    with pytest.raises(InvalidInput, match="Nothing that people said is stored here"):
        export_traffic(live.studio, "q", out)
    with pytest.raises(NotFound):
        export_traffic(live.studio, "r", out)
    assert out.read_bytes() == b"old"
    assert list(tmp_path.glob(".part-*")) == []
    assert list_acts(live.studio, "p", ActFilter(verb="export log")).total == 0


def test_days_of_which_more_texts_came_than_are_kept_are_told(
    live: LiveStudio, tmp_path: Path
) -> None:
    settings = live.studio.settings.model_copy(update={"traffic_per_day": 4})
    object.__setattr__(live.studio, "settings", settings)
    many = [Sent(f"text {n}", f"2026-02-05T10:0{n}:00Z", "app") for n in range(6)]
    receive_traffic(live, "p", many, mask=True)
    done = export_traffic(live.studio, "p", tmp_path / "said.csv")
    assert (done.rows, done.sampled_days, done.limit) == (9, 1, 4)
    before = days(before="2026-02-05")
    assert export_traffic(live.studio, "p", tmp_path / "said.csv", before).sampled_days == 0


def test_a_file_for_spreadsheets_computes_nothing(live: LiveStudio, tmp_path: Path) -> None:
    out = tmp_path / "said.csv"
    export_traffic(live.studio, "p", out, SaidChoice(format="spreadsheet"))
    assert out.read_text(encoding="utf-8") == WRITTEN.replace("=1+1", "'=1+1")


def test_the_command_says_what_it_wrote(
    live: LiveStudio, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "said.csv"
    command = ["--home", str(live.studio.settings.home), "export", "p", str(out), "--traffic"]
    delete(live, "=1+1")
    assert main(command) == 0
    said = f"Wrote 4 texts, said from 2026-02-02 to 2026-02-04, to {out}.\n  app: 3\n  phone: 1\n"
    assert capsys.readouterr().out == said + "  1 row left out: the text was deleted\n"
    assert main([*command, "--after", "2026-02-03", "--before", "2026-02-04", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["rows"], told["sources"], told["deleted"]) == (1, {"app": 1}, 0)
    sheet = str(tmp_path / "said.sheet")
    assert main([*command[:4], sheet, "--traffic", "--format", "spreadsheet"]) == 0
    acts = list_acts(live.studio, "p", ActFilter(verb="export log")).acts
    assert [one.about for one in acts][1:] == [
        "1 row, 2026-02-03 to 2026-02-03",
        "4 rows, 2026-02-02 to 2026-02-04",
    ]


def test_the_command_says_that_a_full_day_is_a_sample(
    live: LiveStudio,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("STUDIO_TRAFFIC_PER_DAY", "1")
    home, log = ["--home", str(live.studio.settings.home)], tmp_path / "log.csv"
    lines = "2026-02-05 10:00,hello,app\n2026-02-05 11:00,bye,app\n"
    log.write_text(f"time,text,source\n{lines}", encoding="utf-8")
    assert main([*home, "import", "p", str(log), "--traffic"]) == 0
    capsys.readouterr()
    assert main([*home, "export", "p", str(tmp_path / "said.csv"), "--traffic"]) == 0
    told = "  of 1 day a fair sample: the limit is 1 text of a day and source\n"
    assert capsys.readouterr().out.endswith(told)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["said.csv", "--traffic", "--split", "test"], "--split does not go with --traffic"),
        (["said.csv", "--traffic", "--dry-run"], "--dry-run does not go with --traffic"),
        (["said.csv", "--traffic", "--format", "jsonl"], "the file is a CSV"),
        (["said.xlsx", "--traffic"], "the file is a CSV"),
        (["said.csv", "--traffic", "--after", "soon"], "'soon' is no day"),
        (["said.csv", "--after", "2026-02-03"], "--after and --before go with --traffic"),
    ],
)
def test_the_command_refuses_what_does_not_go_together(
    live: LiveStudio,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    given: list[str],
    told: str,
) -> None:
    file, *options = given
    home = str(live.studio.settings.home)
    assert main(["--home", home, "export", "p", str(tmp_path / file), *options]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / file).exists()
