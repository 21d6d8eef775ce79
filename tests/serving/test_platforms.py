"""Clients of CLU and Dialogflow send what they always sent, and read what they always read."""

import json

import pytest
from starlette.testclient import TestClient

from app.serving.limits import Serving
from app.serving.replies.platforms import clu
from app.serving.server import make_application
from core.pipeline import IntentPipeline
from tests.serving.test_replies import ASKED, KNOWN

CLU = "/language/:analyze-conversations?api-version=2023-04-01"
ES = "/v2/projects/shop/agent/sessions/4711:detectIntent"
CX_AGENT = "projects/shop/locations/europe-west3/agents/a1"
CX = f"/v3/{CX_AGENT}/sessions/4711"


def clu_request(text: object) -> dict[str, object]:
    """What the client libraries of CLU send."""
    return {
        "kind": "Conversation",
        "analysisInput": {
            "conversationItem": {
                "participantId": "1",
                "id": "1",
                "modality": "text",
                "language": "en",
                "text": text,
            },
            "isLoggingEnabled": False,
        },
        "parameters": {"projectName": "p", "deploymentName": "production", "verbose": True},
    }


def es_request(text: object) -> dict[str, object]:
    return {
        "queryInput": {"text": {"text": text, "languageCode": "en-US"}},
        "queryParams": {"timeZone": "Europe/Berlin"},
    }


def cx_request(text: object) -> dict[str, object]:
    return {
        "queryInput": {"text": {"text": text}, "languageCode": "en"},
        "queryParams": {"timeZone": "Europe/Berlin"},
    }


@pytest.fixture(scope="module")
def outside(made: IntentPipeline) -> str:
    return next(one.text for one in made.predict(ASKED) if one.decision.out_of_scope)


@pytest.fixture(scope="module")
def voted(made: IntentPipeline) -> tuple[str, str, float]:
    """A text that votes decide, its intent and the intent's probability."""
    one = next(one for one in made.predict(ASKED) if one.decision.rule == "votes")
    return one.text, one.decision.intents[0], one.ranked[0].probability


def test_clu(
    client: TestClient, made: IntentPipeline, outside: str, voted: tuple[str, str, float]
) -> None:
    text, intent, share = voted
    reply = client.post(CLU, json=clu_request(text)).json()
    assert (reply["kind"], reply["result"]["query"]) == ("ConversationResult", text)
    prediction = reply["result"]["prediction"]
    assert (prediction["topIntent"], prediction["projectKind"]) == (intent, "Conversation")
    assert prediction["entities"] == []
    scores = {one["category"]: one["confidenceScore"] for one in prediction["intents"]}
    assert next(iter(scores)) == intent
    assert scores[intent] == pytest.approx(share, abs=1e-4)
    assert scores["None"] == 0.0
    assert scores.keys() == {*made.head.intents, "None"}
    refused = client.post(CLU, json=clu_request(outside)).json()["result"]["prediction"]
    assert refused["topIntent"] == "None"
    assert refused["intents"][0] == {"category": "None", "confidenceScore": 1.0}
    assert len(refused["intents"]) == len(made.head.intents) + 1


def test_clu_lists_an_intent_that_is_called_none_once(
    made: IntentPipeline, voted: tuple[str, str, float]
) -> None:
    """An imported project may have one; it stood there with its share, and again with 0."""
    named = made.renamed(tuple(f"None{n or ''}" for n, _ in enumerate(made.head.intents)))
    for answer in named.predict([KNOWN, voted[0]]):
        listed = clu(answer.text, answer)["result"]["prediction"]["intents"]
        assert sorted(one["category"] for one in listed) == sorted(named.head.intents)


def test_dialogflow_es(client: TestClient, outside: str, voted: tuple[str, str, float]) -> None:
    text, intent, share = voted
    reply = client.post(ES, json=es_request(text)).json()
    result = reply["queryResult"]
    assert len(reply["responseId"]) == 36
    assert (result["queryText"], result["languageCode"]) == (text, "en-US")
    assert result["intent"]["displayName"] == intent
    assert result["intent"]["name"].startswith("projects/shop/agent/intents/")
    assert result["intentDetectionConfidence"] == pytest.approx(share, abs=1e-4)
    assert (result["parameters"], result["allRequiredParamsPresent"]) == ({}, True)
    assert "action" not in result
    refused = client.post(ES, json=es_request(outside)).json()["queryResult"]
    assert refused["intent"]["displayName"] == "Default Fallback Intent"
    assert (refused["intent"]["isFallback"], refused["action"]) == (True, "input.unknown")
    again = client.post(ES.replace("4711", "other"), json=es_request(text)).json()
    assert again["queryResult"]["intent"] == result["intent"]


@pytest.mark.parametrize(
    "path",
    [
        "/v2/projects/shop/locations/europe-west1/agent/sessions/1:detectIntent",
        "/v2/projects/shop/agent/environments/draft/users/-/sessions/1:detectIntent",
    ],
)
def test_other_names_of_sessions_of_es(client: TestClient, path: str) -> None:
    result = client.post(path, json=es_request(KNOWN)).json()["queryResult"]
    agent = path.removeprefix("/v2/").partition("/agent")[0] + "/agent"
    assert result["intent"]["name"].startswith(f"{agent}/intents/")
    assert result["intentDetectionConfidence"] == 1.0


