"""The model in the server: loaded once, brought up to date, and modest with the machine."""

import dataclasses
import os
import threading
from collections.abc import Callable

import pytest

from app.server import _leave_a_core
from app.services.answering.opened import find_space, open_space
from app.services.data.history import undo_last
from app.services.data.intents import add_intent
from app.services.live import catching_up, pool
from app.services.live import models as live
from app.services.live.live_model import AnswersBy, LiveModel
from app.services.live.live_studio import open_live_studio
from app.services.live.said import answers
from app.services.live.said.drift import SaidRows
from app.services.live.traffic import Traffic
from app.services.studio import Studio
from app.services.versions import timeline
from app.services.what_if.watched_texts import WatchedTextCache
from core.errors import DatabaseBusy
from storage import models, projects
from storage.said.traffic import SaidText
from tests.builders.trained_home import POOL, change, label, rows
from tests.waiting import wait_until


def test_a_model_is_loaded_once_for_its_answers_and_its_map(home: Studio) -> None:
    with home.database.read() as connection:
        space = find_space(connection, "p", None)
    found = open_live_studio(home).models.get(space.project.id)
    assert found is not None
    assert found.pipeline.encoder is open_space(home, space).encoder
    assert found.pipeline.model_version == space.name


class Slow:
    """Models that take seven seconds each time."""

    def __init__(self, home: Studio, clock: list[float]) -> None:
        self.models = live.LiveModels(home)
        self.clock = clock

    def get(self, project_id: int) -> LiveModel | None:
        self.clock[0] += 7.0
        return self.models.get(project_id)


