"""A fence decides what is in scope, tells beforehand who goes in and out, and stands at once."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from app.services.answering.stored import load_model
from app.services.data import utterances
from app.services.data.bulk import BulkAct, Edit
from app.services.explaining.explain import explain
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.live.pool import judged
from app.services.live.row_answers import answer_rows
from app.services.review.fence import preview_fence, save_fence
from app.services.review.fence_views import FenceSetting
from app.services.studio import Studio
from app.services.trying import answers
from app.services.trying.pins import set_pin
from app.services.versions.bundles import export_model, import_bundle
from app.services.what_if.preview import preview
from app.services.what_if.repairs import Repair, apply_repair
from app.services.what_if.watched_texts import WatchedTextCache
from core.errors import Conflict, InvalidInput, NotFound
from core.types import Decision, Method
from storage import models
from storage.queries import utterances as browse
from storage.queries.utterances import Filter
from tests.builders.nearly_equal import agreed
from tests.builders.trained_home import EVERY_TEXT, POOL, change, rows_of, tuned_elsewhere
from tests.builders.unpacked_bundle import Elsewhere, unpack_bundle

JUDGED = ("my parcel has not arrived", "change my password", "hi", "good morning")


@pytest.fixture
def live_studio(home: Studio) -> LiveStudio:
    tuned_elsewhere(home)
    for text in JUDGED:
        change(home, text, "split", "test")
    keys = [key for key, (text, _) in rows_of(home).items() if text in POOL[:2]]
    which = Filter(ids=tuple(keys))
    utterances.change_many(home, "p", which, Edit("out-of-scope"), BulkAct(2, EVERY_TEXT))
    return open_live_studio(home)


def top(live_studio: LiveStudio, texts: tuple[str, ...]) -> np.ndarray:
    return np.asarray(live_studio.models.get(1).pipeline.scores(list(texts)).max(1))


def test_rows_of_data_are_answered_with_the_fence(live_studio: LiveStudio) -> None:
    """They were answered by the model without the project's fence, and contradicted Try."""
    ids = [key for key, (text, _) in rows_of(live_studio.studio).items() if text in JUDGED]

    def inside() -> int:
        found = answer_rows(live_studio.studio, live_studio.models, "p", ids)
        return sum(bool(answer.intents) for answer in found.answers)

    live_studio.models.get(1)
    assert inside() > 0
    save_fence(live_studio, "p", FenceSetting(9.0))
    assert inside() == 0


def test_a_line_is_offered_by_how_many_right_answers_it_gives_up(
    live_studio: LiveStudio,
) -> None:
    """The one line that was offered gave up six right answers of a hundred, and did not say so."""
    found = preview_fence(live_studio, "p")
    assert [one.lost for one in found.wished] == [0.01, 0.05, 0.1, None]
    said = live_studio.models.get(1).pipeline.predict(list(JUDGED))
    labels = dict(rows_of(live_studio.studio).values())
    right = tuple(
        text
        for text, answer in zip(JUDGED, said, strict=True)
        if answer.intent in (labels[text] or ())
    )
    assert len(right) == 3
    scores = top(live_studio, right)
    *given_up, even = found.wished
    by_hand = [float(np.quantile(scores, one.lost or 0.0)) for one in given_up]
    assert [one.limit for one in given_up] == pytest.approx(by_hand)
    assert even.limit == found.suggested.limit


def test_an_offered_line_says_what_it_costs_and_what_it_gains(live_studio: LiveStudio) -> None:
    """It said only how many right answers it costs, of another number than the header's."""
    found = preview_fence(live_studio, "p")
    assert found.accuracy is not None
    assert found.in_force.right == round(found.accuracy[0] * found.judged[0])
    for one in found.wished:
        moved = preview_fence(live_studio, "p", FenceSetting(one.limit))
        assert moved.accuracy is not None
        assert moved.recall is not None
        assert one.outcome.right == round(moved.accuracy[1] * moved.judged[0])
        assert one.outcome.outside == round(moved.recall[1] * moved.judged[1])
        change_of_unlabelled = moved.unlabelled[1] - moved.unlabelled[0]
        assert one.outcome.unlabelled == found.in_force.unlabelled + change_of_unlabelled


def test_unlabelled_texts_that_change_sides_are_counted_apart(live_studio: LiveStudio) -> None:
    """A line was "better" and let in questions about flights, which no label judged."""
    strict, lenient = (preview_fence(live_studio, "p", FenceSetting(to)) for to in (9.0, -9.0))
    bare = [one for one in (*strict.leaving, *lenient.entering) if not one.labelled]
    assert len(bare) == len(POOL) - 2
    assert strict.unlabelled[0] == lenient.unlabelled[1] == 0
    assert strict.unlabelled[1] + lenient.unlabelled[0] == len(bare)
    assert not strict.outside_tested  # the two texts out of scope are no test texts


