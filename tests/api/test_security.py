"""Who may speak with the server, and what it gives away. Kept running on every Gradio upgrade."""

import asyncio
import json
import os
import time
from pathlib import Path
from urllib.parse import quote

import gradio as gr
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from app.security import COOKIE, Guard, LaunchCodes, check_binding, is_loopback
from app.server import _open_browser, build_app
from core.errors import InvalidInput
from tests.served_in_memory import HOST, TOKEN
from tests.waiting import wait_until

SECRET = "a line that nobody else may read"


def test_without_the_token_nothing_is_shown(serve) -> None:
    client = serve(TOKEN)
    for path in (
        "/",
        "/label",
        "/config",
        "/gradio_api/info",
        "/api/projects",
        "/studio/css/shared/frame.css",
    ):
        answer = client.get(path)
        assert answer.status_code == 401, path
        assert "token" in answer.text
    assert client.post("/gradio_api/queue/join", json={}).status_code == 401
    for path in ("/api/health", "/api/health/live", "/api/health/ready"):
        assert client.get(path).json() == {"state": "ok"}


def test_rest_refuses_in_the_shape_of_every_error(serve) -> None:
    """Programs had to read plain text for 400, 401, 403 and 413, and JSON for all other errors."""
    client = serve(TOKEN)
    missing = client.get("/api/projects")
    assert (missing.status_code, missing.headers["www-authenticate"]) == (401, "Bearer")
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    foreign = {**bearer, "Origin": "http://evil.example"}
    large = {**bearer, "Content-Length": str(1 << 30)}
    said = {**bearer, "Content-Type": "application/json"}
    for status, answer in (
        (401, missing),
        (400, client.get("/api/projects", headers={"Host": "evil.example"})),
        (403, client.post("/api/projects", json={}, headers=foreign)),
        (413, client.post("/api/projects", content=b"{}", headers=large)),
        (400, client.post("/api/projects", content=b"{", headers=said)),
        (400, client.post("/api/projects", content=b"[" * 500_000, headers=said)),
        (404, client.get("/api/nothing", headers=bearer)),
        (405, client.delete("/api/projects", headers=bearer)),
        (415, client.post("/api/projects", content=b"{}", headers=bearer)),
        (415, client.post("/api/projects/p/uploads", json={}, headers=bearer)),
        (422, client.post("/api/projects", json={"nome": "p"}, headers=bearer)),
        (422, client.post("/api/projects", headers=bearer)),
    ):
        assert answer.status_code == status, answer.text
        assert answer.json().keys() == {"message", "hint"}
        assert answer.json()["message"]


