"""The review over REST: what is listed, told, done and taken back."""

import threading
import time
from typing import Any

import pytest
from fastapi.testclient import TestClient

from core.nearby.search import nearby

CHANGED = "A text was changed meanwhile."


def intents(client: TestClient) -> dict[str, str]:
    found = client.get("/api/projects/p/overview").json()["intents"]
    return {one["name"]: one["id"] for one in found}


def test_a_conflict_is_found_judged_mended_and_taken_back(client, trained) -> None:
    by = intents(client)
    repair = {"kind": "add", "intents": [by["refund"]], "value": "where is my parcel!"}
    [told] = client.post("/api/projects/p/review/what-if", json={"repairs": [repair]}).json()
    assert told["near"][0]["text"] == "where is my parcel"
    assert told["near"][0]["conflict"]
    act = {"key": "plant-0001", "repair": repair}
    assert client.post("/api/projects/p/review/act", json=act).json() == {"key": "plant-0001"}
    listed = client.get("/api/projects/p/review").json()
    [first] = [f for f in listed["findings"] if f["measure"] == "same text"]
    assert listed["findings"][0] == first
    assert listed["counts"]["conflict"] >= 1
    remedies = [r["repair"] for r in first["remedies"] if r["repair"]]
    told = client.post("/api/projects/p/review/what-if", json={"repairs": remedies}).json()
    assert len(told) == len(remedies) == 4
    assert all(one["watched"] == [3, 0, 0] for one in told)
    mend = {"key": "mend-00001", "finding": first["id"], "repair": remedies[0]}
    assert client.post("/api/projects/p/review/act", json=mend).status_code == 200
    after = client.get("/api/projects/p/review", params={"kind": "conflict"}).json()
    assert first["id"] not in {f["id"] for f in after["findings"]}
    late = {**mend, "key": "late-00001", "seen": listed["revision"]}
    refused = client.post("/api/projects/p/review/act", json=late)  # seen before it was mended
    assert (refused.status_code, refused.json()["message"]) == (409, CHANGED)
    undo = {"key": "mend-00001"}
    assert client.post("/api/projects/p/review/undo", json=undo).status_code == 200
    again = client.get("/api/projects/p/review", params={"kind": "conflict"}).json()
    assert again["findings"][0] == first


def test_a_label_given_meanwhile_is_not_overwritten_from_a_border_or_try(client, trained) -> None:
    """Both pages relabelled without saying what they had shown, and the newer label was lost."""
    by, key = intents(client), "{}-00000001"
    pair = {"first": by["refund"], "second": by["parcel"]}
    border = client.get("/api/projects/p/review/border", params=pair).json()
    text = next(one["text"] for one in border["steps"] if one["text"]["intents"])

    def answered() -> dict[str, Any]:
        [found] = client.post("/api/projects/p/predict", json={"texts": [text["text"]]}).json()
        return dict(found)

    def act(name: str, repair: dict[str, Any], seen: int | None = None) -> tuple[int, str | None]:
        body = {"key": key.format(name), "repair": repair, "seen": seen}
        given = client.post("/api/projects/p/review/act", json=body)
        return given.status_code, given.json().get("message")

    def relabel(name: str) -> dict[str, Any]:
        return {"kind": "relabel", "ids": [text["id"]], "intents": [by[name]]}

    shown = answered()
    theirs = {"kind": "add", "intents": [by["greeting"]], "value": text["text"]}
    mine = {**theirs, "intents": [by["password"]]}
    assert act("theirs", theirs)[0] == 200
    assert act("border", relabel("password"), border["revision"]) == (409, CHANGED)
    assert act("voter", relabel("password"), shown["prediction"]["label_revision"])[0] == 409
    assert act("shown", relabel("password"), shown["shown_revision"])[0] == 409
    assert act("example", mine, shown["revision"]) == (409, CHANGED)
    assert answered()["known"][0]["labels"] == [by["greeting"]]
    assert act("looked again", mine, answered()["revision"])[0] == 200
    assert answered()["known"][0]["labels"] == [by["password"]]


