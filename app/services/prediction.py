"""Answer texts with a model version or a bundle, and say why."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.services.studio import Studio
from app.services.views import Explanation
from core.errors import InvalidInput, NotFound
from core.pipeline import IntentPipeline
from core.types import Exemplar, Prediction
from storage import models, projects
from storage.database import Transaction
from storage.records import ModelVersionRecord, ProjectRecord


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
        raise NotFound(
            f"'{name}' has no trained model yet.",
            f"Train one: on the Train page, or by `intent-studio train {name}`.",
        )
    return project, champion


@contextmanager
def checked_out(studio: Studio, reference: str) -> Iterator[tuple[Path, str]]:
    """Lay a model version's or bundle's files out in a folder that goes away again."""
    if _is_bundle(reference):
        from core.bundle.archive import open_bundle

        with open_bundle(Path(reference)) as (folder, _):
            yield folder, Path(reference).name
        return
    # Beside the artifacts, so that files are linked and not copied.
    scratch_home = studio.places.scratch
    scratch_home.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=scratch_home) as scratch:
        with studio.database.read() as connection:
            project, record = find_model(connection, reference)
            studio.artifacts.check_out(connection, record.tree_sha256, Path(scratch))
        yield Path(scratch), f"{project.name}@{record.number}"


def load_model(studio: Studio, reference: str) -> IntentPipeline:
    """Load a model version or a bundle, ready to predict.

    Raises:
        NotFound: It does not exist.
        ArtifactDamaged: Its files are not what they should be.
    """
    from core.bundle.layout import load_pipeline

    with checked_out(studio, reference) as (folder, name):
        return replace(load_pipeline(folder, bases=studio.bases), model_version=name)


def explain(pipeline: IntentPipeline, text: str) -> Explanation:
    """Answer one text and say in a sentence what decided it."""
    prediction = pipeline.predict([text])[0]
    return Explanation(prediction, sentence_of(prediction))


def evaluate(studio: Studio, reference: str, exemplars: Sequence[Exemplar]) -> dict[str, Any]:
    """Judge a model on labelled texts."""
    from app.services.judging import judge_exemplars

    if not exemplars:
        raise InvalidInput("The file has no labelled row to judge by.", "Add an intent column.")
    return judge_exemplars(load_model(studio, reference), exemplars)


def own_figures(studio: Studio, reference: str) -> dict[str, Any]:
    """Return how a model version or a bundle was judged when it was trained."""
    from core.bundle.layout import read_facts

    with checked_out(studio, reference) as (folder, _):
        return dict(read_facts(folder).get("metrics", {}))


def sentence_of(prediction: Prediction) -> str:
    """Say in one sentence what was answered, and because of which examples."""
    best = prediction.ranked[0]
    if prediction.decision.rule == "exact":
        names = " and ".join(prediction.decision.intents)
        return f"This is {names}, exactly as a labelled example says."
    helping = [n for n in prediction.neighbours if n.vote > 0]
    examples = "; ".join(f"“{n.text}”" for n in helping[:2])
    because = f", mostly because of {examples}" if examples else ""
    if prediction.decision.out_of_scope:
        return (
            f"No intent fits well enough: the best, {best.intent}, scores {best.score:.2f}, under "
            f"the limit of {prediction.decision.threshold:.2f}{because}."
        )
    return f"This is {best.intent} ({best.probability:.0%}){because}."


def _is_bundle(reference: str) -> bool:
    if reference.endswith(".zip"):
        return True
    try:
        return Path(reference).is_file()
    except OSError:  # too long for the name of a file, and fine for that of a project
        return False