def test_who_goes_in_and_out_is_told_and_then_happens(live_studio: LiveStudio) -> None:
    texts = (*JUDGED, *POOL)
    scores = top(live_studio, texts)
    limit = float(np.sort(scores)[5]) + 1e-9  # six of nine stay out
    asked = FenceSetting(limit)
    found = preview_fence(live_studio, "p", asked)
    said = answers.answer_texts(live_studio, "p", texts)
    inside = {t for t, a in zip(texts, said, strict=True) if not a.prediction.decision.out_of_scope}
    stays = {t for t, score in zip(texts, scores, strict=True) if score >= limit}
    assert {c.text for c in found.leaving} == inside - stays
    assert {c.text for c in found.entering} == stays - inside
    assert found.judged == (4, 2)
    assert found.recall is not None
    assert found.recall[1] == np.mean([t not in stays for t in POOL[:2]])
    assert found.kept is not None
    assert found.kept[1] == np.mean([t in stays for t in JUDGED])
    assert preview_fence(live_studio, "p").stands == FenceSetting()
    save_fence(live_studio, "p", asked)
    after = answers.answer_texts(live_studio, "p", texts)
    assert {
        t for t, a in zip(texts, after, strict=True) if not a.prediction.decision.out_of_scope
    } == stays
    assert preview_fence(live_studio, "p").n_leaving == 0
    save_fence(live_studio, "p", FenceSetting())
    again = [a.prediction.decision for a in answers.answer_texts(live_studio, "p", texts)]
    assert again == agreed(a.prediction.decision for a in said)


def test_another_method_starts_where_as_many_texts_are_in_scope_as_now(
    live_studio: LiveStudio,
) -> None:
    save_fence(live_studio, "p", FenceSetting(float(np.sort(top(live_studio, JUDGED))[2])))
    for method in ("votes", "nearest", "mahalanobis", "mixture"):
        start = preview_fence(live_studio, "p", FenceSetting(method=method)).equal
        found = preview_fence(live_studio, "p", FenceSetting(start, method=method))
        assert found.kept == (0.5, 0.5)


def test_what_a_fence_does_to_pins_and_right_answers_is_told_before_it_is_saved(
    live_studio: LiveStudio,
) -> None:
    """A fence was saved that refused right answers and broke pins, without a word before it."""
    said = [a.prediction for a in answers.answer_texts(live_studio, "p", JUDGED)]
    with live_studio.studio.database.read() as connection:
        by = browse.intent_ids(connection, 1)
    pinned = next(one for one in said if one.decision.rule == "votes")
    name = pinned.decision.leading
    set_pin(live_studio, "p", pinned.text, [by[name]])
    found = preview_fence(live_studio, "p", FenceSetting(9.0))
    [turn] = found.pins
    assert (turn.text, turn.expected, turn.before) == (pinned.text, name, name)
    assert (turn.after, turn.kept) == ("out of scope", False)
    assert found.accuracy is not None
    assert found.lost == round((found.accuracy[0] - found.accuracy[1]) * 4) > 0
    assert (found.won, found.total) == (0, 9)
    assert found.refused[1] - found.refused[0] == found.n_leaving - found.n_entering
    assert found.refused[1] == 9  # all, and not only those that are refused anew
    assert preview_fence(live_studio, "p").pins == ()


def test_an_intent_with_a_limit_of_its_own_goes_by_it_and_so_do_previews(
    live_studio: LiveStudio,
) -> None:
    with live_studio.studio.database.read() as connection:
        by = browse.intent_ids(connection, 1)
    said = [a.prediction for a in answers.answer_texts(live_studio, "p", POOL)]
    best = said[0].ranked[0].intent
    save_fence(live_studio, "p", FenceSetting(-9.0, {by[best]: 9.0}))
    after = [a.prediction.decision for a in answers.answer_texts(live_studio, "p", POOL)]
    assert [d.out_of_scope for d in after] == [p.ranked[0].intent == best for p in said]
    parcel = next(
        key for key, (text, _) in rows_of(live_studio.studio).items() if "is late" in text
    )
    repair = Repair("relabel", (parcel,), (by["greeting"],))
    [told] = preview(WatchedTextCache(live_studio), "p", [repair])
    before = {t: a.prediction.decision.words for t, a in _answers(live_studio).items()}
    apply_repair(live_studio.studio, "p", repair, "repair-01")
    now = {t: a.prediction.decision.words for t, a in _answers(live_studio).items()}
    assert {t.text: t.after for t in told.turns} == {
        text: words for text, words in now.items() if before[text] != words
    }