def test_a_look_at_the_pool_that_took_long_is_not_repeated_soon(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each label asked for another look, and on a large project the looks took a whole core.

    The first one has loaded the model: where that took ten seconds, labels waited forty to vote.
    """
    clock = [100.0]
    monkeypatch.setattr(pool.time, "monotonic", lambda: clock[0])
    with home.database.read() as connection:
        space = find_space(connection, "p", None)
    champion, project = space.version.id, space.project.id
    quiet = Traffic(last=0.0)
    pools = pool.Pools(home, Slow(home, clock), quiet)  # type: ignore[arg-type]
    pools.kept[project].tried = AnswersBy(champion)
    pools._refresh(project)
    assert pools.kept[project].rest_until == 107.0 + 2.0
    pools._refresh(project)
    assert pools.kept[project].rest_until == 114.0 + 4 * 7.0


def rest(pools: pool.Pools) -> None:
    """Wait until nothing evaluates the pool."""
    wait_until(lambda: not pools.loading(1), "nothing evaluates the pool", 180)


def settled(pools: pool.Pools) -> pool.Pool:
    """Return the pool once nothing evaluates it."""
    rest(pools)
    found = pools.kept[1].pool
    assert found is not None
    return found


def test_a_pool_is_evaluated_again_when_the_labels_of_a_large_set_have_joined(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its figures were told as those of now, and stayed those of before 300 corrections."""
    known = live.LiveModels(home)
    before = known.get(1)
    assert before is not None
    monkeypatch.setattr(catching_up, "SOLVED_AT_ONCE", 0)
    monkeypatch.setattr(catching_up, "_IMMEDIATE", 0)
    monkeypatch.setattr(live.LiveModels, "_catch_up_later", lambda *_: None)
    change(home, "hi", "flagged", "odd")
    pools = pool.Pools(home, known, Traffic(last=0.0))
    pools.get(1)
    lagging = settled(pools)
    assert lagging.revision == before.revision
    pools.kept[1].rest_until = 0.0
    pools.get(1)
    assert settled(pools) is lagging  # no label has joined: the same would come out
    change(home, "hi", "flagged", "odder")
    pools.kept[1].rest_until = 0.0
    pools.get(1)
    assert settled(pools) is not lagging  # another text may wait
    known.settle("p")
    pools.kept[1].rest_until = 0.0
    pools.get(1)
    assert settled(pools).live.revision == settled(pools).revision > before.revision
    pools.kept[1].rest_until = 0.0
    assert pools.get(1) is settled(pools)
    assert not pools.loading(1)


def busy(*_: object) -> None:
    raise DatabaseBusy("Another program is writing.")


def test_a_pool_that_could_not_be_evaluated_is_evaluated_again_later(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sure was empty, and the header told of a failure, until the next change of the project."""
    pools = pool.Pools(home, live.LiveModels(home), Traffic(last=0.0))
    with monkeypatch.context() as patched:
        patched.setattr(pool, "embed_texts", busy)
        pools.get(1)
        rest(pools)
    assert (pools.get(1), pools.loading(1)) == (None, False)  # not at once
    assert pools.kept[1].trouble == "Another program is writing."
    pools.kept[1].rest_until = 0.0
    pools.get(1)
    assert len(settled(pools).records) > 0
    assert pools.kept[1].trouble == ""


def test_where_no_thread_is_left_the_next_question_starts_one(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """“Counting …” and “loading” stood there until a restart, and labels joined no more."""
    served = open_live_studio(home)
    known, pools, watched = served.models, served.pools, WatchedTextCache(served)
    known.get(1)
    change(home, "hi", "flagged", "odd")
    monkeypatch.setattr(catching_up, "SOLVED_AT_ONCE", 0)
    monkeypatch.setattr(catching_up, "_IMMEDIATE", 0)

    def full(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", full)
        asks: tuple[Callable[[int], object], ...] = (known.get, pools.get, watched.prepare)
        for ask in asks:
            with pytest.raises(RuntimeError, match="new thread"):
                ask(1)
    flags = (known.kept[1].catching_up, pools.loading(1), watched.preparing)
    assert flags == (False, False, False)
    pools.get(1)
    assert len(settled(pools).records) > 0


def test_answers_to_traffic_that_failed_are_computed_again_later(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Why it had failed stood there until 50 changes were made."""
    one = rows(home)["hi"]
    said = answers.SaidAnswers(home, live.LiveModels(home), Traffic(last=0.0))
    asked = SaidRows([SaidText("one", one.id, "2026-02-02T10:00:00Z", "app")], [])
    with home.database.read() as connection:
        project, champion = projects.find(connection, "p"), models.champion(connection, 1)
    assert champion is not None

    def ended() -> tuple[answers.SaidAnswered | None, str]:
        said.settled(project, champion, asked)
        wait_until(lambda: not said.running, "what people said is answered", 180)
        return said.settled(project, champion, asked)

    with monkeypatch.context() as patched:
        patched.setattr(answers, "score_records", busy)
        assert ended() == (None, "Another program is writing.")
    assert ended() == (None, "Another program is writing.")  # it rests a while
    (failed,) = said.troubles.values()
    failed.rest_until = 0.0
    found, trouble = ended()
    assert (found is None, trouble) == (False, "")


def test_projects_that_cannot_be_answered_are_not_tried_in_turn(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each made the server forget that the other one had failed: both were tried without end."""
    tried = list[int]()

    def broken(_: live.LiveModels, project_id: int) -> None:
        tried.append(project_id)
        raise DatabaseBusy("Another program is writing.")

    monkeypatch.setattr(live.LiveModels, "open_by_id", broken)
    one = rows(home)["hi"]
    said = answers.SaidAnswers(home, live.LiveModels(home), Traffic(last=0.0))
    asked = SaidRows([SaidText("one", one.id, "2026-02-02T10:00:00Z", "app")], [])
    with home.database.read() as connection:
        project, champion = projects.find(connection, "p"), models.champion(connection, 1)
    assert champion is not None

    def ask() -> None:
        for each in (project, dataclasses.replace(project, id=2)):
            said.settled(each, champion, asked)
            wait_until(lambda: not said.running, "what people said is answered")

    for _ in range(3):
        ask()
    assert tried == [1, 2]
    rests = list[float]()
    for _ in range(5):
        said.troubles[answers._series(1, asked)].rest_until = 0.0
        ask()
        rests.append(said.troubles[answers._series(1, asked)].rest)
    assert rests == [30.0, 60.0, 120.0, 240.0, 240.0]
    assert tried == [1, 2, *[1] * 5]


def test_answers_to_traffic_wait_for_many_labels_of_a_large_set(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were those of the labels of before, until 50 more changes."""
    known, one = live.LiveModels(home), rows(home)["hi"]
    known.get(1)
    monkeypatch.setattr(catching_up, "SOLVED_AT_ONCE", 0)
    monkeypatch.setattr(catching_up, "_IMMEDIATE", 0)
    monkeypatch.setattr(live.LiveModels, "_catch_up_later", lambda *_: None)
    monkeypatch.setattr(answers, "FEW_CHANGES", 0)
    change(home, one.text, "flagged", "odd")
    said = answers.SaidAnswers(home, known, Traffic(last=0.0))
    asked = SaidRows([SaidText("one", one.id, "2026-02-02T10:00:00Z", "app")], [])
    kept = (*answers._series(1, asked), ("now",))
    fill(said, asked)
    assert (home.cache.peek(kept), said.troubles) == (None, {})
    known.settle("p")
    fill(said, asked)
    assert home.cache.peek(kept) is not None


def fill(said: answers.SaidAnswers, asked: SaidRows) -> None:
    """Answer texts of the traffic in a thread, as the server does."""
    thread = threading.Thread(target=said._fill, args=(1, ("now",), asked))
    thread.start()
    thread.join()


def test_a_large_set_that_took_long_is_not_solved_again_soon(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 10,000 exemplars every label solved all votes anew, one time after the other."""
    solved: list[Studio] = []
    monkeypatch.setattr(live, "is_immediate", lambda *_: False)
    monkeypatch.setattr(live, "catch_up", lambda of, known, *__: solved.append(of) or known)
    monkeypatch.setattr(live, "_REST_SECONDS", 1e9)
    change(home, POOL[0], "flagged", "odd")
    models = live.LiveModels(home)
    for _ in range(3):
        assert models.get(1) is not None
        for thread in threading.enumerate():
            if thread.name == "join-labels":
                thread.join()
    # Threads of studios of earlier tests may solve theirs meanwhile.
    assert [of for of in solved if of is home] == [home]


def test_answers_leave_room_for_others() -> None:
    """With all cores for one short text, it took ten times as long beside a training."""
    import torch
    from threadpoolctl import threadpool_limits

    before = torch.get_num_threads()
    with threadpool_limits(limits=None):
        _leave_a_core()
        assert torch.get_num_threads() == max(1, (os.cpu_count() or 1) // 2)
    torch.set_num_threads(before)


def test_what_is_frozen_is_compared_once(home: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log of 50,000 rows was read anew whenever versions were listed, for 0.8 s each time."""
    first = timeline.list_versions(home, "p")
    told = timeline.timeline(home, "p")
    monkeypatch.setattr(timeline.versions, "successive_diffs", lambda *_: [])
    assert [view.changes for view in first[0]][:1] == ["the first"]
    assert timeline.list_versions(home, "p") == first
    assert timeline.timeline(home, "p") == told


def test_an_intent_made_again_under_its_name_takes_no_label_of_the_undone_one(home: Studio) -> None:
    """Every page that needs the model failed until the studio was started again."""
    models = live.LiveModels(home)
    first = add_intent(home, "p", "parcels")
    label(home, POOL[1], "parcels")
    labelled = rows(home)[POOL[1]]
    before = models.get(1)
    assert before is not None
    assert before.votes_as(labelled.id) == (POOL[1], (first,))
    undo_last(home, "p")
    undo_last(home, "p")
    again, other = add_intent(home, "p", "parcels"), add_intent(home, "p", "orders")
    now = models.get(1)
    assert now is not None
    assert now.columns[-2:] == (again, other)
    assert now.votes_as(labelled.id) is None
    assert POOL[1] not in [one.text for one in now.pipeline.exemplars]
