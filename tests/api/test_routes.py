"""What the REST routes promise, spoken to as the pages and other programs do."""

import json
from collections.abc import Callable
from inspect import isasyncgenfunction, iscoroutinefunction
from pathlib import Path

import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from starlette.concurrency import run_in_threadpool

from app.api.routes import all_routes
from app.services.training.runs import TrainingRequest
from storage.log import events
from tests.builders.trained_home import train_here


def ops(client: TestClient, *operations: dict[str, object]) -> list[dict[str, str]]:
    answer = client.post("/api/projects/p/ops", json=list(operations))
    assert answer.status_code == 200, answer.text
    found: list[dict[str, str]] = answer.json()
    return found


def row(client: TestClient, text: str) -> dict[str, object]:
    rows = client.get("/api/projects/p/utterances", params={"text": text}).json()["rows"]
    found: dict[str, object] = rows[0]
    return found


def intent(client: TestClient, name: str) -> str:
    intents = client.get("/api/projects/p/overview").json()["intents"]
    return str(next(i["id"] for i in intents if i["name"] == name))


def test_no_route_waits_for_a_thread_to_fetch_what_it_depends_on() -> None:
    """Each request went to another thread and back for the studio alone, beside nineteen others."""

    def plain(needed: Dependant) -> list[str]:
        names = [name for one in needed.dependencies for name in plain(one)]
        if iscoroutinefunction(needed.call) or isasyncgenfunction(needed.call):
            return names
        return [getattr(needed.call, "__name__", "?"), *names]

    routes = [route for route in all_routes() if isinstance(route, APIRoute)]
    assert len(routes) > 100
    needed = [one for route in routes for one in route.dependant.dependencies]
    assert [name for one in needed for name in plain(one)] == []


