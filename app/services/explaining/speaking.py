"""Which intents truly speak for a text: others are not named unless somebody asks for one."""

from core.pipeline import IntentPipeline
from core.types import Prediction, ScoreArray
from core.vectors import nearest

_LOOKED_AT = 10
_FEWEST, _FEWEST_OF_TWO, _HALF = 3, 2, 5
"""Of the most similar examples an intent needs three, or two where it has no more. The examples
most similar to a refused text are unlike it, so three may be chance: there it needs half."""
_LIKELY = 0.05
"""Probability from which an intent is a rival of an answer."""


def speaking_intents(
    pipeline: IntentPipeline, prediction: Prediction, cosines: ScoreArray
) -> frozenset[str]:
    """Return the intents that could be meant by a text; `cosines` to all exemplars, (m,).

    At least 3 of the 10 most similar examples have the intent, or both of an intent with two; or
    the intent is not unlikely. The next intent in rank may have nothing to do with the text. Of a
    refused text half of these examples must have it.
    """
    labels = [exemplar.intents for exemplar in pipeline.exemplars]
    n_near = min(_LOOKED_AT, len(labels))
    near = nearest(cosines[None], n_near)[0].tolist() if n_near else []
    is_answered = bool(prediction.decision.intents)
    found = set[str]()
    for name in {name for row in near for name in labels[row]}:
        n_examples = sum(name in label for label in labels)
        needed = max(_FEWEST_OF_TWO, min(_FEWEST, n_examples)) if is_answered else _HALF
        if sum(name in labels[row] for row in near) >= needed:
            found.add(name)
    if is_answered:
        found.update(one.intent for one in prediction.ranked if one.probability >= _LIKELY)
    return frozenset(found)
