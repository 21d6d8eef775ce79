"""Which training is Quick and which is Best in a project, and what each takes."""

from dataclasses import replace

import pytest

from app.services.data.projects import create_project
from app.services.studio import Studio
from app.services.training.bases import BUNDLED
from app.services.training.choices import (
    ProjectData,
    ordered,
    quick_and_best,
    training_choices,
    why_not,
)
from app.services.training.runs import TrainingRequest, start_training
from core.recipes.conversations import DialoguesRecipe
from core.recipes.labels import ConvfitRecipe, InstantRecipe, LabelEncoderRecipe
from core.recipes.read import RECIPES
from core.recipes.templates import TemplatesRecipe
from storage import jobs, models, projects
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset, utterances

DATA = ProjectData("single-label", 640, 64, has_conversations=False, has_marked=False)


@pytest.mark.parametrize(
    ("data", "best"),
    [
        (DATA, ConvfitRecipe),
        (replace(DATA, examples=128), ConvfitRecipe),
        (replace(DATA, examples=127), LabelEncoderRecipe),
        (replace(DATA, examples=64, task="multi-label"), ConvfitRecipe),
    ],
)
def test_best_is_chosen_by_labels_and_task(data: ProjectData, best: type) -> None:
    assert quick_and_best(data) == (InstantRecipe, best)


def test_what_cannot_be_used_comes_last_with_its_reason() -> None:
    found = ordered(DATA)
    assert set(found) == set(RECIPES.values())
    reasons = [bool(why_not(recipe, DATA)) for recipe in found]
    assert reasons == sorted(reasons)
    assert "no" in why_not(DialoguesRecipe, DATA)
    assert not why_not(DialoguesRecipe, replace(DATA, has_conversations=True))
    assert not why_not(TemplatesRecipe, replace(DATA, has_marked=True))
    several = replace(DATA, task="multi-label")
    assert "several intents" in why_not(LabelEncoderRecipe, several)
    assert why_not(InstantRecipe, replace(DATA, intents=1)).endswith("two intents: there is one.")


def test_each_choice_says_what_it_learns_from_and_how_long_it_takes(home: Studio) -> None:
    found = training_choices(home, "p")
    quick, best, *more = found.choices
    assert (quick.role, quick.name, quick.title) == ("quick", "Quick", "Instant")
    assert (best.role, best.name, best.title) == ("best", "Best", "ConvFiT")
    assert best.learns_from == "20 examples of 4 intents"
    assert best.time.endswith("(going by the last one on this computer)")
    assert {one.role for one in more} == {"more", "unusable"}
    unusable = [one for one in more if one.role == "unusable"]
    assert all(one.why_not and not one.time for one in unusable)


def test_texts_out_of_scope_are_counted_apart_from_the_examples(home: Studio) -> None:
    """Train said 838 examples where the other pages counted 840 labelled texts."""
    with home.database.write() as connection:
        made = edits.create_utterance("o", "what is the weather", "train", "f", [])
        events.record(connection, 1, Action("import", "local"), [made])
    found = training_choices(home, "p")
    assert (found.examples, found.outside) == (20, 1)
    # The rest is told, too: test texts have labels, and nothing learns from them.
    with home.database.write() as connection:
        key = next(iter(utterances.intent_ids(connection, 1).values()))
        made = edits.create_utterance("t", "one to test with", "test", "f", [key])
        events.record(connection, 1, Action("import", "local"), [made])
    more = training_choices(home, "p")
    assert (more.examples, more.outside) == (20, 1)
    assert (more.tests - found.tests, more.labelled - found.labelled) == (1, 1)
    assert more.labelled == more.examples + more.outside + more.tests


def test_without_labels_quick_and_best_say_what_they_need(studio: Studio) -> None:
    create_project(studio, "q")
    quick, best, *_ = training_choices(studio, "q").choices
    assert (quick.role, best.role) == ("quick", "best")
    needs = "It needs labels of at least two intents: there are none yet."
    assert quick.why_not == best.why_not == needs


def test_a_project_keeps_the_encoder_that_its_live_version_started_from(home: Studio) -> None:
    """Trainings started from the bundled encoder, whatever the project had begun with."""
    with home.database.read() as connection:
        live = models.champion(connection, 1)
        folder = str(jobs.get(connection, live.job_id).payload["base"])
        assert dataset.utterances(connection, 1)
    found = training_choices(home, "p")
    assert found.base == folder != BUNDLED
    assert found.base_words.endswith(f", as version {live.number}")
    for asked, base in ((None, folder), (BUNDLED, BUNDLED)):
        queued = start_training(home, TrainingRequest("p", "instant", {}, asked))
        assert queued.payload["base"] == base


def test_a_base_is_a_version_by_its_number_from_the_start(home: Studio) -> None:
    """`p@champion` was another version once that changed, also for a training that went on."""
    with home.database.read() as connection:
        champion = models.champion(connection, projects.find(connection, "p").id)
    assert champion is not None
    queued = start_training(home, TrainingRequest("p", "instant", {}, base="p@champion"))
    assert queued.payload["base"] == f"p@{champion.number}"
