"""Answers compressed towards templates: what moves, what adds up, which strength is suggested."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.services.data.projects import create_project
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.review.fence import save_fence
from app.services.review.fence_views import FenceSetting
from app.services.trying import answers
from app.services.trying.compression import (
    STEPS,
    compress_model,
    compression_view,
    strength_choice,
)
from core.errors import InvalidInput
from core.heads.votes.fit import fit_votes
from core.vectors import unit_rows
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset
from storage.records import UtteranceRecord
from tests.builders.slotted_project import city_in, with_values
from tests.builders.trained_home import opened, train

ASKED = "please fly me to new york"


@pytest.fixture
def live_studio(tmp_path: Path, tiny_path: Path) -> Iterator[LiveStudio]:
    studio = opened(tmp_path / "home")
    with_values(studio)
    train(studio, tiny_path, {"kind": "instant"})
    yield open_live_studio(studio)
    studio.database.close()


def test_a_text_and_the_examples_move_by_the_same_strength(live_studio: LiveStudio) -> None:
    view = compression_view(live_studio, "p")
    assert (view.ready, view.marked, view.voting, view.total) == (True, 30, 30, 30)
    live = live_studio.models.get(1)
    encoder, templates = live.pipeline.encoder, []
    for exemplar in live.pipeline.exemplars:
        city = next(
            c for c in ("berlin", "paris", "oslo", "rome", "new york") if c in exemplar.text
        )
        templates.append(exemplar.text.replace(city, "{SLOT}"))
    plain = unit_rows(encoder.encode([e.text for e in live.pipeline.exemplars]))
    rows = unit_rows(0.3 * unit_rows(encoder.encode(templates)) + np.float32(0.7) * plain)
    asked = unit_rows(encoder.encode([ASKED, "please fly me to {SLOT}"]))
    query = 0.3 * asked[1:] + np.float32(0.7) * asked[:1]
    head = live.pipeline.head
    fitted = fit_votes(rows, head.targets, head.intents, head.tau, head.ridge)
    [found] = answers.answer_texts(live_studio, "p", [ASKED], 0.3)
    ranked = {one.intent: one.score for one in found.prediction.ranked}
    expected = dict(zip(head.intents, fitted.scores(query)[0], strict=True))
    assert ranked == pytest.approx(expected, abs=1e-5)
    best = found.prediction.ranked[0].score
    votes = sum(n.vote for n in found.prediction.neighbours)
    assert votes + found.votes_of_others + found.prediction.prior == pytest.approx(best)
    assert found.compressed.template == "please fly me to {SLOT}"
    assert found.compressed.values == (("city", "new york"),)
    cosines = rows @ unit_rows(query)[0]
    nearest = found.compressed.nearest
    assert [near.cosine for near in nearest] == pytest.approx(sorted(cosines)[::-1][:5], abs=1e-5)
    order = (-(plain @ asked[0])).argsort(kind="stable").tolist()
    row_of = {e.id: row for row, e in enumerate(live.pipeline.exemplars)}
    assert [near.before for near in nearest] == [order.index(row_of[n.id]) + 1 for n in nearest]


def test_without_strength_nothing_moves_and_whole_templates_meet(live_studio: LiveStudio) -> None:
    [usual], [still] = (
        answers.answer_texts(live_studio, "p", [ASKED]),
        answers.answer_texts(live_studio, "p", [ASKED], 0.0),
    )
    assert usual.compressed is None
    scores = [one.score for one in usual.prediction.ranked]
    assert [one.score for one in still.prediction.ranked] == pytest.approx(scores, abs=1e-9)
    assert [near.before for near in still.compressed.nearest] == [1, 2, 3, 4, 5]
    assert still.landing.place == usual.landing.place
    [whole] = answers.answer_texts(live_studio, "p", ["fly me to oslo now"], 1.0)
    twins = [near for near in whole.compressed.nearest if near.cosine == pytest.approx(1, abs=1e-5)]
    assert all(near.text.startswith("fly me to") for near in twins)
    assert (
        answers.load_example_map(live_studio, "p", 0.0).points
        == answers.load_example_map(live_studio, "p").points
    )
    assert (
        answers.load_example_map(live_studio, "p", 1.0).points
        != answers.load_example_map(live_studio, "p").points
    )
    live = compress_model(live_studio.studio, live_studio.models.get(1), 1.0)
    assert len(np.unique(live.pipeline.embeddings.round(5), axis=0)) == 6  # frames of the examples


def test_familiarity_too_is_measured_by_the_moved_examples(live_studio: LiveStudio) -> None:
    """A moved text was compared with examples that had not moved, and told “Out of scope”."""
    save_fence(live_studio, "p", FenceSetting(-9.0, method="nearest"))
    live = live_studio.models.get(1)
    moved = compress_model(live_studio.studio, live, 1.0).pipeline
    before, after = (one.calibration.familiarity_measure for one in (live.pipeline, moved))
    assert np.allclose(before.shapes.unit, unit_rows(live.pipeline.embeddings), atol=1e-6)
    assert np.allclose(after.shapes.unit, unit_rows(moved.embeddings), atol=1e-6)
    assert not np.allclose(after.shapes.unit, before.shapes.unit, atol=1e-3)
    assert after.fence is before.fence  # its limit is that of the project


def test_names_speak_beside_votes_of_moved_examples(live_studio: LiveStudio) -> None:
    """One intent without an example made the head another one, and the slider was refused."""
    with live_studio.studio.database.write() as connection:
        events.record(connection, 1, Action("create", "local"), [edits.create_intent("taxi")])
    asked = ["a taxi to oslo", "taxi"]
    assert compression_view(live_studio, "p").ready
    for text in asked:
        [usual] = answers.answer_texts(live_studio, "p", [text])
        [still] = answers.answer_texts(live_studio, "p", [text], 0.0)
        for one, other in zip(usual.prediction.ranked, still.prediction.ranked, strict=True):
            assert other.score == pytest.approx(one.score, abs=1e-6)
        [moved] = answers.answer_texts(live_studio, "p", [text], 0.5)
        said = moved.prediction
        shown = sum(n.vote for n in said.neighbours) + moved.votes_of_others
        assert shown + said.prior + said.voice == pytest.approx(said.ranked[0].score, abs=1e-9)
    assert said.by_name
    assert strength_choice(live_studio, "p").n == 30


def test_a_strength_is_suggested_by_examples_that_were_held_out(live_studio: LiveStudio) -> None:
    found = strength_choice(live_studio, "p")
    assert (found.strengths, found.n) == (STEPS, 30)
    best = max(found.accuracies)
    assert found.suggested == STEPS[found.accuracies.index(best)]
    assert found.basis.startswith("on 30 examples, each answered by the others")
    assert strength_choice(live_studio, "p") is found


def test_synthetic_examples_vote_and_judge_nothing(live_studio: LiveStudio) -> None:
    text = "fly me to tokyo"
    source = next(row for row in rows(live_studio) if row.text == "fly me to oslo")
    made = replace(source, id="s", text=text, slots=city_in(text, "tokyo"), synthetic=source.id)
    with live_studio.studio.database.write() as connection:
        events.record(connection, 1, Action("augment", "local"), [edits.create(made)])
    assert compression_view(live_studio, "p").voting == 31
    assert strength_choice(live_studio, "p").n == 30
    [found] = answers.answer_texts(live_studio, "p", ["fly me to tokyo now"], 0.3)
    assert found.compressed.values == ()  # what nobody said teaches no value


def rows(live_studio: LiveStudio) -> list[UtteranceRecord]:
    with live_studio.studio.database.read() as connection:
        return list(dataset.utterances(connection, 1, "train"))


def test_a_second_look_at_a_strength_fits_nothing(
    live_studio: LiveStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The slider answers in a fraction of a second by what was fitted before."""
    first = answers.answer_texts(live_studio, "p", [ASKED], 0.5)
    monkeypatch.setattr("core.heads.votes.compression.compressed_votes", None)
    assert answers.answer_texts(live_studio, "p", [ASKED], 0.52) == first


