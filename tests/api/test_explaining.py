"""Explanations over REST, and links that only show."""

import pytest
from fastapi.testclient import TestClient


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


def test_a_report_can_be_downloaded_and_linked(client: TestClient, trained: str) -> None:
    page = client.get("/api/projects/p/models/1/report.html")
    assert page.status_code == 200
    assert "p-v1-report.html" in page.headers["content-disposition"]
    assert "<script" not in page.text
    linked = client.get("/api/projects/p/models/1/report-link").json()
    assert linked["link"] == "/reports/p/1"  # without a launch token everybody may look
    assert client.get("/api/projects/p/models/9/report.html").status_code == 404
    assert client.get("/api/projects/p/models/1/report.exe").status_code == 422
