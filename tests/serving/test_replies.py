"""What the routes of a model server reply."""

import json
import logging
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.serving.limits import Serving
from app.serving.server import make_application
from core.bundle.archive import export_bundle
from core.bundle.layout import save_pipeline
from core.errors import InvalidInput
from core.pipeline import IntentPipeline
from tests.conftest import SENTENCES
from tests.core.bundle.test_bundle import FACTS

KNOWN = next(iter(SENTENCES.values()))[0]
ASKED = [KNOWN, "give the money back", "hello there!", "zzz qqq", "password help", "where is it"]


def test_answers_are_those_of_the_pipeline_with_the_votes_that_sum_to_the_score(
    client: TestClient, made: IntentPipeline
) -> None:
    reply = client.post("/predict", json={"texts": ASKED}).json()
    assert (reply["model"], reply["model_version"], reply["dataset_version"]) == ("p", "p@3", "2")
    assert reply["latency_ms"] > 0
    for its, mine in zip(reply["predictions"], made.predict(ASKED), strict=True):
        decision = mine.decision
        assert (its["text"], its["intents"], its["rule"], its["intent"]) == (
            mine.text,
            list(decision.intents),
            decision.rule,
            decision.leading,
        )
        assert its["in_scope"] is bool(decision.intents)
        assert its["score"] == pytest.approx(decision.score, abs=1e-5)
        assert its["probability"] == pytest.approx(mine.ranked[0].probability, abs=1e-4)
        (reason,) = its["evidence"]
        shown = sum(one["vote"] for one in reason["votes"])
        total = reason["prior"] + reason["name"] + reason["other_votes"] + shown
        assert total == pytest.approx(its["score"], abs=1e-9)
        assert [one["vote"] for one in reason["votes"]] == pytest.approx(
            [near.vote for near in mine.reason.neighbours], abs=1e-5
        )
    assert {one["rule"] for one in reply["predictions"]} >= {"exact", "out-of-scope"}


