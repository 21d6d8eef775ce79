"""Export model versions as bundles, and import bundles."""

import shutil
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.services.answering.stored import (
    by_project,
    checked_out,
    find_model,
    is_bundle,
    require_answers,
)
from app.services.studio import Studio
from app.services.versions.bundle_figures import figures_of_bundle
from app.services.versions.comparison import questions_of
from app.services.versions.graphs import GraphWish, graph_folder
from core.bundle.card import MEASURED
from core.errors import MALFORMED, ArtifactDamaged, Conflict, InvalidInput, NotFound
from core.types import Exemplar, Task
from storage import models, projects
from storage.artifacts import record_tree
from storage.database import Transaction
from storage.people import acts
from storage.people.acts import Act
from storage.people.request_keys import Keep, keep_nothing
from storage.records import ProjectRecord

if TYPE_CHECKING:  # bundles hold encoders, whose library takes seconds to load
    from core.bundle.archive import Manifest
    from core.pipeline import IntentPipeline

_ADDED_BY_EXPORT = ("README.md", "predict.py")
_NO_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Handover:
    """How a bundle is made.

    Attributes:
        key_file: A private key that signs it.
        without_texts: Whether ids and hashes stand for exemplars' texts, and pins have none. So it
            is with each version that came without texts.
        graph: How it is made one graph for ONNX Runtime; None for an encoder of torch.
    """

    key_file: Path | None = None
    without_texts: bool = False
    graph: GraphWish | None = None


_AS_IT_IS = Handover()


def export_model(
    studio: Studio, reference: str, out: Path, how: Handover = _AS_IT_IS
) -> "Manifest":
    """Write a version as one zip that answers as its project does now, by its fence and names.

    Raises:
        InvalidInput: It is an encoder, and a bundle has to answer; the key cannot be used; or no
            graph can be made of it, or of too little accuracy.
        NotFound: It does not exist.
    """
    from core.bundle.archive import export_bundle
    from core.bundle.facts import read_facts
    from core.bundle.textless import LEFT_OUT, leave_out_texts

    require_answers(studio, reference)
    with checked_out(studio, reference) as (folder, name):
        tests = () if is_bundle(reference) else _keep(studio, name, folder)
        if how.without_texts or read_facts(folder).get(LEFT_OUT):
            leave_out_texts(folder)
        if how.graph is not None:
            folder = graph_folder(studio, folder, tests, how.graph)
        manifest = export_bundle(folder, out, how.key_file)
    if not is_bundle(reference):
        _note_export(studio, reference)
    return manifest


def _keep(studio: Studio, name: str, folder: Path) -> Sequence[Exemplar]:
    """Write into its folder how a version answers by its project now, how well, and the pins.

    Returns the project's test texts that it has not learned.
    """
    from app.services.answering.judging import unlearned_tests
    from core.bundle.facts import add_facts, read_facts
    from core.bundle.layout import keep_answers, load_pipeline
    from core.pipeline import learned_texts

    pipeline = by_project(studio, name, load_pipeline(folder, bases=studio.bases))
    keep_answers(folder, pipeline)
    with studio.database.read() as connection:
        project, _ = find_model(connection, name)
    questions = questions_of(studio, project.name)
    tests = unlearned_tests(questions.tests, learned_texts(pipeline)).texts
    measured = figures_of_bundle(studio, pipeline, tests)
    if measured:
        add_facts(folder, {MEASURED: measured})
    if questions.pins:  # whoever gets the bundle can check that it keeps them
        listed = [{"text": pin.text, "intents": pin.names} for pin in questions.pins]
        trained = read_facts(folder).get("pins", {})
        add_facts(folder, {"pins": {**trained, "expected": listed, "n_expected": len(listed)}})
    return tests


def export_encoder(studio: Studio, reference: str, out: Path) -> None:
    """Write an encoder version as a reproducible zip of a sentence-transformers folder.

    Raises:
        InvalidInput: The version answers intents; export it as a bundle.
        NotFound: It does not exist.
    """
    with studio.database.read() as connection:
        _, record = find_model(connection, reference)
    if record.kind != "encoder":
        raise InvalidInput(f"{reference} is more than an encoder.", "Export it as a bundle.")
    with checked_out(studio, reference) as (folder, _), zipfile.ZipFile(out, "w") as archive:
        home = folder / "encoder"
        for path in sorted(p for p in home.rglob("*") if p.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(home).as_posix(), _NO_TIME)
            with path.open("rb") as source, archive.open(entry, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target, 1 << 20)
    _note_export(studio, reference)


