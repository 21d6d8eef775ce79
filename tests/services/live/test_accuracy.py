"""The accuracy on every page is that of what answers now, and says what changed it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from app.services.answering.judging import judge_exemplars
from app.services.data.history import undo_action, undo_last
from app.services.home.cards import load_cards
from app.services.live import answered_tests, catching_up
from app.services.live.accuracy import accuracy_now, nameless_words
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.reports.model_report import report
from app.services.reports.versions_now import compare_now
from app.services.review.fence import preview_fence, save_fence
from app.services.review.fence_views import FenceSetting
from app.services.status import load_status
from app.services.studio import Studio
from app.services.trying.answers import answer_texts
from app.services.trying.pins import set_pin
from app.services.versions.registry import promote
from app.services.versions.verdict import verdict_on
from app.services.what_if.repairs import Repair, apply_repair
from core.types import Exemplar, no_pause
from storage import models, projects
from storage.queries import dataset
from tests.builders.trained_home import change, rows_of, train, tuned_elsewhere, version
from tests.waiting import wait_until

TESTS = ("my parcel has not arrived", "change my password", "hi", "good morning")


@pytest.fixture
def live_studio(home: Studio) -> LiveStudio:
    """The project with four test texts, and a champion whose figures are of these: version 3."""
    tuned_elsewhere(home)
    for text in TESTS:
        change(home, text, "split", "test")
    train(home, "p@2", {"kind": "instant"})
    promote(home, "p", 3)
    assert version(home, 3).metrics["answered_right"] > 0
    return open_live_studio(home)


def label_of(live_studio: LiveStudio, text: str) -> list[str]:
    with live_studio.studio.database.read() as connection:
        rows = dataset.utterances(connection, 1)
        return list(next(row.labels or () for row in rows if row.text == text))


def now(live_studio: LiveStudio):
    return accuracy_now(live_studio.studio, *live_studio.models.open("p"), no_pause)


def since_another_figure(live_studio: LiveStudio) -> tuple[str, ...]:
    """The causes where the training had measured another share of right answers."""
    opened, live = live_studio.models.open("p")
    then = {**live.version.metrics, "answered_right": 0.1}
    changed = replace(live, version=replace(live.version, metrics=then))
    return accuracy_now(live_studio.studio, opened, changed, no_pause).causes


def right(live_studio: LiveStudio) -> list[bool]:
    labels = dict(rows_of(live_studio.studio).values())
    said = answer_texts(live_studio, "p", TESTS)
    return [answer.prediction.decision.intents == labels[answer.prediction.text] for answer in said]


def test_it_counts_the_answers_of_the_try_page(live_studio: LiveStudio) -> None:
    """After a fence was saved the header went on saying what was true at the training."""
    assert now(live_studio).right == sum(right(live_studio))
    scores = live_studio.models.get(1).pipeline.scores(TESTS).max(1)
    save_fence(live_studio, "p", FenceSetting(float(np.sort(scores)[2])))
    found = now(live_studio)
    assert (found.right, found.n) == (sum(right(live_studio)), 4)
    assert found.right <= 2
    assert preview_fence(live_studio, "p").accuracy == (found.share, found.share)
    save_fence(live_studio, "p", FenceSetting(9.0))
    assert now(live_studio).causes[-1].startswith("limit for out of scope moved (")
    save_fence(live_studio, "p", FenceSetting(-9.0))
    assert now(live_studio).right == sum(right(live_studio))


def test_the_figure_of_the_training_counts_refusals_as_that_of_today_does(
    live_studio: LiveStudio,
) -> None:
    """Home said 96.5 % at training and the header 95.3 % now, though nothing had changed."""
    live = live_studio.models.get(1)
    metrics, found = live.version.metrics, now(live_studio)
    assert found.share == metrics["answered_right"] == load_status(live_studio, "p").answered_right
    assert found.causes == ()
    tests = [
        Exemplar(text, text, dict(rows_of(live_studio.studio).values())[text]) for text in TESTS
    ]
    scores = np.sort(live.pipeline.scores(TESTS).max(1))
    calibration = replace(live.pipeline.calibration, threshold=float(scores[2]))
    strict = judge_exemplars(replace(live.pipeline, calibration=calibration), tests)
    assert strict["accuracy"] == metrics["accuracy"]
    assert strict["in_scope"] == 0.5  # two of four are refused
    assert strict["answered_right"] <= 0.5


def test_the_causes_add_up_to_the_difference(live_studio: LiveStudio) -> None:
    """ "15 right answers refused" stood beside a change of 0.2 points, one text of 500."""
    opened, live = live_studio.models.open("p")
    assert live is not None
    scores = np.sort(live.pipeline.scores(TESTS).max(1))
    strict = replace(live.pipeline.calibration, threshold=float(scores[-1]) + 1)
    then = {**live.version.metrics, "answered_right": 0.75}
    changed = replace(
        live,
        pipeline=replace(live.pipeline, calibration=strict),
        version=replace(live.version, metrics=then),
        hot=frozenset({"a", "b"}),
        gone=frozenset(),
    )
    found = accuracy_now(live_studio.studio, opened, changed, no_pause)
    assert found is not None
    assert found.right == 0
    assert found.causes == ("2 changes since training (3 fewer right)",)


def test_a_moved_line_and_new_labels_are_told_in_the_unit_of_the_figures(
    live_studio: LiveStudio,
) -> None:
    """ "1 fewer right" stood beside 71.4 % and 82.2 %: it counted texts before the line refused."""
    opened, live = live_studio.models.open("p")
    assert live is not None
    metrics = live.version.metrics
    then = {**metrics, "answered_right": metrics["answered_right"] - 0.25}
    changed = replace(
        live, version=replace(live.version, metrics=then), hot=frozenset({"a"}), gone=frozenset()
    )
    strict = replace(live.pipeline.calibration, threshold=9.0)
    fenced = replace(opened, project=replace(opened.project, fence={"limit": 9.0}))
    changed = replace(changed, pipeline=replace(live.pipeline, calibration=strict))
    found = accuracy_now(live_studio.studio, fenced, changed, no_pause)
    assert found is not None
    own = round(metrics["answered_right"] * 4)
    assert (found.right, own > 0) == (0, True)
    assert found.causes == (
        "1 change since training (1 more right)",
        f"limit for out of scope moved ({own} fewer right)",
    )


def test_it_says_that_labels_have_joined_or_that_the_tests_are_others(
    live_studio: LiveStudio,
) -> None:
    save_fence(live_studio, "p", FenceSetting(-9.0))
    change(live_studio.studio, "hi", "split", "pool")
    found = now(live_studio)
    assert found.n == 3
    assert "test texts changed" in found.causes


def test_test_texts_beyond_the_most_that_are_read_are_told(
    live_studio: LiveStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 12,000 test texts the oldest 10,000 are read: "test texts changed", though none had."""
    monkeypatch.setattr(answered_tests, "MOST", 3)
    found = now(live_studio)
    assert found.n == 3
    assert found.causes[-1] == "1 newer test text not counted"
    monkeypatch.setattr(answered_tests, "MOST", 2)
    found = now(live_studio)
    assert found.n == 2
    assert found.causes[-1] == "2 newer test texts not counted"
    assert "test texts changed" not in found.causes


