"""What a program may send again, add without a file, and ask about all jobs."""

import json

import pytest

from app.api.http.repeats import RunningKeys
from app.server import build_app
from core.errors import Conflict
from storage import jobs
from storage.jobs import MOST_QUEUED
from storage.people import request_keys
from tests.api.test_security import browser

TRAIN = "/api/v1/projects/p/train"
ROWS = [
    {"text": "send it back", "intents": ["refund"]},
    {"text": "what is new", "intents": []},
    {"text": "who knows"},
    {"text": "is it there yet", "intents": ["parcel"], "split": "test"},
    {"text": "\u200b", "intents": ["refund"]},
]


def key(name: str) -> dict[str, str]:
    return {"Idempotency-Key": name}


def test_a_repeated_training_is_one_job_and_other_content_is_refused(client, labelled) -> None:
    body = {"recipe": "instant"}
    first, again = (client.post(TRAIN, json=body, headers=key("a")) for _ in range(2))
    assert (first.status_code, again.status_code) == (202, 202)
    assert again.json() == first.json()
    assert again.headers["idempotent-replayed"] == "true"
    other = client.post(TRAIN, json={"recipe": "convfit"}, headers=key("a"))
    assert (other.status_code, "another request" in other.json()["message"]) == (409, True)
    assert (
        client.post("/api/projects/p/texts", json={"texts": ROWS}, headers=key("a")).status_code
        == 409
    )
    assert client.post(TRAIN, json=body, headers=key("b")).json() != first.json()
    assert len(client.get("/api/projects/p/jobs").json()) == 2


def test_a_body_that_is_nested_too_deeply_is_refused_with_a_key(client, labelled) -> None:
    """Its digest could not be computed, and the request ended in a fault of ours."""
    deep: object = 1
    for _ in range(300):
        deep = [deep]
    refused = client.post(TRAIN, json={"settings": {"a": deep}}, headers=key("a"))
    assert (refused.status_code, "too deeply" in refused.json()["message"]) == (422, True)
    assert client.post(TRAIN, json={"recipe": "instant"}, headers=key("a")).status_code == 202


def test_a_key_is_not_that_of_another_project_which_has_the_name_by_now(client, labelled) -> None:
    """“Added: 5” was answered again, and nothing was in the new project."""
    body = {"texts": ROWS[:1]}
    assert client.post("/api/projects/p/texts", json=body, headers=key("a")).is_success
    client.delete("/api/projects/p")
    client.post("/api/projects", json={"name": "p"})
    again = client.post("/api/projects/p/texts", json=body, headers=key("a"))
    assert (again.status_code, "another request" in again.json()["message"]) == (409, True)
    assert client.post("/api/projects/p/texts", json=body, headers=key("b")).is_success


def test_a_key_is_known_after_a_restart(client, labelled, live_studio, own_folder) -> None:
    first = client.post(TRAIN, json={"recipe": "instant"}, headers=key("a")).json()
    restarted = browser(build_app(live_studio, None, frozenset({"127.0.0.1"})))
    assert restarted.post(TRAIN, json={"recipe": "instant"}, headers=key("a")).json() == first


def test_a_key_is_forgotten_after_a_day_and_by_erasing(client, labelled, monkeypatch) -> None:
    texts = {"texts": ROWS[:1]}
    path = "/api/projects/p/texts"
    first = client.post(path, json=texts, headers=key("a")).json()
    assert client.post(path, json=texts, headers=key("a")).json() == first
    assert client.post(
        "/api/projects/p/erase", json={"texts": ["send it back"], "now": True}
    ).json()["done"]
    assert client.post(path, json=texts, headers=key("a")).json()["key"] != first["key"]
    monkeypatch.setattr(request_keys, "KEPT_HOURS", -1)
    assert client.post(path, json=texts, headers=key("a")).json()["already_there"] == 1


def test_a_key_whose_request_is_being_answered_is_a_conflict() -> None:
    running = RunningKeys()
    with running.alone("a"):
        with pytest.raises(Conflict, match="being answered"), running.alone("a"):
            pass
        with running.alone("b"):
            pass
    with running.alone("a"):
        pass


def test_an_error_is_not_kept(client, labelled) -> None:
    missing = client.post("/api/projects/q/train", json={"recipe": "instant"}, headers=key("a"))
    assert missing.status_code == 404
    client.post("/api/projects", json={"name": "q"})
    body = {"texts": [{"text": t, "intents": [i]} for t, i in zip("abcd", "xxyy", strict=True)]}
    client.post("/api/projects/q/texts", json=body)
    again = client.post("/api/projects/q/train", json={"recipe": "instant"}, headers=key("a"))
    assert again.status_code == 202


def test_texts_are_added_and_evaluated_without_a_file(client, trained) -> None:
    added = client.post("/api/v1/projects/p/texts", json={"texts": ROWS})
    assert added.status_code == 201
    report = added.json()
    assert (report["added"], report["labelled"], report["empty"]) == (4, 3, 1)
    found = client.get("/api/projects/p/utterances", params={"split": "test"}).json()
    assert "is it there yet" in json.dumps(found)
    texts = [
        {"text": "my parcel did not arrive", "intents": ["parcel"]},
        {"text": "where is my parcel", "intents": ["parcel"]},  # an example, which is left out
        {"text": "not labelled"},
    ]
    for model in ("live", "champion", 1):
        body = {"texts": texts, "model": model}
        figures = client.post("/api/v1/projects/p/evaluate", json=body).json()
        assert (figures["n"], figures["left_out"], figures["accuracy"]) == (1, 1, 1.0)
        assert (figures["tested_intents"], figures["intents"]) == (1, 4)
    nothing = {"texts": [{"text": "how high is mount everest", "intents": []}]}
    outside = client.post("/api/v1/projects/p/evaluate", json=nothing).json()
    assert (outside["n"], outside["outside_n"], outside["accuracy"]) == (0, 1, None)
    assert figures["judged_on"] == "1 text of the request; 1 text that it has learned was left out"
    for wrong in ([{"text": "no label"}], [{"text": "\u200b", "intents": ["parcel"]}]):
        refused = client.post("/api/v1/projects/p/evaluate", json={"texts": wrong})
        assert refused.status_code == 422
    unknown = client.post("/api/v1/projects/p/texts", json={"texts": [{"txt": "a"}]})
    assert "texts.0.text" in unknown.json()["message"]


def test_jobs_of_all_projects_are_listed_and_the_queue_is_bounded(client, labelled, studio) -> None:
    """Nothing had limited the jobs that wait: a program in a loop fills the disk with them."""
    with studio.database.write() as connection:
        for _ in range(MOST_QUEUED):
            jobs.enqueue(connection, "train", {}, 1)
    refused = client.post(TRAIN, json={"recipe": "instant"})
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")
    assert refused.json()["message"] == "50 jobs wait already."
    one = client.get("/api/jobs").json()[0]["id"]
    client.post(f"/api/jobs/{one}/cancel")
    assert client.post(TRAIN, json={"recipe": "instant"}).status_code == 202
    for query, n in (("state=cancelled", 1), ("state=queued&limit=7", 7), ("project=p", 51)):
        assert len(client.get(f"/api/jobs?{query}").json()) == n
    assert client.get("/api/jobs?project=q").status_code == 404
    assert client.get("/api/jobs?state=lost").status_code == 422
