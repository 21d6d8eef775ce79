"""Decisions about model versions: promote, roll back, discard, delete; and their lineage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.services.answering.ancestry import AncestorView, ancestors
from app.services.studio import Studio
from app.services.versions.intact import require_intact
from app.services.versions.verdict import Sides
from core.encoders.bundled import BUNDLED_SHA256
from core.errors import Conflict
from core.files import deflated_size
from storage import jobs, models, projects
from storage.artifacts import blob_at, drop_tree, own_blobs, tree_files, tree_size
from storage.database import Transaction
from storage.log import versions
from storage.records import AliasRecord, ModelVersionRecord, ProjectRecord

_WEIGHTS = "encoder/model.safetensors"


@dataclass(frozen=True, slots=True)
class ChampionChange:
    """A change of a project's champion, by version numbers; `before` is None without one."""

    project: str
    before: int | None
    after: int


@dataclass(frozen=True, slots=True)
class DeletionView:
    """The effect of deleting a model version; sizes are those of files that no other version uses.

    `bytes_later` is the part that is younger than an hour; `doctor` deletes it later. `forbidden`
    tells whether the first reason forbids the deletion.
    """

    bytes_freed: int
    blobs: int
    bytes_later: int
    reasons_against: tuple[str, ...]
    forbidden: bool


@dataclass(frozen=True, slots=True)
class LineageView:
    """Origin of a model version: enough to make it again.

    Attributes:
        state: `champion`, `former champion`, `candidate`, `discarded` or `encoder`.
        dataset_version: Number of the dataset version it was trained on; None if it was imported.
        dataset_sha256: SHA-256 of these data in canonical form.
        base: `bundled`, a folder's name, a hub id or `PROJECT@N`.
        base_fingerprint: As training recorded it, else the SHA-256 of the base's weights; None
            where the base is not available.
        parents: Model versions from which it was trained, the nearest first.
        bytes: Size of its files.
        precision: Number format of the products in its tuning; "" where none is known.
        bundle_bytes: About the size of the file that is handed over, in which they are compressed.
        n_unlabelled: Unlabelled texts of the dataset version that it learned from.
    """

    name: str
    state: str
    created_at: str
    dataset_version: int | None
    dataset_sha256: str | None
    base: str
    base_fingerprint: str | None
    recipe: dict[str, object]
    code_version: str
    precision: str
    seed: int | None
    job: str | None
    tree_sha256: str
    conversations: str
    parents: tuple[AncestorView, ...]
    children: tuple[str, ...]
    bytes: int
    bundle_bytes: int
    n_unlabelled: int


def promote(studio: Studio, project: str, number: int, actor: str | None = None) -> ChampionChange:
    """Make a model version the champion, if it is not already, once all its files were read.

    Raises:
        Conflict: One of its files is missing or was changed.
        InvalidInput: It is an encoder, which answers nothing.
        NotFound: There is no such project or version.
    """
    with studio.database.read() as connection:
        project_record = projects.find(connection, project)
        record = models.find_answering(connection, project_record.id, number)
    require_intact(studio, project, record)
    with studio.database.write() as connection:
        project_record = projects.find(connection, project)
        record = models.find_answering(connection, project_record.id, number)
        before = models.champion(connection, project_record.id)
        if before is None or before.id != record.id:
            models.point(connection, record, actor or studio.settings.actor)
    return ChampionChange(project, None if before is None else before.number, number)


def roll_back(
    studio: Studio, project: str, actor: str | None = None, *, champion: int | None = None
) -> ChampionChange:
    """Return to the champion before this one; a second call, to the one before that.

    Versions deleted or discarded since are skipped. `champion` is the number of the version to roll
    back from, so that a repeated request has no second effect; None: the present champion.

    Raises:
        Conflict: There is no earlier champion, one of its files is missing or was changed, or
            `champion` is not the present one.
        NotFound: There is no such project.
    """
    with studio.database.read() as connection:
        checked, target = _way_back(connection, project, champion)
    require_intact(studio, project, target)
    with studio.database.write() as connection:
        left, target = _way_back(connection, project, checked.number)
        models.go_back(connection, left, target, actor or studio.settings.actor)
    return ChampionChange(project, left.number, target.number)


def _way_back(
    connection: Transaction, project: str, champion: int | None
) -> tuple[ModelVersionRecord, ModelVersionRecord]:
    """Return the present champion, which must be `champion` if that is given, and the one before.

    Raises:
        Conflict: There is no earlier champion, or `champion` is not the present one.
        NotFound: There is no such project.
    """
    project_record = projects.find(connection, project)
    path = _path(models.moves(connection, project_record.id))
    if champion is not None and path[-1:] != [champion]:
        raise Conflict(
            f"Version {champion} is not live any more: another version is.",
            "Look at the versions again before you roll back.",
        )
    if len(path) < 2:
        raise Conflict(
            f"'{project}' has had no other live version to return to.", "Use another version."
        )
    left, target = (models.find(connection, project_record.id, number) for number in path[:-3:-1])
    return left, target