def test_a_request_is_answered_by_one_thread(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request went to another thread three times, and waited there while others computed."""
    handed = list[str]()

    async def counted(compute: Callable[..., object], *args: object, **kwargs: object) -> object:
        handed.append(compute.__name__)
        return await run_in_threadpool(compute, *args, **kwargs)

    monkeypatch.setattr("fastapi.routing.run_in_threadpool", counted)
    monkeypatch.setattr("fastapi.dependencies.utils.run_in_threadpool", counted)
    assert client.get("/api/projects").status_code == 200
    assert len(handed) == 1


def test_errors_carry_message_and_hint(client: TestClient) -> None:
    missing = client.get("/api/projects/nope/status")
    assert (missing.status_code, "nope" in missing.json()["message"]) == (404, True)
    bad = client.post("/api/projects", json={"name": "a/b"})
    assert bad.status_code == 422
    assert bad.json()["hint"]
    unknown = client.post("/api/projects", json={"name": "a", "surprise": 1})
    assert unknown.status_code == 422
    assert "surprise" in unknown.json()["message"]


def test_a_decision_is_saved_once_however_often_it_is_sent(client, live_studio, labelled) -> None:
    item, refund = row(client, "money back now"), intent(client, "refund")
    decision = {"key": "key-0001", "kind": "label", "id": item["id"], "intents": [refund]}
    decision["seen"] = None
    for _ in range(3):
        assert (
            ops(client, decision, decision)
            == [{"key": "key-0001", "state": "saved", "message": "", "hint": ""}] * 2
        )
    after = row(client, "money back now")
    assert (after["labels"], after["split"]) == ([refund], "train")
    with live_studio.studio.database.read() as connection:
        verbs = [b.verb for b in events.history(connection, 1)]
    assert verbs.count("label") == 1


def test_two_people_never_overwrite_each_other(client, labelled) -> None:
    item = row(client, "money back now")
    mine = {"kind": "label", "id": item["id"], "seen": None}
    first = {**mine, "key": "first-01", "intents": [intent(client, "refund")]}
    second = {**mine, "key": "second-1", "intents": [intent(client, "parcel")]}
    same = {**mine, "key": "third-01", "intents": [intent(client, "refund")]}
    assert ops(client, first)[0]["state"] == "saved"
    refused = ops(client, second)[0]
    assert refused["state"] == "conflict"
    assert "refund" in refused["message"]
    assert ops(client, same)[0]["state"] == "saved"  # who decides the same does not disagree
    assert row(client, "money back now")["labels"] == [intent(client, "refund")]


def test_undo_takes_back_that_decision_and_no_other(client, labelled) -> None:
    one, two = row(client, "money back now"), row(client, "where is it")
    refund, parcel = intent(client, "refund"), intent(client, "parcel")
    ops(
        client,
        {"key": "label-01", "kind": "label", "id": one["id"], "intents": [refund], "seen": None},
        {"key": "label-02", "kind": "label", "id": two["id"], "intents": [parcel], "seen": None},
    )
    for _ in range(2):
        assert (
            ops(client, {"key": "undo-001", "kind": "undo", "of": "label-01"})[0]["state"]
            == "saved"
        )
    assert row(client, "money back now")["labels"] is None
    assert row(client, "money back now")["split"] == "pool"
    assert row(client, "where is it")["labels"] == [parcel]


def test_an_intent_is_created_in_place_by_name(client, labelled) -> None:
    one, two = row(client, "money back now"), row(client, "where is it")
    made = {"kind": "label", "create": ["chargeback"], "seen": None}
    outcomes = ops(
        client,
        {**made, "key": "create-1", "id": one["id"]},
        {**made, "key": "create-2", "id": two["id"]},
    )
    assert [o["state"] for o in outcomes] == ["saved", "saved"]
    assert row(client, "money back now")["labels"] == [intent(client, "chargeback")]
    assert row(client, "where is it")["labels"] == [intent(client, "chargeback")]


def test_a_decision_that_cannot_be_saved_leaves_the_others(client, labelled) -> None:
    item = row(client, "money back now")
    outcomes = ops(
        client,
        {"key": "gone-001", "kind": "skip", "id": "nobody"},
        {
            "key": "many-001",
            "kind": "label",
            "id": item["id"],
            "seen": None,
            "intents": [intent(client, "refund"), intent(client, "parcel")],
        },
        {"key": "fine-001", "kind": "out-of-scope", "id": item["id"], "seen": None},
    )
    assert [o["state"] for o in outcomes] == ["conflict", "refused", "saved"]
    assert row(client, "money back now")["labels"] == []


def test_each_browser_is_given_other_utterances(client, labelled) -> None:
    def asked(who: str, n: int) -> set[str]:
        params = {"client": who, "order": "newest", "n": n}
        return {i["id"] for i in client.get("/api/projects/p/queue", params=params).json()["items"]}

    first, second = asked("browser-1", 2), asked("browser-2", 2)
    assert (len(first), len(second)) == (2, 1)
    assert not first & second
    client.delete("/api/projects/p/queue", params={"client": "browser-1"})
    assert len(asked("browser-2", 3)) == 3


def test_bulk_changes_ask_for_the_number_that_was_shown(client, labelled) -> None:
    body = {"filter": {"split": "pool"}, "kind": "move", "value": "test", "expected": 4}
    refused = client.post("/api/projects/p/edits", json=body)
    assert (refused.status_code, "3 texts, not 4" in refused.json()["message"]) == (409, True)
    done = client.post("/api/projects/p/edits", json={**body, "expected": 3})
    assert done.json()["changed"] == 3
    assert client.post("/api/projects/p/undo").json()["undone"]["verb"] == "move"
    found = client.get("/api/projects/p/utterances", params={"split": "pool"}).json()
    assert found["total"] == 3


def test_search_takes_every_character_for_itself(client, labelled) -> None:
    def total(**params: str) -> int:
        return int(client.get("/api/projects/p/utterances", params=params).json()["total"])

    assert total(text="MONEY back") == 3
    assert total(text="%") == 0
    assert total(text="_") == 0
    assert total(text="'; DROP TABLE utterance; --") == 0
    assert total(state="unlabelled") == 3
    assert total(intent=intent(client, "greeting")) == 5
    assert client.get("/api/projects/p/utterances", params={"size": 100000}).status_code == 422


def test_a_file_is_looked_at_and_then_imported(client, labelled) -> None:
    content = b"question;kind\nI was charged twice;refund\nwho are you;greeting\n"
    sent = client.post("/api/projects/p/uploads", files={"file": ("new.csv", content)}).json()
    assert sent["preview"]["columns"] == ["question", "kind"]
    mapping = {"text_column": "question", "intent_column": "kind"}
    looked = client.post(f"/api/projects/p/uploads/{sent['key']}/look", json=mapping).json()
    assert (looked["report"]["added"], looked["report"]["dry_run"]) == (2, True)
    assert row_count(client) == 23
    done = client.post(f"/api/projects/p/uploads/{sent['key']}/import", json=mapping).json()
    assert (done["added"], row_count(client)) == (2, 25)
    again = client.post(f"/api/projects/p/uploads/{sent['key']}/import", json=mapping)
    assert again.status_code == 404


def test_a_column_of_sets_is_found_and_may_be_left_unread(client, labelled) -> None:
    content = b"text,intent,Set\nI was charged twice,refund,train\nwho are you,greeting,test\n"
    sent = client.post("/api/projects/p/uploads", files={"file": ("new.csv", content)}).json()
    assert sent["preview"]["split_column"] == "Set"
    for column, expected in ((None, {"train": 1, "test": 1}), ("", {"train": 2})):
        at = f"/api/projects/p/uploads/{sent['key']}/look"
        looked = client.post(at, json={"split_column": column}).json()
        assert looked["report"]["added_to"] == expected


def row_count(client: TestClient) -> int:
    return int(client.get("/api/projects/p/overview").json()["counts"]["total"])


@pytest.mark.parametrize(
    "name", ["../../evil.csv", "C:\\x\\evil.csv", "a\0b.csv", "." * 300 + ".csv"]
)
def test_a_hostile_name_stays_in_its_folder(client, live_studio, labelled, name: str) -> None:
    sent = client.post(
        "/api/projects/p/uploads", files={"file": (name, b"text,intent\na b,refund\n")}
    )
    if sent.status_code == 201:
        kept = list((live_studio.studio.places.uploads / sent.json()["key"]).iterdir())
        assert len(kept) == 1
    assert not (live_studio.studio.places.home / "evil.csv").exists()


def test_a_file_that_is_no_text_is_refused_in_words(client, labelled) -> None:
    sent = client.post(
        "/api/projects/p/uploads", files={"file": ("x.csv", b"\x89PNG\r\n\x1a\n\0\0")}
    )
    assert sent.status_code == 422
    assert row_count(client) == 23


def test_intents_are_renamed_described_and_merged_without_touching_labels(client, labelled) -> None:
    refund = intent(client, "refund")
    assert (
        client.patch(
            f"/api/projects/p/intents/{refund}", json={"name": "money back", "description": "d"}
        ).status_code
        == 200
    )
    assert row(client, "give me a refund now")["labels"] == [refund]
    taken = client.patch(f"/api/projects/p/intents/{refund}", json={"name": "parcel"})
    assert taken.status_code == 409
    client.post("/api/projects/p/merge", json={"source": "money back", "target": "parcel"})
    assert row(client, "give me a refund now")["labels"] == [intent(client, "parcel")]
    client.post("/api/projects/p/undo")
    assert row(client, "give me a refund now")["labels"] == [refund]


def test_an_answer_adds_up_and_a_label_counts_at_once(client, trained) -> None:
    [answer] = client.post("/api/projects/p/predict", json={"texts": ["money back now"]}).json()
    found = answer["prediction"]
    votes = sum(n["vote"] for n in found["neighbours"]) + answer["votes_of_others"] + found["prior"]
    assert votes == pytest.approx(found["ranked"][0]["score"], abs=1e-9)
    assert found["decision"]["rule"] != "exact"
    item = row(client, "money back now")
    label = {"key": "label-01", "kind": "label", "id": item["id"], "seen": None}
    ops(client, {**label, "intents": [intent(client, "password")]})
    [answer] = client.post("/api/projects/p/predict", json={"texts": ["money back now"]}).json()
    assert answer["prediction"]["decision"] | {"score": 0, "threshold": 0} == {
        "intents": ["password"],
        "rule": "exact",
        "score": 0,
        "threshold": 0,
        "leading": "password",
        "measure": "votes",
        "familiarity": None,
    }
    assert client.get("/api/projects/p/status").json()["hot"] == 1
    ops(client, {"key": "undo-001", "kind": "undo", "of": "label-01"})
    client.post("/api/projects/p/predict", json={"texts": ["x"]})
    assert client.get("/api/projects/p/status").json()["hot"] == 0


def test_a_typed_text_lands_on_the_map_of_the_examples(client, trained) -> None:
    shown = client.get("/api/projects/p/examples").json()
    assert len(shown["points"]) == len(shown["codes"]) == shown["total"] == 20
    [answer] = client.post("/api/projects/p/predict", json={"texts": ["money back now"]}).json()
    assert answer["prediction"]["model_version"] == shown["model"]
    landing = answer["landing"]
    assert len(landing["place"]) == 2
    assert len(landing["neighbours"]) == 10
    assert all(place in shown["points"] for place in landing["neighbours"])
    assert landing["words"].startswith(("Lands ", "Most similar examples: "))


def test_pins_tell_whether_they_are_kept(client, trained) -> None:
    parcel, refund = intent(client, "parcel"), intent(client, "refund")
    client.post("/api/projects/p/pins", json={"text": "where is my parcel", "intents": [parcel]})
    client.post("/api/projects/p/pins", json={"text": "the parcel is late", "intents": [refund]})
    pins = client.get("/api/projects/p/pins").json()
    assert {p["text"]: p["kept"] for p in pins} == {
        "where is my parcel": True,
        "the parcel is late": False,
    }
    assert {p["text"]: p["intents"] for p in pins} == {
        "where is my parcel": [parcel],
        "the parcel is late": [refund],
    }
    client.post("/api/projects/p/pins", json={"text": "the parcel is late"})
    assert len(client.get("/api/projects/p/pins").json()) == 1


def test_a_bundle_goes_out_and_comes_in_as_a_version(client, trained, tmp_path: Path) -> None:
    sent = client.get("/api/projects/p/models/1/bundle")
    assert sent.status_code == 200
    assert sent.content[:2] == b"PK"
    client.post("/api/projects", json={"name": "q"})
    taken = client.post("/api/projects/q/bundles", files={"file": ("b.zip", sent.content)})
    assert taken.json() == {"model": "q@1"}
    damaged = bytearray(sent.content)
    damaged[len(damaged) // 2] ^= 255
    refused = client.post("/api/projects/q/bundles", files={"file": ("b.zip", bytes(damaged))})
    assert refused.status_code in (409, 422, 500)
    assert refused.json()["message"]


def test_a_roll_back_goes_back_from_the_champion_that_it_names(
    client, live_studio, trained, tiny_path: Path
) -> None:
    """Whoever clicked twice went back two champions."""
    train_here(live_studio.studio, TrainingRequest("p", "instant", {}, str(tiny_path)))
    for number in (2, 1, 2):
        client.post(f"/api/projects/p/models/{number}/promote")
    back = client.post("/api/projects/p/rollback", json={"champion": 2})
    assert (back.status_code, back.json()["after"]) == (200, 1)
    again = client.post("/api/projects/p/rollback", json={"champion": 2})
    assert (again.status_code, "Version 2 is not live" in again.json()["message"]) == (409, True)
    client.post("/api/projects/p/models/2/promote")
    assert client.post("/api/projects/p/rollback").json()["after"] == 1  # whichever answers


def test_the_map_travels_as_binary_of_the_same_points(client, trained) -> None:
    info = client.get("/api/projects/p/map").json()
    assert len(info["ids"]) == 23
    places = client.get("/api/projects/p/map/xy", params={"order": info["order"]})
    assert len(places.content) == 23 * 2 * 4
    colours = client.get("/api/projects/p/map/colours", params={"order": info["order"]}).content
    length = int.from_bytes(colours[:4], "little")
    head = json.loads(colours[4 : 4 + length])
    assert len(colours) - 4 - length == 23 * 2
    assert sum(entry["count"] for entry in head["legend"]) == 23
    islands = client.get("/api/projects/p/map/islands", params={"order": info["order"]}).json()
    assert {len(island["at"]) for island in islands["islands"]} == {2}
    for end in ("xy", "islands"):
        stale = client.get(f"/api/projects/p/map/{end}", params={"order": "another"})
        assert stale.status_code == 409


def test_two_maps_are_compared_in_one_unit_box_of_few_digits(client, trained) -> None:
    found = client.get("/api/projects/p/map/compare?before=1&after=1").json()
    assert len(found["before_xy"]) == len(found["ids"]) == 23
    assert found["before_xy"] == found["after_xy"]
    values = [value for place in found["after_xy"] for value in place]
    assert all(0 <= value <= 1 and round(value, 5) == value for value in values)


def test_an_incident_gets_a_number_and_no_traceback(
    client, live_studio, labelled, monkeypatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("inner words")

    monkeypatch.setattr("app.services.status._is_marked", broken)
    answer = client.get("/api/projects/p/status")
    assert answer.status_code == 500
    assert "incident" in answer.json()["message"]
    assert "inner words" not in answer.text


def test_settings_out_of_range_are_named(client, labelled) -> None:
    body = {"recipe": "convfit", "settings": {"epochs": 0}}
    answer = client.post("/api/projects/p/estimate", json=body)
    assert answer.status_code == 422
    assert "epochs" in answer.json()["message"]


def test_the_model_versions_are_listed_without_their_data(client, trained) -> None:
    assert client.get("/api/projects/p/models").json() == {"1": "champion"}


def test_a_text_longer_than_any_utterance_is_refused_in_words(client, trained) -> None:
    """A pasted book was answered, after the server had read it for seconds."""
    said = client.post("/api/projects/p/predict", json={"texts": ["money " * 2_000]})
    assert said.status_code == 422
    assert "10000 characters" in said.json()["message"]
    assert client.post("/api/projects/p/predict", json={"texts": ["a" * 10_000]}).status_code == 200
