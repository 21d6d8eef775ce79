"""Requests and answers in the shapes of CLU and Dialogflow, for clients that stay as they are.

Fields that no model of the studio fills (entities, parameters, messages) are there and empty.
"""

import re
import uuid
from typing import Any

from app.serving.bodies import echoed
from app.serving.replies.shapes import Answer, chosen, shares
from core.errors import InvalidInput, NotFound

NONE = "None"
"""The intent by which CLU says that none fits."""
DIALOGFLOW_FALLBACK = "Default Fallback Intent"
_UNKNOWN = "input.unknown"
"""The action of a fallback in Dialogflow ES."""

_ES = re.compile(r"^([^/]+(?:/locations/[^/]+)?/agent)(?:/environments/[^/]+/users/[^/]+)?")
_CX = re.compile(r"^([^/]+/locations/[^/]+/agents/[^/]+)(?:/environments/[^/]+)?")
_MOST_MATCHES = 10


def clu_text(body: dict[str, Any]) -> object:
    """Return what stands for the text in a request to `/language/:analyze-conversations`.

    Raises:
        InvalidInput: It asks for something else than the intent of one conversation item.
    """
    asked = body.get("analysisInput")
    item = asked.get("conversationItem") if isinstance(asked, dict) else None
    if body.get("kind") != "Conversation" or not isinstance(item, dict):
        raise InvalidInput(
            "The request is of another kind than Conversation, or has no conversationItem.",
            'Send {"kind": "Conversation", "analysisInput": {"conversationItem": {"text": ..}}}.',
        )
    return item.get("text")


def clu(text: str, answer: Answer) -> dict[str, Any]:
    """Write an answer as CLU does; out of scope is its intent None."""
    top = chosen(answer)
    first = (NONE, 1.0) if top is None else top
    rest = [one for one in shares(answer).items() if one[0] != first[0]]
    listed = [first, *rest]
    if all(name != NONE for name, _ in listed):
        listed.append((NONE, 0.0))
    prediction = {
        "topIntent": first[0],
        "projectKind": "Conversation",
        "intents": [{"category": name, "confidenceScore": share} for name, share in listed],
        "entities": [],
    }
    return {"kind": "ConversationResult", "result": {"query": text, "prediction": prediction}}


def agent_of(session: str, *, is_cx: bool) -> str:
    """Return the agent that a session's name in an address is of, `projects/..`.

    Raises:
        NotFound: It is no name of a session.
    """
    parent, _, name = session.rpartition("/sessions/")
    found = (_CX if is_cx else _ES).fullmatch(parent)
    if found is None or not name or "/" in name:
        raise NotFound("The address names no session of an agent.")
    return f"projects/{found[1]}"


def dialogflow_text(body: dict[str, Any]) -> tuple[object, str]:
    """Return what stands for the text in a request to Dialogflow, and its language.

    Raises:
        InvalidInput: It asks by something else than a text, or its language is no text.
    """
    asked = body.get("queryInput")
    said = asked.get("text") if isinstance(asked, dict) else None
    if not isinstance(asked, dict) or not isinstance(said, dict):
        raise InvalidInput(
            "Only texts are answered here, neither events nor audio.",
            'Send {"queryInput": {"text": {"text": "..", "languageCode": "en"}}}.',
        )
    language = said.get("languageCode") or asked.get("languageCode") or ""
    return said.get("text"), echoed(language, "languageCode")[:40]


def es(text: str, language: str, agent: str, answer: Answer) -> dict[str, Any]:
    """Write an answer as Dialogflow ES (v2) does; out of scope is its fallback intent."""
    top = chosen(answer)
    intent = _intent(agent, DIALOGFLOW_FALLBACK if top is None else top[0])
    result = {
        "queryText": text,
        "languageCode": language,
        **({"action": _UNKNOWN} if top is None else {}),
        "parameters": {},
        "allRequiredParamsPresent": True,
        "fulfillmentMessages": [],
        "outputContexts": [],
        "intent": intent | ({"isFallback": True} if top is None else {}),
        "intentDetectionConfidence": 1.0 if top is None else top[1],
    }
    return {"responseId": str(uuid.uuid4()), "queryResult": result}


def cx(text: str, language: str, agent: str, answer: Answer) -> dict[str, Any]:
    """Write an answer as Dialogflow CX (v3) does; out of scope is NO_MATCH."""
    top = chosen(answer)
    match = _match(text, agent, top)
    result = {
        "text": text,
        "languageCode": language,
        "parameters": {},
        "responseMessages": [],
        **({"intent": match["intent"]} if top is not None else {}),
        "intentDetectionConfidence": match["confidence"],
        "match": match,
    }
    told = {"responseId": str(uuid.uuid4()), "queryResult": result}
    return {**told, "responseType": "FINAL"}


def cx_matches(text: str, agent: str, answer: Answer) -> dict[str, Any]:
    """Write an answer as `matchIntent` of Dialogflow CX does: the likeliest intents, falling."""
    top = chosen(answer)
    if top is None:
        return {"text": text, "matches": [_match(text, agent, None)]}
    ranked = [top, *(one for one in shares(answer).items() if one[0] != top[0])]
    return {"text": text, "matches": [_match(text, agent, one) for one in ranked[:_MOST_MATCHES]]}


def _match(text: str, agent: str, found: tuple[str, float] | None) -> dict[str, Any]:
    if found is None:
        return {"resolvedInput": text, "matchType": "NO_MATCH", "confidence": 1.0}
    name, share = found
    told = {"intent": _intent(agent, name), "resolvedInput": text}
    return {**told, "matchType": "INTENT", "confidence": share}


def _intent(agent: str, name: str) -> dict[str, Any]:
    """Name an intent by an id that is the same whenever the agent and the name are."""
    key = uuid.uuid5(uuid.NAMESPACE_URL, f"{agent}/intents/{name}")
    return {"name": f"{agent}/intents/{key}", "displayName": name}
