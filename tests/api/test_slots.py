"""Slots over REST, from the first mark to augmentation."""

import json

from fastapi.testclient import TestClient

from app.cli import main
from app.services.live.live_studio import LiveStudio
from app.services.studio import Studio
from tests.served_in_memory import HOST

HEADERS = {"origin": f"http://{HOST}"}


def test_from_the_first_mark_to_augmentation(
    client: TestClient, live_studio: LiveStudio, labelled: str
) -> None:
    rows = client.get("/api/projects/p/utterances?split=train").json()["rows"]
    one = next(row for row in rows if len(row["text"].split()) > 2)
    first = one["text"].split()[0]
    where = f"/api/projects/p/utterances/{one['id']}/slots"
    body = {"slots": [{"start": 0, "end": len(first), "name": "verb"}], "key": "mark-0001"}
    marked = client.put(where, json=body, headers=HEADERS)
    assert marked.status_code == 200, marked.text
    assert marked.json() == client.get(where).json()
    assert marked.json()["slots"] == body["slots"]
    book = client.get("/api/projects/p/slots?text=").json()
    [slot] = book["slots"]
    assert (slot["name"], slot["values"][0]["value"], book["n_marked"]) == ("verb", first, 1)
    assert slot["values"][0]["share"] > 0
    told = client.post("/api/projects/p/slots/accept", json={"preview": True}, headers=HEADERS)
    assert told.json()["preview"] is True
    bad = {"slots": [{"start": 0, "end": 9_999, "name": "verb"}]}
    refused = client.put(where, json=bad, headers=HEADERS)
    assert (refused.status_code, refused.json()["message"][:8]) == (422, "The slot")
    renamed = client.post(
        "/api/projects/p/slots/rename", json={"name": "verb", "to": "do"}, headers=HEADERS
    )
    assert renamed.json() == {"changed": 1}
    two = next(row for row in rows if row["id"] != one["id"])
    mark = {"slots": [{"start": 0, "end": len(two["text"].split()[0]), "name": "do"}]}
    client.put(f"/api/projects/p/utterances/{two['id']}/slots", json=mark, headers=HEADERS)
    wish = {"top": 2, "per_template": 1, "most": 10}
    shown = client.post("/api/projects/p/augmentation/preview", json=wish, headers=HEADERS).json()
    assert set(shown) == {"n", "n_templates", "n_sources", "templates", "preview"}
    added = client.post(
        "/api/projects/p/augmentation", json={**wish, "key": "augment-1"}, headers=HEADERS
    ).json()
    assert added["n"] == shown["n"] > 0
    found = client.get("/api/projects/p/utterances?synthetic=true").json()
    assert found["total"] == added["n"]
    assert {row["synthetic"] for row in found["rows"]} <= {one["id"], two["id"]}
    edit = {"filter": {"synthetic": True}, "kind": "move", "value": "test", "expected": added["n"]}
    refused = client.post("/api/projects/p/edits", json=edit, headers=HEADERS)
    assert (refused.status_code, "synthetic" in refused.json()["message"]) == (422, True)


def test_texts_without_a_mark_are_found_by_their_words(client: TestClient, labelled: str) -> None:
    rows = client.get("/api/projects/p/utterances?split=train").json()["rows"]
    one = rows[0]
    mark = {"slots": [{"start": 0, "end": len(one["text"].split()[0]), "name": "verb"}]}
    client.put(f"/api/projects/p/utterances/{one['id']}/slots", json=mark, headers=HEADERS)
    where = "/api/projects/p/slots/unmarked"
    left = client.get(where, params={"most": 500}).json()
    assert len(left) == len(rows) - 1 + 3  # three wait for a label
    assert one["id"] not in {text["id"] for text in left}
    word = left[0]["text"].split()[0]
    found = client.get(where, params={"text": word.upper()}).json()
    assert left[0] in found
    assert all(word.lower() in text["text"].lower() for text in found)
    assert client.get(where, params={"text": "\0"}).json() == []


def test_the_same_on_the_command_line(studio: Studio, labelled: str, capsys, tmp_path) -> None:
    home = ["--home", str(studio.places.home)]
    path = tmp_path / "more.jsonl"
    texts = (("fly to Rome", 7), ("go to Oslo", 6))
    lines = [
        {"text": text, "intent": "trip", "slots": [{"slot": "city", "start": at, "end": len(text)}]}
        for text, at in texts
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert main([*home, "import", "p", str(path)]) == 0
    capsys.readouterr()
    assert main([*home, "slots", "p", "--json"]) == 0
    [slot] = json.loads(capsys.readouterr().out)["slots"]
    assert [value["value"] for value in slot["values"]] == ["Oslo", "Rome"]
    assert main([*home, "slots", "p"]) == 0
    assert "2 of 25 utterances have slots" in capsys.readouterr().out
    assert main([*home, "augment", "p", "--preview", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n"] == 2
    assert main([*home, "augment", "p"]) == 0
    assert "Added 2 synthetic utterances from 2 templates" in capsys.readouterr().out
