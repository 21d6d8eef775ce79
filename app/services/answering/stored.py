"""Answer texts with a model version or a bundle, and say why."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from app.services.answering.as_project import columns_of, exemplar_signals, fenced
from app.services.answering.names import brought_names, names_pipeline
from app.services.answering.opened import laid_out
from app.services.studio import Studio
from core.errors import InvalidInput, NotFound
from core.formats.reading import read_rows
from core.formats.rows import SEPARATOR, ImportedRow, ReadOptions
from core.pipeline import IntentPipeline
from core.types import Exemplar, Method, Prediction, Reason
from storage import models, projects
from storage.database import Transaction
from storage.queries import dataset
from storage.records import ModelVersionRecord, ProjectRecord

MEASURES: Mapping[Method, str] = {
    "votes": "score",
    "nearest": "familiarity by the nearest examples",
    "mahalanobis": "familiarity by the distance to the intents",
    "mixture": "familiarity by score, nearest examples and distance",
}
"""What a limit is one of, in words."""


def find_model(connection: Transaction, reference: str) -> tuple[ProjectRecord, ModelVersionRecord]:
    """Find `PROJECT` (its champion) or `PROJECT@N` (version N).

    Raises:
        NotFound: There is no such project, version or champion.
        InvalidInput: N is no number.
    """
    name, at, number = reference.partition("@")
    project = projects.find(connection, name)
    if at:
        if not number.isdecimal():
            raise InvalidInput(f"'{number}' is no version of '{name}'.", "Write PROJECT@3, say.")
        return project, models.find(connection, project.id, int(number))
    champion = models.champion(connection, project.id)
    if champion is None:
        raise no_model_yet(name)
    return project, champion


def no_model_yet(project: str) -> NotFound:
    """Return the refusal of a question that only a trained model version can answer."""
    return NotFound(
        f"'{project}' has no trained model yet.",
        f"Train one: on the Train page, or by `intent-studio train {project}`.",
    )


@contextmanager
def checked_out(studio: Studio, reference: str) -> Iterator[tuple[Path, str]]:
    """Lay a model version's or bundle's files out in a folder that goes away again."""
    if is_bundle(reference):
        from core.bundle.archive import open_bundle

        with open_bundle(Path(reference)) as (folder, _):
            yield folder, Path(reference).name
        return
    with studio.database.read() as connection:
        project, record = find_model(connection, reference)
    with laid_out(studio, record.tree_sha256) as folder:
        yield folder, f"{project.name}@{record.number}"


def load_model(studio: Studio, reference: str) -> IntentPipeline:
    """Load a model version, by its project's fence, or a bundle; ready to predict.

    A project without a model answers by the names of its intents alone.

    Raises:
        InvalidInput: It is an encoder, which predicts nothing.
        NotFound: It does not exist.
        ArtifactDamaged: Its files are not what they should be.
    """
    from core.bundle.layout import load_pipeline

    untrained = None
    if not is_bundle(reference) and "@" not in reference:
        untrained = names_pipeline(studio, reference)
    if untrained is not None:
        return untrained
    require_answers(studio, reference)
    with checked_out(studio, reference) as (folder, name):
        pipeline = replace(load_pipeline(folder, bases=studio.bases), model_version=name)
    if is_bundle(reference):
        return pipeline
    return by_project(studio, name, pipeline)


def by_project(studio: Studio, reference: str, trained: IntentPipeline) -> IntentPipeline:
    """Let a version, `PROJECT` or `PROJECT@N` as it was trained, answer as its project does.

    Intents without an example are answered by their names, and what is in scope by the fence.
    """
    return by_fence(studio, reference, trained, with_names(studio, reference, trained))


def with_names(studio: Studio, reference: str, pipeline: IntentPipeline) -> IntentPipeline:
    """Let a project's model answer intents that it has no example of by their names alone."""
    from core.intent_names import answer_by_name

    if pipeline.task == "multi-label":
        return pipeline
    with studio.database.read() as connection:
        project, version = find_model(connection, reference)
        intents = dataset.open_intents(connection, project.id)
        columns = columns_of(connection, project.id, version, pipeline.head.intents)
    brought = brought_names(version, columns, pipeline.head.intents)
    asked = list(intents.values())
    head = answer_by_name(pipeline.head, pipeline.encoder, asked, brought=brought)
    return replace(pipeline, head=head)


