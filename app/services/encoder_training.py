"""Train encoders from a project's conversations; they answer nothing, others start from them."""

import tempfile
from collections.abc import Sequence
from importlib.metadata import version as package_version
from pathlib import Path
from typing import Any

from app.jobs.context import JobContext, Publish
from app.services.conversations import read_pairs, require_logs, stored_logs
from app.services.driving import drive, latest_checkpoint_of, load_base
from app.services.embedding import resolve_device
from core.ranking_recipes import ConvertRecipe, read_ranking_recipe
from core.text import counted
from storage import dialogues, models, projects
from storage.artifacts import ArtifactStore, record_tree
from storage.database import Transaction
from storage.records import ConversationLogRecord, ProjectRecord

_CHECKPOINT_STEPS = 20


def ranking_payload(
    connection: Transaction, project: ProjectRecord, kind: str, settings: dict[str, object]
) -> dict[str, Any]:
    """Say what a training on conversations learns from: the logs as they are now.

    Raises:
        InvalidInput: The recipe cannot be used, or the project has no conversations.
    """
    recipe = read_ranking_recipe(kind, settings)
    logs = require_logs(connection, project)
    return {"recipe": recipe.model_dump(mode="json"), "logs": [log.id for log in logs]}


def do_encoder_training(context: JobContext) -> Publish:
    """Train in the child process; the returned function publishes the encoder as a version."""
    from core.training.ranking_runs import RankingInputs, run_ranking  # torch, from here on

    payload = context.job.payload
    settings = dict(payload["recipe"])
    recipe = read_ranking_recipe(settings.pop("kind"), settings)
    with context.database.read() as connection:
        project = projects.get(connection, context.job.project_id or 0)
        logs = [dialogues.find(connection, project.id, key) for key in payload["logs"]]
    context.report(0.01, "loading the encoder")
    base = None if isinstance(recipe, ConvertRecipe) else load_base(context, payload["base"])
    with stored_logs(context.places, context.database, logs) as folders:
        inputs = RankingInputs(
            pairs=lambda: read_pairs(folders, recipe.contexts),
            encoder=base,
            device=resolve_device(payload["device"]),
            checkpoint_every=_CHECKPOINT_STEPS,
        )
        ranker = drive(context, run_ranking(recipe, inputs, latest_checkpoint_of(context)))
    context.told = 0.0
    context.report(0.97, "storing the encoder")
    facts = _facts(context, project, logs)
    facts |= {"recipe": recipe.model_dump(mode="json"), "fingerprint": ranker.encoder.fingerprint}
    facts["base"] = "" if base is None else _name_of(str(payload["base"]))
    facts["base_fingerprint"] = None if base is None else base.fingerprint
    return _publisher(context, project, ranker, facts)


def _name_of(base: str) -> str:
    return Path(base).name if Path(base).is_dir() else base


def _facts(
    context: JobContext, project: ProjectRecord, logs: Sequence[ConversationLogRecord]
) -> dict[str, Any]:
    n_dialogues = sum(log.n_dialogues for log in logs)
    return {
        "project": project.name,
        "model_version": f"{project.name}, trained {context.job.created_at[:16]}",
        "conversations": f"{counted(n_dialogues, 'conversation')} of {counted(len(logs), 'log')}",
        "logs": [{"source": log.source, "tree_sha256": log.tree_sha256} for log in logs],
        "n_pairs": sum(log.n_turns - log.n_dialogues for log in logs),
        "code_version": package_version("intent-studio"),
    }


def _publisher(
    context: JobContext, project: ProjectRecord, ranker: Any, facts: dict[str, Any]
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
            "dataset_version_id": None,
            "job_id": context.job.id,
            "lineage": facts,
            "metrics": {},
            "pins": {"kept": 0, "broken": []},
            "kind": "encoder",
        }
        made = models.add(connection, values)
        return {"model": f"{project.name}@{made.number}", "kind": "encoder"}

    return publish
