"""A figure says which intents it leaves out, on every page that shows it.

A project of 63 intents had test texts of 14, and Home called it “Ready”.
"""

from pathlib import Path

import pytest

from app.cli import main
from app.services.data.intents import merge_intents
from app.services.home.cards import load_cards
from app.services.live.accuracy import accuracy_now
from app.services.live.live_studio import open_live_studio
from app.services.reports.model_report import report, report_page
from app.services.status import load_status
from app.services.studio import Studio
from app.services.training.jobs import project_jobs
from app.services.training.runs import TrainingRequest
from app.services.versions.registry import promote
from app.services.versions.timeline import list_versions
from core.types import no_pause
from tests.builders.trained_home import change, train_here

TESTS = ("my parcel has not arrived", "change my password", "hi", "good morning")
UNTESTED = "3 of 4 intents have test texts; the other one is untested."


@pytest.fixture
def tested(home: Studio, tiny_path: Path) -> Studio:
    """A version of four intents, of which “refund” has no test text."""
    for text in TESTS:
        change(home, text, "split", "test")
    train_here(home, TrainingRequest("p", "instant", {}, base=str(tiny_path)))
    promote(home, "p", 3)
    return home


def test_a_version_and_its_training_say_which_intents_their_figures_leave_out(
    tested: Studio,
) -> None:
    newest = list_versions(tested, "p")[1][-1]
    assert newest.metrics["tested_intents"] == 3
    assert newest.metrics["intents"] == 4
    assert (newest.untested, newest.measured_on) == (UNTESTED, "on 4 test texts when trained")
    job = next(one for one in project_jobs(tested, "p") if one.kind == "train")
    assert (job.untested, job.measured_on) == (newest.untested, newest.measured_on)


def test_home_the_header_and_the_report_say_it_of_today(tested: Studio) -> None:
    live_studio = open_live_studio(tested)
    number = list_versions(tested, "p")[1][-1].number
    now = accuracy_now(tested, *live_studio.models.open("p"), no_pause)
    assert now is not None
    assert (now.tested_intents, now.intents, now.untested) == (3, 4, UNTESTED)
    assert now.measured_on == "on 4 test texts, as it answers now"
    [card] = load_cards(live_studio)
    status = load_status(live_studio, "p")
    for verdict in (card.verdict, status.verdict):
        assert verdict is not None
        assert verdict.gap.startswith(UNTESTED)
        assert verdict.look != "ready"
        assert verdict.title != "Ready to use"
    page = report_page(report(live_studio, "p", number), "", {})
    assert UNTESTED in page
    assert "Not checked, for there is no text of them (1): <bdi>refund</bdi>." in page


def test_an_intent_that_was_merged_away_is_not_missed(tested: Studio) -> None:
    """“Label up to 8 examples of “refund”: each has fewer than that”, and it was archived.

    The header said “3 of 4 intents have test texts” until the next training, and the report
    “1 more without an example: known by name”.
    """
    merge_intents(tested, "p", "refund", "parcel")
    live_studio = open_live_studio(tested)
    now = accuracy_now(tested, *live_studio.models.open("p"), no_pause)
    assert now is not None
    assert (now.tested_intents, now.intents, now.untested) == (3, 3, "")
    found = report(live_studio, "p", list_versions(tested, "p")[1][-1].number)
    assert {line.name for line in found.intents} == {"parcel", "password", "greeting"}
    assert "known by name" not in found.ready.sentences[0]
    assert not any("“refund”" in step for step in found.steps)


def test_evaluate_lists_them_and_writes_all_shares_as_percents(
    tested: Studio, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It printed `answered right` as 0.887 among percents."""
    home = ["--home", str(tested.settings.home)]
    assert main([*home, "evaluate", "p"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Measured on " in told
    assert " when trained." in told
    file = tmp_path / "tests.csv"
    rows = ["text,intent", "nobody ever said this,parcel", "how high is mount everest,oos", ""]
    file.write_text("\n".join(rows), encoding="utf-8")
    assert main([*home, "evaluate", "p", str(file)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Measured on 1 text of the file and 1 that fits no intent." in told
    assert "1 of 4 intents has test texts; the other 3 are untested." in told
    assert "Untested: greeting, password, refund." in told
    right = told.split("answered right", 1)[1].split()
    assert right[:3] in (["│", "0.0", "%"], ["│", "100.0", "%"])
