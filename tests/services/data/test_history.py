"""Undo and Redo do what the page that asked for them showed, or say why they do nothing."""

import pytest
import sqlalchemy as sa

from app.services.data import history
from app.services.data.erasing import erase_texts
from app.services.data.history import redo_last, undo_action, undo_last
from app.services.data.intents import add_intent, load_overview
from app.services.data.projects import create_project
from app.services.live.live_studio import open_live_studio
from app.services.status import load_status
from app.services.studio import Studio
from core.errors import Conflict
from storage.log import edits, events
from storage.log.events import Action
from storage.tables import batch
from tests.builders.trained_home import rows


@pytest.fixture
def project(studio: Studio) -> Studio:
    """A project of a text and two intents, each of an action of its own."""
    create_project(studio, "p")
    said = edits.create_utterance("u0", "call Ada", "pool", "f", None)
    with studio.database.write() as connection:
        events.record(connection, 1, Action("import", "local"), [said])
    for name in "ab":
        add_intent(studio, "p", name)
    return studio


def names(studio: Studio) -> set[str]:
    return {one.name for one in load_overview(studio, "p")[1]}


@pytest.mark.parametrize("large", [1, 2_000])
def test_redo_does_again_what_the_page_showed_alone(
    project: Studio, monkeypatch: pytest.MonkeyPatch, large: int
) -> None:
    """Another person took back something else meanwhile, and that was done again."""
    monkeypatch.setattr(history, "LARGE", large)
    live_studio = open_live_studio(project)
    assert load_status(live_studio, "p").redo_id is None
    undo_last(project, "p")
    shown = load_status(live_studio, "p").redo_id
    assert shown is not None
    undo_last(project, "p")
    assert names(project) == set()
    with pytest.raises(Conflict, match="Something else was done meanwhile"):
        redo_last(project, "p", shown)
    assert names(project) == set()
    redo_last(project, "p", load_status(live_studio, "p").redo_id)
    redo_last(project, "p", shown)
    assert names(project) == {"a", "b"}


@pytest.mark.parametrize("large", [1, 2_000])
def test_what_takes_back_is_not_stored_as_a_command(
    project: Studio, monkeypatch: pytest.MonkeyPatch, large: int
) -> None:
    """Undo and Redo of the pages stood in the log with the origin "cli"."""
    monkeypatch.setattr(history, "LARGE", large)
    undo_last(project, "p")
    redo_last(project, "p")
    with project.database.read() as connection:
        [redone, undone, added] = events.history(connection, 1, 3)
    assert [(one.verb, one.origin) for one in (redone, undone)] == [("redo", ""), ("undo", "")]
    assert (added.verb, added.origin) == ("create intent", "page")


def test_an_undo_is_not_undone_by_its_key(project: Studio) -> None:
    """It was answered with the undo as if that had been taken back, and nothing had happened."""
    add_intent(project, "p", "c")
    with project.database.write() as connection:
        assert events.undo(connection, 1, "local", key="the-undo") is not None
    with pytest.raises(Conflict, match="cannot be taken back itself"):
        undo_action(project, "p", "the-undo")
    assert names(project) == {"a", "b"}


def test_an_erasure_is_not_undone_by_its_key(project: Studio) -> None:
    """It was answered as if the text had come back."""
    erase_texts(project, "p", ["call Ada"], now=True)
    with project.database.read() as connection:
        erasure = sa.select(batch.c.key).where(batch.c.verb == events.ERASE)
        key = connection.execute(erasure).scalar_one()
    with pytest.raises(Conflict, match="This erased texts"):
        undo_action(project, "p", key)
    assert rows(project) == {}
