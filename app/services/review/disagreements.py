"""Utterances whose label the model or a second person disagrees with."""

from dataclasses import replace

import numpy as np

from app.services.live.live_model import LiveModel
from app.services.live.live_studio import LiveStudio
from app.services.live.row_answers import answer_records, answered, exemplar_scores
from app.services.review.findings import Finding, FoundText, Remedy, quoted
from app.services.studio import Studio
from app.services.sync.project_text import utterance_rows
from app.services.sync.report import answers_of
from app.services.what_if.repairs import Repair
from storage import projects
from storage.log.label_origins import label_origins
from storage.people.synced import OpenConflict, finding_of, open_conflicts
from storage.queries import dataset, slots, utterances
from storage.records import ProjectRecord, UtteranceRecord

_MOST = 5_000


def differing_ids(live_studio: LiveStudio, project: str) -> tuple[str, ...]:
    """Return ids of real labelled utterances that the live model answers otherwise.

    Exemplars are answered without their own vote, because it would repeat their label.
    """
    with live_studio.studio.database.read() as connection:
        record = projects.find(connection, project)
    live = live_studio.models.get(record.id)
    if live is None:
        return ()
    with live_studio.studio.database.read() as connection:
        synthetic = slots.synthetic_ids(connection, record.id)
    judged = (key for key in _exemplars(live_studio.studio, live) if key not in synthetic)
    others = answer_records(live_studio.studio, live, _others(live_studio, record.id, live))
    return (*judged, *(answer.id for answer in others if answer.differs))


def _exemplars(studio: Studio, live: LiveModel) -> list[str]:
    own = exemplar_scores(studio, live)
    if own is None:
        return []
    scores, labels = own
    answers = answered(live, live.pipeline.embeddings, scores)
    return [
        exemplar.id
        for exemplar, answer, row in zip(live.pipeline.exemplars, answers, labels, strict=True)
        if set(answer) != {live.columns[column] for column in np.flatnonzero(row)}
    ]


def _others(live_studio: LiveStudio, project_id: int, live: LiveModel) -> list[UtteranceRecord]:
    """Read the labelled utterances that are no exemplars: the test set, and out of scope."""
    exemplars = {exemplar.id for exemplar in live.pipeline.exemplars}
    page = utterances.Page(0, _MOST)
    parts = [
        utterances.Filter(split="test", state="labelled"),
        utterances.Filter(state="out-of-scope", synthetic=False),
    ]
    with live_studio.studio.database.read() as connection:
        records = [
            record
            for which in parts
            for record in utterances.read_page(connection, project_id, which, "oldest", page)[0]
        ]
    return [record for record in records if record.id not in exemplars]


def two_answers(studio: Studio, project: ProjectRecord) -> list[Finding]:
    """List texts that a sync left as they are: the project has one answer, the folder another.

    One whose text was changed since is decided.
    """
    with studio.database.read() as connection:
        found = open_conflicts(connection, project.id)
        if not found:
            return []
        records = utterances.by_ids(connection, project.id, list(found))
        names = dataset.intent_names(connection, project.id)
        origins = label_origins(connection, project.id, list(found), project.head_revision)
    now = utterance_rows(records.values())
    return [
        _two(key, one, project, names, origins[key].actor if key in origins else "")
        for key, one in sorted(found.items())
        if now.get(key) == one.project
    ]


def _two(
    key: str, one: OpenConflict, project: ProjectRecord, names: dict[str, str], actor: str
) -> Finding:
    mine, theirs = answers_of(one.project, one.folder, names, project.task)
    shown = one.project or one.folder or {}
    labels = None if one.project is None else _tuple(one.project["labels"])
    other = None if one.folder is None else _tuple(one.folder["labels"])
    is_told = other is not None and set(other) <= names.keys() and other != labels
    place = "removed" if one.project is None else str(shown["split"])
    text = FoundText(key, str(shown["text"]), labels, place, "", other if is_told else None)
    remedies = [Remedy(f"Keep the project’s: {mine}", None)]
    if is_told and other is not None:
        words = f"Take the folder’s: {theirs}"
        is_there = one.project is not None
        taken = Repair("relabel", (key,), other) if is_there else Repair("add", (), other)
        remedies.append(Remedy(words, taken if is_there else replace(taken, value=text.text)))
    if one.project is not None:
        remedies.append(Remedy("Another label …", Repair("relabel", (key,)), "intent"))
        remedies.append(Remedy("Delete this text", Repair("delete", (key,))))
    whose = f"{actor} in the project" if actor else "the project"
    return Finding(
        id=finding_of(key, one),
        kind="people",
        title=f"{quoted(mine)} or {quoted(theirs)}?",
        why=(
            f"Two people decided differently: {whose} has {quoted(mine)}, {one.author} in the "
            f"folder has {quoted(theirs)}. The next sync takes what you decide to the folder."
        ),
        figure=1.0,
        measure="two labels",
        texts=(text,),
        remedies=tuple(remedies),
        intents=tuple(
            key for key in dict.fromkeys((*(labels or ()), *(other or ()))) if key in names
        ),
    )


def _tuple(labels: list[str] | None) -> tuple[str, ...] | None:
    return None if labels is None else tuple(labels)