def test_one_text_evidence_switched_off_and_texts_in_which_nothing_is_seen(
    client: TestClient,
) -> None:
    (one,) = client.post("/predict?evidence=0", json={"text": KNOWN}).json()["predictions"]
    assert one["rule"] == "exact"
    assert "evidence" not in one
    said = client.post("/predict", json={"texts": [" ", KNOWN, "\u200b"]}).json()["predictions"]
    assert [one["rule"] for one in said] == ["empty", "exact", "empty"]
    assert said[0] == {"text": " ", "intents": [], "rule": "empty", "in_scope": False}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{", "no JSON"),
        (b"[" * 5_000, "no JSON"),
        (b"[]", "no JSON object"),
        (b"{}", "neither text nor texts"),
        (b'{"text": "a", "texts": []}', "neither text nor texts"),
        (b'{"texts": []}', "no text to answer"),
        (b'{"texts": "a"}', "no text to answer"),
        (b'{"texts": ["a", 7]}', "Text 2 is no text"),
        (b'{"text": "\\ud800"}', "Text 1 is no text"),
        (json.dumps({"texts": ["a"] * 81}).encode(), "81 texts came at once; 80 may"),
        (json.dumps({"text": "a" * 401}).encode(), "Text 1 has 401 characters; 400 may be"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_words(
    client: TestClient, body: bytes, words: str
) -> None:
    reply = client.post("/predict", content=body)
    assert reply.status_code == 400
    assert words in reply.json()["error"]


def test_a_large_body_is_refused_whatever_its_header_says(client: TestClient) -> None:
    assert client.post("/predict", content=b"x" * 9_001).status_code == 413
    pieces = (b"x" * 1_000 for _ in range(10))  # no length is sent
    assert client.post("/predict", content=pieces).status_code == 413


def test_health_tells_that_it_runs_and_that_it_answers(graph: Path) -> None:
    application = make_application(Serving(str(graph), threads=1))
    cold = TestClient(application)  # its start is not awaited
    assert cold.get("/health/live").json() == {"live": True}
    assert (cold.get("/health/ready").status_code, cold.get("/v2/health/ready").status_code) == (
        503,
        503,
    )
    with TestClient(application) as client:
        assert client.get("/health/ready").json() == {"ready": True}
        assert client.get("/v2/models/p/versions/3/ready").status_code == 200
    assert cold.get("/health/ready").status_code == 503


def test_the_open_inference_protocol(client: TestClient, made: IntentPipeline) -> None:
    assert client.get("/v2").json()["name"] == "intent-studio"
    described = client.get("/v2/models/p").json()
    assert (described["versions"], described["inputs"][0]["datatype"]) == (["3"], "BYTES")
    answers = made.predict(ASKED)
    for shape, data in (([6], ASKED), ([6, 1], [[text] for text in ASKED])):
        asked = {"name": "text", "shape": shape, "datatype": "BYTES", "data": data}
        reply = client.post("/v2/models/p/infer", json={"id": "7", "inputs": [asked]}).json()
        assert (reply["model_name"], reply["model_version"], reply["id"]) == ("p", "3", "7")
        found = {one["name"]: one for one in reply["outputs"]}
        assert [(one["datatype"], one["shape"]) for one in reply["outputs"]] == [
            ("BYTES", [6]),
            ("BYTES", [6]),
            ("FP64", [6]),
            ("BOOL", [6]),
        ]
        assert found["intent"]["data"] == [one.decision.leading for one in answers]
        intents = [json.loads(one) for one in found["intents"]["data"]]
        assert intents == [list(one.decision.intents) for one in answers]
        assert found["in_scope"]["data"] == [bool(one.decision.intents) for one in answers]
    wanted = {"inputs": [asked], "outputs": [{"name": "intent"}]}
    path = "/v2/models/p/versions/3/infer"
    assert [o["name"] for o in client.post(path, json=wanted).json()["outputs"]] == ["intent"]


def test_outputs_of_nothing_are_all_outputs(client: TestClient) -> None:
    """A client that wrote null for the outputs got 500."""
    asked = {"name": "text", "shape": [1], "datatype": "BYTES", "data": [KNOWN]}
    body = {"inputs": [asked], "outputs": None}
    assert len(client.post("/v2/models/p/infer", json=body).json()["outputs"]) == 4
    for odd in (7, "intent", {"name": "intent"}):
        reply = client.post("/v2/models/p/infer", json={**body, "outputs": odd})
        assert (reply.status_code, "no list" in reply.json()["error"]) == (400, True)


@pytest.mark.parametrize("odd", [{"name": "intnet"}, {"name": ["intent"]}, {}, 1, None])
def test_an_output_that_there_is_not_is_refused(client: TestClient, odd: object) -> None:
    """A wrong name was answered with no output at all, and a number with all of them."""
    asked = {"name": "text", "shape": [1], "datatype": "BYTES", "data": [KNOWN]}
    body = {"inputs": [asked], "outputs": [{"name": "intent"}, odd]}
    reply = client.post("/v2/models/p/infer", json=body)
    assert (reply.status_code, reply.json()["error"]) == (400, "There is no such output.")
    assert "intent, intents, probability, in_scope" in reply.json()["hint"]


def test_an_id_of_nothing_is_no_id(client: TestClient) -> None:
    """Whoever wrote null for the id got the id "None"."""
    asked = {"name": "text", "shape": [1], "datatype": "BYTES", "data": [KNOWN]}
    for given, told in (({}, {}), ({"id": None}, {}), ({"id": ""}, {"id": ""}), ({"id": "a"},) * 2):
        reply = client.post("/v2/models/p/infer", json={**given, "inputs": [asked]}).json()
        assert {name: reply[name] for name in ("id",) if name in reply} == told


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/v2/models/q/infer", {}, 404, "no model 'q'"),
        ("/v2/models/p/versions/4/infer", {}, 404, "no version '4'"),
        ("/v2/models/p/infer", {}, 400, "one input of datatype BYTES"),
        (
            "/v2/models/p/infer",
            {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1], "data": [1.0]}]},
            400,
            "one input of datatype BYTES",
        ),
        (
            "/v2/models/p/infer",
            {"inputs": [{"name": "x", "datatype": "BYTES", "shape": [2], "data": ["a"]}]},
            400,
            "1 texts came with the shape [2]",
        ),
    ],
)
def test_the_protocol_s_errors_have_its_body(
    client: TestClient, path: str, body: object, status: int, words: str
) -> None:
    reply = client.post(path, json=body)
    assert reply.status_code == status
    assert words in reply.json()["error"]


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/predict", {"model": "\ud800", "text": KNOWN}, 404, "no model '\ufffd'"),
        (
            "/v2/models/p/infer",
            {
                "id": "\ud800",
                "inputs": [{"name": "text", "shape": [1], "datatype": "BYTES", "data": [KNOWN]}],
            },
            400,
            "The id is no text of whole characters",
        ),
        (
            "/v2/projects/shop/agent/sessions/1:detectIntent",
            {"queryInput": {"text": {"text": KNOWN, "languageCode": "\ud800"}}},
            400,
            "The languageCode is no text of whole characters",
        ),
    ],
    ids=["the name of a model", "an id", "a language"],
)
def test_half_of_a_character_that_an_answer_would_repeat_is_refused(
    client: TestClient, path: str, body: object, status: int, words: str
) -> None:
    """The server broke where it wrote its answer."""
    reply = client.post(path, content=json.dumps(body))
    assert reply.status_code == status
    assert words in str(reply.json())