def test_a_new_example_goes_by_the_labels_that_its_preview_told(client, trained) -> None:
    """The preview told labels of before, and adding the text replaced a newer one unseen."""
    by, text = intents(client), "where is my parcel"

    def added(intent: str, value: str = text) -> dict[str, Any]:
        return {"kind": "add", "intents": [by[intent]], "value": value}

    def act(key: str, repair: dict[str, Any], seen: int | None = None) -> tuple[int, str | None]:
        body = {"key": f"{key}-00000001", "repair": repair, "seen": seen}
        given = client.post("/api/projects/p/review/act", json=body)
        return given.status_code, given.json().get("message")

    def told(value: str = text) -> dict[str, Any]:
        body = {"repairs": [added("password", value)]}
        [found] = client.post("/api/projects/p/review/what-if", json=body).json()
        return dict(found)

    assert told()["near"][0]["intents"] == [by["parcel"]]
    assert act("theirs", added("greeting"))[0] == 200
    assert act("new", added("refund", "an entirely new text"))[0] == 200
    [nearest, *_] = told("an entirely new text")["near"]
    assert (nearest["text"], nearest["intents"]) == ("an entirely new text", [by["refund"]])
    shown = told()
    [nearest] = [one for one in shown["near"] if one["text"] == text]
    assert nearest["intents"] == [by["greeting"]]
    assert act("newer", added("refund"))[0] == 200
    assert act("mine", added("password"), shown["revision"]) == (409, CHANGED)
    assert act("looked again", added("password"), told()["revision"])[0] == 200


