"""A person keeps the texts of a border that are labelled right."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from app.services.data.history import undo_action
from app.services.labelling import decisions
from app.services.labelling.decisions import Operation
from app.services.live.live_studio import open_live_studio
from app.services.review import review
from app.services.review.intents import Border
from app.services.studio import Studio
from app.services.what_if import repairs
from storage.queries import utterances
from tests.waiting import wait_until


def test_a_text_at_a_border_is_kept_until_that_is_taken_back(home: Studio) -> None:
    live_studio = open_live_studio(home)
    with home.database.read() as connection:
        by = utterances.intent_ids(connection, 1)

    def kept() -> set[str]:
        steps = review.walk(live_studio, "p", by["password"], by["parcel"]).steps
        return {step.text.text for step in steps if step.kept}

    steps = review.walk(live_studio, "p", by["password"], by["parcel"]).steps
    step = next(one for one in steps if one.finding)
    assert kept() == set()
    repairs.keep_finding(home, "p", step.finding, "keep-border-1")
    assert kept() == {step.text.text}
    undo_action(home, "p", "keep-border-1")
    assert kept() == set()


def test_a_text_that_lost_its_label_comes_back_to_the_border_at_once(
    home: Studio, held_evaluation: Callable[[], AbstractContextManager[None]]
) -> None:
    """After Undo it was missing for as long as the pool rested."""
    live_studio = open_live_studio(home)
    review.wait_for_pool(live_studio, "p")
    with home.database.read() as connection:
        by = utterances.intent_ids(connection, 1)

    def settled() -> None:
        wait_until(lambda: not live_studio.pools.loading(1), "nothing evaluates the pool")

    def walked() -> Border:
        return review.walk(live_studio, "p", by["password"], by["parcel"])

    def waiting() -> set[str]:
        return {step.text.id for step in walked().steps if step.text.intents is None}

    before = waiting()
    label = Operation("label-at-border", "label", min(before), (by["parcel"],))
    assert [one.state for one in decisions.decide(home, "p", [label])] == ["saved"]
    kept = live_studio.pools.kept[1]
    kept.rest_until = 0.0
    live_studio.pools.get(1)
    settled()
    kept.rest_until = time.monotonic() + 1e6
    undo_action(home, "p", "label-at-border")
    with held_evaluation():
        assert walked().counting
    settled()
    assert waiting() == before
    assert not walked().counting


def test_a_text_that_was_labelled_just_now_does_not_wait_for_a_label(home: Studio) -> None:
    """It stood there twice: as an example, and without a label, with buttons to label it again."""
    live_studio = open_live_studio(home)
    review.wait_for_pool(live_studio, "p")
    with home.database.read() as connection:
        by = utterances.intent_ids(connection, 1)

    def waiting() -> list[str]:
        steps = review.walk(live_studio, "p", by["password"], by["parcel"]).steps
        return [step.text.id for step in steps if step.text.intents is None]

    first, *others = waiting()
    label = Operation("label-at-border", "label", first, (by["parcel"],))
    assert [one.state for one in decisions.decide(home, "p", [label])] == ["saved"]
    assert waiting() == others


def test_without_a_pair_the_border_has_texts_between_its_two(home: Studio) -> None:
    """It opened on the first two intents of the list: “No text lies between these two.”"""
    live_studio = open_live_studio(home)
    review.wait_for_pool(live_studio, "p")  # which could come between two of these walks
    found = review.walk(live_studio, "p", "", "")
    assert found.steps
    n = len(found.steps) + found.left_out
    with home.database.read() as connection:
        by = utterances.intent_ids(connection, 1)
    every = [
        sum(abs(step.lead) < 0.4 for step in review.walk(live_studio, "p", one, other).steps)
        for one in by.values()
        for other in by.values()
        if one < other
    ]
    unclear = sum(abs(step.lead) < 0.4 for step in found.steps)
    assert n >= unclear
    assert unclear >= max(every) - sum(bool(step.answer) for step in found.steps)