def test_clients_of_rasa_get_its_shape(client: TestClient, made: IntentPipeline) -> None:
    reply = client.post("/model/parse", json={"text": KNOWN, "message_id": "b2"}).json()
    (mine,) = made.predict([KNOWN])
    assert reply["text"] == KNOWN
    assert reply["intent"] == {"name": mine.decision.intents[0], "confidence": 1.0}
    assert reply["entities"] == []
    assert reply["intent_ranking"][0] == reply["intent"]
    outside = next(p.text for p in made.predict(ASKED) if p.decision.out_of_scope)
    reply = client.post("/model/parse", json={"text": outside}).json()
    assert reply["intent"]["name"] == "nlu_fallback"
    names = [one["name"] for one in reply["intent_ranking"]]
    assert names == ["nlu_fallback", *(one.intent for one in made.predict([outside])[0].ranked)]
    assert client.post("/model/parse", json={}).status_code == 400


def test_prometheus_reads_counts_and_no_text(graph: Path) -> None:
    with TestClient(make_application(Serving(str(graph), threads=1, name="bot"))) as client:
        client.post("/predict", json={"texts": [KNOWN, KNOWN, " "]})
        client.get("/nothing")
        words = client.get("/metrics").text
    lines = dict(line.rsplit(" ", 1) for line in words.splitlines() if line[0] != "#")
    intent = next(iter(SENTENCES))
    name, mine = "intent_studio_model_", 'model="bot"'
    assert lines[f'{name}texts_total{{{mine},intent="{intent}"}}'] == "2"
    assert lines[f"{name}texts_outside_total{{{mine}}}"] == "1"
    assert lines[f'{name}requests_total{{{mine},route="/predict",status="200"}}'] == "1"
    assert lines[f'{name}requests_total{{route="other",status="404"}}'] == "1"
    assert lines[f'{name}request_seconds_bucket{{{mine},le="+Inf"}}'] == "1"
    assert lines[f'{name}request_seconds_bucket{{le="+Inf"}}'] == "1"
    assert lines[f"{name}score_count{{{mine}}}"] == "2"
    assert lines[f"{name}waiting_texts{{{mine}}}"] == "0"
    assert lines[f"{name}batches_total{{{mine}}}"] == "1"
    assert float(lines[f"{name}peak_bytes"]) > 1e7
    assert f"{name}model_info" not in words
    assert f'{name}info{{model="bot",model_version="p@3"' in words
    assert KNOWN not in words