def test_the_review_of_a_request_does_not_wait_for_that_request(
    client: TestClient, trained: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each pause took a second, for the request was traffic to itself: three minutes for Review."""
    sleepers: list[int] = []
    served_by: list[int] = []
    sleep = time.sleep

    def noted(seconds: float) -> None:
        sleepers.append(threading.get_ident())
        sleep(seconds)

    def in_the_request(unit, k, pause):
        served_by.append(threading.get_ident())
        pause()
        return nearby(unit, k)

    monkeypatch.setattr(time, "sleep", noted)
    monkeypatch.setattr("app.services.review.evidence.gathering.nearby", in_the_request)
    assert client.get("/api/projects/p/review").status_code == 200
    assert served_by
    assert set(served_by).isdisjoint(sleepers)


def test_what_cannot_be_done_is_said_in_words(client, trained) -> None:
    by = intents(client)
    ask = "/api/projects/p/review/what-if"
    taken = {"kind": "rename", "intent": by["refund"], "value": "parcel"}
    answer = client.post(ask, json={"repairs": [taken]})
    assert (answer.status_code, "already" in answer.json()["message"]) == (409, True)
    gone = {"kind": "delete", "ids": ["nobody"]}
    assert client.post(ask, json={"repairs": [gone]}).status_code == 404
    odd = {"kind": "explode", "ids": ["nobody"]}
    assert client.post(ask, json={"repairs": [odd]}).status_code == 422
    walk = {"first": by["refund"], "second": by["parcel"]}
    steps = client.get("/api/projects/p/review/border", params=walk).json()["steps"]
    assert steps[0]["lead"] >= steps[-1]["lead"]


def test_a_fence_is_looked_at_set_and_let_go(client, trained) -> None:
    path = "/api/projects/p/fence"
    bare = client.post(f"{path}/what-if").json()
    standing = {"limit": None, "limits": {}, "method": "votes"}
    assert (bare["stands"], bare["n_leaving"]) == (standing, 0)
    high = {"limit": 5.0}
    asked = client.post(f"{path}/what-if", json=high).json()
    assert asked["n_entering"] == 0
    assert client.put(path, json=high).status_code == 204
    texts = {"texts": ["where is it now"]}
    [answer] = client.post("/api/projects/p/predict", json=texts).json()
    assert answer["prediction"]["decision"]["rule"] == "out-of-scope"
    assert answer["prediction"]["decision"]["threshold"] == 5.0
    assert client.put(path, json={"limit": 99.0}).status_code == 422
    assert client.put(path, json={"limit": 99.0, "method": "mixture"}).status_code == 204
    [answer] = client.post("/api/projects/p/predict", json=texts).json()
    assert answer["prediction"]["decision"]["measure"] == "mixture"
    assert answer["prediction"]["decision"]["threshold"] == 99.0
    assert client.put(path, json={"method": "hope"}).status_code == 422
    assert client.put(path, json={}).status_code == 204
    assert client.post(f"{path}/what-if").json()["stands"]["limit"] is None
    pin = {"text": "where is my parcel", "intents": [intents(client)["parcel"]]}
    client.post("/api/projects/p/pins", json=pin)
    [history] = client.get("/api/projects/p/pins/history").json()
    assert (history["pin"]["kept"], history["judgements"]) == (True, [])


def test_a_limit_that_somebody_saved_meanwhile_is_neither_replaced_nor_taken_back(
    client, trained
) -> None:
    """Save replaced a limit that its page had never shown, and Undo went back behind both."""
    path = "/api/projects/p/fence"

    def stands() -> dict[str, Any]:
        return dict(client.post(f"{path}/what-if").json()["stands"])

    before, theirs, mine = stands(), {"limit": 5.0}, {"limit": 6.0}
    assert client.put(path, json=theirs).status_code == 204
    refused = client.put(path, json={**mine, "seen": before})
    assert (refused.status_code, refused.json()["message"]) == (
        409,
        "The limit was changed meanwhile, so it stays as it is.",
    )
    shown = stands()
    assert shown["limit"] == 5.0
    assert client.put(path, json={**mine, "seen": shown}).status_code == 204
    undo = {**shown, "seen": mine}
    assert client.put(path, json={"limit": 7.0}).status_code == 204
    assert client.put(path, json=undo).status_code == 409
    assert client.put(path, json={"seen": mine}).status_code == 409
    assert stands()["limit"] == 7.0
    assert client.put(path, json={"seen": stands()}).status_code == 204
    assert stands() == before
    client.put(path, json=mine)
    assert client.put(path, json=undo).status_code == 204
    assert stands() == shown


def test_a_proposal_waits_until_a_person_decides(client, trained) -> None:
    by, path = intents(client), "/api/v1/projects/p/proposals"
    found = client.get("/api/projects/p/utterances", params={"text": "my parcel"}).json()["rows"]
    repair = {"kind": "relabel", "ids": [found[0]["id"]], "intents": [by["refund"]]}
    body = {"by": "a script", "proposals": [{"repair": repair, "why": "It asks for money."}]}
    [stored] = client.post(path, json=body).json()
    assert (stored["by"], stored["state"]) == ("a script", "waits")
    assert client.post(path, json=body).json() == [stored]
    listed = client.get("/api/projects/p/review", params={"kind": "proposal"}).json()
    [finding] = listed["findings"]
    assert listed["counts"]["proposal"] == 1
    [act] = client.get("/api/projects/p/acts", params={"verb": "propose"}).json()["acts"]
    assert (act["actor"], act["via"], act["about"]) == ("a script", "REST", "1 change")
    accept = {"key": "accept-01", "finding": finding["id"], "repair": repair}
    assert client.post("/api/projects/p/review/act", json=accept).status_code == 200
    assert [one["state"] for one in client.get(path).json()] == ["accepted"]
    assert client.post("/api/projects/p/review/undo", json={"key": "accept-01"}).status_code == 200
    assert client.get(path).json() == [stored]
    refused = client.post(path, json={**body, "by": ""})
    assert refused.status_code == 422


def test_a_pin_that_was_changed_meanwhile_is_not_taken_back(client, trained) -> None:
    """Undo removed the pin that somebody else had set since."""
    path, text = "/api/projects/p/pins", "where is my parcel"
    parcel, refund = (intents(client)[name] for name in ("parcel", "refund"))
    seen = {"text": text, "seen": [parcel]}
    assert client.post(path, json=seen).status_code == 409  # there is none
    client.post(path, json={"text": text, "intents": [parcel], "seen": None})
    client.post(path, json={"text": text, "intents": [refund]})
    for body in (seen, {"text": text, "intents": [parcel], "seen": None}):
        refused = client.post(path, json=body)
        assert refused.status_code == 409
        assert "was changed meanwhile" in refused.json()["message"]
    assert [one["intents"] for one in client.get(path).json()] == [[refund]]
    assert client.post(path, json={"text": text, "seen": [refund]}).status_code == 200
    assert client.get(path).json() == []