def discard(studio: Studio, project: str, number: int, actor: str | None = None) -> None:
    """Discard a candidate; its files are kept, and promoting it undoes this.

    Raises:
        Conflict: It is the champion.
        NotFound: There is no such project or version.
    """
    with studio.database.write() as connection:
        project_record = projects.find(connection, project)
        record = models.find_answering(connection, project_record.id, number)
        state = _states(models.moves(connection, project_record.id)).get(number)
        if state == "champion":
            raise Conflict(
                f"Version {number} answers now.", "Use another version, or roll back, first."
            )
        if state != models.DISCARDED:
            models.point(connection, record, actor or studio.settings.actor, models.DISCARDED)


def model_states(studio: Studio, project: str) -> dict[int, str]:
    """Return each model version's state by number, as in `LineageView.state`."""
    with studio.database.read() as connection:
        project_record = projects.find(connection, project)
        states = _states(models.moves(connection, project_record.id))
        records = models.list_all(connection, project_record.id)
    return {record.number: _state(record, states) for record in records}


def live_number(studio: Studio, project: str) -> int | None:
    """Return the number of the version that answers, or None."""
    states = model_states(studio, project)
    return next((number for number, state in states.items() if state == "champion"), None)


def sides_of(studio: Studio, project: str, newer: int, older: int) -> Sides:
    """Return what is known of two compared versions besides their answers."""
    with studio.database.read() as connection:
        key = projects.find(connection, project).id
        new, old = (models.find(connection, key, number) for number in (newer, older))
        revisions = (versions.learned_at(connection, one) for one in (old, new))
        learned_more = versions.has_newer_labels(connection, key, *revisions)
    return Sides(newer, older, live_number(studio, project), learned_more)


def version_before(studio: Studio, project: str) -> int | None:
    """Return the number of the version that rolling back would return to, or None."""
    with studio.database.read() as connection:
        path = _path(models.moves(connection, projects.find(connection, project).id))
    return path[-2] if len(path) > 1 else None


def newer_candidate(studio: Studio, project: str, number: int) -> int | None:
    """Return the number of the newest candidate after a version, or None."""
    states = model_states(studio, project)
    return max(
        (n for n, state in states.items() if state == "candidate" and n > number), default=None
    )


def left_for(studio: Studio, project: str, number: int) -> int | None:
    """Return the number of the newest former champion that is newer than a version, or None."""
    states = model_states(studio, project)
    return max(
        (n for n, state in states.items() if state == "former champion" and n > number),
        default=None,
    )


def deletion_preview(studio: Studio, project: str, number: int) -> DeletionView:
    """Return what deleting a model version would free, and the reasons against it."""
    with studio.database.read() as connection:
        project_record = projects.find(connection, project)
        record = models.find(connection, project_record.id, number)
        return _deletion(studio, connection, project_record, record)


def delete_model(
    studio: Studio, project: str, number: int, *, even_so: bool = False
) -> DeletionView:
    """Delete a model version and the files that no other one uses; return the effect.

    Its number is not used again, and lineages and the timeline still list it. `even_so` deletes it
    against the reasons of `deletion_preview`, unless they forbid it.

    Raises:
        Conflict: It is the champion, a job trains from it, or there are reasons against it.
        NotFound: There is no such project or version.
    """
    with studio.database.write() as connection:
        project_record = projects.find(connection, project)
        record = models.find(connection, project_record.id, number)
        view = _deletion(studio, connection, project_record, record)
        if view.forbidden or (view.reasons_against and not even_so):
            hints = ("Delete it even so if you are sure.", "Use another version, or wait.")
            raise Conflict(" ".join(view.reasons_against), hints[view.forbidden])
        models.bury(connection, record, studio.settings.actor)
        freed = drop_tree(connection, record.tree_sha256)
    # Files are deleted after the rows are committed; after a crash in between, `doctor` deletes
    # them. The second transaction writes nothing: it keeps jobs from publishing meanwhile.
    with studio.database.write() as connection:
        studio.artifacts.remove_unused(connection, freed)
    return view