def by_fence(
    studio: Studio, reference: str, trained: IntentPipeline, named: IntentPipeline | None = None
) -> IntentPipeline:
    """Let a project's model, `PROJECT` or `PROJECT@N`, answer by its fence.

    Args:
        studio: The studio.
        reference: Which model.
        trained: As it was trained; a fence is measured by this one.
        named: With names that speak for intents without examples; None: as it was trained.
    """
    pipeline = trained if named is None else named
    with studio.database.read() as connection:
        project, version = find_model(connection, reference)
        columns = columns_of(connection, project.id, version, pipeline.head.intents)
    return fenced(
        pipeline, columns, project.fence, lambda: exemplar_signals(studio, version, lambda: trained)
    )


def require_answers(studio: Studio, reference: str) -> None:
    """Refuse a model version that is an encoder without a head.

    Raises:
        InvalidInput: It is one.
        NotFound: It does not exist.
    """
    if not is_bundle(reference):
        with studio.database.read() as connection:
            project, record = find_model(connection, reference)
            models.find_answering(connection, project.id, record.number)


def evaluate(studio: Studio, reference: str, path: Path) -> dict[str, Any]:
    """Judge a model on the labelled texts of a file.

    Where the model answers with several intents, a cell holds several, as an export writes them.

    Raises:
        InvalidInput: The file cannot be read, or has no label.
        NotFound: There is no such model.
    """
    from app.services.answering.judging import judge_exemplars

    pipeline = load_model(studio, reference)
    separator = SEPARATOR if pipeline.task == "multi-label" else None
    exemplars = [
        Exemplar(str(row.line), row.text, row.intents)
        for row in read_rows(path, ReadOptions(separator=separator))
        if isinstance(row, ImportedRow) and row.intents is not None
    ]
    if not exemplars:
        raise InvalidInput("The file has no labelled row to judge by.", "Add an intent column.")
    return judge_exemplars(pipeline, exemplars)


def own_figures(studio: Studio, reference: str) -> dict[str, Any]:
    """Return how a model version or a bundle was judged when it was trained."""
    from core.bundle.layout import read_facts

    with checked_out(studio, reference) as (folder, _):
        return dict(read_facts(folder).get("metrics", {}))


def reasons_of(prediction: Prediction) -> tuple[Reason, ...]:
    """Return why each intent of an answer is in it, or of the leading one where none is told of."""
    if prediction.reasons:
        return prediction.reasons
    decision = prediction.decision
    return (
        Reason(
            decision.leading,
            decision.score,
            decision.threshold,
            prediction.prior,
            prediction.neighbours,
            prediction.voice,
            prediction.by_name,
        ),
    )


def votes_of_others(reason: Reason) -> float:
    """Return what all exemplars that a reason does not show add to its score."""
    return reason.score - reason.prior - reason.voice - sum(n.vote for n in reason.neighbours)


def sentence_of(prediction: Prediction) -> str:
    """Say in one sentence what was answered, and because of which examples."""
    decision = prediction.decision
    if decision.rule == "exact":
        is_it = "This is" if decision.intents else "This has"
        return f"{is_it} {decision.words}, exactly as a labelled example says."
    reasons = reasons_of(prediction)
    examples = "; ".join(f"“{text}”" for text in _helping(reasons)[:2])
    because = f", mostly because of {examples}" if examples else ""
    if reasons[0].by_name:
        because = f", {name_words(prediction)}"
    if decision.intents:
        shares = {one.intent: one.probability for one in prediction.ranked}
        named = " and ".join(f"{name} ({shares[name]:.0%})" for name in decision.intents)
        return f"This is {named}{because}."
    if decision.familiarity is not None:
        return (
            f"No intent fits well enough: the {MEASURES[decision.measure]} is "
            f"{decision.held:.2f}, under the limit of {decision.threshold:.2f}; the best intent is "
            f"{decision.leading}{because}."
        )
    if decision.out_of_scope:
        what, limit = "No intent fits well enough: the best", "the limit"
    else:
        what, limit = "This has no intent: the one nearest to its limit", "that"
    return (
        f"{what}, {decision.leading}, scores {decision.score:.2f}, under "
        f"{limit} of {decision.threshold:.2f}{because}."
    )


def name_words(prediction: Prediction) -> str:
    """Say that no example speaks for an answer; without a model there is none to be shown."""
    why = "no examples yet" if prediction.neighbours else "before any training"
    return f"by its name alone, {why}"


def _helping(reasons: Sequence[Reason]) -> list[str]:
    """Texts that vote for the answer, in turn those of each of its intents."""
    texts = [[n.text for n in reason.neighbours if n.vote > 0] for reason in reasons]
    in_turn = chain.from_iterable(zip_longest(*texts))
    return list(dict.fromkeys(text for text in in_turn if text is not None))


def is_bundle(reference: str) -> bool:
    """Whether a reference names a bundle's file, and no model version."""
    if reference.endswith(".zip"):
        return True
    try:
        return Path(reference).is_file()
    except OSError:  # too long for the name of a file, and fine for that of a project
        return False
