"""Answers of other kinds of head, fitted on the same embeddings and labels."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.services.explaining.explained_model import ExplainedModel
from app.services.explaining.views import HeadAnswer
from app.services.studio import Studio
from core.heads.base import Head
from core.recipes.heads import HeadConfig, LinearConfig, NeighboursConfig, PrototypesConfig
from core.text import decimal, points
from core.types import FloatArray, ScoreArray

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
"""Most exemplars times intents for which planes are fitted; that takes up to a second."""


def heads_say(
    studio: Studio, model: ExplainedModel, embedding: FloatArray, best: str
) -> tuple[HeadAnswer, ...]:
    """Ask the model's own head and the others about a text, embedded (d,).

    `best` is the intent that the model ranks highest.
    """
    own = model.pipeline.head
    *of, moment = model.key
    fitted = studio.cache.get_newest(("other heads", *of), moment, lambda: _fit_heads(model), _size)
    others = [head for head in fitted if head.kind != own.kind]
    return tuple(_answer(head, embedding, best, decides=head is own) for head in [own, *others])


def _fit_heads(model: ExplainedModel) -> tuple[Head, ...]:
    from core.heads.build import fit_head
    from core.heads.targets import target_matrix

    pipeline = model.pipeline
    if not pipeline.exemplars:  # there is nothing to fit on
        return ()
    names = pipeline.head.intents
    targets = target_matrix(
        [exemplar.intents for exemplar in pipeline.exemplars], names, others=True
    )
    configs: list[HeadConfig] = [NeighboursConfig(k=_NEAREST), PrototypesConfig()]
    if targets.size <= _MOST_CELLS:
        configs.append(LinearConfig())
    return tuple(fit_head(config, pipeline.embeddings, targets, names) for config in configs)


def _answer(head: Head, embedding: FloatArray, best: str, *, decides: bool) -> HeadAnswer:
    scores = head.scores(embedding[None])[0]
    order = np.argsort(-scores, kind="stable")
    intent = head.intents[order[0]]
    return HeadAnswer(
        head.kind, _NAMES[head.kind], intent, intent == best, decides, _detail(head, scores, order)
    )


def _detail(head: Head, scores: ScoreArray, order: NDArray[np.int64]) -> str:
    first, second = (scores[place] for place in (order[0], order[min(1, len(order) - 1)]))
    if head.kind == "neighbours":
        return f"{_nearest_words(getattr(head, 'k', 1))}: {points(first)} of 100 points"
    if head.kind in ("prototypes", "names"):
        return f"similarity {points(first)}, next {points(second)}"
    if head.kind == "linear":  # log odds, which have no full score
        return f"score {decimal(first, 2)}, next {decimal(second, 2)}"
    return f"score {points(first)}, next {points(second)}"


def _nearest_words(k: int) -> str:
    return "the nearest one" if k == 1 else f"the nearest {k}"


def _size(heads: Sequence[Head]) -> int:
    return sum(
        getattr(head, name).nbytes
        for head in heads
        for name in ("points", "coefficients", "targets")
        if hasattr(head, name)
    )
