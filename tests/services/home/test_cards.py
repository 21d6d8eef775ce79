"""A card takes what is known already, and waits for nothing."""

from dataclasses import replace

import pytest

from app.services.data.intents import add_intent
from app.services.data.projects import view_project
from app.services.home import cards
from app.services.home.cards import ProjectCard, load_cards, next_of
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.review.fence import save_fence
from app.services.review.fence_views import FenceSetting
from app.services.review.review import known_label_errors, review
from app.services.studio import Studio
from app.services.training.runs import TrainingRequest
from app.services.versions.registry import left_for, promote, roll_back
from storage import projects
from storage.log import edits, events
from storage.log.events import Action
from tests.builders.trained_home import POOL, change, rows, train_here
from tests.conftest import SENTENCES
from tests.waiting import wait_until


def card(live_studio: LiveStudio) -> ProjectCard:
    [only] = load_cards(live_studio)
    return only


def test_a_model_that_is_not_loaded_is_not_waited_for(home: Studio) -> None:
    found = card(open_live_studio(home))
    assert (found.labelled, found.utterances) == (20, 20 + len(POOL))
    assert found.steps.trained
    assert found.next.action == "Label these 5"
    assert "unsure" not in found.next.reason
    assert next_of(open_live_studio(home), "p") == found.next  # other pages say the same


def test_a_project_that_was_renamed_since_it_was_listed_has_no_card(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole start page said that there is no such project."""
    view = view_project(home, "p")
    monkeypatch.setattr(cards, "list_projects", lambda _: [replace(view, name="former"), view])
    assert [one.name for one in load_cards(open_live_studio(home))] == ["p"]


def test_a_card_knows_the_version_gone_back_from(home: Studio) -> None:
    train_here(home, TrainingRequest("p", "instant", {}, gate=False))
    assert left_for(home, "p", 1) is None  # it waits, and was never live
    promote(home, "p", 2)
    roll_back(home, "p")
    assert left_for(home, "p", 1) == 2


def test_label_errors_are_counted_only_once_the_review_of_now_has_found_them(home: Studio) -> None:
    live_studio = open_live_studio(home)

    def known() -> int | None:
        with home.database.read() as connection:
            project = projects.find(connection, "p")
        live = live_studio.models.get(project.id)
        assert live is not None
        return known_label_errors(live_studio, project, live)

    assert known() is None
    counts = review(live_studio, "p").counts
    assert known() == counts["label"]
    change(home, POOL[0], "flagged", "odd")
    assert known() is None


def test_the_figure_of_now_stays_on_the_card_of_a_model_that_is_loaded_no_more(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the fifth project on that of the training stood there, after a new limit, too."""
    promote(home, "p", 1)  # version 2 was tuned on these texts
    for text in SENTENCES["refund"][:2]:
        change(home, text, "split", "test")
    live_studio = open_live_studio(home)
    save_fence(live_studio, "p", FenceSetting(9.0))

    def counted() -> bool:
        asked = card(live_studio)
        return asked.now is not None and not asked.checking

    wait_until(counted, "the card has a figure of now")
    live_studio.models.forget_all()
    monkeypatch.setattr(cards, "_MOST_LOADED", 0)
    found = card(live_studio)
    assert found.now is not None
    assert (found.now.right, found.now.n, found.checking) == (0, 2, False)
    save_fence(live_studio, "p", None)
    assert card(live_studio).now is None  # it is not true any more
    assert live_studio.models.peek(1) is None


def test_what_was_made_of_a_test_text_is_not_told_to_fit_no_intent(home: Studio) -> None:
    """It is no example, and Home took all labels beside examples and tests for out of scope."""
    source = rows(home)["hi"]
    made = replace(source, id="made", text="hi you", synthetic=source.id)
    aside = replace(source, id="aside", text="what is the time", labels=())
    with home.database.write() as connection:
        events.record(
            connection, 1, Action("add", "local"), [edits.create(made), edits.create(aside)]
        )
        project = projects.find(connection, "p")
    change(home, "hi", "split", "test")
    found = cards._facts(open_live_studio(home), view_project(home, "p"), project, None)
    assert (found.examples, found.tests, found.outside) == (19, 1, 1)


def test_an_intent_without_a_label_is_counted_apart(home: Studio) -> None:
    """Home told 67 intents and Train 66: the text of one had been given another label."""
    before = card(open_live_studio(home))
    assert (before.intents, before.empty_intents) == (4, 0)
    add_intent(home, "p", "moving home")
    found = card(open_live_studio(home))
    assert (found.intents, found.empty_intents) == (5, 1)


def test_a_project_without_texts_has_its_steps_and_its_action(home: Studio) -> None:
    with home.database.write() as connection:
        projects.create(connection, "new")
    new, _ = load_cards(open_live_studio(home))
    assert (new.name, new.next.page, new.steps.imported) == ("new", "data", False)
