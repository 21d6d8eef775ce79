"""Two sources that a person names are compared with each other, not with all others."""

import pytest

from app.services.live.said.answers import SaidAnswered
from app.services.live.said.drift import SaidRows, find_drift
from app.services.traffic.comparing import SourcePair, told_sources
from app.services.traffic.coverage_views import ComparedSources
from tests.services.traffic.test_drifting import PLACES, said

NAMES = SourcePair("phone", "app")
DAY = "2026-02-09"


def compared(
    rows: SaidRows, probability: dict[str, float], learned: frozenset[str] = frozenset()
) -> ComparedSources:
    sure = frozenset(key for key, share in probability.items() if share >= 0.8)
    fresh = {key: place for key, place in PLACES.items() if key not in learned}
    drifts = find_drift(rows, fresh, sure, lambda: None, probability)
    given = {key: ["1"] if key in probability else [] for key in PLACES}
    answered = SaidAnswered(given, sure, drifts, probability, learned)
    return told_sources(rows, NAMES, answered, {key: f"text {key}" for key in PLACES})


def test_two_sources_differ_in_words_in_sureness_and_in_probability() -> None:
    """Of three sources each was compared with the two others together; no pair was told of."""
    rows = SaidRows(said((2,), 60, "phone", DAY), said((0, 1), 30, "app", DAY), is_pair=True)
    # The app's texts are u0 to u59, of which u50 to u59 have no intent; the phone's u60 to u89.
    probability = {f"u{n}": 0.9 if n < 50 else 0.7 for n in range(90) if not 50 <= n < 60}
    found = compared(rows, probability)
    phone, app = found.sides
    assert (phone.source, phone.answered, phone.sure.count, phone.sure.n) == ("phone", 60, 0, 60)
    assert (app.source, app.answered, app.sure.count, app.sure.n) == ("app", 50, 50, 60)
    assert (phone.probability, app.probability) == pytest.approx((0.7, 0.9))
    meaning, sureness, mean = found.drifts
    assert [one.what for one in found.drifts] == ["meaning", "sureness", "probability"]
    assert all(one.is_real for one in found.drifts)
    assert meaning.sentence.startswith("phone: people write other things than in app, such as “te")
    assert sureness.sentence.startswith(
        "Answered surely: phone 0.0 % (0 of 60); app 83.3 % (50 of 60); by chance alone, "
    )
    assert mean.sentence.startswith(
        "Mean probability of an answer: phone 70.0 % (60 texts); app 90.0 % (50 texts); "
    )


def test_two_alike_sources_do_not_differ_and_few_texts_are_not_compared() -> None:
    rows = SaidRows(said((0, 1), 30, "phone", DAY), said((0, 1), 30, "app", DAY), is_pair=True)
    found = compared(rows, dict.fromkeys(PLACES, 0.9))
    assert [one.is_real for one in found.drifts] == [False, False, False]
    assert found.drifts[0].sentence.startswith(
        "phone and app: what people write differs by no more than chance may do; "
    )
    few = SaidRows(rows.now[:49], rows.earlier, is_pair=True)
    assert compared(few, {}).drifts == ()
    assert compared(few, {}).sides[0].probability is None


def test_what_the_version_has_learned_is_of_no_side() -> None:
    """A source whose texts a version was tuned to was answered more surely than the other."""
    rows = SaidRows(said((2,), 60, "phone", DAY), said((0, 1), 30, "app", DAY), is_pair=True)
    learned = frozenset({"u60"})  # said twice
    found = compared(rows, dict.fromkeys(PLACES, 0.9), learned)
    assert [(one.source, one.sure.n, one.answered) for one in found.sides] == [
        ("phone", 58, 58),
        ("app", 60, 60),
    ]
    assert len(found.drifts) == 3
    more = learned | {"u61"}
    assert compared(rows, dict.fromkeys(PLACES, 0.9), more).drifts == ()  # over 5 % of a side
