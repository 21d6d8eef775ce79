"""A process is killed before each of its acts on the disk: nothing is half done for ever."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.faults.kills.acts import ACTS, Act, soundness
from tests.faults.kills.syncing import FIRST_SYNC, LARGE_SYNC, SYNC
from tests.faults.kills.upkeep import UPKEEP
from tests.faults.shims.write_points import KILLED, WritePoints, die, do, every
from tests.faults.table import Fault

FAULTS = (
    Fault(
        1.2,
        "SIGKILL at each write point of a label, an import, traffic, a training's end, a "
        "grouping, a backup, a restore, a migration, an erase, a sync with a folder, a bundle "
        "taken in, `doctor --prune`, `doctor --repair`",
        "SQLite's table of system calls and a wrapper of `os` count writes, truncations, syncs "
        "and renames; a fork is killed before the n-th, for all n",
        "Done or not done, never half; what was acknowledged is there once; the act done again "
        "completes; `doctor` finds nothing amiss",
    ),
)
EVERY = (*ACTS, SYNC, FIRST_SYNC, LARGE_SYNC, *UPKEEP)
QUICK = {
    "label": 6,
    "import": 3,
    "traffic": 3,
    "training": 2,
    "grouping": 3,
    "backup": 3,
    "restore": 4,
    "migration": 3,
    "erase": 4,
    "sync": 4,
    "first sync": 4,
    "large sync": 4,
    "bundle": 3,
    "prune": 4,
    "repair": 4,
}
"""Points of each act that `make test` tries; `make fire` tries all."""

PARTS = 6
"""Tests into which all points of an act are divided: none is to take longer than a minute."""


def count_points(template: Path, act: Act, folder: Path) -> int:
    """Do the act once undisturbed, and return how often it acts on the disk."""
    home = act.prepared(template, folder / f"{act.name}-whole")
    ended = do(lambda: act.do(home), WritePoints(0, die))
    assert ended.error is None
    act.after(home)
    return len(ended.acts)


@pytest.fixture(scope="module")
def count(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Act], int]:
    """Count the points of each act once."""
    folder = tmp_path_factory.mktemp("counted")
    return cache(lambda act: count_points(template, act, folder))


def kill_at(template: Path, act: Act, folder: Path, point: int) -> None:
    home = act.prepared(template, folder / f"{act.name}-{point}")
    ended = do(lambda: act.do(home), WritePoints(point, die))
    if ended.code == KILLED:
        act.between(home)
    else:
        # Random ids split the pages of an index at other places each time: the last point that was
        # counted may be one that this run does not have.
        assert ended.error is None
        assert 0 < point - len(ended.acts) <= 1 + point // 20
    second = do(lambda: act.do(home))
    assert second.error is None
    act.after(home)
    assert soundness(home) == []


@pytest.mark.quick
@pytest.mark.parametrize("act", EVERY, ids=lambda act: act.name)
def test_an_act_killed_at_some_points_is_done_or_not(
    template: Path, tmp_path: Path, act: Act, count: Callable[[Act], int]
) -> None:
    for point in every(count(act), QUICK[act.name]):
        kill_at(template, act, tmp_path, point)


@pytest.mark.fire
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("act", EVERY, ids=lambda act: act.name)
def test_an_act_killed_at_every_point_is_done_or_not(
    template: Path,
    tmp_path: Path,
    act: Act,
    part: int,
    count: Callable[[Act], int],
    measured: Callable[[str, str], None],
) -> None:
    points = range(1 + part, count(act) + 1, PARTS)
    for point in points:
        kill_at(template, act, tmp_path, point)
    measured(f"{act.name} {part}", f"{act.name}: {len(points)} points, 0 lost, 0 doubled.")
