"""The studio as the tests of REST serve it, with a model, and with the token of viewers."""

from collections.abc import Callable, Iterator

import pytest
from fastapi.testclient import TestClient

from app.server import build_app
from app.services.live.server_state import LiveStudio
from tests.api.conftest import (  # noqa: F401 - fixtures
    HOST,
    TOKEN,
    built_pages,
    client,
    labelled,
    live_studio,
    own_folder,
    serve,
    trained,
)
from tests.builders.hostile.served_app import VIEWER


@pytest.fixture
def visited(live_studio: LiveStudio, own_folder: None) -> Iterator[Callable[..., TestClient]]:  # noqa: F811
    """Serve a studio that asks for a token, to clients with these headers."""
    app = build_app(live_studio, TOKEN, frozenset({"127.0.0.1"}), VIEWER)
    opened: list[TestClient] = []

    def visit(headers: dict[str, str]) -> TestClient:
        made = TestClient(
            app, base_url=f"http://{HOST}", raise_server_exceptions=False, headers=headers
        )
        opened.append(made)
        return made

    yield visit
    for each in opened:
        each.close()