def test_the_command_line_and_a_bundle_answer_by_the_fence_as_the_pages_do(
    home: Studio, tmp_path: Path, elsewhere: Elsewhere
) -> None:
    """A limit that was set on the page was forgotten when the model was handed over."""
    studio, live_studio = home, open_live_studio(home)
    with studio.database.read() as connection:
        by = browse.intent_ids(connection, 1)
        version = models.champion(connection, 1)
    before = [a.prediction.decision for a in answers.answer_texts(live_studio, "p", POOL)]
    plain, fence, again = (tmp_path / f"{name}.zip" for name in ("plain", "fence", "again"))
    export_model(studio, "p", plain)
    save_fence(live_studio, "p", FenceSetting(-9.0, {by[before[0].leading]: 9.0}))
    export_model(studio, "p", fence)
    after = [a.prediction.decision.words for a in answers.answer_texts(live_studio, "p", POOL)]
    assert after != [decision.words for decision in before]
    for reference, expected in (("p", after), (str(fence), after), (str(plain), before)):
        said = [one.decision.words for one in load_model(studio, reference).predict(POOL)]
        assert said == [getattr(one, "words", one) for one in expected]
    folder = unpack_bundle(fence, tmp_path / "unpacked")
    assert "The threshold was set by hand" in (folder / "README.md").read_text("utf-8")
    of_example = [[] if words == "out of scope" else [words] for words in after]
    assert [one["intents"] for one in elsewhere.example_answers(folder, POOL)] == of_example
    save_fence(live_studio, "p", FenceSetting())
    export_model(studio, "p", again)  # what the studio keeps of the version was not touched
    assert again.read_bytes() == plain.read_bytes()
    with studio.database.read() as connection:
        assert models.champion(connection, 1) == version


@pytest.mark.parametrize("method", ["nearest", "mahalanobis", "mixture"])
def test_every_method_holds_wherever_an_answer_is_given(
    live_studio: LiveStudio, tmp_path: Path, elsewhere: Elsewhere, method: Method
) -> None:
    studio, texts = live_studio.studio, [*JUDGED, *POOL]
    asked = preview_fence(live_studio, "p", FenceSetting(method=method))
    assert asked.asked.method == method
    familiar = {one.text: one.score for one in (*asked.entering, *asked.leaving)}
    assert asked.suggested.method == method
    middle = sum(asked.span) / 2
    told = preview_fence(live_studio, "p", FenceSetting(middle, {}, method))
    before = answers_by_text(live_studio, texts)
    save_fence(live_studio, "p", FenceSetting(middle, {}, method))
    after = answers_by_text(live_studio, texts)
    assert {one.text for one in told.leaving} == {
        t for t in texts if after[t].out_of_scope and not before[t].out_of_scope
    }
    assert {one.text for one in told.entering} == {
        t for t in texts if before[t].out_of_scope and not after[t].out_of_scope
    }
    assert 0 < sum(one.out_of_scope for one in after.values()) < len(texts)
    for text, score in familiar.items():
        assert after[text].familiarity == pytest.approx(score)
    assert {one.measure for one in after.values()} == {method}
    found = explain(live_studio, "p", POOL[3]).scope
    assert found.inside != after[POOL[3]].out_of_scope
    assert found.distance == pytest.approx(after[POOL[3]].familiarity - middle)
    assert "familiarity" in found.words
    live = live_studio.models.get(1)
    outside = judged(live, (), live.pipeline.encoder.encode(texts)).outside.tolist()
    assert [after[text].out_of_scope for text in texts] == outside
    out = tmp_path / "fence.zip"
    export_model(studio, "p", out)
    trained = load_model(studio, "p").predict(texts)
    handed_over = [one.decision for one in load_model(studio, str(out)).predict(texts)]
    assert handed_over == agreed(one.decision for one in trained)
    unpacked = unpack_bundle(out, tmp_path / "unpacked")
    assert "familiarity" in (unpacked / "README.md").read_text("utf-8")
    said = [tuple(one["intents"]) for one in elsewhere.example_answers(unpacked, texts)]
    assert said == [one.decision.intents for one in trained]


