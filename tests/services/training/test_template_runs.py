"""Encoders from marked values: trained as jobs, killed and resumed, and built upon."""

from pathlib import Path

import pytest

from app.services.answering.opened import find_space, open_space
from app.services.conversations.replies import rank_replies
from app.services.data.projects import create_project
from app.services.studio import Studio
from app.services.training.estimate import estimate
from app.services.training.jobs import curve_words
from app.services.training.marked_utterances import read_utterances
from app.services.training.runs import TrainingRequest, start_training
from app.services.versions import registry
from app.services.versions.timeline import list_versions
from core.errors import InvalidInput
from core.recipes.templates import TemplatesRecipe
from core.templates.slots import template_of
from storage.log import versions
from storage.queries import dataset
from storage.records import JobRecord, UtteranceRecord
from tests.builders.slotted_project import POOL, TESTED, city_in, with_values
from tests.builders.trained_home import do, do_killed_at, train, version

SETTINGS: dict[str, object] = {
    "batch_size": 8,
    "frozen_layers": 0,
    "learning_rate": 1e-3,
    "epochs": 2,
}
FLOAT32: dict[str, object] = {"precision": "float32"}
"""The estimate goes by the processor unless a number format is asked for."""


def learn(studio: Studio, base: Path | str, **more: object) -> JobRecord:
    return start_training(
        studio, TrainingRequest("p", "templates", {**SETTINGS, **more}, str(base))
    )


def records(studio: Studio) -> list[UtteranceRecord]:
    with studio.database.read() as connection:
        return list(dataset.utterances(connection, 1))


def test_values_make_an_encoder_that_labels_start_from(valued: Studio, tiny_path: Path) -> None:
    done = do(valued, learn(valued, tiny_path).id)
    assert (done.state, done.result) == ("succeeded", {"model": "p@1", "kind": "encoder"})
    made = version(valued, 1)
    assert (made.kind, made.metrics) == ("encoder", {})
    facts = made.lineage
    # One of thirty is in the test split, too; of the five of the pool two have a known city.
    assert (facts["n_utterances"], facts["n_marked"]) == (34, 31)
    assert facts["recipe"]["kind"] == "templates"
    with valued.database.read() as connection:
        frozen = versions.get(connection, made.dataset_version_id)
        space = find_space(connection, "p", 1)
    assert facts["dataset_sha256"] == frozen.sha256
    losses = [loss for _, loss in done.curve["loss while contrasting"]]
    assert losses[-1] < losses[0]
    assert "No label is used" in curve_words(done.curve)
    assert open_space(valued, space).encoder.fingerprint == facts["fingerprint"]
    train(valued, "p@1", {"kind": "instant"})
    _, views = list_versions(valued, "p")
    assert [view.kind for view in views] == ["encoder", "intents"]
    assert views[1].chain == ("encoder", "p@1 templates", "p@2 instant")
    assert views[0].dataset_version == "p, data version 1"
    assert registry.lineage(valued, "p", 1).children == ("p@2",)


def test_a_killed_training_on_templates_ends_as_an_undisturbed_one(
    valued: Studio, tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.services.training.encoder_runs._CHECKPOINT_STEPS", 5)
    assert do(valued, learn(valued, tiny_path).id).state == "succeeded"
    job = learn(valued, tiny_path)
    ended = do_killed_at(valued, job.id, step=10)
    assert (ended.state, ended.attempt) == ("succeeded", 2)
    assert version(valued, 1).tree_sha256 == version(valued, 2).tree_sha256


def test_it_learns_from_train_and_pool_and_never_from_a_text_to_test(valued: Studio) -> None:
    rows = records(valued)
    tested = [row for row in rows if row.text == TESTED[1] and row.split == "train"]
    assert len(tested) == 1  # the same words are in train, too
    found = read_utterances(rows, TemplatesRecipe())
    assert not {one.text for one in found} & set(TESTED)
    told = {one.text: template_of(one) for one in found}
    assert told[POOL[0]] == "is it cold in {SLOT}"  # proposed
    assert {text for text in told if text in POOL[2:]} == set(POOL[2:])
    few = [row for row in rows if row.split == "pool" or row.text == "fly me to oslo"]
    known = [one for one in read_utterances(few, TemplatesRecipe()) if one.slots]
    assert len(known) == 2
    assert len(read_utterances(few, TemplatesRecipe())) == 4  # as many without as with a value


def test_stored_synthetic_utterances_wait_where_the_recipe_makes_its_own(valued: Studio) -> None:
    text = "fly me to tokyo"
    made = UtteranceRecord(
        "s",
        text,
        "train",
        "f",
        None,
        skipped=False,
        flagged="",
        slots=city_in(text, "tokyo"),
        synthetic="p-003",
    )
    rows = [*records(valued), made]
    making = TemplatesRecipe(augment=True)
    assert text not in {one.text for one in read_utterances(rows, making)}
    assert text in {one.text for one in read_utterances(rows, TemplatesRecipe())}


def test_without_a_value_the_next_step_is_said(studio: Studio, tiny_path: Path) -> None:
    with_values(studio, marked=False)
    for refused in (
        lambda: learn(studio, tiny_path),
        lambda: estimate(studio, "p", "templates", {}),
    ):
        with pytest.raises(InvalidInput, match="'p' has no marked values") as caught:
            refused()
        assert "page Slots" in caught.value.hint
    create_project(studio, "q")
    with pytest.raises(InvalidInput, match="temperature"):
        estimate(studio, "q", "templates", {"pair_temperature": 0})


def test_what_it_would_take_is_told_beforehand(valued: Studio) -> None:
    found = estimate(valued, "p", "templates", FLOAT32)
    assert found.sentence.startswith(
        "Learns from 30 texts with marked values to look past these values; about "
    )
    twice = estimate(valued, "p", "templates", {"epochs": 21, **FLOAT32})
    assert twice.seconds - found.seconds == pytest.approx(20 * 4 * 0.0061 * 35)
    more = estimate(valued, "p", "templates", {"augment": True, **FLOAT32})
    assert more.seconds - found.seconds == pytest.approx(4 * 0.0061 * 60)


def test_replies_are_ranked_by_an_encoder_that_knows_conversations(
    valued: Studio, tiny_path: Path
) -> None:
    """An encoder of templates was once taken for one that had learned from conversations."""
    do(valued, learn(valued, tiny_path, epochs=1).id)
    found = rank_replies(valued, "p", ["hello"], ["good morning", "no"])
    assert (found.trained, found.encoder) == (False, "the untuned encoder")
