"""How good a version is as a bundle carries it: with its labels and the project's line of now."""

from collections.abc import Sequence

from app.services.embedding import embed_texts
from app.services.studio import Studio
from core.pipeline import IntentPipeline, learned_texts
from core.types import Exemplar
from storage.queries import dataset
from storage.records import ProjectRecord


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


def unlearned_tests(
    studio: Studio, project: ProjectRecord, pipeline: IntentPipeline
) -> list[Exemplar]:
    """Return the labelled texts of the test set that a pipeline has not learned.

    Of a pipeline whose texts are left out this knows the examples that have a hash: all but those
    with contradicting labels.
    """
    learned = learned_texts(pipeline)
    with studio.database.read() as connection:
        names = dataset.intent_names(connection, project.id)
        return [
            Exemplar(row.id, row.text, tuple(names[key] for key in row.labels))
            for row in dataset.utterances(connection, project.id, "test")
            if row.labels is not None and row.text not in learned
        ]


def _is_right(answer: set[str], labelled: Exemplar, *, several: bool) -> bool:
    """Whether an answer is one of the labels or, where it may have several, just these."""
    if several:
        return answer == set(labelled.intents)
    return bool(answer & set(labelled.intents))
