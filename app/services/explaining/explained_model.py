"""Models to explain: a project's live model, a version of it, or a bundle."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.services.answering.opened import Space, open_space, require_pipeline
from app.services.answering.stored import by_project, find_model, is_bundle
from app.services.cache import of_version
from app.services.live.asked import asks_live, open_settled
from app.services.live.in_use import as_in_use
from app.services.live.joining import amendment
from app.services.live.live_model import LiveModel
from app.services.live.live_studio import LiveStudio, open_live
from app.services.live.pool import Pool
from app.services.studio import Studio
from core.explain.solved_votes import SolvedVotes, solve_votes
from core.heads.base import Head
from core.heads.mixture import without_names
from core.heads.votes.amending import basis_of
from core.heads.votes.fit import VoteHead
from core.maps.plane import Plane, fit_plane
from core.pipeline import IntentPipeline
from core.types import FloatArray
from storage import models
from storage.log import events, versions
from storage.queries import utterances
from storage.records import ModelVersionRecord, ProjectRecord, UtteranceRecord


@dataclass(frozen=True, slots=True, eq=False)
class UnlabelledTexts:
    """Utterances that waited for a label at a revision, with their unit embeddings (n, d)."""

    records: Sequence[UtteranceRecord]
    embeddings: FloatArray = field(repr=False)
    revision: int


@dataclass(frozen=True, slots=True, eq=False)
class ExplainedModel:
    """A model to explain.

    Attributes:
        revision: Revision of the project up to which labels vote; 0 for a bundle.
        shown_at: Returns a revision at which the labels of examples were those that vote.
        hot: Ids of exemplars that joined after the training.
        later: Number of examples, new, changed or gone since the training, that it counts; None
            where it answers as it was trained.
        pool: Returns the unlabelled utterances; None where they are not loaded.
    """

    name: str
    pipeline: IntentPipeline = field(repr=False)
    plane: Plane = field(repr=False)
    key: tuple[object, ...]
    revision: int
    project: ProjectRecord | None
    version: ModelVersionRecord | None
    dataset_version: str | None
    hot: frozenset[str]
    solve: Callable[[], SolvedVotes] = field(repr=False)
    shown_at: Callable[[Set[str]], int] = field(repr=False)
    pool: Callable[[], UnlabelledTexts | None] = field(repr=False)
    later: int | None = None


def explained_live_model(live_studio: LiveStudio, project: str) -> ExplainedModel:
    """Return the champion with all labels up to now.

    Raises:
        NotFound: There is no such project, or it has no model.
    """
    return _of_live(live_studio, *open_live(live_studio, project))


def explained_as_in_use(live_studio: LiveStudio, project: str, number: int) -> ExplainedModel:
    """Return a version as it would answer if it were in use now, with all labels up to now.

    As it was trained where so many labels vote that joining the newest ones takes long.

    Raises:
        NotFound: There is no such project or version.
        ArtifactDamaged: Its files are missing or damaged.
    """
    opened = as_in_use(live_studio, project, number)
    if opened is None:
        return explained_version(live_studio.studio, f"{project}@{number}")
    now, live = opened
    return _of_live(live_studio, now.project, live)


def _of_live(live_studio: LiveStudio, found: ProjectRecord, live: LiveModel) -> ExplainedModel:
    def pool() -> UnlabelledTexts | None:
        known = live_studio.pools.get(found.id)
        if known is None or known.live.version.id != live.version.id:
            return None
        return _unlabelled_now(live_studio.studio, found.id, known)

    return ExplainedModel(
        name=f"{found.name}@{live.version.number}",
        pipeline=live.pipeline,
        plane=live.plane,
        key=(of_version(live.version), live.revision),
        revision=live.joined_at,
        project=found,
        version=live.version,
        dataset_version=_learned_from(live_studio.studio, live.version),
        hot=live.hot - live.waiting,
        solve=lambda: _solve_live_votes(live),
        shown_at=live.shown_at,
        pool=pool,
        later=len(live.since - live.waiting),
    )


def _unlabelled_now(studio: Studio, project_id: int, pool: Pool) -> UnlabelledTexts:
    """Return the utterances of a pool that are as they were when it was evaluated."""
    with studio.database.read() as connection:
        touched = {key for _, key in events.touched_since(connection, project_id, pool.revision)}
        ids = [record.id for record in pool.records if record.id in touched]
        now = utterances.by_ids(connection, project_id, ids)
        head = events.head(connection, project_id)
    rows = [
        row
        for row, record in enumerate(pool.records)
        if record.id not in touched or now.get(record.id) == record
    ]
    return UnlabelledTexts([pool.records[row] for row in rows], pool.embeddings[rows], head)


def explained_version(studio: Studio, reference: str) -> ExplainedModel:
    """Return a model version, `PROJECT@N` or the champion of `PROJECT`, as it was trained.

    It uses the project's fence, as everywhere.

    Raises:
        NotFound: There is no such project, version or champion.
        ArtifactDamaged: Its files are missing or damaged.
    """
    with studio.database.read() as connection:
        project, version = find_model(connection, reference)
        revision = versions.learned_at(connection, version)
    space = Space(project, version)
    pipeline = require_pipeline(open_space(studio, space))
    pipeline = by_project(studio, space.name, pipeline)
    return ExplainedModel(
        name=space.name,
        pipeline=pipeline,
        plane=fit_plane(pipeline.embeddings),
        # Intents that were made since are answered by their names, in columns of their own.
        key=(of_version(version), ("as trained", pipeline.head.intents)),
        revision=revision,
        project=project,
        version=version,
        dataset_version=_learned_from(studio, version),
        hot=frozenset(),
        solve=lambda: _solve_head(pipeline.head),
        shown_at=lambda _: revision,
        pool=_no_pool,
    )


def explained_reference(studio: Studio, reference: str) -> ExplainedModel:
    """Return the model that a reference names, as `open_asked` reads it.

    Raises:
        NotFound: It does not exist.
        ArtifactDamaged: Its files are missing or damaged.
    """
    project = asks_live(reference)
    if project is not None:
        return explained_live_model(open_settled(studio, project), project)
    if not is_bundle(reference):
        return explained_version(studio, reference)
    from core.bundle.archive import open_bundle
    from core.bundle.layout import load_pipeline

    with open_bundle(Path(reference)) as (folder, _):
        return explained_bundle(reference, load_pipeline(folder, bases=studio.bases))


def explained_bundle(reference: str, pipeline: IntentPipeline) -> ExplainedModel:
    """Return a bundle that is opened; its intents may be called otherwise than in its file."""
    return ExplainedModel(
        name=Path(reference).name,
        pipeline=pipeline,
        plane=fit_plane(pipeline.embeddings),
        key=("bundle", (reference, pipeline.head.intents)),
        revision=0,
        project=None,
        version=None,
        dataset_version=pipeline.dataset_version,
        hot=frozenset(),
        solve=lambda: _solve_head(pipeline.head),
        shown_at=lambda _: 0,
        pool=_no_pool,
    )


def solved_votes_of(studio: Studio, model: ExplainedModel) -> SolvedVotes | None:
    """Prepare a model's votes for questions, once; None where it does not decide by votes.

    Votes carried by a subset give None, too.
    """
    head = without_names(model.pipeline.head)
    if not isinstance(head, VoteHead) or head.carriers is not None:
        return None
    *of, moment = model.key
    return studio.cache.get_newest(
        ("votes", *of), moment, model.solve, lambda made: 2 * int(made.root.nbytes)
    )


def _no_pool() -> None:
    return None


def _solve_head(head: Head) -> SolvedVotes:
    from core.heads.mixture import without_names

    votes = without_names(head)
    if not isinstance(votes, VoteHead):  # `solved_votes_of` has excluded other heads
        message = f"a head of kind {votes.kind} has no votes to solve"
        raise TypeError(message)
    return solve_votes(basis_of(votes))


def _solve_live_votes(live: LiveModel) -> SolvedVotes:
    if live.base.basis is None:
        return _solve_head(live.pipeline.head)
    return solve_votes(live.base.basis, amendment(live.base, live.changes))


def _learned_from(studio: Studio, version: ModelVersionRecord) -> str | None:
    if version.dataset_version_id is None:
        return None
    with studio.database.read() as connection:
        return f"data version {versions.get(connection, version.dataset_version_id).number}"


def figures_of(studio: Studio, model: ExplainedModel) -> Mapping[str, Any]:
    """Return the metrics of a model's training; empty for a bundle."""
    if model.version is None or model.project is None:
        return {}
    with studio.database.read() as connection:
        found = models.find(connection, model.project.id, model.version.number)
    return found.metrics
