from dataclasses import replace

import pytest

from app.services.data.projects import create_project
from app.services.studio import Studio
from app.services.versions.comparison import (
    compare_contenders,
    compare_models,
    compare_versions,
    gate,
)
from app.services.versions.verdict import Advice, Sides, advice_on
from core.encoders.packed.encoder import TransformerEncoder
from core.errors import NotFound
from core.text import text_hash
from core.types import Exemplar
from storage import pinned_texts, projects
from storage.computed import vectors
from storage.log import edits, events, versions
from storage.log.events import Action
from storage.queries import dataset
from tests.builders.stub_pipeline import StubPipeline, contender, start, store_model, trained

STORED = {"judged_on": "leave-one-out over 20 training texts", "noise": 0.03, "n": 20}


def hundred() -> dict[str, str]:
    """A hundred test texts, all of refunds."""
    return {f"text {i}": "refund" for i in range(100)}


def wrong(*rows: int) -> StubPipeline:
    return StubPipeline({f"text {row}": "parcel" for row in rows})


def pin(studio: Studio, text: str, intent: str) -> None:
    with studio.database.write() as connection:
        project = projects.find(connection, "p")
        found = dataset.intent_named(connection, project.id, intent)
        pinned_texts.add(connection, project.id, text, [found.id], "local")


def test_five_fixed_and_two_broken_of_a_hundred_test_texts(studio: Studio) -> None:
    start(studio, hundred())
    found = compare_contenders(
        studio,
        "p",
        candidate=contender("p@2", wrong(0, 1, 9)),
        champion=contender("p@1", wrong(2, 3, 4, 5, 6, 9)),
    )
    assert (found.basis, found.n, found.before, found.after) == ("test split", 100, 0.94, 0.97)
    assert found.difference is not None
    assert found.difference.low == pytest.approx(-0.0246369, abs=1e-6)
    verdicts = [(a.text, a.expected, a.before, a.after, a.verdict) for a in found.answers]
    assert verdicts[:3] == [
        ("text 0", ("refund",), ("refund",), ("parcel",), "broken"),
        ("text 1", ("refund",), ("refund",), ("parcel",), "broken"),
        ("text 2", ("refund",), ("parcel",), ("refund",), "fixed"),
    ]
    assert len(verdicts) == 7
    assert [(r.intent, r.support, r.before, r.after) for r in found.intents] == [
        ("refund", 100, 0.94, 0.97)
    ]
    assert found.words == (
        "Version 2 answers 97.0 % of 100 test texts right, version 1 94.0 %: "
        "+3.0 points (\u22122.5 to +8.3 in 95 of 100 cases).",
        "Answers: 5 now right, 2 now wrong.",
    )
    assert found.outcome == "alike"
    assert found.verdict == (
        "Version 2 answers 97 of 100 test texts right, 94 before, both without the labels "
        "given since their trainings. "
        "So small a difference on 100 texts may be luck."
    )
    assert gate(found).promote
    assert gate(found).reasons[0] == "There are no pins to break."


@pytest.mark.parametrize(
    ("wrong_before", "wrong_now", "advised"),
    [
        (6, 3, "About as good as version 1: keep version 1, as nothing speaks for a change."),
        (0, 5, "Worse than version 1: keep version 1 live."),
        (9, 0, "Better than version 1: use version 2."),
    ],
)
def test_one_rule_says_whether_to_use_a_version_or_to_leave_it(
    studio: Studio,
    wrong_before: int,
    wrong_now: int,
    advised: str,
) -> None:
    """Reports, Train and Versions each told another part of it, or nothing."""
    start(studio, hundred())
    sides = [
        contender("p@2", wrong(*range(wrong_now))),
        contender("p@1", wrong(*range(wrong_before))),
    ]
    found = compare_contenders(studio, "p", *sides)
    advice = advice_on(found, Sides(2, 1, live=1))
    assert advice is not None
    assert advice.words.startswith(advised)
    assert advice.use is (": use version 2" in advised)
    assert advice.either is ("nothing speaks for a change" in advised)
    kept = advice_on(found, Sides(2, 1, live=2))
    assert kept is not None
    act = "go back to version 1" if found.outcome == "worse" else "keep version 2 live"
    assert kept.words.endswith(f": {act}.")
    assert advice_on(found, Sides(2, 1, live=3)) is None
    assert advice_on(found, Sides(2, 1, live=None)) is None


