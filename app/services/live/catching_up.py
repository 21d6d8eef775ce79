"""Load a champion, and bring it up to a revision of its project without training."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from app.services.answering.ancestry import base_before_labels
from app.services.answering.as_project import ProjectNow, ids_by_name, read_now
from app.services.answering.opened import Space, open_space, require_pipeline
from app.services.answering.stored import find_model
from app.services.cache import of_version
from app.services.live.joining import (
    Base,
    Changes,
    Joining,
    Said,
    base_of,
    can_join,
    differing,
    has_many,
    joined,
    labels_in,
    solved_for,
    with_intents,
    with_names,
    with_sources,
)
from app.services.live.live_model import LiveModel, exemplar_of
from app.services.studio import Studio
from core.heads.mixture import MixtureHead, without_names
from core.heads.votes.fit import VoteHead
from core.maps.plane import fit_plane
from core.pipeline import IntentPipeline, hashes_of, learned_hashes
from core.recipes.labels import LEARN_FROM_LABELS
from core.types import Pause, no_pause
from storage import models
from storage.database import Transaction
from storage.log import edits, events, versions
from storage.queries import utterances
from storage.records import ModelVersionRecord, ProjectRecord, UtteranceRecord

_IMMEDIATE = 4_096
"""Up to this many exemplars, labels join before the next answer; above, in a thread."""

SOLVED_AT_ONCE = 1_500
"""Up to this many exemplars, the votes are solved again before the next answer."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The inputs of a live model, read in one transaction.

    Attributes:
        known: The loaded model; None where it is not the champion.
        ids: Intent ids by the names at the training of a champion that is not loaded.
        learned_at: Revision at which such a champion was trained.
        touched: Utterances touched since the model's revision, by id (None: deleted). Empty where
            the model is up to date, or a thread is to update it.
    """

    now: ProjectNow
    known: LiveModel | None
    ids: Mapping[str, str] = field(default_factory=dict)
    learned_at: int = 0
    touched: Mapping[str, UtteranceRecord | None] = field(default_factory=dict)


def read_project(
    connection: Transaction,
    project: ProjectRecord,
    known: LiveModel | None,
    *,
    even_large: bool = False,
) -> Reading:
    """Read the inputs of a project's live model.

    `known` is the loaded model, perhaps of an earlier champion. `even_large` reads touched
    utterances even where a thread updates the model.
    """
    champion = models.champion(connection, project.id)
    now = read_now(connection, project, champion)
    if champion is None:
        return Reading(now, None)
    # Another program may have renamed the project: its model bears the name in every answer.
    called = Space(project, champion).name
    if known is None or known.version.id != champion.id or known.pipeline.model_version != called:
        return read_version(connection, now, champion)
    head = project.head_revision
    if known.revision == head or not (even_large or is_immediate(known, head)):
        return Reading(now, known)
    return Reading(now, known, touched=_touched_since(connection, project.id, known.revision))


def read_version(
    connection: Transaction,
    now: ProjectNow,
    version: ModelVersionRecord,
    until: int | None = None,
) -> Reading:
    """Read the inputs of a live model of a version that is not loaded.

    `until` is the revision whose labels are to join; None: the newest one.
    """
    reading = read_as_trained(connection, now, version)
    if until is None or until >= now.project.head_revision:
        touched = _touched_since(connection, now.project.id, reading.learned_at)
        return replace(reading, touched=touched)
    until = max(until, reading.learned_at)
    then = replace(now, project=replace(now.project, head_revision=until))
    touched = _touched_between(connection, now, reading.learned_at, until)
    return replace(reading, now=then, touched=touched)


def read_as_trained(
    connection: Transaction, now: ProjectNow, version: ModelVersionRecord
) -> Reading:
    """Read the same without the utterances touched since its training."""
    revision = versions.learned_at(connection, version)
    return Reading(now, None, ids_by_name(connection, now), revision)


def _touched_since(
    connection: Transaction, project_id: int, revision: int
) -> dict[str, UtteranceRecord | None]:
    touched = events.touched_since(connection, project_id, revision)
    keys = sorted({key for subject, key in touched if subject == "utterance"})
    records = utterances.by_ids(connection, project_id, keys)
    return {key: records.get(key) for key in keys}


def _touched_between(
    connection: Transaction, now: ProjectNow, older: int, newer: int
) -> dict[str, UtteranceRecord | None]:
    """Return the utterances that differ between two revisions, as of the second one.

    Those that were erased since, or whose intent is gone by now, by an undo, count as deleted.
    """
    if older == newer and not edits.count_erasures(connection, now.project.id):
        return {}
    first, last = versions.states_between(connection, now.project.id, older, newer)
    both = first.utterances.keys() | last.utterances.keys()
    keys = {key for key in both if first.utterances.get(key) != last.utterances.get(key)}
    gone = edits.erased(connection, now.project.id, both)
    records = last.part(keys - gone).utterance_records()
    there = {row.id: row for row in records if now.names.keys() >= set(row.labels or ())}
    return {key: there.get(key) for key in keys | gone}


def count_hot(studio: Studio, project: ProjectRecord, live: LiveModel) -> int:
    """Count the examples that are new, changed or gone since a training, up to the newest revision.

    A page asks right after an act, before its labels have joined.
    """
    if live.revision == project.head_revision:
        return len(live.since)

    def count() -> int:
        with studio.database.read() as connection:
            touched = _touched_since(connection, project.id, live.revision)
        task = live.pipeline.task
        now = {key: exemplar_of(record, task) for key, record in touched.items()}
        fresh = sum(live.taught.get(key) != said for key, said in now.items())
        return len(live.since - now.keys()) + fresh

    series, moment = ("hot", of_version(live.version)), (live.revision, project.head_revision)
    return studio.cache.get_newest(series, moment, count, lambda _: 100)


def count_later(studio: Studio, reference: str) -> int:
    """Count the examples that are new, changed or gone since `PROJECT` or `PROJECT@N` was trained.

    0 where a version has learned from other data, as one that was imported.

    Raises:
        NotFound: There is no such project, version or champion.
    """
    with studio.database.read() as connection:
        project, version = find_model(connection, reference)
        if version.dataset_version_id is None:
            return 0
        learned = versions.learned_at(connection, version)
        states = versions.states_between(connection, project.id, learned, project.head_revision)
    then, now = (
        {row.id: exemplar_of(row, project.task) for row in state.utterance_records()}
        for state in states
    )
    return sum(then.get(key) != now.get(key) for key in then.keys() | now.keys())


def load_champion(studio: Studio, reading: Reading) -> LiveModel:
    """Load a champion as it was trained, with columns for newer intents."""
    now = reading.now
    if now.version is None:
        message = "the project has no champion"
        raise ValueError(message)
    space = Space(now.project, now.version)
    pipeline = replace(require_pipeline(open_space(studio, space)), model_version=space.name)
    pipeline, voice = _without_voice(pipeline)
    base = base_of(pipeline, tuple(reading.ids.get(name, "") for name in pipeline.head.intents))
    taught = base.said
    if isinstance(pipeline.head, VoteHead) and pipeline.head.carriers is not None:
        # The pipeline contains only the exemplars that vote.
        with studio.database.read() as connection:
            state = versions.state_at(connection, now.project.id, reading.learned_at)
        saying = {r.id: exemplar_of(r, pipeline.task) for r in state.utterance_records()}
        taught = {key: said for key, said in saying.items() if said is not None}
    base = _with_tuned(studio, now.version, base, taught)
    base = with_intents(base, now.intents, now.names)
    return LiveModel(
        version=now.version,
        pipeline=base.pipeline,
        base=base,
        taught=taught,
        plane=fit_plane(pipeline.embeddings),
        revision=reading.learned_at,
        joined_at=reading.learned_at,
        voice=voice,
    )


def _with_tuned(
    studio: Studio, version: ModelVersionRecord, base: Base, taught: Mapping[str, Said]
) -> Base:
    """Count examples as learned for good where an encoder was tuned by labels.

    Moved to the test set, they vote no longer, and the encoder knows them still. Of a version that
    came without texts, the hashes tell what they said. One that only votes on an encoder that was
    tuned before carries what that has learned.
    """
    kind = version.lineage.get("recipe", {}).get("kind")
    if kind not in LEARN_FROM_LABELS and base.pipeline.learned:
        return base
    with studio.database.read() as connection:
        if base_before_labels(connection, version) is None:
            return base
    learned = learned_hashes(base.pipeline) | hashes_of(text for text, _ in taught.values())
    return replace(base, pipeline=replace(base.pipeline, learned=learned))


def _without_voice(pipeline: IntentPipeline) -> tuple[IntentPipeline, MixtureHead | None]:
    """Remove the intent names that were trained beside the votes from a pipeline."""
    votes = without_names(pipeline.head)
    if not isinstance(pipeline.head, MixtureHead) or not isinstance(votes, VoteHead):
        return pipeline, None
    return replace(pipeline, head=votes), pipeline.head


def is_large(version: ModelVersionRecord) -> bool:
    """Whether a version has so many exemplars that no change joins it in about a second.

    All that it was trained on count, also those that a limit of voters leaves out.
    """
    return int(version.lineage.get("n_exemplars") or 0) > _IMMEDIATE


def is_soon(live: LiveModel, reading: Reading) -> bool:
    """Whether all changes of a reading of a version join in about a second.

    By the utterances that they touch: acts that were undone and redone count once.
    """
    return len(live.pipeline.exemplars) + len(reading.touched) <= _IMMEDIATE


def is_immediate(live: LiveModel, head: int) -> bool:
    """Whether an answer can wait until all changes up to a revision have joined."""
    n_exemplars = len(live.pipeline.exemplars) + head - live.revision
    if n_exemplars <= SOLVED_AT_ONCE:
        return True
    is_solved = live.base.basis is not None and not has_many(live.base, live.changes)
    return is_solved and n_exemplars <= _IMMEDIATE


def catch_up(
    studio: Studio, live: LiveModel, reading: Reading, pause: Pause = no_pause
) -> LiveModel:
    """Bring a model up to the revision of a reading."""
    names = reading.now.names
    base = with_intents(_renamed(live.base, names), reading.now.intents, names)
    made = {key: row.synthetic for key, row in reading.touched.items() if row and row.synthetic}
    base = with_sources(base, made)
    task = live.pipeline.task
    said = {
        **live.said,
        **{key: exemplar_of(record, task) for key, record in reading.touched.items()},
    }
    changes = differing(base, said)
    live = _joined(Joining(studio.database, names, pause), live, base, changes)
    since = {key for key, now in said.items() if live.taught.get(key) != now}
    hot = frozenset(key for key in since if said[key] is not None)
    late = frozenset(key for key, now in said.items() if live.votes_as(key) != now)
    head = reading.now.project.head_revision
    return replace(
        live,
        hot=hot,
        late=late,
        gone=frozenset(since - hot),
        said=said,
        revision=head,
        joined_at=live.joined_at if late else head,
    )


def _renamed(base: Base, names: Mapping[str, str]) -> Base:
    """Rename the intents of the columns to their current names."""
    old = base.pipeline.head.intents
    free = {name: key for key, name in names.items() if key not in base.columns}
    # A column without an intent is given to a newer intent of the same name.
    pairs = list(zip(base.columns, old, strict=True))
    columns = tuple(key if key in names else free.get(name, key) for key, name in pairs)
    new = tuple(names.get(key, name) for key, name in zip(columns, old, strict=True))
    if columns != base.columns:
        base = replace(base, columns=columns)
    return base if new == old else with_names(base, new)


def _joined(how: Joining, live: LiveModel, base: Base, changes: Changes) -> LiveModel:
    """Join changes to a base whose intents are those of now, where they can join."""
    is_same = base is live.base
    if not can_join(base, changes):
        if is_same:
            return live
        # A label whose column went to a newer intent of its name is no label any more.
        there = set(base.columns)
        changes = {
            key: said for key, said in live.changes.items() if said is None or there >= set(said[1])
        }
        pipeline = joined(base, changes) if changes else base.pipeline
        return replace(live, base=base, pipeline=pipeline, changes=changes)
    if is_same and changes == live.changes:
        return live
    base = with_intents(base, labels_in(changes), how.names)
    if changes:
        base = solved_for(how, base, changes)
    pipeline = joined(base, changes) if changes else base.pipeline
    if has_many(base, changes):
        base, changes = base_of(pipeline, base.columns), {}
    return replace(live, base=base, pipeline=pipeline, changes=changes)