def _note_export(studio: Studio, reference: str) -> None:
    with studio.database.read() as connection:
        project, record = find_model(connection, reference)
    done = Act("export version", studio.settings.actor, str(record.number))
    acts.note_aside(studio.database, project.id, done)


def import_bundle(
    studio: Studio, path: Path, project: str | None = None, keep: Keep[str] = keep_nothing
) -> str:
    """Add a verified bundle as a model version; return its name `PROJECT@N`.

    Exporting that version gives files with the same digests. `keep` is called with the name in the
    transaction that adds it.

    Raises:
        ArtifactDamaged: The bundle does not match its manifest.
        Conflict: The project has it already.
        InvalidInput: In the project a text has one intent and the bundle gives several, or the
            other way round.
    """
    from core.bundle.archive import open_bundle
    from core.bundle.layout import load_pipeline

    with open_bundle(path) as (folder, manifest):
        pipeline = load_pipeline(folder)
        _try_out(pipeline)  # a bundle that cannot answer is not imported
        for name in _ADDED_BY_EXPORT:
            (folder / name).unlink(missing_ok=True)
        files = studio.artifacts.put_files(folder)
        facts = manifest.facts
        name = project or str(facts.get("project", path.stem))
        with studio.database.write() as connection:
            record = _project_for(connection, name, pipeline.task)
            tree = record_tree(connection, studio.artifacts, files)
            for known in models.list_all(connection, record.id):
                if known.tree_sha256 == tree:
                    raise Conflict(
                        f"This file is version {known.number} of '{name}', which is there already.",
                        "Nothing was imported.",
                    )
            made = models.add(connection, _values(record.id, tree, facts))
            if models.champion(connection, record.id) is None:
                models.point(connection, made, studio.settings.actor)
            added = f"{name}@{made.number}"
            keep(connection, added)
        return added


def _project_for(connection: Transaction, name: str, task: Task) -> ProjectRecord:
    """Return the project that takes a bundle in, which is created where there is none."""
    try:
        record = projects.find(connection, name)
    except NotFound:
        return projects.create(connection, name, task)
    if record.task != task:
        gives, has = ("several", "one") if task == "multi-label" else ("one", "several")
        raise InvalidInput(
            f"The bundle gives a text {gives} of its intents, and in '{name}' a text has {has}.",
            "Import it into another project.",
        )
    return record


def _try_out(pipeline: "IntentPipeline") -> None:
    import numpy as np

    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            pipeline.predict(["hello"])
    except MALFORMED as error:
        raise ArtifactDamaged(
            f"The bundle's model cannot answer: {error}.", "Ask for the bundle again."
        ) from error


def take_in_bundle(studio: Studio, project: str, path: Path, name: str, keep: Keep[str]) -> str:
    """Add an uploaded bundle to an existing project; return the version's `PROJECT@N`.

    Messages call the bundle `name`, not by the upload's path. `keep` is called with the version's
    name in the transaction that adds it.

    Raises:
        Conflict: The project has it already.
        InvalidInput: It is not a bundle, does not match its manifest, or gives a text one intent
            where the project has several, or the other way round.
        NotFound: There is no such project.
    """
    with studio.database.read() as connection:
        projects.find(connection, project)
    try:
        return import_bundle(studio, path, project, keep)
    except ArtifactDamaged as error:  # the upload is at fault, not the studio's files
        said = error.message.replace(path.name, f"'{name[:80]}'")
        raise InvalidInput(said, error.hint) from error


def _values(project_id: int, tree: str, facts: dict[str, Any]) -> dict[str, Any]:
    told_apart = ("metrics", "pins", MEASURED)
    lineage = {key: value for key, value in facts.items() if key not in told_apart}
    return {
        "project_id": project_id,
        "tree_sha256": tree,
        "dataset_version_id": None,
        "job_id": None,
        "lineage": {**lineage, "imported": True},
        "metrics": facts.get("metrics", {}),
        "pins": facts.get("pins", {"kept": 0, "broken": []}),
    }
