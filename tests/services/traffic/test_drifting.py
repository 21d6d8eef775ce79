"""Periods and sources that differ are told in sentences, with the texts that tell them apart."""

import numpy as np

from app.services.live.said.answers import SaidAnswered
from app.services.live.said.drift import SaidRows, find_drift
from app.services.studio import Studio
from app.services.traffic.coverage_views import TrafficView
from app.services.traffic.drifting import with_drift
from app.services.traffic.facts import TrafficFacts
from storage.said.traffic import SaidText
from tests.services.traffic.test_coverage import view

RNG = np.random.default_rng(0)
PLACES = {
    f"u{n}": RNG.normal(size=8).astype(np.float32) + 3 * np.eye(8)[n // 30] for n in range(90)
}
"""90 texts about three things, 30 each."""


def said(subjects: tuple[int, ...], times: int, source: str, day: str) -> list[SaidText]:
    ids = [f"u{subject * 30 + n % 30}" for subject in subjects for n in range(times)]
    return [
        SaidText(f"{source} {day} {n}", key, f"{day}T10:00:00Z", source)
        for n, key in enumerate(ids)
    ]


def told(
    studio: Studio,
    now: list[SaidText],
    earlier: list[SaidText],
    sure: set[str],
    learned: frozenset[str] = frozenset(),
) -> TrafficView:
    fresh = {key: place for key, place in PLACES.items() if key not in learned}
    drifts = find_drift(SaidRows(now, earlier), fresh, sure, lambda: None)
    answered = SaidAnswered({key: ["1"] for key in PLACES}, frozenset(sure), drifts)
    facts = TrafficFacts(now, earlier, {}, {}, {}, {}, learned=learned)
    return with_drift(studio, 1, view([], []), facts, answered)


def test_weeks_and_sources_that_differ_are_told(studio: Studio) -> None:
    earlier = said((0, 1), 60, "app", "2026-02-02")
    now = said((0, 1), 60, "app", "2026-02-09") + said((2,), 90, "phone", "2026-02-10")
    found = told(studio, now, earlier, {f"u{n}" for n in range(60)})
    real = {(one.what, one.source): one for one in found.drifts if one.is_real}
    assert set(real) == {
        ("meaning", ""),
        ("sureness", ""),
        ("meaning", "phone"),
        ("sureness", "phone"),
    }
    assert real["sureness", "phone"].sentence == (
        "phone: fewer texts are answered surely, 0.0 % (0 of 90); elsewhere 100.0 % (120 of 120); "
        "by chance alone, 0.2 % of the time."
    )
    assert real["meaning", "phone"].sentence.startswith(
        "phone: people write other things than elsewhere"
    )
    assert found.sure is not None
    assert (found.sure.count, found.sure.n) == (120, 210)


def test_the_same_twice_is_no_drift_and_few_texts_are_not_compared(studio: Studio) -> None:
    earlier, now = (said((0, 1, 2), 30, "app", day) for day in ("2026-02-02", "2026-02-09"))
    found = told(studio, now, earlier, set())
    assert [one.is_real for one in found.drifts] == [False, False]
    # “People write other things than in the days before” was said of it to scripts and agents.
    assert found.drifts[0].sentence == (
        "These days and the days before: what people write differs by no more than chance may do; "
        "by chance alone, 100.0 % of the time."
    )
    assert told(studio, now[:40], earlier, set()).drifts == ()


def test_what_a_version_has_learned_is_not_compared(studio: Studio) -> None:
    """A version was sure of texts that it was tuned to, and not of the new ones of a week later."""
    learned = frozenset({"u0", "u1", "u2"})  # each of them is said twice a week
    earlier, now = (said((0, 1), 60, "app", day) for day in ("2026-02-02", "2026-02-09"))
    found = told(studio, now, earlier, set(learned), learned)
    assert [(one.what, one.chance) for one in found.drifts] == [("meaning", 1.0), ("sureness", 1.0)]
    assert found.sure is not None
    assert found.sure_before is not None
    assert (found.sure.count, found.sure.n) == (0, 114)
    assert (found.sure_before.count, found.sure_before.n) == (0, 114)


def test_what_is_left_where_many_texts_were_learned_is_not_compared(studio: Studio) -> None:
    """One of two subjects was labelled: of the week before, the other one alone was left."""
    first, second = (frozenset(f"u{n}" for n in side) for side in (range(15), range(15, 30)))
    weeks = [
        [row for row in said((0, 1), 60, "app", day) if row.utterance_id not in others]
        for day, others in (("2026-02-02", second), ("2026-02-09", first))
    ]
    found = told(studio, weeks[1], weeks[0], set(first), first)
    assert found.drifts == ()
    assert found.sure is not None
    assert found.sure_before is not None
    assert (found.sure.n, found.sure_before.n) == (90, 0)


def test_without_50_new_texts_all_texts_of_the_period_are_told(studio: Studio) -> None:
    learned = frozenset(f"u{n}" for n in range(30))
    earlier = said((0, 1), 60, "app", "2026-02-02")
    now = said((1,), 120, "app", "2026-02-09")
    few = told(studio, now, earlier[:60] + earlier[60:109], set(learned), learned)
    assert few.drifts == ()
    assert few.sure is not None
    assert few.sure_before is not None
    assert (few.sure.n, few.sure_before.n) == (120, 0)
