"""A project and the folder with which it is synced, and a second person."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.bootstrap import open_studio
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.studio import Studio
from app.services.sync.syncing import SyncRequest, sync_folder
from app.settings import Settings

ROWS = (
    "text,intent,split\nwhere is it,parcel,train\nmoney back,refund,train\nhi,greeting,train\n"
    "is it lost,parcel,test\nwhat now,,pool\n"
)


@pytest.fixture
def folder(studio: Studio, tmp_path: Path) -> Path:
    """The folder of a project with five texts and three intents."""
    create_project(studio, "p")
    (tmp_path / "rows.csv").write_text(ROWS, encoding="utf-8")
    import_file(studio, ImportRequest("p", tmp_path / "rows.csv"))
    sync_folder(studio, SyncRequest("p", tmp_path / "folder"))
    return tmp_path / "folder"


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Studio]:
    """The home of a second person."""
    opened = open_studio(Settings(home=tmp_path / "other", device="cpu", actor="ben"))
    yield opened
    opened.database.close()