@pytest.mark.parametrize("n_broken", [4, 5])
def test_the_gate_closes_when_the_whole_interval_is_a_loss(studio: Studio, n_broken: int) -> None:
    start(studio, hundred())
    worse = contender("p@2", wrong(*range(n_broken)))
    found = compare_contenders(studio, "p", worse, contender("p@1", wrong()))
    verdict = gate(found)
    assert verdict.promote is (n_broken == 4)
    assert found.outcome == ("alike" if n_broken == 4 else "worse")
    assert ("The loss is real, not luck." in found.verdict) is (n_broken == 5)
    assert ("no loss of accuracy beyond luck" in verdict.reasons[-1]) is (n_broken == 4)


def test_a_limit_chosen_by_the_same_texts_takes_the_certainty_from_a_gain(studio: Studio) -> None:
    """ "Real, not luck" was said after the limit had been moved by the texts that it rests on."""
    start(studio, hundred())
    better = contender("p@2", wrong())
    worse = contender("p@1", wrong(*range(8)))
    assert "is real, not luck." in compare_contenders(studio, "p", better, worse).verdict
    with studio.database.write() as connection:
        projects.change_fence(connection, 1, {"method": "familiarity"})
    found = compare_contenders(studio, "p", better, worse)
    assert found.outcome == "better"
    assert "the limit for out of scope was chosen by the same texts." in found.verdict


def test_a_pin_is_fixed_broken_kept_or_missed_and_a_broken_one_closes_the_gate(
    studio: Studio,
) -> None:
    start(studio, {"a": "refund"})
    for text in ("fixed", "broken", "kept", "missed"):
        pin(studio, text, "parcel")
    old = StubPipeline({"broken": "parcel", "kept": "parcel", "a": "refund"})
    new = StubPipeline({"fixed": "parcel", "kept": "parcel"}, refused=frozenset({"broken"}))
    found = compare_contenders(studio, "p", contender("p@2", new), contender("p@1", old))
    assert [(p.text, p.verdict) for p in found.pins] == [
        (text, text) for text in ("broken", "fixed", "kept", "missed")
    ]
    assert found.words[-3:] == (
        "Pins: 1 kept, 1 mended, 1 broken, 1 broken as before.",
        "“broken” must get parcel and gets out of scope.",
        "“missed” must get parcel and gets refund.",
    )
    verdict = gate(found)
    assert found.verdict.endswith(" It breaks 2 pins, 1 of them as before.")
    assert advice_on(found, Sides(2, 1, live=1)) == Advice(
        use=False,
        words="It breaks 1 pin more: keep version 1 live.",
        act="keep version 1 live",
    )
    assert verdict.promote is False
    assert verdict.reasons == ("It breaks the pin 'broken': out of scope instead of parcel.",)


def test_a_pin_broken_by_both_is_called_so_everywhere(studio: Studio) -> None:
    """One pin was "wrong as before", "not broken", "missed" and "broken" in one training."""
    start(studio, {"a": "refund"})
    pin(studio, "x", "parcel")
    sides = [contender(name, StubPipeline({})) for name in ("p@2", "p@1")]
    found = compare_contenders(studio, "p", *sides)
    assert found.verdict.endswith(" 1 pin is broken, as before.")
    assert gate(found).reasons[0] == "1 pin is broken, as before."
    assert found.words[-2] == "Pins: 1 broken as before."
    assert advice_on(found, Sides(2, 1, live=1)).words.startswith("About as good as version 1")


