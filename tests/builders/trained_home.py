"""A project with two model versions whose jobs are done in the test's own process."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pytest
import sqlalchemy as sa

from app.bootstrap import open_studio, workplace_of
from app.jobs.context import JobContext, Publish, Stopped
from app.jobs.worker import work
from app.services.data.bulk import Allowed, BulkAct, Edit
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.data.utterances import change_many
from app.services.discover.runs import do_grouping, start_grouping
from app.services.discover.stored import GroupsView, list_groups
from app.services.maps import layouts
from app.services.maps.requests import start_layout
from app.services.studio import Studio
from app.services.training.runs import TrainingRequest, start_training
from app.settings import Settings
from core.maps.layouts import pca_layout
from core.recipes import labels
from core.training import checkpoints
from core.training.from_labels import rounds
from core.types import FloatArray
from storage import jobs, models, projects
from storage.log import edits, events, versions
from storage.log.events import Action
from storage.queries import dataset, utterances
from storage.queries.utterances import Filter
from storage.records import JobRecord, ModelVersionRecord, UtteranceRecord
from storage.tables import model_version

EVERY_TEXT = Allowed(labelled=True, test=True)
"""What a bulk act may change: any text."""

CARDS = [f"my card is lost number {n}" for n in range(8)]
BILLS = [f"why is the bill so high in month {n}" for n in range(6)]
POOL = [f"what about {word}" for word in ["refunds", "parcels", "passwords", "greetings", "orders"]]


class Idle:
    """Starts nothing: these tests do the jobs themselves, in this process."""

    def ensure_running(self) -> None:
        pass


def opened(home: Path) -> Studio:
    return dataclasses.replace(open_studio(Settings(home=home, device="cpu")), executor=Idle())


def raw_project(studio: Studio, folder: Path, texts: Sequence[str]) -> Studio:
    """Import texts without an intent into a new project `raw`, through a file in `folder`."""
    idle = dataclasses.replace(studio, executor=Idle())
    create_project(idle, "raw")
    path = folder / "raw.txt"
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    import_file(idle, ImportRequest("raw", path))
    return idle


def do(studio: Studio, job_id: str) -> JobRecord:
    with studio.database.write() as connection:
        claimed = jobs.claim(connection, job_id)
    assert work(workplace_of(studio), claimed) == 0
    with studio.database.read() as connection:
        return jobs.get(connection, job_id)


def train_here(studio: Studio, request: TrainingRequest) -> None:
    """Train a version in this process; a child would load torch again for each job."""
    job = start_training(dataclasses.replace(studio, executor=Idle()), request)
    assert do(studio, job.id).state == "succeeded"


def lay_out_here(studio: Studio, project: str, model: int | None = None) -> None:
    """Store a layout as UMAP's in this process; its places are made in no time, by PCA."""
    idle = dataclasses.replace(studio, executor=Idle())
    job = start_layout(idle, project, model, "umap")

    def mirrored(embeddings: FloatArray, **_: object) -> FloatArray:
        placed: FloatArray = -pca_layout(embeddings)
        return placed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layouts, "umap_layout", mirrored)
        assert do(studio, job.id).state == "succeeded"


def group_here(studio: Studio, project: str) -> None:
    """Group the unlabelled texts in this process."""
    job = start_grouping(dataclasses.replace(studio, executor=Idle()), project)
    assert do(studio, job.id).state == "succeeded"


def found_groups(studio: Studio, project: str, **how: object) -> Publish:
    """Group the unlabelled texts, up to the step that stores the groups; return that step."""
    queued = start_grouping(studio, project, **how)  # type: ignore[arg-type]
    with studio.database.write() as connection:
        claimed = jobs.claim(connection, queued.id)
    return do_grouping(studio, JobContext(studio.places, studio.database, claimed))


def grouped(studio: Studio, project: str = "raw", **how: object) -> GroupsView:
    job = start_grouping(studio, project, **how)  # type: ignore[arg-type]
    assert do(studio, job.id).state == "succeeded"
    return list_groups(studio, project)


def do_killed_at(studio: Studio, job_id: str, step: int) -> JobRecord:
    """Do a job whose process dies once the checkpoint of a step is kept, and do it again."""
    keep = checkpoints.keep_checkpoint

    def die_after(folder: Path, checkpoint: checkpoints.Checkpoint) -> None:
        keep(folder, checkpoint)
        if checkpoint.step == step:
            raise KeyboardInterrupt  # as sudden as a kill: nothing below writes any end

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "keep_checkpoint", die_after)
        with pytest.raises(KeyboardInterrupt):
            do(studio, job_id)
    with studio.database.write() as connection:
        jobs.put_back(connection, job_id, 1)
    return do(studio, job_id)


