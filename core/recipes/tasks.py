"""What a project's task means for recipes: other defaults, and recipes that do not know it."""

from core.errors import InvalidInput
from core.types import Task

_TUNED_MULTI_LABEL: dict[str, object] = {
    "objective": "overlap",
    "prototype_weight": 0.1,
    "temperature": 0.1,
    "frozen_layers": 1,
    "interpolation": 1.0,
}
_MULTI_LABEL: dict[str, dict[str, object]] = {
    "convfit": {**_TUNED_MULTI_LABEL, "learning_rate": 4e-4},
    "adapter": {**_TUNED_MULTI_LABEL, "learning_rate": 8e-3},
}
"""Defaults of each recipe where an utterance may have several intents, if they differ."""


def task_defaults(kind: str, task: Task) -> dict[str, object]:
    """Return the defaults of a recipe that a task changes; none for one intent an utterance."""
    return dict(_MULTI_LABEL.get(kind, {})) if task == "multi-label" else {}


def tasks_of(kind: str) -> tuple[Task, ...]:
    """Return the tasks that a recipe can learn."""
    return ("single-label",) if kind == "label-encoder" else ("single-label", "multi-label")


def require_task(kind: str, task: Task) -> None:
    """Refuse a recipe for a task that it cannot learn.

    Raises:
        InvalidInput: It cannot.
    """
    if task not in tasks_of(kind):
        raise InvalidInput(
            f"The recipe '{kind}' brings an utterance to one intent's name, and holds it off from "
            "all others; here an utterance may have several intents.",
            "Use `convfit` or `adapter`, whose objective `overlap` knows shared intents.",
        )