def test_a_pin_of_a_merged_intent_is_not_judged(studio: Studio) -> None:
    project = start(studio, {"a": "refund"})
    pin(studio, "x", "parcel")
    with studio.database.write() as connection:
        changes = edits.merge_intents(connection, project.id, "parcel", "refund")
        events.record(connection, project.id, Action("merge", "local"), changes)
    old, new = StubPipeline({"x": "parcel"}), StubPipeline({})
    found = compare_contenders(studio, "p", contender("p@2", new), contender("p@1", old))
    assert (found.pins, found.stale_pins) == ((), 1)
    assert found.words[-1].startswith("1 pin not judged")
    assert gate(found).promote


def test_texts_that_one_of_the_two_was_trained_on_are_left_out(studio: Studio) -> None:
    start(studio, {"Seen": "refund", "known": "refund", "new": "parcel"})
    old = StubPipeline({}, exact={"seen": ("refund",)})
    new = StubPipeline({"new": "parcel"}, exemplars=(Exemplar("e", "Known!", ("refund",)),))
    found = compare_contenders(studio, "p", contender("p@2", new), contender("p@1", old))
    assert (found.n, found.left_out, found.before, found.after) == (1, 2, 0.0, 1.0)
    assert found.words[0].startswith("2 test texts left out")
    assert "100.0 % of 1 test text right" in found.words[1]


def test_what_is_sent_out_of_scope_is_answered_wrongly(studio: Studio) -> None:
    """Header and report counted it as wrong, and the verdict as right: 969 of 1,000, and 96.0 %."""
    start(studio, {"a": "refund", "b": "refund"})
    shy = StubPipeline({}, refused=frozenset({"a", "b"}))
    found = compare_contenders(
        studio, "p", contender("p@2", shy), contender("p@1", StubPipeline({}))
    )
    assert (found.before, found.after, found.refused) == (1.0, 0.0, (0, 2))
    assert found.words[-2:] == (
        "Answers: 2 now wrong.",
        "2 texts refused that fit an intent, 0 before.",
    )


def test_the_verdict_says_how_many_texts_of_no_intent_are_refused(studio: Studio) -> None:
    """A version was better, and silent on refusing 83 of 100 where it had refused 87."""
    start(studio, {"a": "refund", "noise": "", "static": ""})
    shy = StubPipeline({}, refused=frozenset({"noise", "static"}))
    bold = StubPipeline({}, refused=frozenset({"noise"}))
    found = compare_contenders(studio, "p", contender("p@2", bold), contender("p@1", shy))
    assert (found.outside_n, found.outside_refused) == (2, (2, 1))
    assert found.outside_difference is not None
    # One of two lost: -1/4 +- 1.96 x sqrt(2 - 1/4) / 4, with half a text in each count.
    assert found.outside_difference.value == -0.5
    assert found.outside_difference.high == pytest.approx(-0.25 + 1.959964 * 1.75**0.5 / 4)
    assert found.n == 1
    assert found.verdict.endswith(" Of 2 texts that fit no intent it refuses 1, 2 before.")


@pytest.mark.parametrize(("now", "high"), [(0.3, -0.3037017), (0.8, 0.1354293)])
def test_without_test_texts_stored_figures_count_where_they_were_judged_alike(
    studio: Studio, now: float, high: float
) -> None:
    """Answers right were compared with the error of another figure, which was 0 at 100 %."""
    start(studio, {})
    old = contender("p@1", StubPipeline({}), {**STORED, "accuracy": 1.0, "answered_right": 0.9})
    new = contender("p@2", StubPipeline({}), {**STORED, "accuracy": 1.0, "answered_right": now})
    found = compare_contenders(studio, "p", new, old)
    assert (found.basis, found.n, found.before, found.after) == ("stored figures", 20, 0.9, now)
    assert found.difference is not None
    assert found.difference.high == pytest.approx(high, abs=1e-6)
    assert found.words[0].startswith("There are no test texts to compare on")
    assert gate(found).promote is (now == 0.8)  # 16 of 20 after 18 may be luck


