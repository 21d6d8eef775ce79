"""What a sync did, as figures and in words."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from app.services.sync.plan import BaseText, SyncPlan
from core.formats.beside import language_and_kept
from core.sync.folder import PROJECT, ProjectText
from core.sync.merge import Merge, Row, Rows
from core.text import counted, label_words
from core.types import Task
from storage.people.synced import OpenConflict

_QUOTED = 60
_SETS = {
    "train": "an example",
    "test": "a test text",
    "pool": "neither example nor test text",
}
_WITH = {
    "text": "the text “{}”",
    "flagged": "flagged: {}",
    "skipped": "skipped",
    "synthetic": "made from another text",
    "source": "from {}",
}
"""What an utterance has in a field, with its value where that is to be told."""
_WITHOUT = {
    "slots": "no marked values",
    "flagged": "not flagged",
    "skipped": "not skipped",
    "synthetic": "written by a person",
    "source": "from no named file",
    "beside": "nothing beside the text",
}


@dataclass(frozen=True, slots=True)
class SideChanges:
    """What one side gets from the other.

    Attributes:
        relabelled: Texts with another label than they had there; without those of the test set.
        tests_relabelled: The same of texts of the test set.
        changed: Texts with other changes alone.
        intents, pins, settings: Numbers of those added, changed or removed.
    """

    added: int
    removed: int
    relabelled: int
    tests_relabelled: int
    changed: int
    intents: int
    pins: int
    settings: int


@dataclass(frozen=True, slots=True)
class SyncConflict:
    """What project and folder changed differently, so that neither was changed.

    `kind` is `utterance`, `intent`, `pin` or `setting`; `new` is whether this sync found it first.
    """

    kind: str
    key: str
    text: str
    project: str
    folder: str
    author: str = ""
    new: bool = True


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did, or with `dry_run` would do.

    Attributes:
        first: Whether the two never were synced before; then neither removes anything.
        kept_intents: Names of intents that one side removed or archived, and the other uses.
        bundle: Whether the folder got the reference of another live version.
        keys: By which the actions are undone, one for each author; where an author labels with an
            intent that another made, their intents are actions of their own.
        authors: Whose they are.
    """

    project: str
    from_folder: SideChanges
    to_folder: SideChanges
    conflicts: tuple[SyncConflict, ...]
    kept_intents: tuple[str, ...]
    bundle: bool
    first: bool = False
    dry_run: bool = False
    keys: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()


def report_of(
    project: str,
    base: BaseText,
    mine: ProjectText,
    theirs: ProjectText,
    plan: SyncPlan,
    conflicts: Mapping[str, OpenConflict],
) -> SyncReport:
    """Return the report of a plan."""
    names = {key: row["name"] for key, row in {**theirs.intents, **mine.intents}.items()}
    return SyncReport(
        project=project,
        from_folder=_side(mine, plan, to_project=True),
        to_folder=_side(theirs, plan, to_project=False),
        conflicts=(
            *(
                _of_utterance(key, one, names, mine.task, new=base.conflicts.get(key) != one)
                for key, one in conflicts.items()
            ),
            *_others("intent", plan.intents, mine.intents, theirs.intents),
            *_others("pin", plan.pins, mine.pins, theirs.pins),
            *_others("setting", plan.settings, mine.settings, theirs.settings),
        ),
        kept_intents=tuple(sorted(names[key] for key in plan.kept_intents)),
        bundle=plan.bundle_from_project,
    )


def _side(before: ProjectText, plan: SyncPlan, *, to_project: bool) -> SideChanges:
    texts, *rest = (one.to_project if to_project else one.to_folder for one in plan.merges)
    both = [(before.utterances.get(key), row) for key, row in texts.items()]
    there = [(was, now) for was, now in both if was is not None and now is not None]
    relabelled = [was for was, now in there if was["labels"] != now["labels"]]
    tests = sum(was["split"] == "test" for was in relabelled)
    intents, pins, settings = map(len, rest)
    return SideChanges(
        added=sum(was is None for was, _ in both),
        removed=sum(now is None for _, now in both),
        relabelled=len(relabelled) - tests,
        tests_relabelled=tests,
        changed=len(there) - len(relabelled),
        intents=intents,
        pins=pins,
        settings=settings,
    )


