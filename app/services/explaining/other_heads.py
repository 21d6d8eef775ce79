"""What other ways of deciding say of a text: fitted on the same embeddings and labels."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.services.explaining.explained_model import ExplainedModel
from app.services.explaining.views import HeadAnswer
from app.services.studio import Studio
from core.types import FloatArray

_NAMES = {
    "votes": "Votes of all examples",
    "neighbours": "The nearest examples",
    "prototypes": "The middle of each intent",
    "names": "The names of the intents",
    "mixture": "Votes of all examples, and names beside them",
    "linear": "Dividing planes (logistic regression)",
    "mlp": "A small network",
}
_NEAREST = 5
_MOST_CELLS = 100_000
"""Exemplars times intents up to which planes are fitted: within a second."""


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Heads beside the one that decides."""

    heads: Mapping[str, Any]


def heads_say(
    studio: Studio, model: ExplainedModel, embedding: FloatArray, best: str
) -> tuple[HeadAnswer, ...]:
    """Ask the model's own head and the others about a text, embedded (d,).

    Args:
        studio: Keeps heads that were fitted.
        model: The model.
        embedding: Of the text.
        best: The intent that the model ranks highest.
    """
    own = model.pipeline.head
    panel = studio.cache.get(("panel", *model.key), lambda: _fitted(model), _size)
    others = [head for kind, head in panel.heads.items() if kind != own.kind]
    return tuple(_answer(head, embedding, best, decides=head is own) for head in [own, *others])


def _fitted(model: ExplainedModel) -> Panel:
    from core.heads.linear import fit_linear
    from core.heads.neighbours import NeighbourHead
    from core.heads.points import fit_prototypes
    from core.heads.targets import target_matrix

    pipeline = model.pipeline
    names = pipeline.head.intents
    targets = target_matrix([exemplar.intents for exemplar in pipeline.exemplars], names)
    rows = pipeline.embeddings
    heads: dict[str, Any] = {
        "neighbours": NeighbourHead(names, _NEAREST, rows, targets),
        "prototypes": fit_prototypes(rows, targets, names),
    }
    if targets.size <= _MOST_CELLS:
        heads["linear"] = fit_linear(rows, targets, names, inverse_penalty=10.0)
    return Panel(heads)


def _answer(head: Any, embedding: FloatArray, best: str, *, decides: bool) -> HeadAnswer:
    scores = head.scores(embedding[None])[0]
    order = np.argsort(-scores, kind="stable")
    intent = head.intents[order[0]]
    return HeadAnswer(
        head.kind, _NAMES[head.kind], intent, intent == best, decides, _detail(head, scores, order)
    )


def _detail(head: Any, scores: Any, order: Any) -> str:
    first, second = (scores[place] for place in (order[0], order[min(1, len(order) - 1)]))
    if head.kind == "neighbours":
        return f"{_nearest_words(head.k)}: {first:.2f} of 1.00"
    if head.kind in ("prototypes", "names"):
        return f"similarity {first:.2f}, next {second:.2f}"
    return f"score {first:.2f}, next {second:.2f}"


def _nearest_words(k: int) -> str:
    return "the nearest one" if k == 1 else f"the nearest {k}"


def _size(panel: Panel) -> int:
    return sum(
        getattr(head, name).nbytes
        for head in panel.heads.values()
        for name in ("points", "coefficients", "targets")
        if hasattr(head, name)
    )
