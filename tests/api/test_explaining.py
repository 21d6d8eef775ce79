"""Explanations over REST, and links that only show."""

import stat
from urllib.parse import urlsplit

import pytest
from fastapi.testclient import TestClient

from app.security import viewer_token
from app.server import build_app
from tests.api.conftest import HOST, TOKEN

VIEWER = "a-token-of-links-that-show"


@pytest.fixture
def viewer_app(live_studio, own_folder):
    return build_app(live_studio, TOKEN, frozenset({"127.0.0.1"}), VIEWER)


def visitor(app, token: str = "") -> TestClient:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return TestClient(app, base_url=f"http://{HOST}", headers=headers)


def test_an_explanation_adds_up_over_rest(client: TestClient, trained: str) -> None:
    body = {"text": "give me my money back", "against": "parcel"}
    answer = client.post("/api/projects/p/explain", json=body)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    [reason] = found["reasons"]
    total = sum(vote["vote"] for vote in reason["votes"]) + reason["others"] + reason["prior"]
    assert total == pytest.approx(reason["score"], abs=1e-6)
    said = client.post("/api/projects/p/predict", json={"texts": [body["text"]]}).json()[0]
    assert said["prediction"]["decision"]["intents"] == found["answer"]
    assert found["why_not"]["intent"] == "parcel"
    assert {vote["origin"]["by"] for vote in reason["votes"]} == {"local"}
    missing = client.post("/api/projects/p/explain", json={**body, "against": "nope"})
    assert (missing.status_code, "nope" in missing.json()["message"]) == (404, True)


def test_a_viewer_reads_a_receipt_and_changes_nothing(viewer_app, trained: str) -> None:
    owner = visitor(viewer_app, TOKEN)
    made = owner.post("/api/projects/p/receipts", json={"text": "where is my parcel"})
    assert made.status_code == 201
    link = made.json()["link"]
    assert link == f"{made.json()['path']}?token={VIEWER}"
    stakeholder = visitor(viewer_app)
    assert stakeholder.get(made.json()["path"]).status_code == 401
    opened = stakeholder.get(link)
    assert opened.status_code == 200
    assert urlsplit(str(opened.url)).query == ""
    assert "where is my parcel" in opened.text
    assert "default-src 'none'" in opened.headers["content-security-policy"]
    assert stakeholder.get(f"/api{made.json()['path']}/receipt.html").status_code == 200
    assert stakeholder.get("/reports/p/1").status_code == 200
    for path in ("/", "/data?project=p", "/api/projects", "/api/projects/p/utterances", "/config"):
        assert stakeholder.get(path).status_code == 403, path
    for method, path in (
        ("POST", "/api/projects/p/ops"),
        ("POST", "/api/projects/p/receipts"),
        ("POST", "/api/projects/p/models/1/promote"),
        ("DELETE", "/api/projects/p/models/1"),
        ("POST", made.json()["path"]),
        ("POST", "/gradio_api/queue/join"),
    ):
        refused = stakeholder.request(method, path, json={})
        assert refused.status_code == 403, path
        assert "for reading only" in refused.text


def test_a_link_locks_its_owner_out_of_nothing(viewer_app, trained: str) -> None:
    owner = visitor(viewer_app)
    owner.get(f"/api/projects?token={TOKEN}")
    link = owner.post("/api/projects/p/receipts", json={"text": "hello"}).json()["link"]
    assert owner.get(link).status_code == 200
    assert owner.get("/api/projects").status_code == 200
    assert visitor(viewer_app).get("/reports/p/1?token=wrong").status_code == 401


def test_the_viewers_token_is_kept_with_the_home(tmp_path) -> None:
    token = viewer_token(tmp_path)
    assert len(token) >= 32
    assert viewer_token(tmp_path) == token
    [file] = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_report_can_be_downloaded_and_linked(client: TestClient, trained: str) -> None:
    page = client.get("/api/projects/p/models/1/report.html")
    assert page.status_code == 200
    assert "p-v1-report.html" in page.headers["content-disposition"]
    assert "<script" not in page.text
    linked = client.get("/api/projects/p/models/1/report-link").json()
    assert linked["link"] == "/reports/p/1"  # without a launch token everybody may look
    assert client.get("/api/projects/p/models/9/report.html").status_code == 404
    assert client.get("/api/projects/p/models/1/report.exe").status_code == 422
