"""The studio as the tests of REST serve it, with a model, and somebody with a link."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from fastapi.testclient import TestClient

from app.server import build_app
from app.services.live.live_studio import LiveStudio
from app.services.studio import Studio
from tests.served_in_memory import TOKEN


@pytest.fixture
def studio(prepared_studio: Studio) -> Studio:
    return prepared_studio


@pytest.fixture
def visited(
    live_studio: LiveStudio, own_folder: None, open_client: Callable[..., TestClient]
) -> Callable[..., TestClient]:
    """Serve a studio that asks for a token, to clients with these headers."""
    app = build_app(live_studio, TOKEN, frozenset({"127.0.0.1"}))

    def visit(headers: dict[str, str]) -> TestClient:
        return open_client(app, headers)

    return visit


@dataclass(frozen=True, slots=True)
class Viewer:
    """Somebody who has a link.

    Attributes:
        token: What the link bears.
        path: What it opens.
    """

    token: str
    path: str


@pytest.fixture
def viewer(visited: Callable[..., TestClient], trained: str) -> Viewer:
    """Share one receipt."""
    owner = visited({"Authorization": f"Bearer {TOKEN}"})
    receipts, shares = (f"/api/projects/{trained}/{name}" for name in ("receipts", "shares"))
    receipt = owner.post(receipts, json={"text": "where is my parcel"}).json()["id"]
    made = owner.post(shares, json={"kind": "receipt", "target": receipt}).json()
    path, _, token = made["link"].partition("?token=")
    return Viewer(token, path)
