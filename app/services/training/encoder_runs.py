"""Train encoders without labels, from conversations or templates; models start from them."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version as package_version
from typing import TYPE_CHECKING, Any

from app.jobs.context import JobContext, Publish
from app.services.conversations.reading import read_pairs, stored_logs
from app.services.embedding import resolve_device
from app.services.studio import Studio
from app.services.training.bases import base_name, load_base
from app.services.training.child import TrainingProgress, drive, latest_checkpoint_of
from app.services.training.frozen import frozen_state
from app.services.training.marked_utterances import read_utterances
from core.recipes.conversations import ConvertRecipe, DialoguesRecipe
from core.recipes.read import AnyEncoderRecipe
from core.recipes.templates import TemplatesRecipe
from core.text import counted
from storage import conversation_logs, models
from storage.database import Transaction
from storage.log import versions
from storage.records import ProjectRecord

if TYPE_CHECKING:
    from core.encoders.base import Encoder
    from core.responses import Ranker
    from core.training.checkpoints import Checkpoint

_CHECKPOINT_STEPS = 20


@dataclass(frozen=True, slots=True)
class _Lesson:
    """A training as a function of its base (or None) and its checkpoint (or None).

    `facts` about its data are for the lineage.
    """

    run: Callable[["Encoder | None", "Checkpoint | None"], "Ranker"]
    facts: dict[str, Any]
    dataset_version_id: int | None = None


def train_encoder(
    studio: Studio, context: JobContext, project: ProjectRecord, recipe: AnyEncoderRecipe
) -> Publish:
    """Train in the child process; the returned function publishes the encoder as a version."""
    from core.training.devices import precision_of  # imports torch

    payload = context.job.payload
    if isinstance(recipe, TemplatesRecipe):
        lesson = _from_slots(context, project, recipe)
    else:
        lesson = _from_conversations(studio, context, project, recipe)
    context.report(0.01, "opening the language model")
    base = load_base(studio, payload["base"]) if recipe.needs_base else None
    earlier = latest_checkpoint_of(context)
    ranker = lesson.run(base, earlier)
    context.report(0.97, "saving", at_once=True)
    facts = {
        "project": project.name,
        "model_version": f"{project.name}, trained {context.job.created_at[:16]}",
        **lesson.facts,
        "code_version": package_version("intent-studio"),
        "precision": precision_of(recipe, resolve_device(payload["device"]), earlier),
        "recipe": recipe.model_dump(mode="json"),
        "fingerprint": ranker.encoder.fingerprint,
        "base": "" if base is None else base_name(str(payload["base"])),
        "base_fingerprint": None if base is None else base.fingerprint,
    }
    record_files = context.store_files(lambda folder: ranker.save(folder / "encoder"))

    def publish(connection: Transaction) -> dict[str, Any]:
        values = {
            "project_id": project.id,
            "tree_sha256": record_files(connection),
            "dataset_version_id": lesson.dataset_version_id,
            "job_id": context.job.id,
            "lineage": facts,
            "metrics": {},
            "pins": {"kept": 0, "broken": []},
            "kind": "encoder",
        }
        model = models.add(connection, values)
        return {"model": f"{project.name}@{model.number}", "kind": "encoder"}

    return publish


def _from_conversations(
    studio: Studio,
    context: JobContext,
    project: ProjectRecord,
    recipe: DialoguesRecipe | ConvertRecipe,
) -> _Lesson:
    from core.training.from_conversations.runs import (  # imports torch
        RankingInputs,
        run_ranking,
    )

    payload = context.job.payload
    with context.database.read() as connection:
        logs = [conversation_logs.find(connection, project.id, key) for key in payload["logs"]]

    def run(base: "Encoder | None", resume: "Checkpoint | None") -> "Ranker":
        with stored_logs(studio, logs) as folders:
            inputs = RankingInputs(
                pairs=lambda: read_pairs(folders, recipe.contexts),
                encoder=base,
                device=resolve_device(payload["device"]),
                checkpoint_every=_CHECKPOINT_STEPS,
            )
            run_events = run_ranking(recipe, inputs, resume)
            ranker: Ranker = drive(TrainingProgress(context), run_events)
            return ranker

    n_dialogues = sum(log.n_dialogues for log in logs)
    facts = {
        "conversations": f"{counted(n_dialogues, 'conversation')} of {counted(len(logs), 'log')}",
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
        state = frozen_state(connection, project.id, frozen)
    utterances = read_utterances(state.utterance_records(), recipe)

    def run(base: "Encoder | None", resume: "Checkpoint | None") -> Ranker:
        if base is None:
            message = "templates need a base"
            raise ValueError(message)
        inputs = TemplateInputs(
            utterances,
            base,
            device=resolve_device(payload["device"]),
            checkpoint_every=_CHECKPOINT_STEPS,
        )
        tuned = drive(TrainingProgress(context), run_templates(recipe, inputs, resume))
        return Ranker(tuned)

    facts = {
        "dataset_version": f"{project.name}, data version {frozen.number}",
        "dataset_sha256": frozen.sha256,
        "n_utterances": len(utterances),
        "n_marked": sum(bool(utterance.slots) for utterance in utterances),
    }
    return _Lesson(run, facts, frozen.id)
