"""Train encoders without labels, from conversations or from marked values; others start there."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version as package_version
from pathlib import Path
from typing import Any

from app.jobs.context import JobContext, Publish
from app.services.conversations.reading import read_pairs, require_logs, stored_logs
from app.services.embedding import resolve_device
from app.services.training.child import drive, latest_checkpoint_of, load_base
from app.services.training.marked_utterances import read_utterances, require_slots
from core.recipes.conversations import (
    RANKING_KINDS,
    ConvertRecipe,
    DialoguesRecipe,
    read_ranking_recipe,
)
from core.recipes.templates import TemplatesRecipe, read_template_recipe
from core.text import counted
from storage import conversation_logs, models, projects
from storage.artifacts import ArtifactStore, record_tree
from storage.database import Transaction
from storage.log import versions
from storage.records import ProjectRecord

_CHECKPOINT_STEPS = 20

EncoderRecipe = DialoguesRecipe | ConvertRecipe | TemplatesRecipe
ENCODER_KINDS = (*RANKING_KINDS, "templates")
"""The recipes that make an encoder, and not a model that answers."""


def read_encoder_recipe(kind: str, settings: dict[str, object]) -> EncoderRecipe:
    """Build a recipe that makes an encoder, as `read_recipe` does for labels.

    Raises:
        InvalidInput: A setting is unknown or out of its range; all such settings are named.
    """
    if kind == "templates":
        return read_template_recipe(settings)
    return read_ranking_recipe(kind, settings)


def encoder_payload(
    connection: Transaction, project: ProjectRecord, kind: str, settings: dict[str, object]
) -> dict[str, Any]:
    """Freeze what the training of an encoder learns from: logs, or the utterances as they are now.

    Raises:
        InvalidInput: The recipe cannot be used, or the project has nothing for it to learn from.
    """
    recipe = read_encoder_recipe(kind, settings)
    told = {"recipe": recipe.model_dump(mode="json")}
    if isinstance(recipe, TemplatesRecipe):
        require_slots(connection, project)
        frozen = versions.cut(connection, project, "before training templates")
        return {**told, "dataset_version_id": frozen.id}
    return {**told, "logs": [log.id for log in require_logs(connection, project)]}


@dataclass(frozen=True, slots=True)
class _Lesson:
    """What one training learns from.

    Attributes:
        run: Trains from a base; None where the recipe has none.
        facts: Of the lineage.
        dataset_version_id: The version that was frozen for it, where it learns from utterances.
    """

    run: Callable[[Any], Any]
    facts: dict[str, Any]
    dataset_version_id: int | None = None


def do_encoder_training(context: JobContext) -> Publish:
    """Train in the child process; the returned function publishes the encoder as a version."""
    payload = context.job.payload
    settings = dict(payload["recipe"])
    recipe = read_encoder_recipe(settings.pop("kind"), settings)
    with context.database.read() as connection:
        project = projects.get(connection, context.job.project_id or 0)
    if isinstance(recipe, TemplatesRecipe):
        lesson = _from_slots(context, project, recipe)
    else:
        lesson = _from_conversations(context, project, recipe)
    context.report(0.01, "loading the encoder")
    base = None if isinstance(recipe, ConvertRecipe) else load_base(context, payload["base"])
    made = lesson.run(base)
    context.told = 0.0
    context.report(0.97, "storing the encoder")
    facts = {
        "project": project.name,
        "model_version": f"{project.name}, trained {context.job.created_at[:16]}",
        **lesson.facts,
        "code_version": package_version("intent-studio"),
        "recipe": recipe.model_dump(mode="json"),
        "fingerprint": made.encoder.fingerprint,
        "base": "" if base is None else _name_of(str(payload["base"])),
        "base_fingerprint": None if base is None else base.fingerprint,
    }
    return _publisher(context, project, made, facts, lesson.dataset_version_id)


def _from_conversations(
    context: JobContext, project: ProjectRecord, recipe: DialoguesRecipe | ConvertRecipe
) -> _Lesson:
    from core.training.from_conversations.runs import (  # torch, from here on
        RankingInputs,
        run_ranking,
    )

    payload = context.job.payload
    with context.database.read() as connection:
        logs = [conversation_logs.find(connection, project.id, key) for key in payload["logs"]]

    def run(base: Any) -> Any:
        with stored_logs(context.places, context.database, logs) as folders:
            inputs = RankingInputs(
                pairs=lambda: read_pairs(folders, recipe.contexts),
                encoder=base,
                device=resolve_device(payload["device"]),
                checkpoint_every=_CHECKPOINT_STEPS,
            )
            return drive(context, run_ranking(recipe, inputs, latest_checkpoint_of(context)))

    n_dialogues = sum(log.n_dialogues for log in logs)
    told = f"{counted(n_dialogues, 'conversation')} of {counted(len(logs), 'log')}"
    facts = {
        "conversations": told,
        "logs": [{"source": log.source, "tree_sha256": log.tree_sha256} for log in logs],
        "n_pairs": sum(log.n_turns - log.n_dialogues for log in logs),
    }
    return _Lesson(run, facts)


def _from_slots(context: JobContext, project: ProjectRecord, recipe: TemplatesRecipe) -> _Lesson:
    from core.responses import Ranker
    from core.training.from_templates import TemplateInputs, run_templates

    payload = context.job.payload
    with context.database.read() as connection:
        frozen = versions.get(connection, payload["dataset_version_id"])
        state = versions.state_at(connection, project.id, frozen.revision)
    utterances = read_utterances(state.utterance_records(), recipe)

    def run(base: Any) -> Any:
        inputs = TemplateInputs(
            utterances, base, resolve_device(payload["device"]), _CHECKPOINT_STEPS
        )
        tuned = drive(context, run_templates(recipe, inputs, latest_checkpoint_of(context)))
        return Ranker(tuned)

    facts = {
        "dataset_version": f"{project.name}, data version {frozen.number}",
        "dataset_sha256": frozen.sha256,
        "n_utterances": len(utterances),
        "n_marked": sum(bool(one.slots) for one in utterances),
    }
    return _Lesson(run, facts, frozen.id)


def _name_of(base: str) -> str:
    return Path(base).name if Path(base).is_dir() else base


def _publisher(
    context: JobContext,
    project: ProjectRecord,
    ranker: Any,
    facts: dict[str, Any],
    dataset_version_id: int | None,
) -> Publish:
    """Store the files now; return the step that makes them a version."""
    store = ArtifactStore(context.places.artifacts)
    with tempfile.TemporaryDirectory(prefix="encoder-") as scratch:
        ranker.save(Path(scratch) / "encoder")
        files = store.put_files(Path(scratch))

    def publish(connection: Transaction) -> dict[str, Any]:
        values = {
            "project_id": project.id,
            "tree_sha256": record_tree(connection, store, files),
            "dataset_version_id": dataset_version_id,
            "job_id": context.job.id,
            "lineage": facts,
            "metrics": {},
            "pins": {"kept": 0, "broken": []},
            "kind": "encoder",
        }
        made = models.add(connection, values)
        return {"model": f"{project.name}@{made.number}", "kind": "encoder"}

    return publish
