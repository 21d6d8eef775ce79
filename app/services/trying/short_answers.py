"""Answers for programs: only the fields that were asked for, and the best intents."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from app.services.trying.answers import Answer
from core.types import Decision, IntentScore, Neighbour

ShortField = Literal[
    "text",
    "sentence",
    "decision",
    "ranked",
    "neighbours",
    "model_version",
    "dataset_version",
    "label_revision",
]


@dataclass(frozen=True, slots=True)
class ShortAnswer:
    """Fields of an answer, those alone that were asked for.

    All but `sentence` are fields of `prediction` in a whole answer.
    """

    text: str = ""
    sentence: str = ""
    decision: Decision | None = None
    ranked: tuple[IntentScore, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()
    model_version: str | None = None
    dataset_version: str | None = None
    label_revision: int | None = None


def with_best(answers: Sequence[Answer], top_k: int | None) -> list[Answer]:
    """Keep the `top_k` best intents of each answer; None keeps all."""
    if top_k is None:
        return list(answers)
    return [
        replace(
            answer, prediction=replace(answer.prediction, ranked=answer.prediction.ranked[:top_k])
        )
        for answer in answers
    ]


def shorten(answers: Sequence[Answer], fields: Sequence[ShortField]) -> list[dict[str, Any]]:
    """Return the fields of `ShortAnswer` that were asked for, by name."""
    return [
        {
            name: answer.sentence if name == "sentence" else getattr(answer.prediction, name)
            for name in fields
        }
        for answer in answers
    ]
