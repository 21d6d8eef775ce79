"""How good a version is as a bundle carries it: with its labels and the project's line of now."""

from collections.abc import Sequence

from app.services.embedding import embed_texts
from app.services.studio import Studio
from core.pipeline import IntentPipeline
from core.types import Exemplar


def figures_of_bundle(
    studio: Studio, pipeline: IntentPipeline, tests: Sequence[Exemplar]
) -> dict[str, int]:
    """Count right answers, refusals, and intents of unlearned tests; empty without a text.

    `right` of `n` texts that fit an intent are answered right, and `refused` of `outside` others
    are refused. A text that is refused is not answered right; of several intents all must be right.
    `tested_intents` of `intents` have a text.
    """
    several = pipeline.task == "multi-label"
    inside = [one for one in tests if several or one.intents]
    if not inside:
        return {}
    texts = [one.text for one in tests]
    rows = embed_texts(studio.database, pipeline.encoder, texts)
    said = dict(zip(texts, pipeline.predict(texts, rows), strict=True))
    names = {name for one in inside for name in one.intents}
    answers = {text: set(one.decision.intents) for text, one in said.items()}
    return {
        "right": sum(_is_right(answers[one.text], one, several=several) for one in inside),
        "n": len(inside),
        "refused": sum(not answers[one.text] for one in tests if not several and not one.intents),
        "outside": len(tests) - len(inside),
        "tested_intents": len(names),
        "intents": len(names | set(pipeline.head.intents)),
    }


def _is_right(answer: set[str], labelled: Exemplar, *, several: bool) -> bool:
    """Whether an answer is one of the labels or, where it may have several, just these."""
    if several:
        return answer == set(labelled.intents)
    return bool(answer & set(labelled.intents))
