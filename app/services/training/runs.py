"""Train model versions: queue a job, follow it, and run it in the child process."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version as package_version
from typing import TYPE_CHECKING, Any

from app.jobs.context import JobContext, Publish
from app.services.conversations.reading import require_logs
from app.services.embedding import embed_texts, resolve_device
from app.services.studio import Studio
from app.services.training.bases import (
    BUNDLED,
    base_name,
    learned_by,
    live_base,
    load_base,
    settled_base,
)
from app.services.training.child import (
    Span,
    TrainingProgress,
    drive,
    latest_checkpoint_of,
    spans_of,
)
from app.services.training.cores import core_labels, pool_of
from app.services.training.encoder_runs import train_encoder
from app.services.training.estimate import (
    Size,
    busy_factor,
    estimate,
    instant_seconds,
    require_labels,
    share_after_steps,
)
from app.services.training.frozen import frozen_state
from app.services.training.gate import Gate, as_it_would_answer, judge_candidate, judge_pins
from app.services.training.marked_utterances import require_slots
from app.services.training.unlabelled import gain_figures, pool_facts, unlabelled_texts
from core.encoders.bundled import BUNDLED_LICENCE
from core.recipes.base import Recipe
from core.recipes.labels import AnyModelRecipe, InstantRecipe, ModelRecipe, TunedRecipe
from core.recipes.read import read_recipe
from core.types import Exemplar, Intent
from storage import jobs, models, projects
from storage.database import Transaction
from storage.log import versions
from storage.log.replay import State
from storage.people import acts
from storage.people.acts import Act
from storage.people.request_keys import Keep, keep_nothing
from storage.records import DatasetVersionRecord, JobRecord, ProjectRecord

if TYPE_CHECKING:
    from app.services.answering.judging import UnlearnedTests
    from core.pipeline import IntentPipeline
    from core.training.checkpoints import Checkpoint
    from core.training.from_labels.inputs import CoreLabels, RunInputs

_CHECKPOINT_STEPS = 40
_WHOLE, _LAST = Span(0.04, 0.99), Span(0.96, 0.99)
_POLL_SECONDS = 0.15
_CHECK_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class TrainingRequest:
    """What to train; `settings` are those that differ from the recipe's defaults.

    Attributes:
        base: `bundled`, a folder, a hub id, or a model version `PROJECT@N`; None is what the live
            version's training started from.
        gate: Whether a model that passes the gate is promoted at once, or waits for a person, a
            first one too; None applies the project's setting as it is when the model is judged,
            by which a first one never waits.
    """

    project: str
    recipe: str
    settings: dict[str, object]
    base: str | None = None
    gate: bool | None = True


def start_training(
    studio: Studio, request: TrainingRequest, keep: Keep[JobRecord] = keep_nothing
) -> JobRecord:
    """Freeze the data as a dataset version and queue the training of a model version on it.

    Recipes for conversations use the project's current logs. `keep` is called with the job in the
    transaction that queues it.

    Raises:
        InvalidInput: The recipe or the labels do not allow training.
        NotFound: The project or base is unknown.
        TooManyJobs: Too many jobs wait.
    """
    read_recipe(request.recipe, request.settings)  # reports bad settings before an unknown project
    # It goes through all texts, so it is not done while others wait to write. What the texts are by
    # then is checked below, and the training itself counts those that it has.
    told = estimate(studio, request.project, request.recipe, request.settings)
    with studio.database.write() as connection:
        project = projects.find(connection, request.project)
        recipe = read_recipe(request.recipe, request.settings, project.task)
        own = live_base(connection, project)[0] if request.base is None else request.base
        payload = {
            "base": settled_base(connection, own),
            "device": studio.settings.device,
            "recipe": recipe.model_dump(mode="json"),
            "told_seconds": busy_factor() * told.seconds,
            **_freeze_data(connection, project, recipe),
        }
        if recipe.makes == "model":
            payload["gate"] = request.gate
        device = "cpu" if studio.settings.device == "auto" else studio.settings.device
        job = jobs.enqueue(connection, "train", payload, project.id, device)
        acts.note(connection, project.id, Act("train", studio.settings.actor, recipe.kind))
        keep(connection, job)
    studio.executor.ensure_running()
    return job


def _freeze_data(
    connection: Transaction, project: ProjectRecord, recipe: Recipe
) -> dict[str, object]:
    """Freeze the project's logs or current utterances; raises InvalidInput without usable data."""
    if recipe.learns_from == "conversations":
        return {"logs": [log.id for log in require_logs(connection, project)]}
    if recipe.learns_from == "templates":
        require_slots(connection, project)
    else:
        require_labels(connection, project)
    frozen = versions.cut(connection, project, "before a training")
    return {"dataset_version_id": frozen.id}