def lineage(studio: Studio, project: str, number: int) -> LineageView:
    """Return the origin of a model version.

    Raises:
        NotFound: There is no such project or version.
    """
    with studio.database.read() as connection:
        project_record = projects.find(connection, project)
        record = models.find(connection, project_record.id, number)
        parents = list(ancestors(connection, record))
        data = record.dataset_version_id
        frozen = None if data is None else versions.get(connection, data)
        states = _states(models.moves(connection, project_record.id))
        name = f"{project}@{number}"
        facts = record.lineage
        recipe = dict(facts.get("recipe", {}))
        return LineageView(
            name=name,
            state=_state(record, states),
            created_at=record.created_at,
            dataset_version=None if frozen is None else frozen.number,
            dataset_sha256=facts.get("dataset_sha256") if frozen is None else frozen.sha256,
            base=str(facts.get("base", "")),
            base_fingerprint=_fingerprint(connection, record, [p for p, _ in parents]),
            recipe=recipe,
            code_version=str(facts.get("code_version", "")),
            precision=str(facts.get("precision", "")),
            seed=recipe.get("seed"),
            job=record.job_id,
            tree_sha256=record.tree_sha256,
            conversations=str(facts.get("conversations", "")),
            parents=tuple(view for _, view in parents),
            children=tuple(models.built_on(connection, name)),
            bytes=tree_size(connection, record.tree_sha256),
            bundle_bytes=_bundle_bytes(studio, tree_files(connection, record.tree_sha256)),
            n_unlabelled=int(facts.get("n_unlabelled", 0)),
        )


def _bundle_bytes(studio: Studio, files: Mapping[str, str]) -> int:
    """Estimate the size of a bundle by its parts, compressed; the program and the card add little.

    The texts of the examples are as long as what stands for them in a bundle without texts.
    """
    paths = [studio.artifacts.path(sha256) for sha256 in files.values()]
    return sum(deflated_size(path) for path in paths if path.is_file())


def _path(moves: Sequence[AliasRecord]) -> list[int]:
    """Return the champions that rolling back goes through, the present one last."""
    path: list[int] = []
    left = None
    for move in moves:
        if move.name == models.ROLLED_BACK:
            left = move.number
        elif move.name == models.CHAMPION:
            if left is not None:
                while path and path[-1] != move.number:
                    path.pop()
                left = None
            if not path or path[-1] != move.number:
                path.append(move.number)
    states = _states(moves)
    kept = [number for number in path if states[number] in ("champion", "former champion")]
    return [n for at, n in enumerate(kept) if at == 0 or kept[at - 1] != n]


def _states(moves: Sequence[AliasRecord]) -> dict[int, str]:
    """Return the present state of each version that was ever promoted, discarded or deleted."""
    states: dict[int, str] = {}
    for move in moves:
        if move.name == models.CHAMPION:
            for number in [n for n, state in states.items() if state == "champion"]:
                states[number] = "former champion"
            states[move.number] = "champion"
        elif move.name in (models.DISCARDED, models.DELETED):
            states[move.number] = move.name
    return states


def _state(record: ModelVersionRecord, states: Mapping[int, str]) -> str:
    return "encoder" if record.kind == "encoder" else states.get(record.number, "candidate")


def _deletion(
    studio: Studio, connection: Transaction, project: ProjectRecord, record: ModelVersionRecord
) -> DeletionView:
    name = f"{project.name}@{record.number}"
    own = own_blobs(connection, record.tree_sha256)
    musts = _prohibitions(connection, record, name)
    doubts = _doubts(connection, record, name)
    return DeletionView(
        bytes_freed=sum(own.values()),
        blobs=len(own),
        bytes_later=sum(size for key, size in own.items() if studio.artifacts.is_young(key)),
        reasons_against=(*musts, *doubts),
        forbidden=bool(musts),
    )


def _prohibitions(connection: Transaction, record: ModelVersionRecord, name: str) -> list[str]:
    champion = models.champion(connection, record.project_id)
    reasons = []
    if champion is not None and champion.id == record.id:
        reasons.append(f"{name} is live: it answers now.")
    reasons += [
        f"Job {job.id} is about to train from {name}."
        for job in jobs.live(connection)
        if job.payload.get("base") == name
    ]
    return reasons


def _doubts(connection: Transaction, record: ModelVersionRecord, name: str) -> list[str]:
    reasons = []
    children = models.built_on(connection, name)
    if children:
        listed = ", ".join(children[:3]) + (" and others" if len(children) > 3 else "")
        reasons.append(f"Trained from {name}, and not to be trained again without it: {listed}.")
    path = _path(models.moves(connection, record.project_id))
    if len(path) > 1 and path[-2] == record.number:
        reasons.append(f"Rolling back would return to {name}.")
    return reasons


def _fingerprint(
    connection: Transaction, record: ModelVersionRecord, parents: Sequence[ModelVersionRecord]
) -> str | None:
    recorded = record.lineage.get("base_fingerprint")
    if recorded:
        return str(recorded)
    if record.lineage.get("base") == "bundled":
        return BUNDLED_SHA256
    return blob_at(connection, parents[0].tree_sha256, _WEIGHTS) if parents else None