def test_dialogflow_cx(client: TestClient, outside: str, voted: tuple[str, str, float]) -> None:
    text, intent, share = voted
    reply = client.post(f"{CX}:detectIntent", json=cx_request(text)).json()
    result = reply["queryResult"]
    assert (reply["responseType"], result["text"], result["languageCode"]) == ("FINAL", text, "en")
    assert result["match"]["matchType"] == "INTENT"
    assert result["match"]["intent"] == result["intent"]
    assert result["match"]["resolvedInput"] == text
    assert result["intent"]["displayName"] == intent
    assert result["intent"]["name"].startswith(f"{CX_AGENT}/intents/")
    assert result["match"]["confidence"] == pytest.approx(share, abs=1e-4)
    draft = f"/v3/{CX_AGENT}/environments/draft/sessions/1:detectIntent"
    refused = client.post(draft, json=cx_request(outside)).json()["queryResult"]
    assert refused["match"] == {
        "resolvedInput": outside,
        "matchType": "NO_MATCH",
        "confidence": 1.0,
    }
    assert "intent" not in refused


def test_dialogflow_cx_ranks_intents(
    client: TestClient, made: IntentPipeline, outside: str, voted: tuple[str, str, float]
) -> None:
    text, intent, _ = voted
    reply = client.post(f"{CX}:matchIntent", json=cx_request(text)).json()
    names = [one["intent"]["displayName"] for one in reply["matches"]]
    assert (reply["text"], names[0]) == (text, intent)
    assert names == [one.intent for one in made.predict([text])[0].ranked][:10]
    assert {one["matchType"] for one in reply["matches"]} == {"INTENT"}
    refused = client.post(f"{CX}:matchIntent", json=cx_request(outside)).json()["matches"]
    assert [one["matchType"] for one in refused] == ["NO_MATCH"]


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        (CLU, {"kind": "ConversationalTask"}, 400, "another kind than Conversation"),
        (CLU, clu_request(7), 400, "is no text"),
        (CLU, clu_request("a" * 401), 400, "401 characters"),
        (ES, {"queryInput": {"event": {"name": "WELCOME"}}}, 400, "neither events nor audio"),
        (f"{CX}:detectIntent", {"queryInput": {"audio": {}}}, 400, "neither events nor audio"),
        ("/v2/projects/shop/agent:detectIntent", es_request("a"), 404, "no session"),
        (f"{CX}/turns/2:detectIntent", cx_request("a"), 404, "no session"),
        ("/v3/projects/shop/agent/sessions/1:detectIntent", cx_request("a"), 404, "no session"),
        ("/v3/projects/shop:train", {}, 404, "Not Found"),
    ],
)
def test_errors_have_the_shape_that_the_client_reads(
    client: TestClient, path: str, body: object, status: int, words: str
) -> None:
    reply = client.post(path, json=body)
    assert reply.status_code == status
    error = reply.json()["error"]
    assert words in error["message"]
    named = {400: "InvalidArgument", 404: "NotFound"}
    if path == CLU:
        assert error["code"] == named[status]
    else:
        status_words = {400: "INVALID_ARGUMENT", 404: "NOT_FOUND"}[status]
        assert (error["code"], error["status"]) == (status, status_words)


def test_each_client_sends_the_key_in_its_own_way(graph: object) -> None:
    application = make_application(Serving(str(graph), threads=1, key="k1", most_bytes=2_000))
    own = {
        CLU: ({"Ocp-Apim-Subscription-Key": "k1"}, clu_request(KNOWN)),
        ES: ({"X-Goog-Api-Key": "k1"}, es_request(KNOWN)),
        f"{CX}:detectIntent": ({"Authorization": "Bearer k1"}, cx_request(KNOWN)),
        f"{CX}:matchIntent?key=k1": ({}, cx_request(KNOWN)),
    }
    with TestClient(application) as client:
        for path, (headers, body) in own.items():
            assert client.post(path, json=body, headers=headers).status_code == 200
            bare = client.post(path.replace("?key=k1", ""), json=body)
            assert bare.status_code == 401
            assert bare.json()["error"]["message"] == "The key is missing or wrong."
        other = client.post(CLU, json=clu_request(KNOWN), headers={"X-Goog-Api-Key": "k1"})
        assert (other.status_code, other.json()["error"]["code"]) == (401, "Unauthorized")
        assert client.post(f"{CLU}&key=k1", json=clu_request(KNOWN)).status_code == 401
        large = client.post(ES, content=b"x" * 2_001, headers={"X-Goog-Api-Key": "k1"})
        assert large.json()["error"]["code"] == large.status_code == 413


def test_a_text_in_which_nothing_is_seen_has_no_intent(client: TestClient) -> None:
    blank = {path: client.post(path, json=body).json() for path, body in _blank().items()}
    assert blank[CLU]["result"]["prediction"]["intents"] == [
        {"category": "None", "confidenceScore": 1.0}
    ]
    assert blank[ES]["queryResult"]["intent"]["isFallback"] is True
    match = blank[f"{CX}:detectIntent"]["queryResult"]["match"]
    assert match["matchType"] == "NO_MATCH"
    assert json.dumps(blank)


def _blank() -> dict[str, dict[str, object]]:
    return {
        CLU: clu_request(" "),
        ES: es_request(" "),
        f"{CX}:detectIntent": cx_request(" "),
    }