def follow(studio: Studio, job_id: str) -> Iterator[JobRecord]:
    """Yield a job's row repeatedly until the job has ended."""
    checked = time.monotonic()
    while True:
        with studio.database.read() as connection:
            job = jobs.get(connection, job_id)
        yield job
        if job.ended:
            return
        if time.monotonic() - checked > _CHECK_SECONDS:  # the supervisor may have been killed
            checked = time.monotonic()
            studio.executor.ensure_running()
        time.sleep(_POLL_SECONDS)


def do_training(studio: Studio, context: JobContext) -> Publish:
    """Train in the child process; the returned function publishes the version."""
    with context.database.read() as connection:
        project = projects.get(connection, context.job.project_id or 0)
    settings = context.job.payload["recipe"]
    recipe = read_recipe(str(settings["kind"]), settings, project.task)
    if isinstance(recipe, ModelRecipe):
        return _train_model(studio, context, project, recipe)
    return train_encoder(studio, context, project, recipe)


def _train_model(
    studio: Studio, context: JobContext, project: ProjectRecord, recipe: AnyModelRecipe
) -> Publish:
    """Train a model version. The base embeds its examples, too: Review doubts labels by these."""
    from app.services.answering.judging import judge  # imports torch
    from core.training.from_labels.inputs import RunInputs
    from core.training.from_labels.runs import run_recipe

    payload = context.job.payload
    data = _load_data(context, project, payload["dataset_version_id"])
    context.report(0.01, "opening the language model", at_once=True)
    encoder, learned = load_base(studio, payload["base"]), learned_by(studio, payload["base"])
    exemplars = _exemplars(data, "train")
    tests = _tests(data, exemplars, learned)
    intents = _intents(data, exemplars)
    pool, cores = _unlabelled(context, data, recipe)
    size = Size(len(exemplars), len(intents), project.task, len(pool))
    progress = _progress(context, recipe, size, len(tests.texts))
    inputs = RunInputs(
        exemplars=exemplars,
        intents=intents,
        encoder=encoder,
        device=resolve_device(payload["device"]),
        embed=partial(embed_texts, context.database, told=progress.texts),
        checkpoint_every=_CHECKPOINT_STEPS,
        watched=tests.texts,
        pool=pool,
        task=project.task,
        cores=cores,
        learned=learned,
        told=progress.part,
    )
    earlier = latest_checkpoint_of(context)
    result = drive(progress, run_recipe(recipe, inputs, earlier))
    progress.begin("encoding")
    inputs.embed(encoder, [exemplar.text for exemplar in result.pipeline.exemplars])
    progress.begin("judging")
    facts = _facts(context, data, recipe, inputs, earlier) | pool_facts(result.pool)
    facts["metrics"] = {**judge(result, inputs, tests), **gain_figures(result.pool)}
    answering = as_it_would_answer(studio, project, data.version, result.pipeline)
    facts["pins"] = judge_pins(studio, project, data.version, answering)
    gate = _judged(studio, context, data, answering, facts)
    return _publisher(studio, context, data, result.pipeline, facts, gate)


def _judged(
    studio: Studio,
    context: JobContext,
    data: "_Data",
    answering: "IntentPipeline",
    facts: dict[str, Any],
) -> Gate:
    """Judge a new version; where its training was to wait, even a first one waits for a person."""
    may = _may_promote(context)
    gate = judge_candidate(studio, data.project, data.version, answering, facts, may_promote=may)
    return gate.left_to_a_person() if context.job.payload.get("gate") is False else gate


def _may_promote(context: JobContext) -> bool:
    """Whether the gate may promote: as the request said, else as the project's setting is now."""
    asked: bool | None = context.job.payload.get("gate", True)
    if asked is not None:
        return asked
    with context.database.read() as connection:
        return projects.get(connection, context.job.project_id or 0).auto_promote


def _progress(
    context: JobContext, recipe: AnyModelRecipe, size: Size, n_tests: int
) -> TrainingProgress:
    """Share out a training's progress: by its stages, or for a tuned encoder by its steps."""
    if isinstance(recipe, InstantRecipe):
        seconds = instant_seconds(recipe, size, n_tests)
        return TrainingProgress(context, spans_of(seconds, _WHOLE), in_all=True)
    spans = {"judging": _LAST}
    return TrainingProgress(context, spans, share_after_steps(recipe, size, n_tests))


@dataclass(frozen=True, slots=True)
class _Data:
    project: ProjectRecord
    version: DatasetVersionRecord
    state: State


def _load_data(context: JobContext, project: ProjectRecord, version_id: int) -> _Data:
    with context.database.read() as connection:
        version = versions.get(connection, version_id)
        state = frozen_state(connection, project.id, version)
    return _Data(project, version, state)


