"""Groups over REST: nobody takes what was not shown, and the same key takes once."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.services.live.live_studio import LiveStudio
from app.services.live.traffic import Traffic
from storage import jobs
from tests.builders.trained_home import group_here
from tests.served_in_memory import HOST
from tests.waiting import wait_until

HEADERS = {"origin": f"http://{HOST}"}
GROUPS = "/api/projects/p/groups"


def test_a_group_is_taken_as_it_was_shown(
    client: TestClient, live_studio: LiveStudio, labelled: str
) -> None:
    before = client.get(GROUPS).json()
    assert (before["groups"], before["waiting"], before["ungrouped"]) == ([], 3, 3)
    group_here(live_studio.studio, labelled)
    [card, *_] = client.get(GROUPS).json()["groups"]
    group = client.get(f"{GROUPS}/{card['id']}").json()
    body: dict[str, Any] = {
        "create": "brand_new",
        "share": "all",
        "expected": card["size"] + 1,
        "revision": group["revision"],
        "key": "taking-0001",
    }
    take = f"{GROUPS}/{card['id']}/take"
    refused = client.post(take, json=body, headers=HEADERS)
    assert refused.status_code == 409
    assert "Meanwhile this would label" in refused.json()["message"]
    body["expected"] = card["size"]
    taken = client.post(take, json=body, headers=HEADERS).json()
    assert taken["changed"] == card["size"]
    assert client.post(take, json=body, headers=HEADERS).json()["changed"] == card["size"]
    intents = client.get("/api/projects/p/overview").json()["intents"]
    assert {one["id"]: one["name"] for one in intents}[taken["intent"]] == "brand_new"


def test_a_group_is_renamed_and_left_for_later(
    client: TestClient, live_studio: LiveStudio, labelled: str
) -> None:
    group_here(live_studio.studio, labelled)
    [card, *_] = client.get(GROUPS).json()["groups"]
    change = {"name": "odd ones", "set_aside": card["size"]}
    assert client.patch(f"{GROUPS}/{card['id']}", json=change, headers=HEADERS).status_code == 204
    after = {one["id"]: one for one in client.get(GROUPS).json()["groups"]}[card["id"]]
    assert (after["name"], after["state"]) == ("odd ones", "aside")
    lost = client.patch(f"{GROUPS}/99", json=change, headers=HEADERS)
    assert (lost.status_code, lost.json()["message"]) == (404, "There is no group 99.")
    few = client.post(f"{GROUPS}/{card['id']}/split", headers=HEADERS)
    assert (few.status_code, "too few to split" in few.json()["message"]) == (422, True)


def test_grouping_is_a_job_and_the_same_one_for_two_people(
    client: TestClient, live_studio: LiveStudio, labelled: str
) -> None:
    first = client.post(GROUPS, json={}, headers=HEADERS)
    second = client.post(GROUPS, json={}, headers=HEADERS)
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.json() == second.json()
    none = client.post(GROUPS, json={"n_groups": 0}, headers=HEADERS)
    assert none.status_code == 422


def test_texts_out_of_scope_are_counted_and_grouped_on_wish(
    client: TestClient, live_studio: LiveStudio, labelled: str
) -> None:
    assert client.get(GROUPS).json()["out_of_scope"] == 0
    queued = client.post(GROUPS, json={"out_of_scope": True}, headers=HEADERS).json()
    with live_studio.studio.database.read() as connection:
        assert jobs.get(connection, queued["job"]).payload["out_of_scope"] is True


def test_all_texts_of_a_group_are_listed_the_typical_first(
    client: TestClient, live_studio: LiveStudio, labelled: str
) -> None:
    group_here(live_studio.studio, labelled)
    [card, *_] = client.get(GROUPS).json()["groups"]
    group = client.get(f"{GROUPS}/{card['id']}").json()
    every = client.get(f"{GROUPS}/{card['id']}/texts").json()
    assert len(every) == card["size"]
    assert every[0] == group["typical"][0]
    assert client.get(f"{GROUPS}/99/texts").status_code == 404


def test_traffic_arrives_once_and_by_its_token(
    serve: Callable[..., TestClient], client: TestClient, labelled: str
) -> None:
    path = f"/api/projects/{labelled}/traffic"
    body = {"texts": [{"text": "hello you", "time": "2026-11-02T10:00", "source": "app"}]}
    answer = client.post(path, json=body)
    assert (answer.status_code, answer.json()["added"]) == (200, 1)
    assert client.post(path, json=body).json()["repeated"] == 1
    body["texts"][0]["time"] = "soon"
    refused = client.post(path, json=body)
    assert (refused.status_code, "no time" in refused.json()["message"]) == (422, True)
    wrong = {"Authorization": "Bearer wrong"}
    assert serve("the-token").post(path, json=body, headers=wrong).status_code == 401


def test_what_people_said_is_downloaded_with_its_times(
    serve: Callable[..., TestClient], client: TestClient, labelled: str
) -> None:
    path = f"/api/projects/{labelled}/traffic"
    said = [
        {"text": "=1+1", "time": "2026-11-02T10:00", "source": "app"},
        {"text": "hello, you", "time": "2026-11-01T10:00", "source": "phone"},
    ]
    assert client.get(f"{path}/export").status_code == 422
    client.post(path, json={"texts": said})
    head, first = "time,source,text\n", '2026-11-01T10:00:00Z,phone,"hello, you"\n'
    file = client.get(f"{path}/export")
    assert file.text == f"{head}{first}2026-11-02T10:00:00Z,app,=1+1\n"
    assert f"{labelled}-traffic.csv" in file.headers["content-disposition"]
    period = {"after": "2026-11-01", "before": "2026-11-02"}
    assert client.get(f"{path}/export", params=period).text == head + first
    sheet = client.get(f"{path}/export", params={"kind": "spreadsheet", "after": "2026-11-02"})
    assert sheet.text == f"{head}2026-11-02T10:00:00Z,app,'=1+1\n"
    empty = client.get(f"{path}/export", params={"after": "2026-11-03"})
    assert (empty.status_code, empty.json()["hint"]) == (
        422,
        "The texts were said from 2026-11-01 to 2026-11-02.",
    )
    assert client.get(f"{path}/export", params={"kind": "jsonl"}).status_code == 422
    assert client.get("/api/projects/none/traffic/export").status_code == 404
    wrong = {"Authorization": "Bearer wrong"}
    assert serve("the-token").get(f"{path}/export", headers=wrong).status_code == 401


def test_a_log_has_a_source_of_two_columns(client: TestClient, labelled: str) -> None:
    path = f"/api/projects/{labelled}/traffic/logs"
    lines = b"time,text,channel,language\n2026-02-02 10:00,hello you,app,de\n"
    chosen = {"zone": "UTC", "source": "channel", "second_source": "language"}
    sent = client.post(path, params={"zone": "UTC"}, files={"file": ("log.csv", lines)}).json()
    assert (sent["columns"]["second_source"], sent["report"]["sources"]) == (None, {"app": 1})
    looked = client.get(f"{path}/{sent['key']}", params=chosen).json()
    assert looked["columns"]["second_source"] == "language"
    done = client.post(f"{path}/{sent['key']}", params=chosen).json()
    assert (done["kept"], done["sources"]) == (1, {"app · de": 1})


def test_logs_of_two_weeks_have_one_source_if_it_is_named(
    client: TestClient, labelled: str
) -> None:
    """Each file was a source of its own, and the day that is in both was counted twice."""
    path = f"/api/projects/{labelled}/traffic/logs"
    lines = [f"2026-02-0{day} 10:00,hello {day}\n" for day in (1, 2, 3)]
    named = {"zone": "UTC", "source_name": " web "}
    found = []
    for name, part in (("week47.csv", lines[:2]), ("week48.csv", lines[1:])):
        file = {"file": (name, "".join(["time,text\n", *part]).encode())}
        sent = client.post(path, params=named, files=file).json()
        done = client.post(f"{path}/{sent['key']}", params=named).json()
        found.append((done["kept"], done["repeated"], done["sources"]))
    assert found == [(2, 0, {"web": 2}), (1, 1, {"web": 2})]
    alone = client.post(path, params={"zone": "UTC"}, files=file).json()["report"]
    assert (alone["repeated"], alone["sources"]) == (0, {"week48.csv": 2})


def test_logs_are_looked_at_in_turn(
    client: TestClient, labelled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several people who chose columns of large logs filled the memory, and labels waited."""
    turns = list[Traffic]()

    @asynccontextmanager
    async def turn(traffic: Traffic) -> AsyncIterator[None]:
        turns.append(traffic)
        yield

    monkeypatch.setattr(Traffic, "turn", turn)
    path, zone = f"/api/projects/{labelled}/traffic/logs", {"zone": "UTC"}
    lines = b"time,text\n2026-02-02 10:00,hello you\n"
    sent = client.post(path, params=zone, files={"file": ("log.csv", lines)})
    looked = client.get(f"{path}/{sent.json()['key']}", params=zone)
    assert (sent.status_code, looked.status_code, len(turns)) == (201, 200, 2)


