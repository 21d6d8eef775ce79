"""Every route of the server and of Gradio, for those who have no right to it."""

import pytest

from app.services.data.projects import create_project
from tests.abuse.table import Abuse
from tests.builders.hostile.served_app import Served, routes_of
from tests.served_in_memory import HOST, TOKEN

ABUSES = (
    Abuse(
        10,
        "A call without a token to any route: REST, pages, config, info, queue, files",
        "the routes are read from the app, so that a new one is covered by itself",
        "401 and no data, except for the server's health, icons and manifest",
    ),
    Abuse(
        11,
        "One person reads what another uploaded, exported or ran",
        "the token of another launch, and that of a shared link, on every route",
        "another launch's token is none; a link opens one receipt or report, and changes nothing",
    ),
    Abuse(
        14,
        "Guessing the token",
        "wrong, empty, shortened, doubled and non-ASCII tokens in address, header and cookie",
        "401; a token has 192 random bits and is compared in constant time",
    ),
)
OPEN = {
    *("/api/health", "/api/health/live", "/api/health/ready"),
    *("/manifest.json", "/pwa_icon", "/studio/icon.svg"),
}
SECRET = "a-project-that-nobody-else-may-see"
LEAST_ROUTES = 200


def answered(client, served: Served):
    """Call a route as a program does; bodies are JSON."""
    body = None if served.method in ("GET", "HEAD") else {}
    return client.request(served.method, served.path, json=body, follow_redirects=False)


@pytest.fixture
def every_route(visited, studio) -> list[Served]:
    create_project(studio, SECRET)
    routes = routes_of(visited({}).app)
    assert len(routes) >= LEAST_ROUTES
    assert {"/api/projects", "/gradio_api/upload", "/gradio_api/queue/join", "/metrics"} <= {
        served.pattern for served in routes
    }
    return routes


def wrong_headers() -> dict[str, dict[str, str]]:
    port = HOST.rpartition(":")[2]
    tokens = {"other": "x" * 32, "part": TOKEN[:-1], "twice": TOKEN * 2, "case": TOKEN.upper()}
    return {
        "nothing": {},
        **{f"bearer {name}": {"Authorization": f"Bearer {t}"} for name, t in tokens.items()},
        "bearer empty": {"Authorization": "Bearer "},
        "basic": {"Authorization": f"Basic {TOKEN}"},
        "token as a cookie": {"Cookie": f"intent-studio-{port}={TOKEN}"},
        "cookie of another port": {"Cookie": f"intent-studio-{int(port) + 1}={TOKEN}"},
        "cookie of a link": {"Cookie": f"intent-studio-viewer-{port}={TOKEN}"},
        "cookie that is none": {"Cookie": "=;;\x7f" + TOKEN},
    }


@pytest.mark.parametrize("name", wrong_headers())
def test_nobody_enters_without_the_token(visited, every_route, name: str) -> None:
    client = visited(wrong_headers()[name])
    for served in every_route:
        if served.path in OPEN:
            continue
        answer = answered(client, served)
        assert answer.status_code == 401, served
        assert SECRET not in answer.text
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("token", ["", "x", TOKEN[1:], f"{TOKEN} ", "%00", "%ff", "%E2%82%AC", "%"])
def test_no_wrong_token_in_the_address_opens_a_route(visited, token: str) -> None:
    client = visited({})
    for path in ("/", "/api/projects", "/gradio_api/info", "/receipts/ab", "/metrics"):
        answer = client.get(f"{path}?token={token}", follow_redirects=False)
        assert answer.status_code == 401, (path, answer.status_code)
        assert "set-cookie" not in answer.headers


def test_only_what_names_no_data_is_open(visited, every_route) -> None:
    """What is open is listed here: whoever opens one more has to say so twice."""
    client = visited({})
    patterns = {served.pattern for served in every_route}
    for path in OPEN:
        answer = client.get(path)
        assert answer.status_code == 200, path
        assert SECRET not in answer.text
    assert patterns >= OPEN - {"/studio/icon.svg"}


def test_a_token_that_opens_nothing_is_not_remembered(visited, viewer) -> None:
    """Open paths kept any token of an address as that of a link: thirty hid the real ones."""
    for visitor in (visited({}), visited({"Authorization": f"Bearer {viewer.token}"})):
        for path in (*OPEN, viewer.path):
            answer = visitor.get(f"{path}?token=no-token-at-all", follow_redirects=False)
            assert answer.status_code in (303, 401), path
            assert "set-cookie" not in answer.headers, path
    kept = visited({}).get(f"/api/health?token={viewer.token}", follow_redirects=False)
    assert kept.headers["set-cookie"].startswith("intent-studio-viewer")
    assert viewer.token not in kept.headers["set-cookie"]


def test_a_viewer_opens_what_was_shared_and_nothing_else(visited, every_route, viewer) -> None:
    client = visited({"Authorization": f"Bearer {viewer.token}"})
    assert client.get(viewer.path).status_code == 200
    for served in every_route:
        if served.path in OPEN:
            continue
        answer = answered(client, served)
        assert SECRET not in answer.text, served
        assert answer.status_code == 403, served


def test_a_viewer_is_no_owner_by_another_way_in(visited, viewer) -> None:
    """Paths that look like a receipt to one reader of addresses, and like another to the next."""
    client = visited({"Authorization": f"Bearer {viewer.token}"})
    for path in (
        *("/receipts/../api/projects", "/receipts/%2e%2e/api/projects", "/receipts//api/projects"),
        *("/receipts/ab%2f..%2f..%2fapi/projects", "/receipts/ab;/../../api/projects"),
        *(
            "/reports/p/1/../../../api/projects",
            "/receipts/ab%00",
            "/receipts/ab%0a",
            "//receipts/ab",
        ),
        "/api/receipts/ab/receipt.html/../../../projects",
    ):
        answer = client.get(f"http://{HOST}{path}", follow_redirects=False)
        assert answer.status_code in (400, 403, 404), path
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"):
        assert client.request(method, "/receipts/ab").status_code in (403, 405), method
