"""Conversations over REST: logs in and out, encoders from them, replies to them."""

import json
import zipfile
from pathlib import Path

from fastapi.testclient import TestClient

from app.services.training.runs import follow
from core.encoders.loading import load_folder
from storage import models
from tests.builders.conversation_logs import write_log

DIALOGUES = {"minutes": None, "batch_size": 24, "epochs": 1}


def send(client: TestClient, path: Path) -> dict[str, object]:
    with path.open("rb") as stream:
        answer = client.post("/api/projects/p/dialogues", files={"file": (path.name, stream)})
    assert answer.status_code == 201, answer.text
    found: dict[str, object] = answer.json()
    return found


def test_a_log_comes_in_and_goes(client: TestClient, labelled: str, tmp_path: Path) -> None:
    waiting = send(client, write_log(tmp_path / "chats.jsonl"))
    assert waiting["name"] == "chats.jsonl"
    assert waiting["beginning"][0]["turns"][1] == {
        "text": "what about your refund?",
        "speaker": "system",
    }
    place = f"/api/projects/p/dialogues/waiting/{waiting['key']}"
    assert client.get(place, params={"mask": True}).json()["key"] == waiting["key"]
    assert client.get(f"{place}/personal").json() == {}
    done = client.post(f"{place}/import", json={"mask": True, "pool": 10}).json()
    assert (done["dialogues"], done["user_turns"], done["pooled"]) == (24, 28, 10)
    assert done["masked"] == {}
    [log] = client.get("/api/projects/p/dialogues").json()
    assert (log["source"], log["n_dialogues"], log["masked"]) == ("chats.jsonl", 24, {})
    read = f"/api/projects/p/dialogues/{log['id']}/conversations"
    first, second = client.get(read, params={"count": 2}).json()
    assert [len(first["turns"]), second["turns"][0]["text"][-8:]] == [4, "refund 1"]
    [last] = client.get(read, params={"first": 23, "count": 5}).json()
    assert last["turns"][0]["text"][-7:] == "music 3"
    assert client.get(f"{read}0").status_code == 404
    assert client.get("/api/projects/p/dialogues/99/conversations").status_code == 404
    status = client.get("/api/projects/p/status").json()
    assert (status["conversations"], status["unlabelled"]) == (24, 13)
    assert client.post(f"{place}/import", json={}).status_code == 404
    assert client.post("/api/projects/p/undo").json()["undone"]["verb"] == "import"
    assert client.get("/api/projects/p/status").json()["unlabelled"] == 3
    assert client.delete(f"/api/projects/p/dialogues/{log['id']}").json()["id"] == log["id"]
    gone = client.delete(f"/api/projects/p/dialogues/{log['id']}")
    assert (gone.status_code, bool(gone.json()["hint"])) == (404, True)
    assert client.get("/api/projects/p/status").json()["conversations"] == 0
    back = client.post(f"/api/projects/p/dialogues/{log['id']}/restore")
    assert back.json()["source"] == "chats.jsonl"
    again = client.post(f"/api/projects/p/dialogues/{log['id']}/restore")
    assert (again.status_code, again.json()) == (200, back.json())  # a second click on Undo
    assert client.get("/api/projects/p/status").json()["conversations"] == 24
    assert client.get(read, params={"first": 2**63 - 1}).status_code == 422


def test_a_log_goes_with_the_texts_that_were_counted(
    client: TestClient, labelled: str, tmp_path: Path
) -> None:
    waiting = send(client, write_log(tmp_path / "chats.jsonl"))
    place = f"/api/projects/p/dialogues/waiting/{waiting['key']}"
    client.post(f"{place}/import", json={"pool": 10})
    [log] = client.get("/api/projects/p/dialogues").json()
    assert (log["n_texts"], log["n_labelled"], log["n_tests"]) == (10, 0, 0)
    path = f"/api/projects/p/dialogues/{log['id']}"
    asked = {"texts": True, "key": "with-texts", "also": ["labelled", "test"]}
    asked |= {"revision": log["revision"]}
    refused = client.delete(path, params={**asked, "expected": 9})
    assert (refused.status_code, "not 9" in refused.json()["message"]) == (409, True)
    done = client.delete(path, params={**asked, "expected": 10})
    assert (done.status_code, done.json()["texts_deleted"]) == (200, 10)
    assert client.post(f"{path}/restore").status_code == 200
    assert client.post("/api/projects/p/undo", json={"key": "with-texts"}).status_code == 200
    [back] = client.get("/api/projects/p/dialogues").json()
    assert back == {**log, "revision": back["revision"]}
    assert client.delete(path, params={"also": ["everything"]}).status_code == 422