def test_a_key_is_asked_for_by_all_but_health(graph: Path) -> None:
    application = make_application(Serving(str(graph), threads=1, key="open sesame"))
    ask = {"text": KNOWN}
    with TestClient(application) as client:
        assert client.get("/health/ready").status_code == 200
        assert client.get("/v2/health/live").status_code == 200
        for path in ("/metrics", "/v2/models/p", "/nothing"):
            assert client.get(path).status_code == 401
        refused = client.post("/predict", json=ask)
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        for headers in ({"X-API-Key": "open"}, {"Authorization": "Bearer "}, {"X-API-Key": "é"}):
            found = {k: v.encode() for k, v in headers.items()}
            assert client.post("/predict", json=ask, headers=found).status_code == 401
        for headers in ({"X-API-Key": "open sesame"}, {"Authorization": "bearer open sesame"}):
            assert client.post("/predict", json=ask, headers=headers).status_code == 200
        assert client.post("/model/parse?token=open%20sesame", json=ask).status_code == 200
        assert client.post("/predict?token=open%20sesame", json=ask).status_code == 401


def rasa_request(token: str | None) -> dict[str, str | None]:
    """What a Rasa bot sends by `nlu` of its endpoints.yml, with the key in its body."""
    return {"token": token, "text": KNOWN, "message_id": "4711"}


@pytest.mark.parametrize("path", ["/model/parse", "/models/p/model/parse"])
def test_a_bot_of_rasa_sends_its_key_in_the_body(graph: Path, path: str) -> None:
    """Only `?token=` was read, and each of the bot's requests was refused."""
    application = make_application(Serving(str(graph), threads=1, key="old\nk1", most_bytes=300))
    with TestClient(application) as client:
        reply = client.post(path, json=rasa_request("k1"))
        assert (reply.status_code, reply.json()["text"]) == (200, KNOWN)
        pieces = iter(json.dumps(rasa_request("k1")).encode().partition(b"text"))
        assert client.post(path, content=pieces).status_code == 200
        for token in ("k2", "", None, "\ud800"):
            body = json.dumps(rasa_request(token))
            assert client.post(path, content=body).status_code == 401
        for body in (b"", b"no JSON", b"[]", b'{"token": ["k1"]}'):
            assert client.post(path, content=body).status_code == 401
        assert client.post(path, content=b"x" * 301).status_code == 413
        assert client.post(path, content=(b"x" * 100 for _ in range(4))).status_code == 413
        assert client.post("/predict", json=rasa_request("k1")).status_code == 401
    with TestClient(make_application(Serving(str(graph), threads=1))) as client:
        assert client.post(path, json=rasa_request(None)).status_code == 200


def test_what_breaks_is_logged_by_places_without_the_text(
    graph: Path, caplog: pytest.LogCaptureFixture
) -> None:
    application = make_application(Serving(str(graph), threads=1))
    with TestClient(application, raise_server_exceptions=False) as client:
        service = application.routes[0].endpoint.__self__

        def broken(texts: list[str]) -> None:
            raise RuntimeError(texts[0])

        service.current.batcher.predict = broken
        with caplog.at_level(logging.ERROR, logger="app.serving"):
            reply = client.post("/predict", json={"text": "my secret"})
    assert reply.status_code == 500
    assert "incident" in reply.json()["error"]
    (record,) = caplog.records
    assert "RuntimeError" in record.getMessage()
    assert "secret" not in record.getMessage() + reply.text


def test_a_bundle_without_a_graph_is_refused(made: IntentPipeline, tmp_path: Path) -> None:
    save_pipeline(made, FACTS, tmp_path / "p")
    export_bundle(tmp_path / "p", tmp_path / "p.zip")
    with pytest.raises(InvalidInput, match="holds an encoder for torch, and no graph") as caught:
        make_application(Serving(str(tmp_path / "p.zip")))
    assert "--runtime onnx" in caught.value.hint