@pytest.mark.parametrize(
    ("before", "now", "basis"),
    [
        ("test set of 1000 texts", "test set of 1,000 texts", "stored figures"),
        ("test set of 1000 texts", "test set of 1,001 texts", "nothing"),
        ("test set of 10, 00 texts", "test set of 1,000 texts", "nothing"),
    ],
)
def test_figures_of_before_the_thousands_mark_still_count_as_judged_alike(
    studio: Studio, before: str, now: str, basis: str
) -> None:
    start(studio, {})
    old = contender("p@1", StubPipeline({}), {**STORED, "accuracy": 0.9, "judged_on": before})
    new = contender("p@2", StubPipeline({}), {**STORED, "accuracy": 0.8, "judged_on": now})
    assert compare_contenders(studio, "p", new, old).basis == basis


def test_figures_of_as_many_but_other_labels_are_not_compared_and_each_says_on_what_it_stands(
    studio: Studio,
) -> None:
    """“88.2 %” and “82.9 %” of other labels were compared, because there were as many of both."""
    start(studio, {})
    shares = (0.9, 0.8)
    old, new = (
        replace(
            contender(f"p@{number}", StubPipeline({}), {**STORED, "accuracy": share}),
            data=f"data {number}",
        )
        for number, share in enumerate(shares, 1)
    )
    found = compare_contenders(studio, "p", new, old)
    assert (found.basis, found.outcome) == ("nothing", "unknown")
    assert found.verdict.endswith(
        "The figures of their trainings do not compare them: 80.0 % of version 2 stand on held-out "
        "labels when trained (leave-one-out over 20 training texts), 90.0 % of version 1 stand on "
        "held-out labels when trained (leave-one-out over 20 training texts)."
    )
    alike = compare_contenders(studio, "p", replace(new, data="data 1"), old)
    assert alike.basis == "stored figures"
    assert "16 of 20 texts right, 18 before, both as checked after their trainings" in alike.verdict


@pytest.mark.parametrize(
    "metrics",
    [
        {},
        {**STORED, "judged_on": "other", "accuracy": 0.1},
        {"judged_on": STORED["judged_on"], "accuracy": 0.8},  # of a bundle: it was a fault
    ],
)
def test_without_anything_alike_there_is_no_verdict_and_it_is_said(
    studio: Studio, metrics: dict
) -> None:
    start(studio, {})
    old = contender("p@1", StubPipeline({}), {**STORED, "accuracy": 0.9})
    found = compare_contenders(studio, "p", contender("p@2", StubPipeline({}), metrics), old)
    assert (found.basis, found.difference, found.before) == ("nothing", None, None)
    assert "not checked in the same way on the same texts" in found.words[0]
    assert found.outcome == "unknown"
    assert found.verdict.startswith("Nobody can say whether version 2 is better than version 1")
    assert gate(found).reasons[1].startswith("Nobody can say whether it is better")
    even = advice_on(found, Sides(2, 1, live=1))
    assert even is not None
    assert even.either
    assert even.words.endswith(": keep version 1, as nothing speaks for a change.")


def test_a_version_that_learned_corrections_is_advised_where_no_test_text_compares(
    studio: Studio,
) -> None:
    """After 14 corrected labels the blue button said “Keep version 1, leave version 2 unused”."""
    start(studio, {})
    sides = [contender(name, StubPipeline({})) for name in ("p@2", "p@1")]
    found = compare_contenders(studio, "p", *sides)
    advice = advice_on(found, Sides(2, 1, live=1, learned_more=True))
    assert advice == Advice(
        use=True,
        words="There are no test texts to compare it with version 1 on, and it has learned newer "
        "labels: use version 2.",
        act="use version 2",
    )


