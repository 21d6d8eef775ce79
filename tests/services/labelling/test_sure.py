"""What the model is sure of is labelled only after a spot check, and by the rule for bulk acts."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

import numpy as np
import pytest

from app.services.data.bulk import Allowed, BulkAct, Edit
from app.services.data.history import undo_action
from app.services.data.projects import create_project
from app.services.data.utterances import change_many, label_each, load_utterances
from app.services.labelling import sure
from app.services.labelling.sure import (
    CheckedAnswers,
    SureView,
    accept_sure,
    conclude,
    draw,
    list_sure,
)
from app.services.live import joining, pool
from app.services.live.live_model import as_last_solved
from app.services.live.live_studio import LiveStudio, open_live, open_live_studio
from app.services.live.row_answers import exemplar_scores
from app.services.review.fence import save_fence
from app.services.review.fence_views import FenceSetting
from app.services.studio import Studio
from app.services.versions.registry import promote
from core.errors import InvalidInput
from core.review.sure import UNTESTED
from storage import models, projects
from storage.people.spot_checks import judged_of, keep_judged
from storage.queries.utterances import Filter
from tests.builders.trained_home import add_test, change
from tests.waiting import wait_until


@pytest.fixture
def live_studio(home: Studio, monkeypatch: pytest.MonkeyPatch) -> LiveStudio:
    """A project with five unlabelled texts, whose model is sure of whatever is in scope."""
    monkeypatch.setattr(sure, "_limit", lambda *_: (0.0, 0.02))
    monkeypatch.setattr(pool, "_outside", lambda _, rows, __: np.zeros(len(rows), bool))
    return open_live_studio(home)


def judged(view: SureView, *wrong: str, key: str = "once") -> CheckedAnswers:
    answers = {text.id: text.intent_id for text in view.texts}
    right = frozenset(view.check) - set(wrong)
    return CheckedAnswers(
        answers, right, frozenset(wrong), view.seed, view.revision, view.expected, key, view.version
    )


def labels(studio: Studio, view: SureView) -> dict[str, tuple[str, ...] | None]:
    rows = load_utterances(studio, "p", [text.id for text in view.texts])
    return {row.id: row.labels for row in rows}


def test_the_surest_are_first_and_the_check_is_a_fixed_draw(live_studio: LiveStudio) -> None:
    view = list_sure(live_studio, "p")
    shares = [text.probability for text in view.texts]
    assert len(shares) == view.looked_at == 5
    assert shares == sorted(shares, reverse=True)
    assert sorted(view.check) == sorted(text.id for text in view.texts)
    few = list_sure(live_studio, "p", most=2)
    assert (few.texts, few.n, few.check) == (view.texts[:2], 5, view.check)
    ids = [str(n) for n in range(300)]
    assert len(set(draw(ids, 1))) == 20
    assert draw(ids[::-1], 1) == draw(ids, 1) != draw(ids, 2)


def test_what_was_judged_wrong_stays_and_the_rest_is_labelled_with_undo(
    live_studio: LiveStudio,
) -> None:
    studio, view = live_studio.studio, list_sure(live_studio, "p")
    wrong = view.check[0]
    checked = judged(view, wrong)
    assert accept_sure(studio, "p", checked).changed == 4
    after = labels(studio, view)
    assert after.pop(wrong) is None
    assert after == {t.id: (t.intent_id,) for t in view.texts if t.id != wrong}
    assert accept_sure(studio, "p", checked).changed == 4  # a repeated request is no second act
    assert list_sure(live_studio, "p").texts == ()  # what was judged wrong is not offered again
    undo_action(studio, "p", "once")
    assert set(labels(studio, view).values()) == {None}


def test_only_what_was_judged_right_is_labelled_on_wish(live_studio: LiveStudio) -> None:
    """Nineteen texts that a person had confirmed stayed unlabelled when the rest was not wanted."""
    studio, view = live_studio.studio, list_sure(live_studio, "p")
    wrong, *right = view.check
    checked = replace(judged(view, wrong), judged_alone=True)
    assert accept_sure(studio, "p", checked).changed == len(right)
    intents = {text.id: (text.intent_id,) for text in view.texts}
    assert labels(studio, view) == {t: intents[t] if t in right else None for t in intents}
    undo_action(studio, "p", "once")
    assert set(labels(studio, view).values()) == {None}


def test_what_a_check_found_is_told_before_and_after_the_labels_are_accepted(
    live_studio: LiveStudio,
) -> None:
    """2 wrong labels were told, 4 of 20 were found wrong, and then 2 were told again."""
    studio, view = live_studio.studio, list_sure(live_studio, "p")
    assert (view.found, view.version) == (None, 2)
    first, second = view.check[:2]
    told = conclude(studio, "p", judged(view, first, second))
    assert (told.checked, told.wrong, told.rest) == (5, 2, 0)
    again = list_sure(live_studio, "p")
    assert {text.id for text in again.texts} == {text.id for text in view.texts} - {first, second}
    assert again.found == told
    assert again.seed != view.seed  # a further check draws other texts
    accept_sure(studio, "p", judged(again))
    undo_action(studio, "p", "once")
    list_sure(live_studio, "p")
    settle(live_studio)
    assert list_sure(live_studio, "p").found == told


def test_checks_of_one_version_add_up_and_those_of_another_do_not_count(
    live_studio: LiveStudio,
) -> None:
    studio, view = live_studio.studio, list_sure(live_studio, "p")
    with studio.database.write() as connection:
        keep_judged(connection, 1, view.version, {"gone": ("x", False), "old": ("x", True)})
    told = conclude(studio, "p", judged(view))
    assert (told.checked, told.wrong) == (7, 1)
    conclude(studio, "p", replace(judged(view, view.check[0]), version=1))
    with studio.database.read() as connection:
        assert judged_of(connection, 1, view.version) == {}
    assert list_sure(live_studio, "p").found is None


def test_nothing_is_accepted_without_the_whole_check(live_studio: LiveStudio) -> None:
    view = list_sure(live_studio, "p")
    checked = judged(view)
    with pytest.raises(InvalidInput, match="1 text of the spot check is not judged"):
        accept_sure(live_studio.studio, "p", replace(checked, right=frozenset(view.check[1:])))
    assert set(labels(live_studio.studio, view).values()) == {None}


def test_test_texts_labels_and_later_changes_are_left_alone(live_studio: LiveStudio) -> None:
    studio, view = live_studio.studio, list_sure(live_studio, "p")
    tested, skipped = (text.id for text in view.texts[:2])
    everything = BulkAct(1, Allowed(labelled=True, test=True))
    change_many(studio, "p", Filter(ids=(tested,)), Edit("move", "test"), everything)
    change_many(studio, "p", Filter(ids=(skipped,)), Edit("flag", "later"), everything)
    done = accept_sure(studio, "p", judged(view))
    assert done.changed == 3
    assert done.left.meanwhile == 2
    now = list_sure(live_studio, "p")
    assert [text.id for text in now.texts] == [skipped]
    left = accept_sure(studio, "p", replace(judged(view, key="again"), revision=10**6)).left
    assert (left.test, left.labelled, left.same) == (1, 0, 3)


def test_a_project_without_a_model_or_with_several_intents_lists_nothing(studio: Studio) -> None:
    create_project(studio, "p")
    create_project(studio, "q", "multi-label")
    live = open_live_studio(studio)
    assert list_sure(live, "p").texts == list_sure(live, "q").texts == ()


def settle(live_studio: LiveStudio) -> None:
    wait_until(lambda: not live_studio.pools.loading(1), "nothing evaluates the pool")


def test_texts_that_come_back_are_counted_before_a_figure_is_told(
    live_studio: LiveStudio, held_evaluation: Callable[[], AbstractContextManager[None]]
) -> None:
    """After Undo of many, “sure of 368 of 1,003” stood for 14 seconds under “1,977 wait”."""
    studio, view = live_studio.studio, list_sure(live_studio, "p")
    accept_sure(studio, "p", judged(view))
    live_studio.pools.kept[1].rest_until = 0.0
    live_studio.pools.get(1)
    settle(live_studio)
    assert (list_sure(live_studio, "p").looked_at, live_studio.pools.get(1).records) == (0, ())
    live_studio.pools.kept[1].rest_until = time.monotonic() + 1e6
    undo_action(studio, "p", "once")
    with held_evaluation():
        found = list_sure(live_studio, "p")
    assert (found.counting, found.n, found.texts) == (True, 0, ())
    settle(live_studio)  # without the rest
    again = list_sure(live_studio, "p")
    assert (again.counting, again.n, again.looked_at) == (False, 5, 5)


def test_another_version_or_fence_is_counted_before_a_figure_is_told(
    live_studio: LiveStudio, held_evaluation: Callable[[], AbstractContextManager[None]]
) -> None:
    """732 texts were told as sure, and with a key 975 came: the figure was of version 1."""
    first = list_sure(live_studio, "p")
    assert not first.counting
    with live_studio.studio.database.read() as connection:
        champion = models.champion(connection, 1)
    promote(live_studio.studio, "p", 3 - champion.number)
    with held_evaluation():
        assert list_sure(live_studio, "p").counting
    settle(live_studio)
    assert list_sure(live_studio, "p").n == 5
    before = live_studio.pools.get(1)
    save_fence(live_studio, "p", FenceSetting(9.0))
    with held_evaluation():
        assert list_sure(live_studio, "p").counting
    settle(live_studio)
    assert live_studio.pools.get(1) is not before


def test_labels_that_join_the_votes_do_not_move_the_limit(home: Studio) -> None:
    """Five decisions made 555 sure texts 1,277, then 135, then 1,345, by one version."""
    live_studio = open_live_studio(home)
    with home.database.read() as connection:
        project_id = projects.find(connection, "p").id
    before = live_studio.models.get(project_id)
    pool_of_texts = live_studio.pools.wait(project_id)
    assert before is not None
    assert pool_of_texts is not None
    text = pool_of_texts.records[0].id
    label_each(home, "p", {text: before.columns[0]}, BulkAct(1, Allowed(), "joins"))
    after = live_studio.models.get(project_id)
    assert after is not None
    assert len(after.pipeline.exemplars) == len(before.pipeline.exemplars) + 1
    first, second, joined = (
        exemplar_scores(home, replace(after, pipeline=pipeline))
        for pipeline in (as_last_solved(before), as_last_solved(after), after.pipeline)
    )
    assert first is not None
    assert second is not None
    assert joined is not None
    np.testing.assert_array_equal(first[0], second[0])
    assert not np.array_equal(joined[0][: len(first[0])], first[0])


def test_many_labels_that_join_are_solved_into_the_votes_that_tell_the_limit(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The votes that tell the limit were called "as trained", and these labels are in them, too."""
    monkeypatch.setattr(joining, "_MANY", 0)  # then three are more than an eighth of 20
    live_studio = open_live_studio(home)
    before, pool_of_texts = live_studio.models.get(1), live_studio.pools.wait(1)
    assert before is not None
    assert pool_of_texts is not None
    given = {one.id: before.columns[0] for one in pool_of_texts.records[:3]}
    label_each(home, "p", given, BulkAct(3, Allowed(), "join"))
    after = live_studio.models.get(1)
    assert after is not None
    solved = {one.id for one in as_last_solved(after).exemplars}
    assert solved == {one.id for one in as_last_solved(before).exemplars} | given.keys()


def test_test_texts_that_the_model_has_learned_do_not_tell_how_sure_it_is(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An example that was moved to the test set was answered by its own vote, and counted."""
    monkeypatch.setattr(sure, "_FEWEST_TESTS", 1)
    monkeypatch.setattr(sure, "_judged", lambda _, rows, *__: (float(len(rows)), 0.0))
    live_studio = open_live_studio(home)

    def limit() -> tuple[float, float]:
        return sure._limit(live_studio, 1, open_live(live_studio, "p")[1])

    change(home, "hi", "split", "test")
    assert limit() == UNTESTED
    add_test(home, "nobody ever said this", "refund")
    assert limit() == (1.0, 0.0)  # of two test texts, one is judged
    change(home, "good morning", "text", "nobody ever said this")
    assert limit() == UNTESTED  # an example says it now
