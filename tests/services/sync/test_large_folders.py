"""A large folder becomes a new project in stages, of which nobody sees one before the last."""

from collections.abc import Callable
from pathlib import Path

import pytest

from app.services.data.history import undo_action
from app.services.data.projects import (
    create_project,
    list_deleted,
    project_names,
    restore_project,
)
from app.services.studio import Studio
from app.services.sync import landing, syncing
from app.services.sync.report import SyncReport
from app.services.sync.syncing import SyncRequest, sync_folder
from core.errors import Conflict
from storage import projects
from storage.log import events
from tests.builders.trained_home import rows


def sync(studio: Studio, folder: Path) -> SyncReport:
    return sync_folder(studio, SyncRequest("p", folder))


class _Kill(BaseException):
    """Ends a sync as a killed process would, with what is committed until then."""


@pytest.fixture
def stages(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[int], None]], None]:
    """Fill every new project two changes at a time, and do something before each stage."""
    monkeypatch.setattr(syncing, "_LARGE", 1)
    monkeypatch.setattr(landing, "_STAGE", 2)
    fill = landing._fill

    def before_each(act: Callable[[int], None]) -> None:
        done = iter(range(1, 100))

        def acted(*given: object) -> int:
            act(next(done))
            return fill(*given)  # type: ignore[arg-type]

        monkeypatch.setattr(landing, "_fill", acted)

    return before_each


def test_a_large_folder_becomes_a_project_that_nobody_sees_before_it_is_whole(
    studio: Studio, other: Studio, folder: Path, stages: Callable[..., None]
) -> None:
    """One transaction of 100,000 new texts made a label wait for 8.7 s on a busy machine."""
    seen = list[tuple[int, list[str]]]()
    stages(lambda stage: seen.append((stage, project_names(other))))
    done = sync(other, folder)
    assert seen == [(stage, []) for stage in (1, 2, 3, 4)]  # 5 texts and 3 intents
    assert (done.from_folder.added, done.first, done.conflicts) == (5, True, ())
    assert (project_names(other), list_deleted(other)) == (["p"], [])
    assert rows(other) == rows(studio)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert sync(other, folder).keys == ()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    undone = undo_action(other, "p", done.keys[0])
    assert undone is not None
    assert rows(other) == {}


@pytest.mark.parametrize("stage", [1, 2, 3, 4])
def test_a_kill_between_two_stages_leaves_no_project_and_is_gone_on_with(
    stage: int, studio: Studio, other: Studio, folder: Path, stages: Callable[..., None]
) -> None:
    def killed(at: int) -> None:
        if at == stage:
            raise _Kill

    stages(killed)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(_Kill):
        sync(other, folder)
    assert project_names(other) == []
    assert [one.name for one in list_deleted(other)] == ["p (not read to its end)"]
    stages(lambda _: None)
    done = sync(other, folder)
    assert rows(other) == rows(studio)
    assert (project_names(other), list_deleted(other), done.conflicts) == (["p"], [], ())
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert sync(other, folder).keys == ()


def test_a_name_that_is_taken_meanwhile_stays_with_who_took_it(
    other: Studio, folder: Path, stages: Callable[..., None]
) -> None:
    stages(lambda stage: create_project(other, "p") if stage == 4 else None)
    with pytest.raises(Conflict, match="There is a project 'p' already"):
        sync(other, folder)
    with other.database.read() as connection:
        assert events.head(connection, projects.find(connection, "p").id) == 0


def test_a_project_that_is_restored_meanwhile_is_not_filled_on(
    other: Studio, folder: Path, stages: Callable[..., None]
) -> None:
    stages(lambda stage: restore_project(other, 1) if stage == 2 else None)
    with pytest.raises(Conflict, match="restored or filled the project"):
        sync(other, folder)
    assert project_names(other) == ["p (not read to its end)"]