def _of_utterance(
    key: str, one: OpenConflict, names: Mapping[str, str], task: Task, *, new: bool
) -> SyncConflict:
    text = (one.project or one.folder or {"text": ""})["text"]
    answers = answers_of(one.project, one.folder, names, task)
    return SyncConflict("utterance", key, text, *answers, author=one.author, new=new)


def answers_of(
    project: Row | None, folder: Row | None, names: Mapping[str, str], task: Task
) -> tuple[str, str]:
    """Say what project and folder have of an utterance: what differs, or that it is removed."""

    def said(row: Row | None, other: Row | None) -> str:
        if row is None:
            return "removed"
        if other is None or row["labels"] != other["labels"]:
            named = [names.get(key, "an intent that is gone") for key in row["labels"] or ()]
            return "unlabelled" if row["labels"] is None else label_words(sorted(named), task)
        differing = (name for name in sorted(row) if row[name] != other.get(name))
        return ", ".join(_in_words(name, row)[:_QUOTED] for name in differing)

    return said(project, folder), said(folder, project)


def _in_words(name: str, row: Row) -> str:
    """Say what an utterance has in a field, as a person would."""
    value = row[name]
    if not value and name in _WITHOUT:
        return _WITHOUT[name]
    match name:
        case "split":
            return _SETS.get(value, str(value))
        case "slots":
            marked = [f"{slot} “{row['text'][start:end]}”" for start, end, slot in value]
            return f"values: {', '.join(marked)}"
        case "beside":
            return _beside_words(str(value))
        case _:
            return _WITH.get(name, f"another {name}").format(value)


def _beside_words(stored: str) -> str:
    """Say what a file told beside a text; the studio keeps it as JSON."""
    language, kept = language_and_kept(stored)
    formats = json.loads(kept) if kept else {}
    told = [f"{key} {one}" for of in formats.values() for key, one in of.items() if _is_plain(one)]
    more = ["more of its file"] if formats and not told else []
    return ", ".join([*([f"language {language}"] if language else []), *told, *more])


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float)


def _others(kind: str, found: Merge, mine: Rows, theirs: Rows) -> list[SyncConflict]:
    def said(row: Row | None, other: Row | None) -> str:
        if row is None:
            return "removed"
        differing = (name for name in sorted(row) if other is None or row[name] != other[name])
        return ", ".join(f"{name} {row[name]!r}"[:_QUOTED] for name in differing)

    return [
        SyncConflict(
            kind,
            key,
            (mine.get(key) or theirs.get(key) or {}).get("name", key),
            said(mine.get(key), theirs.get(key)),
            said(theirs.get(key), mine.get(key)),
        )
        for key in found.conflicts
    ]


def words_of(report: SyncReport) -> list[str]:
    """Say what was changed on either side, and what is to be decided."""
    would = "would get" if report.dry_run else "got"
    words = [
        f"The project {would} {_said(report.from_folder)}.",
        f"The folder {would} {_said(report.to_folder)}.",
    ]
    if report.first:
        words.append("They were not synced before, so neither removes anything from the other.")
    if report.bundle:
        words.append(f"{PROJECT} names the project's live version.")
    words += [
        f"The intent '{name}' stays: one side has dropped it, the other uses it."
        for name in report.kept_intents
    ]
    if report.conflicts:
        n = counted(len(report.conflicts), "conflict")
        words.append(f"{n}: both sides keep what they have until a person decides.")
    for one in report.conflicts:
        who = f" ({one.author})" if one.author else ""
        text = one.text[:_QUOTED]
        words.append(
            f"  {one.kind} “{text}”: {one.project} in the project, {one.folder} in the folder{who}"
        )
    if any(one.kind == "utterance" for one in report.conflicts):
        words.append("Decide about texts in Review, under “Two people’s labels”, then sync again.")
    if any(one.kind != "utterance" for one in report.conflicts):
        words.append("For all else make both sides the same, here or in the file, then sync again.")
    return words


def _said(side: SideChanges) -> str:
    figures = (
        (side.added, "new text"),
        (side.relabelled, "changed label"),
        (side.tests_relabelled, "changed label of the test set"),
        (side.changed, "otherwise changed text"),
        (side.removed, "removed text"),
        (side.intents, "intent"),
        (side.pins, "pin"),
        (side.settings, "setting"),
    )
    return ", ".join(_count(n, what) for n, what in figures if n) or "nothing new"


def _count(n: int, what: str) -> str:
    noun, of, rest = what.partition(" of ")
    return counted(n, noun) + of + rest