@pytest.mark.parametrize("method", ["nearest", "mahalanobis", "mixture"])
def test_a_preview_knows_what_a_repair_does_to_every_method(
    live_studio: LiveStudio, method: Method
) -> None:
    span = preview_fence(live_studio, "p", FenceSetting(method=method)).span
    save_fence(live_studio, "p", FenceSetting(sum(span) / 2, {}, method))
    with live_studio.studio.database.read() as connection:
        by = browse.intent_ids(connection, 1)
    voters = [e.id for e in live_studio.models.get(1).pipeline.exemplars]
    repairs = [
        Repair("delete", (voters[0], voters[7])),
        Repair("add", intents=(by["greeting"],), value="what about orders then"),
        Repair("relabel", (voters[3],), (by["greeting"],)),
    ]
    for number, repair in enumerate(repairs):
        [told] = preview(WatchedTextCache(live_studio), "p", [repair])
        before = {t: a.prediction.decision.words for t, a in _answers(live_studio).items()}
        apply_repair(live_studio.studio, "p", repair, f"repair-{number:02}")
        now = {t: a.prediction.decision.words for t, a in _answers(live_studio).items()}
        assert {t.text: t.after for t in told.turns} == {
            text: words for text, words in now.items() if before[text] != words
        }


def test_the_methods_are_compared_and_the_best_is_named(live_studio: LiveStudio) -> None:
    found = preview_fence(live_studio, "p")
    assert set(found.methods) == {"votes", "nearest", "mahalanobis", "mixture"}
    assert found.best is not None
    assert found.methods[found.best] == max(found.methods.values())
    with pytest.raises(InvalidInput, match="no usable number"):
        save_fence(live_studio, "p", FenceSetting(11.0))
    save_fence(live_studio, "p", FenceSetting(11.0, {}, "mixture"))
    assert all(one.out_of_scope for one in answers_by_text(live_studio, POOL).values())
    save_fence(live_studio, "p", FenceSetting(None, {}, "mixture"))
    own = preview_fence(live_studio, "p")
    kept = [one.threshold for one in answers_by_text(live_studio, POOL).values()]
    assert kept == [own.own] * len(POOL)
    change(live_studio.studio, POOL[4], "labels", tuple(own_label(live_studio)))
    change(live_studio.studio, POOL[4], "split", "train")
    after = [one.threshold for one in answers_by_text(live_studio, POOL).values()]
    assert after == kept  # a label moves the examples, never the limit


def own_label(live_studio: LiveStudio) -> list[str]:
    return [live_studio.models.get(1).columns[0]]


def answers_by_text(live_studio: LiveStudio, texts: Sequence[str]) -> dict[str, Decision]:
    found = answers.answer_texts(live_studio, "p", tuple(texts))
    return {text: one.prediction.decision for text, one in zip(texts, found, strict=True)}


def _answers(live_studio: LiveStudio) -> dict[str, answers.Answer]:
    texts = (*JUDGED, *POOL[2:])
    return dict(zip(texts, answers.answer_texts(live_studio, "p", texts), strict=True))


def test_what_is_no_limit_is_refused(live_studio: LiveStudio) -> None:
    with pytest.raises(InvalidInput, match="no usable number"):
        save_fence(live_studio, "p", FenceSetting(float("nan")))
    with pytest.raises(NotFound, match="no intent"):
        save_fence(live_studio, "p", FenceSetting(0.1, {"nobody": 0.2}))
    suggested = preview_fence(live_studio, "p").suggested
    assert suggested.limit is not None


def test_the_default_of_an_imported_model_is_its_own_measure(
    live_studio: LiveStudio, tmp_path: Path
) -> None:
    """Reset to default gave an imported model the measure of votes."""
    studio, out = live_studio.studio, tmp_path / "mixture.zip"
    middle = sum(preview_fence(live_studio, "p", FenceSetting(method="mixture")).span) / 2
    save_fence(live_studio, "p", FenceSetting(middle, {}, "mixture"))
    export_model(studio, "p", out)
    import_bundle(studio, out, "elsewhere")
    assert preview_fence(live_studio, "p").default == FenceSetting()
    found = preview_fence(live_studio, "elsewhere")
    assert found.stands == found.default == FenceSetting(method="mixture")
    save_fence(live_studio, "elsewhere", FenceSetting(0.5))
    save_fence(live_studio, "elsewhere", found.default)
    assert preview_fence(live_studio, "elsewhere").stands == found.default
    begun_anew = open_live_studio(studio)  # it has loaded no model yet
    save_fence(begun_anew, "elsewhere", FenceSetting(0.5), found.default)
    with pytest.raises(Conflict, match="changed meanwhile"):
        save_fence(begun_anew, "elsewhere", FenceSetting(0.6), found.default)
    save_fence(live_studio, "elsewhere", None, FenceSetting(0.5))
    assert preview_fence(live_studio, "elsewhere").stands == found.default