def test_what_is_no_log_is_refused_with_its_row(
    client: TestClient, labelled: str, tmp_path: Path
) -> None:
    path = tmp_path / "chats.jsonl"
    path.write_text('["a", "b"]\n{"turns": 3}\n', encoding="utf-8")
    with path.open("rb") as stream:
        answer = client.post("/api/projects/p/dialogues", files={"file": (path.name, stream)})
    assert answer.status_code == 422
    assert answer.json()["message"] == "chats.jsonl, row 2: there is no list of turns."
    path.write_text('["a", "b"]\n', encoding="utf-8")
    waiting = send(client, path)
    place = f"/api/projects/p/dialogues/waiting/{waiting['key']}"
    assert client.post(f"{place}/import", json={"pool": -1}).status_code == 422
    assert client.delete(place).status_code == 204
    assert client.get(place).status_code == 404
    elsewhere = client.get("/api/projects/p/dialogues/waiting/..%2F..")
    assert elsewhere.status_code == 404


def test_an_encoder_is_trained_resumed_and_ranks_replies(
    client: TestClient, live_studio, labelled: str, tiny_path: Path, tmp_path: Path
) -> None:
    asked = {"recipe": "dialogues", "settings": DIALOGUES, "base": str(tiny_path)}
    refused = client.post("/api/projects/p/train", json=asked)
    assert (refused.status_code, "no conversations" in refused.json()["message"]) == (422, True)
    assert client.post("/api/projects/p/estimate", json=asked).status_code == 422
    waiting = send(client, write_log(tmp_path / "chats.jsonl"))
    client.post(f"/api/projects/p/dialogues/waiting/{waiting['key']}/import", json={})
    assert "72 turns" in client.post("/api/projects/p/estimate", json=asked).json()["sentence"]
    job = client.post("/api/projects/p/train", json=asked).json()["job"]
    rows = list(follow(live_studio.studio, job))
    assert (rows[-1].state, rows[-1].result["kind"]) == ("succeeded", "encoder")
    [model] = client.get("/api/projects/p/versions").json()["models"]
    assert (model["kind"], model["chain"]) == ("encoder", ["encoder", "p@1 dialogues"])
    assert client.get("/api/projects/p/status").json()["champion"] is None
    assert client.post("/api/projects/p/models/1/promote").status_code == 422
    assert client.get("/api/projects/p/models/1/bundle").status_code == 422
    taken = tmp_path / "encoder.zip"
    taken.write_bytes(client.get("/api/projects/p/models/1/encoder").content)
    with zipfile.ZipFile(taken) as archive:
        archive.extractall(tmp_path / "encoder")
    loaded = load_folder(tmp_path / "encoder")
    with live_studio.studio.database.read() as connection:
        made = models.find(connection, 1, 1)
    assert loaded.fingerprint == made.lineage["fingerprint"]
    body = {"turns": ["hello"], "candidates": ["a", "b", "b"], "n": 5}
    found = client.post("/api/projects/p/replies", json=body).json()
    assert (found["encoder"], found["candidates"], len(found["best"])) == ("p@1", 2, 2)
    assert client.post("/api/projects/p/replies", json={"turns": []}).status_code == 422
    assert client.post(f"/api/jobs/{job}/resume").status_code == 409
    shown = client.get(f"/api/jobs/{job}").json()
    assert (shown["resumable"], shown["curve_words"][:8]) == (False, "How hard")


def test_personal_data_of_a_log_is_counted_before_it_is_stored(
    client: TestClient, labelled: str, tmp_path: Path
) -> None:
    path = tmp_path / "chats.jsonl"
    turns = ["i am ann@example.org", "call +49 30 1234567 or bob@example.org"]
    path.write_text(f"{json.dumps(turns)}\n{json.dumps(['hello', 'good day'])}\n", encoding="utf-8")
    waiting = send(client, path)
    place = f"/api/projects/p/dialogues/waiting/{waiting['key']}"
    assert client.get(f"{place}/personal").json() == {"e-mail": 2, "phone": 1}
    assert client.delete(place).status_code == 204
    assert client.get(f"{place}/personal").status_code == 404
