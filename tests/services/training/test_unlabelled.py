"""Unlabelled texts of a project: which ones teach, what they cost and what they brought."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from app.services.studio import Studio
from app.services.training import estimate as estimates
from app.services.training.choices import training_choices
from app.services.training.cores import pool_of
from app.services.training.estimate import Size, estimate
from app.services.training.jobs import project_jobs
from app.services.training.recipe_forms import recipe_forms
from app.services.training.unlabelled import gain_figures, gain_words, unlabelled_texts
from app.services.versions.registry import lineage
from core.encoders.quick.copies import settled_encoding
from core.recipes import labels
from core.recipes.labels import ConvfitRecipe, chosen_epochs, second_epochs
from core.recipes.read import read_recipe
from core.training.from_labels import rounds
from core.training.from_labels.rounds import PoolGain
from core.training.from_labels.runs import run_recipe
from core.training.from_labels.tuning import Lesson
from storage import jobs, projects
from storage.log import edits, events, versions
from storage.log.events import Action
from storage.queries import dataset, utterances
from storage.tables import job as job_table
from tests.builders.trained_home import change, train, version

pytestmark = pytest.mark.usefixtures("few_texts_teach")

ENDS = ("now", "please", "today", "my friend")
RECIPE: dict[str, object] = {"kind": "convfit", "epochs": 2, "learning_rate": 1e-3}


@pytest.fixture
def pooled(home: Studio) -> Studio:
    """20 labelled texts, 85 unlabelled ones to learn from, and some that must not teach."""
    with home.database.write() as connection:
        labelled = [u for u in dataset.utterances(connection, 1) if u.labels]
        key = labelled[0].labels[0]
        made = [
            edits.create_utterance(f"{u.id}{n}", f"{u.text} {end}", "pool", "f", None)
            for u in labelled
            for n, end in enumerate(ENDS)
        ]
        made += [
            edits.create_utterance("o", "what is the weather", "train", "f", []),
            edits.create_utterance("ot", "What is the weather?", "pool", "f", None),
            edits.create_utterance("t", "is it lost", "test", "f", [key]),
            edits.create_utterance("tt", "Is it lost?", "pool", "f", None),
            edits.create_utterance("tu", "unlabelled and in the test set", "test", "f", None),
            edits.create_utterance("s", "skipped", "train", "f", None),
            edits.create_utterance("g", "flagged", "train", "f", None),
        ]
        events.record(connection, 1, Action("import", "local"), made)
    change(home, "skipped", field="skipped", value=True)
    change(home, "flagged", "flagged", "odd")
    return home


def learned(studio: Studio) -> tuple[str, ...]:
    with studio.database.write() as connection:
        frozen = versions.cut(connection, projects.find(connection, "p"), "to look")
        return pool_of(unlabelled_texts(versions.state_at(connection, 1, frozen.revision)), ())


def test_texts_that_a_person_left_aside_and_twins_of_tests_never_teach(pooled: Studio) -> None:
    found = learned(pooled)
    assert len(found) == 85
    refused = {"what is the weather", "What is the weather?", "Is it lost?", "skipped", "flagged"}
    assert not refused & set(found)
    assert not any("test set" in text for text in found)
    with pooled.database.read() as connection:
        assert set(utterances.untaught(connection, 1).values()) == set(found)


def test_a_version_says_how_many_unlabelled_texts_it_learned_from(
    pooled: Studio, tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[str, ...]] = []

    def spy(recipe: Any, inputs: Any, resume: Any) -> Any:
        given.append(inputs.pool)
        return run_recipe(recipe, inputs, resume)

    monkeypatch.setattr("core.training.from_labels.runs.run_recipe", spy)
    train(pooled, tiny_path, RECIPE)
    assert given[0] == learned(pooled)
    made = version(pooled, 3)
    found = made.metrics["pool"]
    assert made.lineage["n_unlabelled"] == found["n"]
    assert made.lineage["pool_precision"] == settled_encoding(made.lineage["precision"])
    assert lineage(pooled, "p", 3).n_unlabelled == found["n"]
    assert found["kept"]
    assert 42 <= found["n"] <= 85
    assert found["n"] + found["outside"] == 85
    assert found["judged"] == 4
    assert made.lineage["n_exemplars"] == 20
    [job] = project_jobs(pooled, "p", 1)
    assert f"{found['n']} unlabelled texts" in job.pool_words
    train(pooled, tiny_path, {**RECIPE, "pool": False})
    plain = version(pooled, 4)
    assert (plain.lineage["n_unlabelled"], plain.lineage["pool_precision"]) == (0, "")
    assert "pool" not in plain.metrics
    [job] = project_jobs(pooled, "p", 1)
    assert job.pool_words == ""


def test_a_choice_and_its_time_count_the_unlabelled_texts_that_it_uses(pooled: Studio) -> None:
    chosen = {one.recipe: one for one in training_choices(pooled, "p").choices}
    both = "20 examples of 4 intents and 85 unlabelled texts"  # 87 were told, twins of tests too
    assert chosen["convfit"].learns_from == chosen["adapter"].learns_from == both
    assert chosen["instant"].learns_from == "20 examples of 4 intents"
    assert chosen["label-encoder"].learns_from == "20 examples of 4 intents"
    with_pool, without = (
        estimate(pooled, "p", "convfit", settings) for settings in ({}, {"pool": False})
    )
    assert f"Tuned to {both}, which takes longer" in with_pool.sentence
    assert without.learns_from == "20 examples of 4 intents"
    assert with_pool.seconds > without.seconds
    few = estimate(pooled, "p", "convfit", {"pool_size": 70})
    assert few.learns_from == "20 examples of 4 intents and 70 unlabelled texts"
    loo = estimate(pooled, "p", "convfit", {"calibration": "leave-one-out"})
    assert loo.learns_from == "20 examples of 4 intents"


def test_texts_worded_as_an_example_or_as_each_other_are_promised_by_nobody(
    pooled: Studio, tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Train said that it learns from 510; the run found 490, learned from none, and was silent."""
    twins = ["I want my money back?", "Hi!", "Hi now.", "HI NOW"]
    with pooled.database.write() as connection:
        made = [edits.create_utterance(text, text, "pool", "f", None) for text in twins]
        events.record(connection, 1, Action("import", "local"), made)
    both = "20 examples of 4 intents and 85 unlabelled texts"
    assert estimate(pooled, "p", "convfit", {}).learns_from == both
    monkeypatch.setattr(labels, "_FEWEST_TEXTS", 86)
    assert estimate(pooled, "p", "convfit", {}).learns_from == "20 examples of 4 intents"
    train(pooled, tiny_path, RECIPE)
    assert version(pooled, 3).lineage["n_unlabelled"] == 0
    [job] = project_jobs(pooled, "p", 1)
    assert job.pool_words == (
        "Learned from no unlabelled text: 85 differ from your examples and from each other, and "
        "it takes 86."
    )


