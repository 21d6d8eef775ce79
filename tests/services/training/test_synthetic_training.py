"""Synthetic utterances teach and vote; nothing is judged by them."""

from pathlib import Path

import numpy as np
import pytest

from app.services.answering.stored import load_model
from app.services.explaining.explain import explain
from app.services.labelling import sure
from app.services.live.live_model import as_last_solved
from app.services.live.live_studio import open_live, open_live_studio
from app.services.review.disagreements import differing_ids
from app.services.review.review import review
from app.services.slots.augmentation import AugmentationRequest, add_synthetic
from app.services.slots.marking import mark_slots
from app.services.studio import Studio
from app.services.training.choices import training_choices
from app.services.training.marked_utterances import read_utterances
from app.services.what_if.watched_texts import WatchedTextCache
from core.heads.mixture import voices_of, without_names
from core.heads.votes.fit import VoteHead
from core.recipes.templates import TemplatesRecipe
from core.review.sure import UNTESTED
from core.templates.slots import Slot
from core.types import ScoreArray
from storage import models, projects
from storage.log import edits, events, label_origins
from storage.log.events import Action
from storage.queries import dataset, utterances
from storage.queries.utterances import Page
from tests.builders.trained_home import change, rows, train

THINGS = {
    "please refund the order": "order",
    "track the parcel for me": "parcel",
    "reset the password please": "password",
}


def augmented(studio: Studio) -> dict[str, str]:
    """Mark three things, fill their templates; return the sources' ids by the new texts."""
    with studio.database.read() as connection:
        rows = {row.text: row for row in dataset.utterances(connection, 1)}
    for text, thing in THINGS.items():
        start = text.index(thing)
        mark_slots(studio, "p", rows[text].id, [Slot(start, start + len(thing), "thing")])
    assert (
        add_synthetic(studio, "p", AugmentationRequest(top=5, per_template=2), "augment-1").n == 6
    )
    with studio.database.read() as connection:
        return {r.text: r.synthetic for r in dataset.utterances(connection, 1) if r.synthetic}


def metrics_of(studio: Studio, number: int) -> dict:
    with studio.database.read() as connection:
        return models.find(connection, 1, number).metrics


def test_they_vote_as_synthetic_and_the_figures_come_from_the_others(
    home: Studio, tiny_path: Path
) -> None:
    made = augmented(home)
    train(home, tiny_path, {"kind": "instant", "folds": 1})
    train(home, tiny_path, {"kind": "instant"})
    train(home, tiny_path, {"kind": "convfit", "epochs": 1, "folds": 2})
    said = [metrics_of(home, number)["judged_on"] for number in (3, 4, 5)]
    assert said[0] == "leave-one-out over 20 texts"
    assert [words.split("validation over ")[1] for words in said[1:]] == ["20 texts"] * 2
    live_studio = open_live_studio(home)
    with home.database.write() as connection:
        project = projects.find(connection, "p")
        models.point(connection, models.find(connection, project.id, 4), "local")
    text = next(text for text in made if "refund" in text)
    found = explain(live_studio, "p", f"{text} now")
    votes = {vote.example.text: vote.origin for vote in found.reasons[0].votes}
    assert votes[text].synthetic == made[text]
    assert {votes[other].synthetic for other in votes if other not in made} == {""}
    twins = sum(len(vote.twins) for vote in found.reasons[0].votes)
    assert found.reasons[0].n_others + twins + len(votes) == 26
    with home.database.read() as connection:
        ids = {row.id for row in dataset.utterances(connection, 1) if row.synthetic}
    assert not ids & set(differing_ids(live_studio, "p"))
    doubted = {"label", "duplicate"}
    for finding in review(live_studio, "p", None, Page(0, 500)).findings:
        if finding.kind in doubted:
            assert finding.texts[0].id not in ids


def test_those_that_joined_the_votes_after_a_training_are_synthetic(home: Studio) -> None:
    """They counted as examples that somebody had said, and a report judged by them."""
    made = augmented(home)
    live = open_live_studio(home).models.get(1)
    assert live is not None
    found = {one.text: one.synthetic for one in live.pipeline.exemplars}
    assert {text: found[text] for text in made} == made
    assert len(made) == 6
    assert list(found.values()).count("") == 20