def test_of_very_many_examples_some_vote(live_studio: LiveStudio, monkeypatch) -> None:
    monkeypatch.setattr("app.services.trying.compression._MOST", 12)
    view = compression_view(live_studio, "p")
    assert (view.voting, view.total, view.marked) == (12, 30, 12)
    [found] = answers.answer_texts(live_studio, "p", [ASKED], 0.5)
    assert len(found.compressed.nearest) == 5
    assert found.landing is not None


def test_where_nothing_can_move_the_page_says_why(live_studio: LiveStudio, tiny_path: Path) -> None:
    studio = live_studio.studio
    create_project(studio, "empty")
    assert "no trained model" in compression_view(live_studio, "empty").reason
    with_values(studio, "bare", marked=False)
    train(studio, tiny_path, {"kind": "instant"}, "bare")
    view = compression_view(live_studio, "bare")
    assert (view.ready, view.reason) == (False, "No value is marked in the examples.")
    assert "page Slots" in view.hint
    with pytest.raises(InvalidInput, match="No value is marked"):
        answers.answer_texts(live_studio, "bare", [ASKED], 0.2)
    with pytest.raises(InvalidInput, match="No value is marked"):
        strength_choice(live_studio, "bare")
    head = {"kind": "neighbours", "k": 1}
    with_values(studio, "other")
    train(studio, tiny_path, {"kind": "instant", "head": head}, "other")
    assert "head 'neighbours'" in compression_view(live_studio, "other").reason
