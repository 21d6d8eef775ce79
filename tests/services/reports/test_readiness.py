"""What a manager reads first: ready or not by one rule, five sentences, three figures."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from app.services.answering.pinned import BrokenPin
from app.services.reports.judged_again import JudgedText, JudgedVersion, figures_by_intent
from app.services.reports.links import link_words, reaches_others
from app.services.reports.pages import _plain_basis
from app.services.reports.readiness import Checked, Facts, checked_on, readiness_of
from app.services.reports.report_views import IntentLine, ScopeLine
from app.services.versions.verdict import TITLES, Advice, verdict_on
from storage.log.label_origins import LabelWays
from storage.records import ModelVersionRecord

INTENTS = [
    IntentLine("refund", 10, "t", 0.9, 0.95, 20),
    IntentLine("parcel", 10, "t", 0.9, 0.5, 20),
]
GOOD = Facts(
    task="single-label",
    examples=20,
    intents=INTENTS,
    scope=ScopeLine(0.3, 0.97, 50, 0.7),
    checked=Checked(90, 100, on_tests=True),
    broken=(),
)


PIN = BrokenPin("my card", "refund", "parcel")


def version_of(metrics: dict) -> ModelVersionRecord:
    return ModelVersionRecord(1, 1, 1, "", None, {}, metrics, {}, "", None, "intents")


@pytest.mark.parametrize(
    ("change", "level", "reason"),
    [
        ({}, "ready", None),
        (
            {"checked": Checked(84, 100, on_tests=True)},
            "trial",
            "84.0 % of the texts right; “ready” begins at 85 %",
        ),
        # "It answers 85 of 100 texts right, not 85."
        ({"checked": Checked(847, 1000, on_tests=True)}, "trial", "84.7 % of the texts right"),
        ({"checked": Checked(69, 100, on_tests=True)}, "not-ready", "69.0 % of the texts"),
        ({"checked": Checked(90, 100, on_tests=False)}, "unknown", "no test texts"),
        ({"checked": Checked(0, 0, on_tests=False)}, "unknown", "no texts to check it on"),
        ({"broken": [PIN]}, "not-ready", "breaks 1 pin: “my card” must get refund and gets parcel"),
        (
            {"broken": 4 * [PIN]},
            "not-ready",
            "4 pins: “my card” must get refund and gets parcel; “",
        ),
        ({"outcome": "worse"}, "not-ready", "not luck"),
        ({"outcome": "alike"}, "ready", None),
        ({"scope": ScopeLine(0.3, 0.97, 50, 0.4)}, "trial", "fit no intent it answers 60"),
        ({"scope": ScopeLine(0.3, 0.97, 0, None)}, "ready", None),
    ],
)
def test_ready_or_not_is_decided_by_the_rule_that_the_report_prints(
    change: dict, level: str, reason: str | None
) -> None:
    found = readiness_of(replace(GOOD, **change))
    assert found.level == level
    assert any(reason in one for one in found.reasons) if reason else found.reasons == ()
    assert "at least 85 % of the test texts" in found.rule
    assert (len(found.sentences), len(found.figures)) == (5, 3)


def test_a_limit_chosen_by_the_test_texts_is_told_where_they_are_counted() -> None:
    """The report called it no luck, and the test texts ones "that it had never seen"."""
    chosen = readiness_of(replace(GOOD, outcome="better", chose_line=True)).sentences
    assert "Its limit for out of scope was chosen by the same texts." in chosen[1]
    assert "part of it may be luck" in chosen[-1]
    alone = readiness_of(replace(GOOD, outcome="better")).sentences
    assert alone[-1].endswith("and that is not luck.")
    assert "limit" not in alone[1]


def test_sentences_and_figures_count_on_what_they_rest() -> None:
    found = readiness_of(GOOD)
    assert "Of 100 texts it answers about 90 right" in found.sentences[1]
    assert "(90 of 100 right)" in found.sentences[1]
    assert "refuses 70 of 100, so 30 get an answer" in found.sentences[2]
    assert "weakest at “parcel”" in found.sentences[3]
    assert [one.value for one in found.figures] == ["90.0 %", "70 %", "1 of 2"]


@pytest.mark.parametrize(
    ("change", "begin", "mark", "look"),
    [
        ({"outcome": "better", "broken": [PIN]}, "Not ready yet. A", "✗", "not-ready"),
        ({"outcome": "better"}, "Ready to use. A", "✓", "ready"),
        ({"outcome": "alike"}, "Ready to use. A", "✓", "ready"),
        ({"outcome": "worse"}, "Not ready yet. A", "✗", "not-ready"),
    ],
)
def test_a_headline_begins_with_what_its_sign_and_colour_say(
    change: dict, begin: str, mark: str, look: str
) -> None:
    """The report on a version that waits never said whether it is ready."""
    advice = Advice(use=False, words="A sentence.")
    found = readiness_of(replace(GOOD, advice=advice, **change))
    assert found.headline.startswith(begin)
    assert (found.mark, found.look) == (mark, look)


def test_a_report_says_first_whether_to_use_the_version() -> None:
    """Version 2 answered 94.1 % right where version 1 answers 95.3 %: "Ready to use"."""
    advice = Advice(use=False, words="About as good as version 1: keep version 1.")
    found = readiness_of(replace(GOOD, outcome="alike", advice=advice))
    assert found.headline == "Ready to use. About as good as version 1: keep version 1."
    assert found.title == "Ready to use"
    assert readiness_of(GOOD).headline == "Ready to use"


def test_a_report_parts_the_examples_of_today_from_those_of_the_training() -> None:
    """It had "learned them from 838 labelled texts" where Versions said 830."""
    today = f"knows them by {GOOD.examples:,} examples, labels up to today included."
    assert today in readiness_of(GOOD).sentences[0]  # not “examples of today”
    then = readiness_of(replace(GOOD, is_now=False)).sentences[0]
    assert f"learned them from {GOOD.examples:,} examples." in then


def test_a_share_of_four_texts_is_not_told() -> None:
    """A report told a manager that 100 of 100 are refused, checked on 4."""
    found = readiness_of(replace(GOOD, scope=replace(GOOD.scope, outside=4, refused=1.0)))
    assert found.sentences[2].startswith("It refuses 4 of the 4 texts that fit no intent")


def test_a_report_says_what_its_verdict_leaves_out() -> None:
    """ "Ready to use" stood beside "Out-of-scope texts refused: not known"."""
    for scope in (ScopeLine(0.3, 0.97, 0, None), replace(GOOD.scope, known=True)):
        found = readiness_of(replace(GOOD, scope=scope))
        assert (found.level, found.title) == ("ready", "Ready, but out of scope is not tested")
        assert found.gap.startswith("Not tested for texts that fit no intent: ")
        # Its box was green where the header of the studio was amber.
        assert found.look == "trial"
    untested = readiness_of(replace(GOOD, scope=ScopeLine(0.3, 0.97, 0, None)))
    assert untested.figures[1].value == "not tested"  # "Ready" stood above "not known"
    assert "is not tested: none of them are labelled yet" in untested.sentences[2]
    assert (readiness_of(GOOD).title, readiness_of(GOOD).gap) == ("Ready to use", "")
    several = readiness_of(replace(GOOD, task="multi-label", scope=ScopeLine(None, None, 0, None)))
    assert (several.title, several.gap) == ("Ready to use", "")


def test_an_intent_works_well_only_where_enough_texts_say_so() -> None:
    """ "17 of 17, judged by 5 texts each" stood where a receipt says "too few to be sure"."""
    few = [
        IntentLine("usage", 10, "t", 0.71, 1.0, 5, 7),
        IntentLine("bill", 10, "t", 1.0, 1.0, 5, 5),
    ]
    found = readiness_of(replace(GOOD, intents=few))
    # “Not sure” stood beside “Ready”: the one is of single intents, the other of all texts.
    assert found.figures[2].value == "too few texts"
    assert found.figures[2].basis == (
        "2 intents with fewer than 20 test texts each, too few to judge one alone; "
        "the verdict goes by all texts together"
    )
    assert found.sentences[3] == (
        "The verdict goes by all texts together. Each intent was checked on fewer than 20, too few "
        "to judge it alone; a hint, no verdict: “usage” is right in 5 of 7 answers."
    )
    greedy = IntentLine("refund", 10, "t", 0.71, 0.95, 20, 27)
    found = readiness_of(replace(GOOD, intents=[greedy, *few[:1]]))
    assert found.figures[2].value == "0 of 1"
    assert "1 more with fewer than 20 test texts each" in found.figures[2].basis
    assert "weakest at “refund”" in found.sentences[3]


def test_refusals_of_training_labels_are_not_told_as_checked() -> None:
    """A manager read 100 % of 27: all were labels of the training set, the line set by them."""
    found = readiness_of(replace(GOOD, scope=replace(GOOD.scope, known=True)))
    # "Not tested" stood above "50 %".
    assert found.gap.startswith("Not tested for texts that fit no intent: ")
    assert found.figures[1].value == "not tested"
    assert found.figures[1].basis == "no test text is labelled out of scope"
    assert "is not tested: none of them are test texts" in found.sentences[2]
    assert "Of the 50 others it refuses 35, but it may have learned" in found.sentences[2]
    assert readiness_of(GOOD).figures[1].basis == "of 50 test texts that fit no intent"


def test_how_a_training_checks_itself_is_told_without_its_method() -> None:
    """ "5-fold cross-validation over 340 texts" stood in the appendix."""
    assert _plain_basis("5-fold cross-validation over 340 texts") == (
        "its own 340 examples, in 5 parts, each answered by a version that learned from the others"
    )
    assert _plain_basis("leave-one-out over 20 texts").startswith("its own 20 examples, each")
    by_heart = _plain_basis("leave-one-out over 20 texts that the encoder was tuned on")
    assert (
        by_heart == "its own 20 examples, which it has learned, each answered without its own vote"
    )
    assert _plain_basis("68 of 340 texts, held out").startswith("68 of its own 340 examples, which")
    assert _plain_basis("test set of 306 texts") == "306 test texts"
    known = _plain_basis("68 of 340 texts, held out; the base has learned 9 of them")
    assert known.endswith("had not learned from; the base has learned 9 of them")


def test_an_intent_without_an_example_is_no_intent_that_was_learned() -> None:
    """A report told 67 intents, and figures of 66."""
    lines = [*INTENTS, IntentLine("top_up", 0, "", None, None, 0)]
    [first, *_] = readiness_of(replace(GOOD, intents=lines)).sentences
    assert "into 2 intents;" in first
    assert first.endswith(" 1 more without an example: known by name.")


def test_what_is_found_of_an_intent_counts_refusals_as_the_right_answers_do() -> None:
    """ "change_plan refused 1x" stood beside "Found 100 %" of change_plan."""
    answers = tuple(
        JudgedText("t", ("a",), (said,), 0.9, right=said == "a", refused=refused)
        for said, refused in (("a", False), ("a", True), ("b", False), ("b", True))
    )
    found = figures_by_intent(answers, "single-label")
    assert (found["a"].recall, found["a"].precision, found["a"].support) == (0.25, 1.0, 4)
    assert (found["b"].recall, found["b"].precision) == (None, 0.0)
    several = (JudgedText("t", ("a", "b"), ("b", "c"), 0.9, right=False, refused=False),)
    shares = figures_by_intent(several, "multi-label")
    assert [shares[name].recall for name in "ab"] == [0.0, 1.0]
    assert shares["c"].precision == 0.0


def test_a_refused_text_of_an_intent_is_not_answered_right() -> None:
    """A report must not say 96 % where people get right answers for 93 %."""
    answers = tuple(
        JudgedText("t", ("a",), ("a",), 0.9, right=True, refused=refused)
        for refused in (True, False)
    )
    judged = JudgedVersion(answers, (), "the test texts of today, 2 in all")
    assert checked_on(judged, "single-label") == Checked(1, 2, on_tests=True)
    assert checked_on(judged, "multi-label").right == 2


@pytest.mark.parametrize(
    ("address", "where"),
    [
        ("http://127.0.0.1:7860/reports/p/1", "this computer"),
        ("http://localhost:7860/x", "this computer"),
        ("http://[::1]:7860/x", "this computer"),
        ("http://192.168.0.7:7860/x", "the network"),
        ("https://studio.example.org/x", "the network"),
        ("", "this computer"),
    ],
)
def test_a_link_says_whether_it_works_on_another_computer(address: str, where: str) -> None:
    assert reaches_others(address) is (where == "the network")
    assert where in link_words(address)


@pytest.mark.parametrize(
    ("metrics", "pins", "now", "level", "meaning"),
    [
        ({"accuracy": 0.9, "answered_right": 0.88}, 0, None, "ready", "About 12 of 100 texts get"),
        ({"accuracy": 0.9, "answered_right": 0.88}, 0, 0.8, "trial", "About 20 of 100"),
        ({"accuracy": 0.9, "kept_out": 0.4}, 0, None, "trial", "About 10 of 100"),
        ({"accuracy": 0.9}, 1, None, "not-ready", "About 10 of 100"),
        ({"accuracy": 0.6}, 0, None, "not-ready", "About 40 of 100"),
        ({"accuracy": 1.0}, 0, None, "ready", "Fewer than 1 of 100"),
        (
            {"accuracy": 0.9, "judged_on": "leave-one-out"},
            0,
            None,
            "unknown",
            "Nobody knows",
        ),
        ({}, 0, None, "unknown", "Nobody knows"),
    ],
)
def test_pages_give_the_verdict_of_the_report_by_what_is_known(
    metrics: dict, pins: int, now: float | None, level: str, meaning: str
) -> None:
    """Nothing said whether 88 % is good; the report had a rule and words for it."""
    stored = {"judged_on": "test set of 1,000 texts", **metrics}
    version, broken = version_of(stored), pins * [PIN]
    values = {"share": now, "kept_out": metrics.get("kept_out"), "tested_intents": 9, "intents": 9}
    today = None if now is None else SimpleNamespace(**values)
    found = verdict_on(version, "single-label", today, broken)
    assert found is not None
    assert found.level == level
    untested = level == "ready"  # none of these has a test text that is out of scope
    assert found.title == ("Ready, but out of scope is not tested" if untested else TITLES[level])
    assert bool(found.gap) is (level != "unknown" and "kept_out" not in metrics)
    assert "at least 85 %" in found.rule
    assert found.meaning.startswith(meaning)
    assert (found.reasons == ()) == (level == "ready")
    assert verdict_on(None, "single-label", None) is None
    if metrics:
        share = metrics.get("answered_right", metrics.get("accuracy")) if now is None else now
        tests = stored["judged_on"].startswith("test")
        scope = ScopeLine(0.3, 0.97, 50, metrics.get("kept_out"))
        checked = Checked(round(100 * share), 100, on_tests=tests)
        report = readiness_of(replace(GOOD, checked=checked, broken=broken, scope=scope))
        assert (report.level, report.title, report.reasons) == (level, found.title, found.reasons)
        assert (report.gap, report.rule) == (found.gap, found.rule)


def test_labels_of_whole_groups_are_told_where_nothing_else_tests_a_version() -> None:
    """“100.0 % right” was told of labels that had come from groups of similar texts."""
    version = version_of({"accuracy": 1.0, "judged_on": "leave-one-out over 960 training texts"})
    found = verdict_on(version, "single-label", None, ways=LabelWays(10, 50, 900))
    assert found is not None
    assert (found.level, found.title) == ("unknown", "Not tested yet")
    assert "900 of its 960 labels were given to many texts at once" in found.meaning
    single = verdict_on(version, "single-label", None, ways=LabelWays(10, 950, 0))
    assert single is not None
    assert "at once" not in single.meaning


def test_of_several_intents_the_verdict_counts_exact_answers() -> None:
    found = verdict_on(version_of({"accuracy": 0.8, "judged_on": "test"}), "multi-label", None)
    assert found is not None
    assert found.meaning == "About 20 of 100 texts do not get exactly their intents."


@pytest.mark.parametrize(
    ("n_tested", "n", "title", "look"),
    [
        (14, 63, "Ready for 14 of 63 intents; the rest is not tested", "trial"),
        (1, 2, "Ready for 1 of 2 intents; the rest is not tested", "trial"),
        (9, 10, "Ready to use", "ready"),
        (10, 10, "Ready to use", "ready"),
    ],
)
def test_a_version_is_ready_for_its_tested_intents_alone(
    n_tested: int, n: int, title: str, look: str
) -> None:
    """ "Ready to use" stood over a version of 63 intents, of which 14 had a test text."""
    lines = [replace(INTENTS[0], name=f"{at}", support=20 * (at < n_tested)) for at in range(n)]
    report = readiness_of(replace(GOOD, intents=lines))
    metrics = {"accuracy": 0.9, "kept_out": 0.7, "judged_on": "test set of 9 texts"}
    stored = version_of({**metrics, "tested_intents": n_tested, "intents": n})
    now = SimpleNamespace(share=0.9, kept_out=0.7, tested_intents=n_tested, intents=n)
    pages = [verdict_on(stored, "single-label", value) for value in (None, now)]
    for found in (report, *pages):
        assert found is not None
        assert (found.level, found.title, found.look) == ("ready", title, look)
        assert (f"{n_tested} of {n} intents ha" in found.gap) == (n_tested < n)