def test_without_a_held_out_label_the_result_says_why_no_text_was_learned(
    pooled: Studio, tiny_path: Path
) -> None:
    train(pooled, tiny_path, {**RECIPE, "calibration": "leave-one-out"})
    [job] = project_jobs(pooled, "p", 1)
    assert job.pool_words == (
        "Learned from no unlabelled text: no label was held out that would tell whether they help."
    )


def test_a_training_that_left_the_texts_out_tells_its_pace_with_them(
    pooled: Studio, tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its time was held against the labels alone, and the next one was told to take far longer."""
    monkeypatch.setattr(rounds, "is_worse", lambda won, lost: True)
    train(pooled, tiny_path, RECIPE)
    facts = version(pooled, 3).lineage
    assert (facts["n_unlabelled"], facts["n_read"]) == (0, 85)
    settings = {name: value for name, value in RECIPE.items() if name != "kind"}
    usual = estimates.usual_seconds(read_recipe("convfit", settings), Size(20, 4, unlabelled=85))
    with pooled.database.write() as connection:
        newest = jobs.list_all(connection, 1)[0]
        ended = datetime.fromisoformat(newest.started_at) + timedelta(seconds=usual)
        late = sa.update(job_table).where(job_table.c.id == newest.id)
        connection.execute(late.values(finished_at=ended.isoformat()))
    assert estimate(pooled, "p", "convfit", settings).seconds == pytest.approx(usual)


@pytest.mark.parametrize("folds", [1, 4])
def test_the_estimate_has_both_rounds_of_the_model_and_of_its_thresholds(folds: int) -> None:
    """40 labels of 4 intents and 400 texts; each fold is judged by two rounds on the others."""
    recipe = ConvfitRecipe(folds=folds)
    whole, part = 44, 4 + (32 if folds == 1 else 30)
    epochs = chosen_epochs(whole, recipe)
    half, shares = (epochs // 2, 2) if folds == 1 else (epochs, 1)
    expected = epochs * whole + second_epochs(epochs, whole + 400) * (whole + 400)
    expected += folds * (half * part + second_epochs(half, part + 400, shares) * (part + 400))
    assert estimates.rows_tuned(recipe, Size(40, 4, unlabelled=400)) == pytest.approx(expected)
    assert estimates.texts_labelled(recipe, Size(40, 4, unlabelled=400)) == 400 * (1 + folds)
    plain = estimates.rows_tuned(recipe, Size(40, 4))
    assert estimates.rows_tuned(recipe, Size(40, 4, unlabelled=39)) == plain


def test_a_form_has_the_tick_among_the_simple_settings_where_a_text_has_one_intent(
    home: Studio,
) -> None:
    forms = {
        form.recipe: {one.name: one for one in form.settings} for form in recipe_forms(home, "p")
    }
    for recipe in ("convfit", "adapter"):
        tick = forms[recipe]["pool"]
        assert (tick.label, tick.kind, tick.default, tick.advanced) == (
            "Learn from unlabelled texts, too",
            "tick",
            True,
            False,
        )
        assert forms[recipe]["pool_size"].advanced
    assert "pool" not in forms["label-encoder"]


def test_what_they_brought_is_said_in_plain_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # the chance is that of every day
    lesson = Lesson("retuning", ("a", "b") * 1_155, (0, 1) * 1_155)

    def words(gain: PoolGain | None) -> str:
        return gain_words(gain_figures(gain))

    assert words(None) == ""
    assert words(PoolGain(lesson, 12, 200, 176, 171)) == (
        "Learned from 2,310 unlabelled texts, too. Unlabelled texts helped: 176 of 200 held-out "
        "labels right, 171 without them."
    )
    # Of 5 that differ 3 won: a coin does that in 16 of 32 cases, and it was told to help.
    assert "cannot tell" in words(PoolGain(lesson, 12, 60, 55, 54, lost=2))
    assert "cannot tell" in words(PoolGain(lesson, 12, 60, 58, 54))  # 4 of 4: once in 16
    assert "texts helped: 59 of 60" in words(PoolGain(lesson, 12, 60, 59, 54))  # once in 32
    assert "cannot tell" in words(PoolGain(lesson, 12, 60, 59, 54, lost=1))  # 6 of 7: 8 in 128
    of_before = gain_figures(PoolGain(lesson, 12, 200, 176, 171))
    assert of_before is not None
    del of_before["pool"]["helped"]  # earlier releases called any gain a help
    assert gain_words(of_before) == (
        "Learned from 2,310 unlabelled texts, too. 176 of 200 held-out labels right, 171 without "
        "them."
    )
    assert words(PoolGain(lesson, 12, 200, 170, 171)) == (
        "Learned from 2,310 unlabelled texts, too. Held-out labels cannot tell whether they "
        "helped: 170 of 200 held-out labels right, 171 without them."
    )
    left_out = "Unlabelled texts did not help here, so they were left out: "
    assert words(PoolGain(n_judged=200, right=160, right_without=171)) == (
        f"{left_out}160 of 200 held-out labels right, 171 without them."
    )
    assert words(PoolGain(n_outside=900)) == f"{left_out}too few are about your intents."