def test_the_token_becomes_a_cookie_and_leaves_the_address(serve) -> None:
    client = serve(TOKEN)
    answer = client.get(f"/label?project=p&token={TOKEN}", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/label?project=p")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert client.get("/api/projects").json() == []
    assert client.get("/").status_code == 200


def test_the_cookie_holds_no_token_and_lasts_as_long_as_the_token(serve) -> None:
    """Browsers send cookies to every server of the host name: the token itself was sent there."""
    entered = serve(TOKEN).get(f"/label?token={TOKEN}", follow_redirects=False)
    assert TOKEN not in entered.headers["set-cookie"]
    own = entered.headers["set-cookie"].partition(";")[0]
    name, _, value = own.partition("=")
    for token, status in ((TOKEN, 200), (f"{TOKEN}-of-the-next", 401)):
        again = serve(token)  # the studio was started again
        assert again.get("/api/projects", headers={"Cookie": own}).status_code == status
        for sent in ({"Cookie": f"{name}={TOKEN}"}, {"Authorization": f"Bearer {value}"}):
            assert again.get("/api/projects", headers=sent).status_code == 401
        assert again.get(f"/api/projects?token={value}").status_code == 401


@pytest.mark.parametrize(
    "foreign",
    ["version=3", 'ui={"dark":true}', "x=\xe9", "path", "=;;", "a,b/c=[1]", f"{COOKIE}-7860=old"],
)
def test_a_cookie_of_another_program_locks_nobody_out(serve, foreign: str) -> None:
    """Cookies know no ports. One that could not be read made all that came with it unread."""
    client = serve(TOKEN)
    entered = client.get(f"/label?token={TOKEN}", follow_redirects=False)
    own = entered.headers["set-cookie"].partition(";")[0]
    client.cookies.clear()
    for both in (f"{foreign}; {own}", f"{own}; {foreign}", f"{foreign};{own};a"):
        sent = {"Cookie": both.encode("latin-1")}
        assert client.get("/api/projects", headers=sent).status_code == 200, both
    alone = client.get("/api/projects", headers={"Cookie": foreign.encode("latin-1")})
    assert alone.status_code == 401


def test_a_wrong_token_opens_nothing_and_a_program_may_send_it_as_a_header(serve) -> None:
    client = serve(TOKEN)
    assert client.get("/api/projects?token=wrong").status_code == 401
    assert client.get("/api/projects", headers={"Authorization": "Bearer wrong"}).status_code == 401
    right = {"Authorization": f"Bearer {TOKEN}"}
    assert client.get("/api/projects", headers=right).status_code == 200


@pytest.fixture
def coded(live_studio, own_folder):
    """The app of a studio that opens its browser by launch codes, and the codes."""
    codes = LaunchCodes()
    return build_app(live_studio, TOKEN, frozenset({"127.0.0.1"}), codes=codes), codes


def browser(app) -> TestClient:
    return TestClient(app, base_url=f"http://{HOST}")


def test_a_launch_code_lets_one_browser_in_once_and_is_no_token(coded) -> None:
    """The token itself stood in the arguments of the browser, which every program can read."""
    app, codes = coded
    first, code = browser(app), codes.new()
    assert TOKEN not in code
    answer = first.get(f"/label?project=p&code={code}", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/label?project=p")
    assert "SameSite=Strict" in answer.headers["set-cookie"]
    assert first.get("/api/projects").json() == []
    again = browser(app).get(f"/?code={code}")
    assert (again.status_code, "once" in again.text) == (401, True)
    assert first.get(f"/api/projects?code={code}").status_code == 200  # its cookie is enough


def test_a_launch_code_expires_and_opens_nothing_but_a_page(coded, monkeypatch) -> None:
    app, codes = coded
    client, code = browser(app), codes.new()
    assert client.post(f"/api/projects?code={code}", json={"name": "p"}).status_code == 401
    assert client.get("/?code=").status_code == 401
    now = time.monotonic()
    monkeypatch.setattr("app.security.time.monotonic", lambda: now + 61)
    assert client.get(f"/?code={code}").status_code == 401


def test_serve_hands_no_token_to_the_browser(monkeypatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("app.server.webbrowser.open", opened.append)
    codes = LaunchCodes()
    _open_browser(f"http://{HOST}/", codes)
    wait_until(lambda: opened, "the browser is opened", 30)
    address, code = opened[0].split("?code=")
    assert (address, codes.use(code), codes.use(code)) == (f"http://{HOST}/", True, False)


def test_a_redirect_never_leaves_the_server(serve) -> None:
    answer = serve(TOKEN).get(f"//evil.example/?token={TOKEN}", follow_redirects=False)
    assert not answer.headers.get("location", "").startswith("//")


@pytest.mark.parametrize("path", ["/%5Cevil.example", "/%5C%5Cevil.example/x", "//%5Cevil.example"])
def test_a_redirect_has_no_backslash(serve, path: str) -> None:
    r"""Browsers read `/\\evil.example` as `//evil.example`, another host."""
    answer = serve(TOKEN).get(f"http://{HOST}{path}?token={TOKEN}", follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/%5Cevil.example") or answer.headers[
        "location"
    ].startswith("/%5C%5Cevil.example/x")


def test_a_link_with_a_name_that_is_not_ascii_opens(serve) -> None:
    """The redirect of `/reports/préstamos/1` failed with 500: its name does not fit latin-1."""
    client = serve(TOKEN)
    for name in ("préstamos", "贷款", "قروض"):
        assert client.post(f"/api/projects?token={TOKEN}", json={"name": name}).status_code == 201
        asked = f"/reports/{quote(name)}/1?token={TOKEN}"
        answer = client.get(asked, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (
            303,
            f"/reports/{quote(name)}/1",
        )
        assert "no model version 1" in client.get(asked).text  # the project was found


def test_a_body_sent_with_the_token_in_the_address_arrives(serve) -> None:
    """It was answered by a redirect, which drops the body; the program saw 200 and nothing done."""
    client = serve(TOKEN)
    made = client.post(f"/api/projects?token={TOKEN}", json={"name": "p"}, follow_redirects=False)
    assert made.status_code == 201
    assert client.post("/api/projects?token=wrong", json={"name": "q"}).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://127.0.0.1:9999"},
    ],
)
def test_a_page_of_another_site_changes_nothing(client: TestClient, headers) -> None:
    for path in ("/api/projects", "/gradio_api/component_server", "/gradio_api/queue/join"):
        answer = client.post(path, json={"name": "p"}, headers=headers)
        assert answer.status_code == 403, path
    assert client.get("/api/projects").json() == []


def test_the_own_page_may_change_things(client: TestClient) -> None:
    headers = {"Origin": f"http://{HOST}", "Sec-Fetch-Site": "same-origin"}
    assert client.post("/api/projects", json={"name": "p"}, headers=headers).status_code == 201


def test_a_name_that_is_not_ours_is_refused(client: TestClient) -> None:
    """A page of evil.example whose name was rebound to 127.0.0.1 still says its own name."""
    assert client.get("/api/projects", headers={"Host": "evil.example:7860"}).status_code == 400


def test_no_other_origin_is_ever_allowed_to_read(client: TestClient) -> None:
    for path in ("/", "/config", "/api/projects"):
        answer = client.get(path, headers={"Origin": "http://evil.example"})
        assert "access-control-allow-origin" not in answer.headers
    asked = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    assert (
        "access-control-allow-origin" not in client.options("/api/projects", headers=asked).headers
    )


def test_every_page_forbids_other_sources_and_frames(client: TestClient) -> None:
    policy = client.get("/label").headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "http" not in policy


def test_no_page_names_another_host(client: TestClient) -> None:
    page = client.get("/label").text
    for name in ("fonts.googleapis", "cdn.jsdelivr", "cdnjs", "api.gradio.app", "huggingface.co"):
        assert name not in page, name


def test_addresses_that_others_reach_are_refused() -> None:
    for host in ("127.0.0.1", "localhost", "::1", "127.8.8.8"):
        assert is_loopback(host)
        check_binding(host, token=False)
    for host in ("0.0.0.0", "192.168.1.4", "::", "studio.example"):
        with pytest.raises(InvalidInput, match="users"):
            check_binding(host, token=True)


def test_more_than_an_upload_may_hold_is_refused_before_it_is_read(client: TestClient) -> None:
    headers = {"Content-Length": str(1 << 30)}
    assert client.post("/api/projects", content=b"{}", headers=headers).status_code == 413


@pytest.mark.parametrize("kind", ["bundles", "dialogues"])
def test_a_bundle_or_a_log_is_larger_than_any_other_upload(client: TestClient, kind: str) -> None:
    """A version with the bundled encoder has 84 MB, and the browser could not bring one in."""
    path = f"/api/projects/p/{kind}"
    sizes = {84 << 20: 415, 2_000_000_000: 415, 2_002_000_000: 413}
    for size, status in sizes.items():
        answer = client.post(path, content=b"{}", headers={"Content-Length": str(size)})
        assert answer.status_code == status, size
    assert "2 GB" in answer.text


def test_who_sends_too_much_may_finish_and_hears_why() -> None:
    guard = Guard(_never, None, frozenset({HOST.partition(":")[0]}))
    pieces = [{"type": "http.request", "body": b"x", "more_body": n < 3} for n in range(4)]
    sent = []

    async def receive():
        return pieces.pop(0)

    async def send(message):
        assert not pieces  # a browser that is cut off in mid-way shows no answer at all
        sent.append(message)

    headers = [(b"host", HOST.encode()), (b"content-length", str(1 << 30).encode())]
    scope = {"type": "http", "method": "POST", "path": "/api/projects", "query_string": b""}
    asyncio.run(guard({**scope, "scheme": "http", "headers": headers}, receive, send))
    assert (sent[0]["status"], b"64 MB" in sent[1]["body"]) == (413, True)


async def _never(scope, receive, send) -> None:
    raise AssertionError


def file_app() -> FastAPI:
    """Gradio mounted as the studio mounts it, with one event that reads and one that hands out."""
    with gr.Blocks(analytics_enabled=False) as pages:
        given, said, out = gr.File(), gr.Textbox(), gr.File()
        asked = gr.Textbox()
        gr.Button().click(lambda path: Path(path).read_text(), given, said, api_name="read")
        gr.Button().click(lambda path: path, asked, out, api_name="hand_out")
    app = FastAPI()
    from app.ui.navigation import launch_settings

    gr.mount_gradio_app(app, pages, path="/", **launch_settings())
    pages.has_launched = True
    return app


def data(path: Path) -> dict[str, object]:
    return {"path": str(path), "orig_name": path.name, "meta": {"_type": "gradio.FileData"}}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    work, uploads = tmp_path / "work", tmp_path / "uploads"
    outside = Path.home() / f".studio-secret-{os.getpid()}"  # other workers have files of their own
    work.mkdir()
    outside.write_text(SECRET, encoding="utf-8")
    monkeypatch.chdir(work)
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(uploads))
    try:
        with TestClient(file_app(), raise_server_exceptions=False) as client:
            yield client, outside
    finally:
        outside.unlink()


def queued(client: TestClient, fn_index: int, value: object) -> str:
    body = {"data": [value], "fn_index": fn_index, "session_hash": "s"}
    joined = client.post("/gradio_api/queue/join", json=body)
    if joined.status_code != 200:
        return joined.text
    seen = []
    with client.stream("GET", "/gradio_api/queue/data?session_hash=s") as stream:
        for line in stream.iter_lines():
            seen.append(line)
            if "process_completed" in line or "close_stream" in line:
                break
    return "\n".join(seen)


def test_an_event_reads_no_file_outside_the_uploads(files) -> None:
    client, outside = files
    direct = client.post("/gradio_api/run/read", json={"data": [data(outside)]})
    assert direct.status_code >= 400
    assert SECRET not in direct.text
    through_queue = queued(client, 0, data(outside))
    assert SECRET not in through_queue
    assert '"success":false' in through_queue.replace(" ", "") or "error" in through_queue.lower()


def test_an_uploaded_file_is_read(files) -> None:
    """Proves that the refusals above are not of everything."""
    client, _ = files
    sent = client.post("/gradio_api/upload", files={"files": ("a.txt", b"hello there")})
    path = Path(json.loads(sent.text)[0])
    answer = client.post("/gradio_api/run/read", json={"data": [data(path)]})
    assert answer.json()["data"] == ["hello there"]


def test_an_event_hands_out_no_file_outside_the_working_folder(files) -> None:
    client, outside = files
    answer = client.post("/gradio_api/run/hand_out", json={"data": [str(outside)]})
    assert answer.status_code >= 400
    assert SECRET not in answer.text
    assert SECRET not in client.get(f"/gradio_api/file={outside}").text