def test_a_change_that_was_taken_back_is_none_of_a_test_text_that_is_not_read_either(
    live_studio: LiveStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 12,000 test texts one of the newest was relabelled, and undone: "test texts changed"."""
    monkeypatch.setattr(answered_tests, "MOST", 3)
    refund = label_of(live_studio, "I want my money back")
    for text in TESTS:
        with undone(live_studio, text, "labels", refund):
            assert now(live_studio).causes[-1] == "test texts changed"
        assert now(live_studio).causes[-1] == "1 newer test text not counted"


def test_a_test_text_that_has_become_an_example_is_told_and_left_out_everywhere(
    live_studio: LiveStudio,
) -> None:
    """The header said "test set changed", which nobody had touched, and the line counted one more.

    A text that was accepted as an example said the same as a test text.
    """
    studio = live_studio.studio
    change(studio, "what about greetings", "text", "Hi!")
    label(live_studio, "Hi!", "greet")
    save_fence(live_studio, "p", FenceSetting(-9.0))
    found = now(live_studio)
    assert found.n == 3
    assert found.causes[-1] == "1 test text is an example now"
    view = preview_fence(live_studio, "p")
    assert (view.judged[0], view.accuracy) == (found.n, (found.share, found.share))


def test_two_versions_are_compared_as_they_would_answer_in_use(live_studio: LiveStudio) -> None:
    """A “better” version lowered the figure in the header: newer labels had mended the older."""
    save_fence(live_studio, "p", FenceSetting(-9.0))
    change(live_studio.studio, "what about greetings", "labels", label_of(live_studio, "hi"))
    found = compare_now(live_studio, "p", 3, 1)
    assert found.moment == "now"
    assert "both with all labels up to now" in found.verdict
    for number, share in ((1, found.before), (3, found.after)):
        promote(live_studio.studio, "p", number)
        assert (now(live_studio).n, now(live_studio).share) == (found.n, share)
        figure = report(live_studio, "p", number).ready.figures[0]
        assert (
            figure.basis == f"{now(live_studio).right} of {found.n} test texts answered right today"
        )
    save_fence(live_studio, "p", FenceSetting(9.0))
    refused = compare_now(live_studio, "p", 3, 1)
    assert (refused.before, refused.after) == (0.0, 0.0)


def test_acts_that_were_taken_back_do_not_keep_a_comparison_from_the_labels_of_now(
    live_studio: LiveStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thousands of acts on a thousand texts: "+5.1" was told where 1.0 was true of today."""
    for value in ("odd", "") * 10:
        change(live_studio.studio, "what about greetings", "flagged", value)
    monkeypatch.setattr(catching_up, "_IMMEDIATE", 30)
    assert compare_now(live_studio, "p", 3, 1).moment == "now"
    monkeypatch.setattr(catching_up, "_IMMEDIATE", 3)
    assert compare_now(live_studio, "p", 3, 1).moment == "trained"


def test_a_page_gets_it_when_it_is_there_and_never_waits(live_studio: LiveStudio) -> None:
    live_studio.models.get(1)
    first = load_status(live_studio, "p")
    assert (first.now, first.checking) == (None, True)
    found = settled(live_studio)
    assert found == now(live_studio)
    assert [card.now for card in load_cards(live_studio)] == [found]
    save_fence(live_studio, "p", FenceSetting(9.0))
    after = load_status(live_studio, "p")
    assert (after.now, after.checking) == (None, True)  # the former figure is not true any more
    assert settled(live_studio).right == 0


def test_labels_since_training_are_those_of_now_though_the_model_has_not_caught_up(
    live_studio: LiveStudio,
) -> None:
    """The header lagged one act: "1,065 labels" stood there right after all were taken back."""
    live = live_studio.models.get(1)
    before, kept = load_status(live_studio, "p").hot, live_studio.models.kept[1]
    label(live_studio, "what about greetings", "labelled")
    kept.model = live  # as while a thread joins the labels of a large set
    assert load_status(live_studio, "p").hot == before + 1
    undo_action(live_studio.studio, "p", "labelled")
    kept.model = live
    assert load_status(live_studio, "p").hot == before


def test_no_effect_is_told_of_changes_where_test_texts_changed_too(
    live_studio: LiveStudio,
) -> None:
    """Of five corrected test labels and one new example: "1 change since training (5 more right)".

    "Test texts changed" was said where nothing else was known, though nobody had touched one.
    """
    assert since_another_figure(live_studio) == ()
    label(live_studio, "what about greetings", "labelled")
    [told] = since_another_figure(live_studio)
    assert told.startswith("1 change since training (")
    wrong = label_of(live_studio, "change my password")
    for field, value in (("labels", wrong), ("text", "hi there"), ("split", "pool")):
        was = now(live_studio).n
        with undone(live_studio, "hi", field, value):
            expected = ("1 change since training", "test texts changed")
            assert since_another_figure(live_studio) == expected
            assert now(live_studio).n == was - (field == "split")
        assert since_another_figure(live_studio) == (told,)
    change(live_studio.studio, "hi", "flagged", "odd")  # it is the same test as before
    assert since_another_figure(live_studio) == (told,)


@contextmanager
def undone(live_studio: LiveStudio, text: str, field: str, value: object) -> Iterator[None]:
    change(live_studio.studio, text, field, value)
    yield
    undo_last(live_studio.studio, "p")


def test_a_label_taken_away_counts_in_all_places_alike(live_studio: LiveStudio) -> None:
    """The chip said 1 label since training, its tooltip and the report 2."""
    live_studio.models.get(1)
    ids = {text: key for key, (text, _) in rows_of(live_studio.studio).items()}
    before = load_status(live_studio, "p").hot
    gone = tuple(ids[text] for text in ("hello there", "hey you", "good evening to you"))
    apply_repair(live_studio.studio, "p", Repair("relabel", gone, ()), "out")
    assert load_status(live_studio, "p").hot == before + 3  # before they have joined
    label(live_studio, "what about greetings", "in")
    live_studio.models.get(1)
    assert load_status(live_studio, "p").hot == before + 4
    assert report(live_studio, "p", 3).later == before + 4
    assert since_another_figure(live_studio)[0].startswith(f"{before + 4} changes since training")


def test_a_merge_is_named_where_it_changed_the_accuracy(live_studio: LiveStudio) -> None:
    """Of 12 rewritten test labels the header knew "9 labels since training"."""
    told = []
    with live_studio.studio.database.read() as connection:
        gone, into, *_ = [one.id for one in dataset.intents(connection, 1)]
    live = live_studio.models.get(1)
    version = replace(live.version, metrics={**live.version.metrics, "answered_right": 0.0})
    for act in (None, Repair("merge", intent=gone, value=into)):
        if act is not None:
            apply_repair(live_studio.studio, "p", act, "merge")
        opened, live = live_studio.models.open("p")
        found = accuracy_now(live_studio.studio, opened, replace(live, version=version), no_pause)
        told.append(" ".join(found.causes))
    assert "merged" not in told[0]
    assert " and 1 merged intent since training (" in told[1]
    undo_action(live_studio.studio, "p", "merge")
    opened, live = live_studio.models.open("p")
    found = accuracy_now(live_studio.studio, opened, replace(live, version=version), no_pause)
    assert " ".join(found.causes) == told[0]


def label(live_studio: LiveStudio, text: str, key: str) -> None:
    """Make a text an example of a greeting."""
    of_text = next(id_ for id_, (said, _) in rows_of(live_studio.studio).items() if said == text)
    repair = Repair("relabel", (of_text,), tuple(label_of(live_studio, "hi")))
    apply_repair(live_studio.studio, "p", repair, key)


def settled(live_studio: LiveStudio):
    wait_until(lambda: not load_status(live_studio, "p").checking, "the accuracy is counted")
    return load_status(live_studio, "p").now


def test_it_names_the_intent_that_has_no_example_and_what_to_do() -> None:
    """ "Intents without examples are recognised by their names": which, and what now?"""
    said = nameless_words(("top_up",))
    assert said == "“top_up” has no example, so its name alone decides: label a text so"
    assert nameless_words(("a", "b")).startswith("2 intents have no example, so their names")


def test_every_page_counts_the_pins_that_are_broken_now(live_studio: LiveStudio) -> None:
    """One broken pin stood beside green "Ready to use" of one version and made another red."""
    studio = live_studio.studio
    text = "please give my money back"
    live = live_studio.models.get(1)
    [said] = live.pipeline.predict([text])
    with studio.database.read() as connection:
        intents = dataset.intents(connection, 1)
    wrong = next(one.id for one in intents if one.name not in said.decision.intents)
    right = [one.id for one in intents if one.name in said.decision.intents]

    def broken() -> tuple[int, bool]:
        with studio.database.read() as connection:
            project = projects.find(connection, "p")
            champion = models.champion(connection, project.id)
        get = live_studio.accuracies.get
        wait_until(lambda: not get(project, champion)[1], "the accuracy is counted")
        value, _ = get(project, champion)
        pins = live_studio.accuracies.broken_pins(project, champion)
        verdict = verdict_on(champion, "single-label", value, pins)
        counted = [one for one in verdict.reasons if one.startswith("It breaks 1 pin: ")]
        told = report(live_studio, "p", champion.number).ready.reasons
        assert [one for one in told if one.startswith("It breaks 1 pin: ")] == counted
        return len(pins), len(counted) == 1

    assert broken() == (0, False)
    set_pin(live_studio, "p", text, [wrong])
    assert broken() == (1, True)
    set_pin(live_studio, "p", text, right)
    assert broken() == (0, False)
