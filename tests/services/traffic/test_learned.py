"""Two weeks are compared though the version has learned some of their texts."""

from app.services.traffic.coverage import count_coverage
from app.services.traffic.coverage_views import TrafficView
from app.services.traffic.facts import TrafficFacts
from tests.services.traffic.test_coverage import ANSWERS, DAYS, GROUPS, rows


def learned_weeks(n_learned: int) -> TrafficView:
    """Of the week before the version has learned some texts, and answers all of them."""
    fresh = 500 - n_learned
    earlier = ["known"] * n_learned + ["a"] * (fresh - fresh // 10) + ["none"] * (fresh // 10)
    now = rows("2026-11-10", *["a"] * 450, *["none"] * 50)
    sides = now, rows("2026-11-03", *earlier)
    facts = TrafficFacts(*sides, {"1": "cancel"}, {"none": 4}, GROUPS, {}, learned={"known"})
    return count_coverage(facts, DAYS, {**ANSWERS, "known": ["1"]})


def test_what_has_no_intent_is_compared_without_what_the_version_has_learned() -> None:
    """“Up from 4.0 % to 10.0 %” was the training: of new texts it had been 10.0 % before, too."""
    found = learned_weeks(300)
    assert (found.earlier.n - found.earlier.count, found.earlier.n) == (20, 500)
    none, group = (one for one in found.changes if one.about in ("no intent", "group"))
    for one in (none, group):
        assert (one.before.count, one.before.n) == (20, 200)
        assert (one.after.count, one.after.n, one.is_real) == (50, 500, False)
    assert none.verdict == (
        "without the texts that the version has learned, such a difference can come by chance "
        "alone, in 100 of 100 cases"
    )
    assert found.left_out == (
        "The version has learned 0 of the 500 texts of these days, and 300 of the 500 texts of the "
        "days before. A change in answers is told only if it stands without these. As people "
        "choose what a version learns, what is answered surely and what people write are not "
        "compared with the days before."
    )
    [intent] = [one for one in found.changes if one.about == "intent"]
    assert (intent.before.n, intent.after.n, intent.is_real) == (500, 500, False)


def test_what_people_chose_to_label_makes_no_change() -> None:
    """Of 450 texts with an intent 300 were labelled: 25 % of the others had none, later 10 %."""

    def weeks(then: list[str], later: list[str]) -> TrafficView:
        sides = rows("2026-11-10", *later), rows("2026-11-03", *["known"] * 300, *then)
        facts = TrafficFacts(*sides, {"1": "cancel"}, {"none": 4}, GROUPS, {}, learned={"known"})
        return count_coverage(facts, DAYS, {**ANSWERS, "known": ["1"]})

    same = weeks(["a"] * 150 + ["none"] * 50, ["a"] * 450 + ["none"] * 50).changes
    assert not any(one.is_real for one in same)
    [none] = [one for one in same if one.about == "no intent"]
    assert (none.before.count, none.before.n, none.after.count) == (50, 500, 50)
    assert none.verdict == "such a difference can come by chance alone, in 100 of 100 cases"
    rise = weeks(["a"] * 190 + ["none"] * 10, ["a"] * 350 + ["none"] * 150).changes
    assert {one.about for one in rise if one.is_real} == {"no intent", "intent", "group"}
    [none] = [one for one in rise if one.about == "no intent"]
    assert (none.before.count, none.before.n) == (10, 200)
    assert none.verdict.startswith("without the texts that the version has learned, the difference")


def test_few_learned_texts_leave_words_to_be_compared() -> None:
    less, more = (learned_weeks(n).left_out for n in (25, 26))  # of 500: 5 % are few
    assert less.endswith("A change in answers or words is told only if it stands without these.")
    # “Are not compared” stood there, above how a source differs from the others.
    assert more.endswith("and what people write are not compared with the days before.")


def test_without_50_texts_that_are_new_to_the_version_nothing_is_said_of_answers() -> None:
    """Intents were compared by all texts, so that a training was told as a change of them."""
    found = learned_weeks(460)
    assert {one.about for one in found.changes} == {"source"}
    assert found.left_out == (
        "The version has learned 0 of the 500 texts of these days, and 460 of the 500 texts of the "
        "days before. Too few others are left: which intent texts get, what is answered surely "
        "and what people write are not compared with the days before."
    )
    assert [one.about for one in learned_weeks(0).changes].count("no intent") == 1
    assert learned_weeks(0).left_out == ""
