"""What a report says to do follows from the texts that its own figures stand on."""

from app.services.data.projects import rename_project
from app.services.live.live_studio import open_live_studio
from app.services.reports.model_report import report
from app.services.reports.next_steps import _of_intents
from app.services.reports.report_views import IntentLine
from app.services.studio import Studio
from tests.builders.trained_home import change


def test_a_report_on_todays_test_texts_does_not_ask_for_test_texts(home: Studio) -> None:
    """“Its figures come from its own examples” was said of 2 test texts: the training had none."""
    live_studio = open_live_studio(home)
    (before, *_) = report(live_studio, "p", 1).steps
    assert before.startswith("Label some test texts")
    for text in ("hi", "change my password"):
        change(home, text, "split", "test")
    live_studio.pools.wait(1)
    found = report(live_studio, "p", 1)
    assert not found.metrics["judged_on"].startswith("test")
    assert found.ready.figures[0].basis.endswith(" of 2 test texts answered right today")
    assert not [one for one in found.steps if one.startswith("Label some test texts")]


def test_a_report_bears_the_new_name_of_its_project(home: Studio) -> None:
    """Its link and its file were titled by the former name, which another project had by then."""
    live_studio = open_live_studio(home)
    assert report(live_studio, "p", 2).project == "p"
    rename_project(home, "p", "q")
    assert report(live_studio, "q", 2).project == "q"


def test_of_several_intents_each_is_answered_too_often() -> None:
    """ "Check the examples of “refund” and “bill”: it is often answered" spoke of both as one."""
    greedy = [IntentLine(name, 10, "t", 0.5, 1.0, 5) for name in ("refund", "bill")]
    often = "is often answered where something else was meant."
    assert _of_intents(greedy, ()) == [f"Check the examples of “refund” and “bill”: each {often}"]
    assert _of_intents(greedy[:1], ()) == [f"Check the examples of “refund”: it {often}"]
