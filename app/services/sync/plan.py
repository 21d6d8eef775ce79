"""What a sync changes on either side: the merge of all parts of a project, and its conflicts."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from core.sync.folder import ProjectText
from core.sync.lines import INTENT_PARTS, PIN_PARTS, UTTERANCE_PARTS
from core.sync.merge import Merge, Parts, Row, Rows, merge, merged
from storage.people.synced import OpenConflict, finding_of

_SETTING_PARTS: Parts = (("value",),)


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """The merges of all parts, and the folder that they lead to.

    Attributes:
        kept_intents: Ids of intents that one side removed or archived, and the other uses.
        bundle_from_project: Whether the folder gets the reference of the project's live version.
    """

    utterances: Merge
    intents: Merge
    pins: Merge
    settings: Merge
    kept_intents: tuple[str, ...]
    folder: ProjectText
    bundle_from_project: bool

    @property
    def changes_project(self) -> bool:
        """Whether anything changes in the project."""
        return any(one.to_project for one in self.merges)

    @property
    def changes_folder(self) -> bool:
        """Whether anything changes in the folder."""
        return self.bundle_from_project or any(one.to_folder for one in self.merges)

    @property
    def merges(self) -> tuple[Merge, ...]:
        """The merges of all parts."""
        return (self.utterances, self.intents, self.pins, self.settings)


@dataclass(frozen=True, slots=True)
class BaseText:
    """What both had last; nothing at a first sync.

    Attributes:
        conflicts: Undecided utterances, by id.
        settled: Ids of findings that a person settled.
        erased: Ids of utterances that were erased since.
    """

    text: ProjectText
    conflicts: Mapping[str, OpenConflict] = field(default_factory=dict)
    settled: frozenset[str] = frozenset()
    erased: frozenset[str] = frozenset()


def plan_sync(base: BaseText, project: ProjectText, folder: ProjectText) -> SyncPlan:
    """Merge a project and a folder."""
    was = _decided(base, project.utterances, folder.utterances)
    of_texts = merge(was, project.utterances, folder.utterances, UTTERANCE_PARTS)
    of_pins = merge(base.text.pins, project.pins, folder.pins, PIN_PARTS)
    of_settings = merge(base.text.settings, project.settings, folder.settings, _SETTING_PARTS)
    of_intents = merge(base.text.intents, project.intents, folder.intents, INTENT_PARTS)
    used = _used(
        merged(project.utterances, of_texts.to_project),
        merged(folder.utterances, of_texts.to_folder),
        merged(project.pins, of_pins.to_project),
        merged(folder.pins, of_pins.to_folder),
    )
    used |= _limited(project.settings) | _limited(folder.settings)
    fresh = _used(_there(of_texts.to_project)), _used(_there(of_texts.to_folder))
    of_intents, kept = _with_used(of_intents, (project.intents, folder.intents), used, fresh)
    told = base.text.bundle != project.bundle and project.bundle is not None
    after = replace(
        folder,
        settings=merged(folder.settings, of_settings.to_folder),
        bundle=project.bundle if told else folder.bundle,
        intents=merged(folder.intents, of_intents.to_folder),
        utterances=merged(folder.utterances, of_texts.to_folder),
        pins=merged(folder.pins, of_pins.to_folder),
    )
    is_new = told and project.bundle != folder.bundle
    return SyncPlan(of_texts, of_intents, of_pins, of_settings, kept, after, is_new)


def _decided(base: BaseText, project: Rows, folder: Rows) -> dict[str, Row]:
    """Return the base rows of utterances, of which each stands for what the folder has not changed.

    Once a person has decided a conflict in the project, it is the project's row that is newer. An
    erased text was removed by the project, whatever the log has in its place.
    """
    rows = dict(base.text.utterances)
    for key in base.erased & rows.keys() & folder.keys():
        rows[key] = folder[key]
    for key, conflict in base.conflicts.items():
        decided = project.get(key) != conflict.project or finding_of(key, conflict) in base.settled
        before = conflict.folder if decided else conflict.base
        rows.pop(key, None)
        if before is not None:
            rows[key] = before
    return rows


def _used(*parts: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """Return the ids of the intents that texts and pins name."""
    lists = (row.get("labels", row.get("intents")) for rows in parts for row in rows.values())
    return {key for many in lists for key in many or ()}


def _there(changes: Mapping[str, Row | None]) -> dict[str, Row]:
    return {key: row for key, row in changes.items() if row is not None}


def _limited(settings: Rows) -> set[str]:
    """Return the ids of the intents for which a fence has a limit of its own."""
    fence = settings.get("fence", {"value": None})["value"] or {}
    return set(fence.get("limits") or ())


def _with_used(
    found: Merge, intents: tuple[Rows, Rows], used: set[str], fresh: tuple[set[str], set[str]]
) -> tuple[Merge, tuple[str, ...]]:
    """Keep intents that are used: one that is removed stays, and one that is archived returns.

    The latter only where the other side has labelled a text with it since: `fresh` are the ids in
    rows that go to the project and to the folder.
    """
    to_project, to_folder, kept = dict(found.to_project), dict(found.to_folder), set[str]()
    for key in used:
        mine, theirs = (rows.get(key) for rows in intents)
        ours, others = to_project.get(key, mine), to_folder.get(key, theirs)
        row = theirs if mine is None else mine
        if ours is not None and others is not None:
            by_folder = key in to_project and key in fresh[1]
            row = {**ours, "archived": False} if key in fresh[0] or by_folder else ours
            if not ours["archived"] or row == ours:
                continue
        if row is None:
            continue
        kept.add(key)
        for changes, now in ((to_project, mine), (to_folder, theirs)):
            changes.pop(key, None)
            if now != row:
                changes[key] = row
    conflicts = tuple(key for key in found.conflicts if key not in kept)
    return Merge(to_project, to_folder, conflicts), tuple(sorted(kept))
