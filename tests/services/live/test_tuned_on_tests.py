"""Examples to which an encoder was tuned do not test it, once they are moved to the test set."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.services.live.accuracy import accuracy_now
from app.services.live.answered_tests import labelled_tests, told_apart
from app.services.live.live_studio import LiveStudio, open_live, open_live_studio
from app.services.live.said.answers import SaidAnswers
from app.services.live.said.drift import SaidRows
from app.services.live.traffic import Traffic
from app.services.reports.model_report import report
from app.services.reports.versions_now import compare_now
from app.services.review.evidence.gathering import evidence_of
from app.services.review.evidence.held import held_examples
from app.services.review.examples import greedy
from app.services.review.fence import preview_fence
from app.services.review.review import review
from app.services.studio import Studio
from app.services.versions.bundles import Handover, export_model, import_bundle
from app.services.versions.registry import promote
from app.services.what_if.preview import preview
from app.services.what_if.repairs import Repair, apply_repair
from app.services.what_if.watched_texts import WatchedTextCache
from core.text import counted
from core.types import no_pause
from storage.log import edits, events
from storage.log.events import Action
from storage.said.traffic import SaidText
from tests.builders.trained_home import POOL, add_test, change, intent_ids, rows, train

LATE = "a very good day to you"
NEW = "nobody ever said this"
PARCELS = ("the parcel is late", "track the parcel for me", "when does the parcel come")


@pytest.fixture
def moved(home: Studio) -> LiveStudio:
    """Two test texts: a new one, and one that was an example of versions 1 and 2."""
    change(home, "hi", "split", "test")
    add_test(home, NEW, "refund")
    return open_live_studio(home)


def told(live_studio: LiveStudio) -> tuple[int, int]:
    """How many test texts the header counts, and how many it does not, for they were learned."""
    studio, (now, live) = live_studio.studio, live_studio.models.open("p")
    assert live is not None
    fresh, learned = told_apart(live, labelled_tests(studio.database, 1, with_none=True))
    found = accuracy_now(studio, now, live, no_pause)
    assert found is not None
    assert found.n == len(fresh)
    return len(fresh), learned


@pytest.mark.parametrize(("number", "expected"), [(1, (2, 0)), (2, (1, 1))])
def test_a_moved_example_tests_a_version_only_where_no_encoder_was_tuned_to_it(
    moved: LiveStudio, number: int, expected: tuple[int, int]
) -> None:
    """A tuned version was right on its own examples, and each one moved raised its figure."""
    promote(moved.studio, "p", number)
    assert told(moved) == expected
    n, _ = expected
    figure = report(moved, "p", number).ready.figures[0]
    assert figure.basis.endswith(f" of {counted(n, 'test text')} answered right today")
    assert preview_fence(moved, "p").judged[0] == n
    repair = Repair("rename", intent=intent_ids(moved.studio)["greeting"], value="salute")
    [effect] = preview(WatchedTextCache(moved), "p", [repair])
    assert (effect.watched[1], effect.left_out, effect.in_scope.n) == (n, 2 - n, n)


def test_two_versions_are_compared_without_it_if_either_was_tuned_to_it(moved: LiveStudio) -> None:
    found = compare_now(moved, "p", 2, 1)
    assert (found.n, found.left_out) == (1, 1)


def test_nor_does_it_test_votes_on_an_encoder_that_was_tuned_to_it(home: Studio) -> None:
    train(home, "p@2", {"kind": "instant"})
    promote(home, "p", 3)
    change(home, "hi", "split", "test")
    add_test(home, NEW, "refund")
    assert told(open_live_studio(home)) == (1, 1)


def test_an_example_that_only_votes_on_a_tuned_encoder_tests_it_once_it_is_moved(
    home: Studio,
) -> None:
    """Labelled after the tuning, it was taken for known to the encoder, and the header left it out.

    That has learned the 20 others.
    """
    made = edits.create_utterance("late", LATE, "train", "f", [intent_ids(home)["greeting"]])
    with home.database.write() as connection:
        events.record(connection, 1, Action("import", "local"), [made])
    train(home, "p@2", {"kind": "instant"})
    promote(home, "p", 3)
    change(home, LATE, "split", "test")
    assert told(open_live_studio(home)) == (1, 0)
    change(home, "hi", "split", "test")
    assert told(open_live_studio(home)) == (1, 1)


def test_nor_does_it_test_a_tuned_version_that_came_without_texts(
    home: Studio, tmp_path: Path
) -> None:
    """Its examples are there as “[id]”, and their hashes went as soon as labels joined them."""
    out = tmp_path / "bare.zip"
    export_model(home, "p@2", out, Handover(without_texts=True))
    assert import_bundle(home, out, "p") == "p@3"
    promote(home, "p", 3)
    change(home, "hi", "split", "test")
    add_test(home, NEW, "refund")
    assert told(open_live_studio(home)) == (1, 1)


def test_a_moved_example_counts_again_for_a_version_that_is_trained_without_it(
    moved: LiveStudio, tiny_path: Path
) -> None:
    train(moved.studio, tiny_path, {"kind": "convfit", "epochs": 1, "pool": False})
    promote(moved.studio, "p", 3)
    assert told(moved) == (2, 0)


@pytest.fixture
def mistaken(home: Studio) -> LiveStudio:
    """Three examples of parcels that became test texts of password: the model is wrong on them."""
    for text in PARCELS:
        change(home, text, "split", "test")
    ids, known = intent_ids(home), rows(home)
    wrong = Repair("relabel", tuple(known[text].id for text in PARCELS), (ids["password"],))
    apply_repair(home, "p", wrong, "relabelled")
    return open_live_studio(home)


def test_review_mixes_up_intents_by_no_test_text_that_was_learned(mistaken: LiveStudio) -> None:
    found = review(mistaken, "p", "confusion").findings
    assert [one.measure for one in found if "test" in one.measure] == []


def test_a_repair_corrects_and_breaks_no_answer_to_a_test_text_that_was_learned(
    mistaken: LiveStudio,
) -> None:
    """“3 become right” stood on a button, of texts that the header does not count."""
    by = intent_ids(mistaken.studio)
    ids = tuple(
        row.id
        for row in rows(mistaken.studio).values()
        if row.labels == (by["parcel"],) and row.split == "train"
    )
    repair = Repair("relabel", ids, (by["password"],))
    [told] = preview(WatchedTextCache(mistaken), "p", [repair])
    assert (told.fixed, told.broken, told.test, told.right) == (0, 0, 0, (0, 0))
    assert (told.watched[1], told.left_out) == (0, len(PARCELS))
    assert "test" not in {turn.place for turn in told.turns}


def test_no_example_is_greedy_for_a_test_text_that_was_learned(mistaken: LiveStudio) -> None:
    record, live = open_live(mistaken, "p")
    evidence = evidence_of(mistaken, record, live, held_examples(live))
    assert greedy(evidence) == []
    as_if_new = replace(evidence, fresh=np.ones(len(PARCELS), dtype=bool))
    assert {text.text for one in greedy(as_if_new) for text in one.texts[1:]} <= set(PARCELS)
    assert greedy(as_if_new)


@pytest.mark.parametrize(("number", "expected"), [(1, set()), (2, {"hi"})])
def test_traffic_that_an_encoder_was_tuned_to_is_known(
    home: Studio, number: int, expected: set[str]
) -> None:
    """Last week's texts, to which a version was tuned, were compared with new ones."""
    promote(home, "p", number)
    live_studio = open_live_studio(home)
    _, live = live_studio.models.open("p")
    texts = {row.id: text for text, row in rows(home).items() if text in ("hi", POOL[0])}
    said = [SaidText(key, key, "2026-02-02T10:00:00Z", "app") for key in texts]
    answers = SaidAnswers(home, live_studio.models, Traffic(last=0.0))
    found = answers._answer(live, 1, SaidRows(said, []))
    assert found.intents.keys() == texts.keys()
    assert {texts[key] for key in found.learned} == expected
