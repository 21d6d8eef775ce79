"""The verdict on the version in use goes by the pins of today, whichever it was trained with."""

import pytest

from app.services.home.cards import load_cards
from app.services.live import accuracy
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.reports.model_report import report
from app.services.reports.versions_now import compare_now
from app.services.status import load_status
from app.services.studio import Studio
from app.services.trying.pins import load_pins, remove_pin, set_pin
from app.services.versions.registry import promote
from app.services.versions.verdict import ReadyVerdict
from core.errors import DatabaseBusy
from storage import models, projects
from storage.queries import dataset
from storage.tables import model_version
from tests.builders.trained_home import add_test, change
from tests.waiting import wait_until

TESTS = ("my parcel has not arrived", "change my password", "hi", "good morning")
ASKED = "where is my money"


@pytest.fixture
def live_studio(home: Studio) -> LiveStudio:
    for text in TESTS:
        change(home, text, "split", "test")
    add_test(home, "nobody ever said this", "refund")  # version 2 was tuned on the others
    return open_live_studio(home)


def verdict(live_studio: LiveStudio) -> ReadyVerdict:
    """Return the verdict of the header once it is counted; Home has the same."""
    live_studio.models.get(1)

    def counted() -> bool:
        status = load_status(live_studio, "p")
        if status.now is not None and not status.checking:
            return True
        live_studio.accuracies.kept[1].rest_until = 0.0
        return False

    wait_until(counted, "the accuracy of now is counted")
    status = load_status(live_studio, "p")
    assert status.verdict is not None
    [card] = load_cards(live_studio)
    assert card.verdict == status.verdict
    return status.verdict


def answer_of(live_studio: LiveStudio, *, right: bool) -> str:
    """Return the id of the intent that the live model answers, or of another one."""
    live = live_studio.models.get(1)
    assert live is not None
    said = live.pipeline.predict([ASKED])[0].ranked[0].intent
    with live_studio.studio.database.read() as connection:
        intents = dataset.intents(connection, 1)
    return next(one.id for one in intents if (one.name == said) == right)


def pinned_when_trained(studio: Studio, number: int, broken: list[dict]) -> None:
    with studio.database.write() as connection:
        rows = model_version.update().where(model_version.c.number == number)
        connection.execute(rows.values(pins={"kept": 0, "broken": broken}))


def test_a_pin_counts_from_when_it_is_set_until_it_is_removed(live_studio: LiveStudio) -> None:
    """Header and Home stayed red for ever by a pin that had been removed."""
    assert not any("pin" in one for one in verdict(live_studio).reasons)
    wrong = answer_of(live_studio, right=False)
    set_pin(live_studio, "p", ASKED, [wrong])
    [found] = load_pins(live_studio, "p")
    told = f"It breaks 1 pin: “{ASKED}” must get {found.expected} and gets {found.answer}."
    assert verdict(live_studio).level == "not-ready"
    assert told in verdict(live_studio).reasons
    live = report(live_studio, "p", 2)
    assert told in live.ready.reasons
    assert any(found.expected in step and "1 broken pin" in step for step in live.steps)
    expected = live_studio.models.get(1).pipeline.predict([ASKED])[0].decision.intents
    with live_studio.studio.database.read() as connection:
        ids = [one.id for one in dataset.intents(connection, 1) if one.name in expected]
    set_pin(live_studio, "p", ASKED, ids)
    assert load_status(live_studio, "p").verdict.reasons == verdict(live_studio).reasons
    assert not any("pin" in one for one in verdict(live_studio).reasons)
    kept = report(live_studio, "p", 2)
    assert not any("pin" in one for one in (*kept.ready.reasons, *kept.steps))
    set_pin(live_studio, "p", ASKED, [wrong])
    assert told in verdict(live_studio).reasons
    remove_pin(live_studio, "p", ASKED)
    at_once = load_status(live_studio, "p").verdict
    assert not any("pin" in one for one in at_once.reasons)


def test_every_version_is_judged_by_the_pins_of_today(live_studio: LiveStudio) -> None:
    """Of two versions that broke one pin, the one trained after it was red, the other green."""
    studio = live_studio.studio
    set_pin(live_studio, "p", ASKED, [answer_of(live_studio, right=False)])
    stored = [{"text": "a pin of then", "expected": ["x"], "answer": ["y"]}]
    for number, pins in ((1, []), (2, stored)):
        pinned_when_trained(studio, number, pins)
        promote(studio, "p", number)
        [pin] = load_pins(live_studio, "p")
        told = [one for one in verdict(live_studio).reasons if "pin" in one]
        assert len(told) == (0 if pin.kept else 1)
        assert told == [
            one for one in report(live_studio, "p", number).ready.reasons if "pin" in one
        ]
    missed = compare_now(live_studio, "p", 2, 1).pins_of("missed")
    assert [one.text for one in missed] == [ASKED]


def test_before_the_model_is_asked_the_pins_of_its_training_count_if_they_still_stand(
    live_studio: LiveStudio,
) -> None:
    studio = live_studio.studio
    with studio.database.read() as connection:
        intents = dataset.intents(connection, 1)
        project, champion = projects.find(connection, "p"), models.champion(connection, 1)
    one = {"text": ASKED, "expected": [intents[0].name], "answer": [intents[1].name]}
    pinned_when_trained(studio, champion.number, [one, {**one, "text": "gone"}])
    with studio.database.read() as connection:
        champion = models.champion(connection, 1)
    assert live_studio.accuracies.broken_pins(project, champion) == ()
    set_pin(live_studio, "p", ASKED, [intents[0].id])
    [broken] = live_studio.accuracies.broken_pins(project, champion)
    assert (broken.text, broken.answer) == (ASKED, intents[1].name)
    set_pin(live_studio, "p", ASKED, [intents[2].id])
    assert live_studio.accuracies.broken_pins(project, champion) == ()


def test_a_figure_that_failed_is_computed_again_and_no_pin_counts_as_kept(
    live_studio: LiveStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database that was busy once left no test text and no broken pin, until the next change."""
    set_pin(live_studio, "p", ASKED, [answer_of(live_studio, right=False)])
    found = accuracy.Accuracies(live_studio.studio, live_studio.models, live_studio.traffic)
    with live_studio.studio.database.read() as connection:
        project, champion = projects.find(connection, "p"), models.champion(connection, 1)

    def ended() -> tuple[accuracy.AccuracyNow | None, bool]:
        found.get(project, champion)
        wait_until(lambda: not found.kept[1].busy, "the accuracy of now is counted")
        return found.get(project, champion)

    def busy(*_: object) -> None:
        raise DatabaseBusy("Another program is writing.")

    with monkeypatch.context() as patched:
        patched.setattr(accuracy, "judge_pins", busy)
        assert ended() == (None, False)
    assert ended() == (None, False)  # it rests a while
    found.kept[1].rest_until = 0.0
    value, counting = ended()
    assert (value is None, counting) == (False, False)
    assert [pin.text for pin in found.broken_pins(project, champion)] == [ASKED]