def do_stopped_in(studio: Studio, job_id: str, stage: str) -> JobRecord:
    """Do a job that a person cancels once the first checkpoint of a stage is kept."""
    keep = checkpoints.keep_checkpoint

    def stop_after(folder: Path, checkpoint: checkpoints.Checkpoint) -> None:
        keep(folder, checkpoint)
        if checkpoint.stage == stage:
            raise Stopped

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "keep_checkpoint", stop_after)
        stopped = do(studio, job_id)
    assert stopped.state == "cancelled"
    return stopped


def add_enough_unlabelled(studio: Studio, patch: pytest.MonkeyPatch) -> list[str]:
    """Give the first project 80 unlabelled texts, and let a training learn from so few."""
    patch.setattr(labels, "_FEWEST_TEXTS", 40)
    patch.setattr(rounds, "_CHANCE", 0.0)  # a random encoder learns by chance
    with studio.database.write() as connection:
        said = [row for row in dataset.utterances(connection, 1) if row.labels]
        made = [
            edits.create_utterance(f"{row.id}{n}", f"{row.text} {end}", "pool", "f", None)
            for row in said
            for n, end in enumerate(("now", "please", "today", "my friend"))
        ]
        events.record(connection, 1, Action("import", "local"), made)
    return [str(change.after["text"]) for change in made]


def version(studio: Studio, number: int) -> ModelVersionRecord:
    """Read a version of the first project."""
    with studio.database.read() as connection:
        return models.find(connection, 1, number)


def tuned_elsewhere(studio: Studio) -> None:
    """Let version 2 be one whose encoder was tuned on other labels: its examples may test it."""
    recipe = version(studio, 1).lineage["recipe"]
    lineage = {**version(studio, 2).lineage, "recipe": recipe}
    this = sa.and_(model_version.c.project_id == 1, model_version.c.number == 2)
    with studio.database.write() as connection:
        connection.execute(sa.update(model_version).where(this).values(lineage=lineage))


def train(studio: Studio, base: Path | str, recipe: dict[str, object], name: str = "p") -> None:
    with studio.database.write() as connection:
        project = projects.find(connection, name)
        frozen = versions.cut(connection, project, "before training")
        payload = {"dataset_version_id": frozen.id, "recipe": recipe, "base": str(base)}
        job = jobs.enqueue(connection, "train", {**payload, "device": "cpu"}, project.id)
    assert do(studio, job.id).state == "succeeded"


def change(studio: Studio, text: str, field: str, value: object, project: str = "p") -> None:
    with studio.database.write() as connection:
        found = projects.find(connection, project)
        rows = dataset.utterances(connection, found.id)
        row = next(row for row in rows if row.text == text)
        edit = edits.edit(row, field, value)
        if field == "labels":
            edit = edits.label(row, value)
        events.record(connection, found.id, Action("edit", "local"), [edit])


def add_test(studio: Studio, text: str, intent: str) -> None:
    """Import a test text of an intent into the first project."""
    made = edits.create_utterance("new", text, "test", "f", [intent_ids(studio)[intent]])
    with studio.database.write() as connection:
        events.record(connection, 1, Action("import", "local"), [made])


def label(studio: Studio, text: str, intent: str) -> None:
    """Label a text of the first project, labelled or not, as an act on the page Data does."""
    with studio.database.read() as connection:
        key = dataset.intent_named(connection, 1, intent).id
        row = next(row for row in dataset.utterances(connection, 1) if row.text == text)
    change_many(studio, "p", Filter(ids=(row.id,)), Edit("label", key), BulkAct(1, EVERY_TEXT))


def rows(studio: Studio) -> dict[str, UtteranceRecord]:
    """Utterances of the first project by their texts."""
    with studio.database.read() as connection:
        return {row.text: row for row in dataset.utterances(connection, 1)}


def intent_ids(studio: Studio) -> dict[str, str]:
    """Ids of the first project's intents by their names."""
    with studio.database.read() as connection:
        return utterances.intent_ids(connection, 1)


def rows_of(studio: Studio) -> dict[str, tuple[str, tuple[str, ...] | None]]:
    """Text and names of the labels by id."""
    with studio.database.read() as connection:
        project = projects.find(connection, "p")
        names = dataset.intent_names(connection, project.id)
        return {
            row.id: (row.text, None if row.labels is None else tuple(names[k] for k in row.labels))
            for row in dataset.utterances(connection, project.id)
        }
