"""Fixtures of a served studio without a socket: the whole stack behind the guard, in memory.

`tests/conftest.py` loads this file as a plugin. A folder whose tests have the projects that
`labelled` and `trained` stand for says in its conftest that its `studio` is `prepared_studio`.
"""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from fastapi.testclient import TestClient
from gradio.routes import App
from starlette.types import ASGIApp

from app.bootstrap import open_studio
from app.server import build_app
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.studio import Studio
from app.services.training.runs import TrainingRequest
from app.settings import Settings
from app.ui import navigation
from tests.builders.trained_home import train_here

HOST = "127.0.0.1:7860"
TOKEN = "a-token-of-a-launch"


@pytest.fixture(scope="session")
def prepared(
    tmp_path_factory: pytest.TempPathFactory, labelled_csv: Path, tiny_path: Path
) -> dict[str, Path]:
    """Homes by the fixture that stands for them; to be copied, which is sooner than an import."""
    folder = tmp_path_factory.mktemp("prepared")
    homes = {name: folder / name for name in ("labelled", "trained")}
    pool = folder / "pool.txt"
    pool.write_text("money back now\nwhere is it\nreset it\n", encoding="utf-8")
    studio = open_studio(Settings(home=homes["labelled"]))
    create_project(studio, "p")
    import_file(studio, ImportRequest("p", labelled_csv))
    import_file(studio, ImportRequest("p", pool))
    studio.database.close()
    shutil.copytree(homes["labelled"], homes["trained"])
    studio = open_studio(Settings(home=homes["trained"]))
    train_here(studio, TrainingRequest("p", "instant", {}, str(tiny_path)))
    studio.database.close()
    return homes


@pytest.fixture
def prepared_studio(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Studio]:
    """A studio that has what the other fixtures of the test stand for."""
    for name in ("trained", "labelled"):
        if name in request.fixturenames:
            shutil.copytree(request.getfixturevalue("prepared")[name], tmp_path / "home")
            break
    opened = open_studio(Settings(home=tmp_path / "home"))
    yield opened
    opened.database.close()


@pytest.fixture
def live_studio(studio: Studio) -> LiveStudio:
    return open_live_studio(studio)


@dataclass
class Pages:
    """Gradio's part of every studio: the pages, and the app that answers with them."""

    blocks: gr.Blocks
    app: App | None = None


@pytest.fixture(scope="session")
def built_pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    """Every studio's pages are the same, and Gradio takes a second to build them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADIO_TEMP_DIR", str(tmp_path_factory.mktemp("gradio")))
        return Pages(navigation.build_pages())


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built_pages: Pages) -> None:
    """Serve from an empty folder of its own, as `intent-studio serve` does."""
    work, temporary, create = tmp_path / "work", str(tmp_path / "gradio"), App.create_app
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("GRADIO_TEMP_DIR", temporary)
    monkeypatch.setattr(navigation, "build_pages", lambda: built_pages.blocks)

    def create_once(*given: Any, **more: Any) -> App:
        """Its ninety routes take 0.15 s; what is uploaded goes into each studio's own folder."""
        app = built_pages.app = built_pages.app or create(*given, **more)
        app.uploaded_file_dir = temporary
        app.root_path = built_pages.blocks.root_path
        return app

    monkeypatch.setattr(App, "create_app", staticmethod(create_once))


@pytest.fixture
def portal() -> Iterator[BlockingPortal]:
    """One event loop for all requests of a test: each would start a thread with one of its own."""
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture
def open_client(portal: BlockingPortal) -> Iterator[Callable[..., TestClient]]:
    """Open clients of a served studio, with headers or without; all are closed with the test."""
    opened: list[TestClient] = []

    def start(app: ASGIApp, headers: dict[str, str] | None = None) -> TestClient:
        client = TestClient(
            app, base_url=f"http://{HOST}", raise_server_exceptions=False, headers=headers
        )
        client.portal = portal
        opened.append(client)
        return client

    yield start
    for client in opened:
        client.close()


@pytest.fixture
def serve(
    live_studio: LiveStudio, own_folder: None, open_client: Callable[..., TestClient]
) -> Callable[..., TestClient]:
    """Serve the studio to clients with a launch token or without."""

    def start(token: str | None = None) -> TestClient:
        return open_client(build_app(live_studio, token, frozenset({"127.0.0.1"})))

    return start


@pytest.fixture
def client(serve: Callable[..., TestClient]) -> TestClient:
    return serve()


@pytest.fixture
def labelled() -> str:
    """A project `p` with twenty labelled utterances and three without a label."""
    return "p"


@pytest.fixture
def trained() -> str:
    """The same project with a model on the tiny encoder."""
    return "p"