def _unlabelled(
    context: JobContext, data: _Data, recipe: AnyModelRecipe
) -> "tuple[tuple[str, ...], CoreLabels | None]":
    """Return the texts to learn from, and the labels of groups with the texts left of these."""
    texts = cache(partial(unlabelled_texts, data.state))
    with context.database.read() as connection:
        cores = core_labels(connection, data.project, data.state, data.version.revision, texts)
    if not isinstance(recipe, TunedRecipe):
        return (), cores
    return pool_of(texts(), () if cores is None else cores.doubtful), cores


def _publisher(
    studio: Studio,
    context: JobContext,
    data: _Data,
    pipeline: "IntentPipeline",
    facts: dict[str, Any],
    gate: Gate,
) -> Publish:
    """Store the files now; return the step that makes them a model version."""
    from core.bundle.layout import save_pipeline

    record_files = context.store_files(partial(save_pipeline, pipeline, facts))

    def publish(connection: Transaction) -> dict[str, Any]:
        lineage = {k: v for k, v in facts.items() if k not in ("metrics", "pins")}
        values = {
            "project_id": data.project.id,
            "tree_sha256": record_files(connection),
            "dataset_version_id": data.version.id,
            "job_id": context.job.id,
            "lineage": {**lineage, "encoder_fingerprint": pipeline.encoder.fingerprint},
            "metrics": facts["metrics"],
            "pins": facts["pins"],
        }
        model = models.add(connection, values)
        promoted = gate.opens_for(models.champion(connection, data.project.id))
        if promoted:
            models.point(connection, model, studio.settings.actor)
        return {
            "model": f"{data.project.name}@{model.number}",
            "metrics": facts["metrics"],
            "gate": list(gate.reasons),
            "promoted": promoted,
            "against": None if gate.beaten is None else gate.beaten.number,
        }

    return publish


def _facts(
    context: JobContext,
    data: _Data,
    recipe: AnyModelRecipe,
    inputs: "RunInputs",
    earlier: "Checkpoint | None",
) -> dict[str, Any]:
    from core.training.devices import precision_of  # imports torch

    base = str(context.job.payload["base"])
    return {
        "project": data.project.name,
        "model_version": f"{data.project.name}, trained {context.job.created_at[:16]}",
        "dataset_version": f"{data.project.name}, data version {data.version.number}",
        "dataset_sha256": data.version.sha256,
        "n_exemplars": len(inputs.exemplars),
        "intents": [{"name": i.name, "description": i.description} for i in inputs.intents],
        "recipe": recipe.model_dump(mode="json"),
        "rejection": recipe.out_of_scope_rejection,
        "base": base_name(base),
        "base_licence": BUNDLED_LICENCE if base == BUNDLED else "see the base's own",
        "base_fingerprint": inputs.encoder.fingerprint,
        "code_version": package_version("intent-studio"),
        "precision": precision_of(recipe, inputs.device, earlier),
    }


def _tests(data: _Data, exemplars: Sequence[Exemplar], learned: frozenset[str]) -> "UnlearnedTests":
    """Return the texts to test by; `learned` are hashes of what the base has learned."""
    from app.services.answering.judging import unlearned_tests
    from core.pipeline import said_by

    return unlearned_tests(_exemplars(data, "test"), said_by(exemplars, learned), _outside(data))


def _outside(data: _Data) -> tuple[str, ...]:
    """Return the texts of the test set that are labelled out of scope, sorted."""
    if data.project.task == "multi-label":
        return ()
    rows = data.state.utterance_records()
    return tuple(sorted(row.text for row in rows if row.split == "test" and row.labels == ()))


def _exemplars(data: _Data, split: str) -> tuple[Exemplar, ...]:
    """Return the labelled utterances of a split, ordered by text.

    Left out are synthetic ones made of a test text, which repeat its words. In a multi-label
    project, utterances labelled with no intent are included. The order determines the folds, and
    ids are random: ordering by text gives equal models for equal files and seeds.
    """
    names = {key: row["name"] for key, row in data.state.intents.items()}
    with_none = data.project.task == "multi-label"
    records = data.state.utterance_records()
    tested = {record.id for record in records if record.split == "test"}
    exemplars = (
        Exemplar(
            record.id,
            record.text,
            tuple(sorted(names[key] for key in record.labels)),
            record.synthetic,
        )
        for record in records
        if record.split == split
        and record.synthetic not in tested
        and (record.labels or (with_none and record.labels is not None))
    )
    return tuple(sorted(exemplars, key=lambda exemplar: (exemplar.text, exemplar.id)))


def _intents(data: _Data, exemplars: Sequence[Exemplar]) -> tuple[Intent, ...]:
    taught = {name for exemplar in exemplars for name in exemplar.intents}
    records = [record for record in data.state.intent_records() if record.name in taught]
    intents = (Intent(record.name, record.description) for record in records)
    return tuple(sorted(intents, key=lambda intent: intent.name))
