"""Answers in the shapes that clients know: the studio's own, Rasa's, Open Inference Protocol's."""

import json
from collections.abc import Sequence
from typing import Any

from core.types import Prediction, Reason

_RANKED = 10
FALLBACK = "nlu_fallback"
"""The intent by which Rasa says that none fits."""

Answer = Prediction | None
"""None stands for a text in which nothing can be seen."""


def own(text: str, answer: Answer, *, evidence: bool) -> dict[str, Any]:
    """Write an answer with probability, scope and, if wanted, the votes that decided it."""
    if answer is None:
        return {"text": text, "intents": [], "rule": "empty", "in_scope": False}
    decision, ranked = answer.decision, answer.ranked
    told: dict[str, Any] = {
        "text": text,
        "intents": list(decision.intents),
        "rule": decision.rule,
        "in_scope": bool(decision.intents),
        "intent": decision.leading,
        "probability": shares(answer)[decision.leading],
        "score": decision.score,
        "threshold": decision.threshold,
        "measured": decision.held,
        "ranking": [
            {"intent": one.intent, "probability": one.probability, "score": one.score}
            for one in ranked[:_RANKED]
        ],
    }
    if evidence:
        told["evidence"] = [_reason(reason) for reason in answer.reasons]
    return told


def _reason(reason: Reason) -> dict[str, Any]:
    """Write what a score is the sum of: votes that are shown, all others, prior and name."""
    shown = sum(near.vote for near in reason.neighbours)
    return {
        "intent": reason.intent,
        "score": reason.score,
        "prior": reason.prior,
        "name": reason.voice,
        "other_votes": reason.score - reason.prior - reason.voice - shown,
        "votes": [
            {
                "id": near.exemplar_id,
                "text": near.text,
                "intents": list(near.intents),
                "cosine": near.cosine,
                "vote": near.vote,
            }
            for near in reason.neighbours
        ],
    }


def shares(answer: Answer) -> dict[str, float]:
    """Return the probabilities by intent, in falling order of the scores."""
    return {} if answer is None else {one.intent: one.probability for one in answer.ranked}


def chosen(answer: Answer) -> tuple[str, float] | None:
    """Return the answer's intent, of several the first, with its confidence; None out of scope."""
    if answer is None or not answer.decision.intents:
        return None
    name = answer.decision.intents[0]
    return name, 1.0 if answer.decision.rule == "exact" else shares(answer)[name]


def rasa(text: str, answer: Answer) -> dict[str, Any]:
    """Write an answer as Rasa's `/model/parse` does; out of scope is its fallback intent."""
    first = chosen(answer) or (FALLBACK, 1.0)
    rest = [one for one in shares(answer).items() if one[0] != first[0]]
    listed = [{"name": n, "confidence": share} for n, share in [first, *rest][:_RANKED]]
    return {"text": text, "intent": listed[0], "entities": [], "intent_ranking": listed}


def tensors(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """Write answers as outputs of the Open Inference Protocol; each has one value for a text.

    `intents` holds the answer as a JSON list, empty out of scope; `intent` is the highest ranked.
    """
    known = [None if one is None else one.decision for one in answers]
    probabilities = [shares(one)[one.decision.leading] if one else 0.0 for one in answers]
    return [
        _tensor("intent", "BYTES", [one.leading if one else "" for one in known]),
        _tensor(
            "intents", "BYTES", [json.dumps(list(one.intents) if one else []) for one in known]
        ),
        _tensor("probability", "FP64", probabilities),
        _tensor("in_scope", "BOOL", [bool(one and one.intents) for one in known]),
    ]


def _tensor(name: str, datatype: str, data: list[Any]) -> dict[str, Any]:
    return {"name": name, "shape": [len(data)], "datatype": datatype, "data": data}


OUTPUTS: tuple[str, ...] = tuple(one["name"] for one in tensors([]))
"""Names of these outputs."""