def test_an_intent_that_was_merged_into_another_is_a_wrong_answer(studio: Studio) -> None:
    project = start(studio, {"a": "refund", "b": "parcel"})
    with studio.database.write() as connection:
        changes = edits.merge_intents(connection, project.id, "parcel", "refund")
        events.record(connection, project.id, Action("merge", "local"), changes)
    old = contender("p@1", StubPipeline({"b": "parcel"}))
    new = contender("p@2", StubPipeline({}))
    found = compare_contenders(studio, "p", new, old)
    assert (found.before, found.after) == (0.5, 1.0)
    assert [(a.text, a.before, a.after) for a in found.answers] == [("b", ("parcel",), ("refund",))]


def test_versions_are_compared_by_number_from_nothing_and_up_to_now(studio: Studio) -> None:
    project = start(studio, {"a": "refund", "b": "refund"})
    with studio.database.write() as connection:
        row = dataset.utterance_by_id(connection, project.id, "u000")
        events.record(connection, 1, Action("e", "local"), [edits.edit(row, "text", "other")])
        versions.cut(connection, project, "second")
        change = edits.rename_intent(connection, project.id, "refund", "refunds")
        events.record(connection, project.id, Action("rename", "local"), [change])
    assert compare_versions(studio, "p", 1, 2).words == ("1 edited",)
    assert compare_versions(studio, "p", 2, 1).utterances[0].before == "other"
    assert compare_versions(studio, "p", 2).words == ("intent 'refund' renamed to 'refunds'",)
    assert compare_versions(studio, "p", 0, 1).words[0] == "2 added"
    added = [c for c in compare_versions(studio, "p").utterances if c.kind == "added"]
    assert added[0].after == ("refunds",)
    with pytest.raises(NotFound, match="no dataset version 3"):
        compare_versions(studio, "p", 1, 3)


def test_versions_of_ten_thousand_rows_are_compared_within_a_second_and_a_half(
    studio: Studio,
) -> None:
    project = create_project(studio, "p")
    made = [edits.create_intent(f"i{i}") for i in range(77)]
    rows = [
        edits.create_utterance(f"u{i}", f"text {i}", "train", "f", [made[i % 77].subject_id])
        for i in range(10_000)
    ]
    with studio.database.write() as connection:
        events.record(connection, project.id, Action("import", "local"), made)
        events.record(connection, project.id, Action("import", "local"), rows)
        versions.cut(connection, project, "first")
        changes = edits.merge_intents(connection, project.id, "i0", "i1")
        events.record(connection, project.id, Action("merge", "local"), changes)
    found = compare_versions(studio, "p", 1)
    assert found.words == ("130 relabelled", "intent 'i0' merged into 'i1'")


def test_without_a_champion_there_is_nothing_to_compare_with(studio: Studio) -> None:
    start(studio, {})
    with pytest.raises(NotFound, match="no live version", check=lambda e: "Use a" in e.hint):
        compare_models(studio, "p", 1)


def test_stored_versions_are_opened_and_compared_with_cached_vectors(
    studio: Studio, tiny: TransformerEncoder
) -> None:
    tests = {"my money please": "refund", "money back now": "refund", "is my box here": "parcel"}
    project = start(studio, tests)
    right = {"give me money": "refund", "refund it": "refund", "where is my box": "parcel"}
    swapped = {text: "parcel" if name == "refund" else "refund" for text, name in right.items()}
    for labels in (swapped, right):
        store_model(studio, project, trained(tiny, labels))
    found = compare_models(studio, "p", 2)
    assert (found.candidate, found.champion) == ("p@2", "p@1")
    assert found.n == len(found.answers) == 3
    assert found.before == pytest.approx(1 - found.after)
    with studio.database.read() as connection:
        kept = vectors.get_many(connection, tiny.fingerprint, list(map(text_hash, tests)), tiny.dim)
    assert len(kept) == 3