def test_traffic_is_answered_by_the_live_version(client: TestClient, trained: str) -> None:
    path = f"/api/projects/{trained}/traffic"
    news = [
        {"text": text, "time": f"2026-11-02T10:0{n}", "source": "app"}
        for n, text in enumerate(["money back now", "I want my money back", "hello you"])
    ]
    client.post(path, json={"texts": news})
    wait_until(lambda: not client.get(path).json()["counting"], "what people said is answered")
    answer = client.get(path).json()
    assert (answer["after"], answer["before"]) == ("2026-10-27", "2026-11-03")
    assert (answer["covered"]["n"], answer["trouble"]) == (3, "")
    missing = 3 - answer["covered"]["count"]
    assert sum(one["count"] for one in answer["uncovered"]) == missing
    typical = {text for one in answer["uncovered"] for text in one["typical"]}
    assert typical <= {one["text"] for one in news}
    assert bool(typical) == bool(missing)
    listed = [
        client.get(f"{path}/texts", params={"intent": key}).json()
        for key in ("", *(one["id"] for one in answer["intents"]))
    ]
    said = [one for each in listed for one in each["texts"]]
    assert sorted(one["text"] for one in said) == sorted(one["text"] for one in news)
    assert {(one["count"], one["sources"]["app"]) for one in said} == {(1, 1)}
    page = client.get(f"/reports/{trained}/traffic").text
    assert f"{answer['covered']['count'] / 3:.1%}".replace("%", " %") in page
    assert "Download PDF" in page
    file = client.get(f"{path}/report.html")
    assert "Download PDF" not in file.text
    assert f"{trained}-traffic.html" in file.headers["content-disposition"]
    assert client.get(path, params={"days": 2}).json()["after"] == "2026-11-01"
    empty = {"after": "2026-11-03", "before": "2026-11-03"}
    assert client.get(path, params=empty).status_code == 422


def test_two_sources_are_compared_only_where_both_have_texts(
    client: TestClient, trained: str
) -> None:
    path = f"/api/projects/{trained}/traffic"
    said = {"text": "money back now", "time": "2026-11-02T10:00", "source": "app"}
    client.post(path, json={"texts": [said, said | {"source": "phone"}]})
    pair = {"source": "app", "against": "phone"}

    def compared() -> dict[str, Any]:
        return dict(client.get(f"{path}/sources", params=pair).json())

    wait_until(lambda: not compared()["counting"], "both sources are answered")
    found = compared()
    assert [(one["source"], one["sure"]["n"]) for one in found["sides"]] == [
        ("app", 1),
        ("phone", 1),
    ]
    assert (found["drifts"], found["trouble"]) == ([], "")  # fewer than 50 texts each
    for other in ("app", "letter"):
        answer = client.get(f"{path}/sources", params={"source": "app", "against": other})
        assert (answer.status_code, f"“{other}”" in answer.json()["message"]) == (422, True)


def test_coverage_needs_a_model(client: TestClient, labelled: str) -> None:
    answer = client.get(f"/api/projects/{labelled}/traffic")
    assert (answer.status_code, "no trained model" in answer.json()["message"]) == (404, True)