def test_sure_answers_are_judged_by_what_was_said_without_what_was_made_of_it(
    home: Studio, tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made texts counted as answered, and their sources were answered by them."""
    augmented(home)
    train(home, tiny_path, {"kind": "instant"})
    with home.database.write() as connection:
        models.point(connection, models.find(connection, 1, 3), "local")
    judged: list[ScoreArray] = []

    def note(_: object, __: object, scores: ScoreArray, ___: object) -> tuple[float, float]:
        judged.append(scores)
        return UNTESTED

    monkeypatch.setattr(sure, "_judged", note)
    monkeypatch.setattr(sure, "is_untuned", lambda _: True)
    live_studio = open_live_studio(home)
    _, live = open_live(live_studio, "p")
    sure._limit(live_studio, 1, live)
    [scores] = judged
    assert len(scores) == 20
    pipeline = as_last_solved(live)
    examples, head = pipeline.exemplars, without_names(pipeline.head)
    assert isinstance(head, VoteHead)
    source = next(one.synthetic for one in examples if one.synthetic)
    kept = [row for row, one in enumerate(examples) if source not in (one.id, one.synthetic)]
    assert len(kept) < len(examples) - 1
    at = next(row for row, one in enumerate(examples) if one.id == source)
    kernel = np.exp((head.exemplars @ head.exemplars.T - 1.0) / head.tau)
    matrix = kernel[np.ix_(kept, kept)] + head.ridge * np.eye(len(kept))
    weights = np.linalg.solve(matrix, (head.targets - head.prior)[kept])
    by_hand = head.prior + kernel[at, kept] @ weights
    by_hand += voices_of(pipeline.head, pipeline.embeddings)[at]
    place = [one.id for one in examples if not one.synthetic].index(source)
    np.testing.assert_allclose(scores[place], by_hand, atol=1e-4)


def test_those_made_of_a_text_teach_no_longer_once_it_is_a_test_text(
    home: Studio, tiny_path: Path
) -> None:
    """The test text had near copies with its label among the examples, and nothing told so."""
    made = augmented(home)
    tested = "track the parcel for me"
    change(home, tested, "split", "test")
    source = rows(home)[tested].id
    near = {text for text, of in made.items() if of == source}
    assert near
    train(home, tiny_path, {"kind": "instant"})
    learned = {one.text for one in load_model(home, "p@3").exemplars}
    assert not near & learned
    assert made.keys() - near <= learned
    slotted = {
        one.text for one in read_utterances(rows(home).values(), TemplatesRecipe(augment=False))
    }
    assert not near & slotted
    assert made.keys() - near <= slotted


def test_those_made_of_a_test_text_are_counted_as_no_examples(home: Studio) -> None:
    """Train told of examples that no training learns from."""
    made = augmented(home)
    tested = "track the parcel for me"
    source = rows(home)[tested].id
    near = {text for text, of in made.items() if of == source}
    assert near
    assert training_choices(home, "p").examples == 26
    change(home, tested, "split", "test")
    assert training_choices(home, "p").examples == 25 - len(near)
    with home.database.read() as connection:
        assert utterances.taught(connection, 1, "single-label") == (25 - len(near), 4)
        assert utterances.taught(connection, 1, "multi-label") == (25 - len(near), 4)
        texts = set(utterances.taught_texts(connection, 1, "single-label"))
    assert made.keys() & texts == made.keys() - near


def test_a_synthetic_text_without_a_label_is_not_watched(home: Studio) -> None:
    made = augmented(home)
    with home.database.write() as connection:
        rows = [row for row in dataset.utterances(connection, 1) if row.synthetic]
        events.record(
            connection, 1, Action("unlabel", "local"), [edits.label(r, None) for r in rows]
        )
    live_studio = open_live_studio(home)
    with home.database.read() as connection:
        project = projects.find(connection, "p")
    watched = {one.text for one in WatchedTextCache(live_studio).open(project).texts}
    assert watched
    assert not watched & set(made)


def test_the_log_tells_what_is_synthetic_whatever_was_done_to_it(home: Studio) -> None:
    augmented(home)
    with home.database.write() as connection:
        row = next(row for row in dataset.utterances(connection, 1) if row.synthetic)
        label = dataset.intents(connection, 1)[0].id
        changes = [*edits.reword(row, "other words"), edits.label(row, [label])]
        events.record(connection, 1, Action("x", "local"), changes)
        head = projects.find(connection, "p").head_revision
        found = label_origins.label_origins(connection, 1, [row.id, row.synthetic], head)
    assert found[row.id].synthetic == row.synthetic
    assert found[row.synthetic].synthetic == ""
