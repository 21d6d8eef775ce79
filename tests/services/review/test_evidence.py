"""What a review judges by, and what it keeps of it in memory: no model, and all is counted."""

from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest

from app.services.live import row_answers
from app.services.live.live_studio import open_live, open_live_studio
from app.services.live.row_answers import echoed_ids, exemplar_scores
from app.services.review import intents, review
from app.services.review.evidence.gathering import evidence_of
from app.services.review.evidence.held import held_examples
from app.services.review.fence import save_fence
from app.services.review.fence_views import FenceSetting
from app.services.review.findings import Evidence, held_out_with_names, votes_of
from app.services.studio import Studio
from core.heads.mixture import voices_of
from core.heads.votes.fit import leave_fold_out, leave_one_out
from core.heads.votes.kernel import kernel
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset
from tests.builders.trained_home import change


def held_by(value: Any) -> list[Any]:
    """Return a value and all that it holds, through dataclasses and tuples."""
    if is_dataclass(value):
        parts = [getattr(value, one.name) for one in fields(value)]
    else:
        parts = list(value) if isinstance(value, tuple) else []
    return [value, *(held for part in parts for held in held_by(part))]


def test_what_the_evidence_keeps_in_memory_is_counted(home: Studio) -> None:
    """It kept a live model with its encoder, of which its size told nothing."""
    live_studio = open_live_studio(home)
    review.walk(live_studio, "p", *_two_intents(home))
    entries = live_studio.studio.cache._entries.values()
    [entry] = [one for one in entries if isinstance(one.future.result(), Evidence)]
    held = held_by(entry.future.result())
    kinds = {type(one).__name__ for one in held}
    assert not kinds & {"LiveModel", "IntentPipeline"}
    arrays = {id(one): one.nbytes for one in held if isinstance(one, np.ndarray)}
    texts = [one.text for one in held if hasattr(one, "text")]
    assert entry.size >= sum(arrays.values()) + sum(map(len, texts))


def test_evidence_is_that_of_a_limit_that_was_just_saved(home: Studio) -> None:
    """Review told which intents are confused by the former limit, until the next label."""
    live_studio = open_live_studio(home)

    def refused() -> set[bool]:
        record, live = open_live(live_studio, "p")
        found = evidence_of(live_studio, record, live, held_examples(live))
        return {answer is None for answer in found.answers}

    save_fence(live_studio, "p", FenceSetting(-9.0))
    assert refused() == {False}
    save_fence(live_studio, "p", FenceSetting(9.0))
    assert refused() == {True}


def _two_intents(home: Studio) -> tuple[str, str]:
    with home.database.read() as connection:
        first, second, *_ = dataset.intents(connection, 1)
    return first.id, second.id


def test_what_was_made_of_an_example_does_not_vote_on_it_and_is_not_judged(home: Studio) -> None:
    """Review, the column of Data and “enough” knew a text by the synthetic copy of it."""
    with home.database.write() as connection:
        source = next(
            r for r in dataset.utterances(connection, 1) if r.split == "train" and r.labels
        )
        copy = replace(source, id="s", text=f"{source.text} again", synthetic=source.id)
        events.record(connection, 1, Action("augment", "local"), [edits.create(copy)])
    live_studio = open_live_studio(home)
    record, live = open_live(live_studio, "p")
    evidence = evidence_of(live_studio, record, live, held_examples(live))
    places = [[one.id for one in evidence.exemplars].index(key) for key in (source.id, "s")]
    assert evidence.exemplars == live.pipeline.exemplars
    head, rows = votes_of(live), np.array(places)
    together = leave_fold_out(head, [rows])[rows]
    assert np.abs(together - leave_one_out(head)[rows]).max() > 1e-3
    np.testing.assert_allclose(evidence.held_out[rows], together, atol=1e-8)
    own = exemplar_scores(home, live)
    assert own is not None
    named = voices_of(live.pipeline.head, live.pipeline.embeddings[rows])
    np.testing.assert_allclose(own[0][rows], together + named, atol=1e-8)
    wrong = replace(evidence, answers=("another",) * len(evidence.exemplars))
    judged = {one.text for one in intents._wrong_examples(wrong)}
    assert judged == set(range(len(evidence.exemplars))) - {places[1]}


def test_copies_do_not_vote_on_their_source_among_many_examples_either(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of more than 1,500, Data, Review and the limit knew a text by what was made of it."""
    monkeypatch.setattr(row_answers, "SOLVED_AT_ONCE", 5)
    with home.database.write() as connection:
        rows = [r for r in dataset.utterances(connection, 1) if r.split == "train" and r.labels]
        source, gone = rows[:2]
        copies = [
            replace(source, id=f"s{n}", text=f"{source.text} again {n}", synthetic=source.id)
            for n in range(2)
        ]
        events.record(
            connection, 1, Action("augment", "local"), [edits.create(one) for one in copies]
        )
    other = next(row for row in rows if row.labels != source.labels)
    change(home, gone.text, "split", "test")
    change(home, other.text, "labels", list(source.labels or ()))
    live_studio = open_live_studio(home)
    record, live = open_live(live_studio, "p")
    head, ids = votes_of(live), [one.id for one in live.pipeline.exemplars]
    group = [ids.index(key) for key in (source.id, "s0", "s1")]
    others = np.delete(np.arange(len(ids)), group)
    unit = head.exemplars[others]
    matrix = kernel(unit, unit, head.tau) + head.ridge * np.eye(len(others))
    weights = np.linalg.solve(matrix, head.targets[others] - head.prior)
    anew = head.prior + kernel(head.exemplars[group], unit, head.tau) @ weights
    assert np.abs(anew - leave_one_out(head)[group]).max() > 1e-3
    evidence = evidence_of(live_studio, record, live, held_examples(live))
    np.testing.assert_allclose(evidence.held_out[group], anew, atol=1e-5)
    named = voices_of(live.pipeline.head, live.pipeline.embeddings[group])
    np.testing.assert_allclose(held_out_with_names(home, live)[group], anew + named, atol=1e-5)
    assert echoed_ids(live) == frozenset()
