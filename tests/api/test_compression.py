"""Compression, the map that follows it, and the shapes of spaces over REST."""

import struct

import pytest
from fastapi.testclient import TestClient


@pytest.fixture
def marked(client: TestClient, trained: str) -> str:
    """The trained project with the word "parcel" marked wherever it stands."""
    rows = client.get("/api/projects/p/utterances", params={"text": "parcel"}).json()["rows"]
    for row in rows:
        start = row["text"].index("parcel")
        slots = [{"start": start, "end": start + 6, "name": "thing"}]
        path = f"/api/projects/p/utterances/{row['id']}/slots"
        assert client.put(path, json={"slots": slots}).status_code == 200
    return trained


def places(client: TestClient, order: str, **asked: object) -> list[float]:
    answer = client.get("/api/projects/p/map/xy", params={"order": order, **asked})
    assert answer.status_code == 200
    return [value for (value,) in struct.iter_unpack("<f", answer.content)]


def test_answers_examples_and_points_move_when_they_are_compressed(client, marked) -> None:
    assert client.get("/api/projects/p/status").json()["marked"] is True
    view = client.get("/api/projects/p/compression").json()
    assert (view["ready"], view["marked"], view["total"]) == (True, 5, 20)
    choice = client.get("/api/projects/p/compression/choice").json()
    assert choice["suggested"] in choice["strengths"]
    asked = {"texts": ["did my parcel go"], "strength": 0.6}
    [found] = client.post("/api/projects/p/predict", json=asked).json()
    assert found["compressed"]["template"] == "did my {SLOT} go"
    assert found["compressed"]["values"] == [["thing", "parcel"]]
    [plain] = client.post("/api/projects/p/predict", json={"texts": asked["texts"]}).json()
    assert plain["compressed"] is None
    wrong = client.post("/api/projects/p/predict", json={**asked, "strength": 1.5})
    assert wrong.status_code == 422
    where = "/api/projects/p/examples"
    moved = client.get(where, params={"strength": 0.6}).json()["points"]
    assert moved != client.get(where).json()["points"]
    order = client.get("/api/projects/p/map").json()["order"]
    drift = client.get("/api/projects/p/map/drift").json()
    assert (drift["marked"], drift["proposed"], drift["missing"]) == (5, 0, 0)
    assert places(client, order) == places(client, order, strength=0)
    assert places(client, order) != places(client, order, strength=0.6)
    stale = client.get("/api/projects/p/map/xy", params={"order": "x", "strength": 0.6})
    assert stale.status_code == 409


def test_without_a_mark_the_reason_and_the_next_step_are_said(client, trained) -> None:
    assert client.get("/api/projects/p/status").json()["marked"] is False
    view = client.get("/api/projects/p/compression").json()
    assert (view["ready"], view["reason"]) == (False, "No value is marked in the examples.")
    answer = client.post("/api/projects/p/train", json={"recipe": "templates"})
    assert answer.status_code == 422
    assert "no marked values" in answer.json()["message"]


def test_shapes_of_spaces_are_measured_one_by_one(client, trained) -> None:
    found = client.get("/api/projects/p/models/1/shape").json()
    assert found["basis"] == "20 examples"
    assert found["uniformity"] < 0 < found["alignment"]
    assert client.get("/api/projects/p/models/9/shape").status_code == 404
