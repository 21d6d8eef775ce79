"""Put a project's labels back into the package they came from; all else keeps every byte.

A phrase moves to the list of its new intent, or gets its new name; it takes along what the platform
keeps beside it, such as its id. Phrases whose label, marks and set are as they were are never
written anew.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.characters import storable
from core.platforms.agent import OUT_OF_SCOPE, Agent, Home, Loss, Phrase, Platform
from core.platforms.applying import changed_files, limits_broken
from core.platforms.arrays import ArrayEdits
from core.platforms.blocks import BlockEdits
from core.platforms.line_breaks import breaks_lost, key_there
from core.platforms.readers.bulk_csv import RowEdits
from core.platforms.readers.flat import NONE
from core.platforms.rewriting import marks_of, placed_in, rewritten
from core.platforms.writing import NewPhrase, written
from core.templates.slots import Slot, SlottedText
from core.text import is_storable, normalise

_NAMED = 20
_JOINING: tuple[Platform, ...] = ("rasa", "rasa-json")
_JOINED = "+"
"""Joins several intents in a name of these platforms."""
_OTHER_MARKS = "marked values that differ in the project: left as they are"
_OTHER_SET = "texts that changed their set in the project: left as they are"
_EDITS: Mapping[Platform, type[ArrayEdits]] = {
    "lu": BlockEdits,
    "rasa": BlockEdits,
    "cx-csv": RowEdits,
    "watson-csv": RowEdits,
}
"""How the elements of a file stand, where they are no JSON."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """An utterance of the project; `intents` is empty for out of scope, None for unlabelled."""

    text: str
    intents: tuple[str, ...] | None
    slots: tuple[Slot, ...] = ()
    is_test: bool = False


@dataclass(frozen=True, slots=True)
class Deleted:
    """Texts that the project had and has no more, in NFC without outer white space.

    `is_removed` says whether they are removed from the package, too.
    """

    texts: frozenset[str] = field(default=frozenset(), repr=False)
    is_removed: bool = False


@dataclass(frozen=True, slots=True)
class PhraseChange:
    """A phrase that changes; intents may be `OUT_OF_SCOPE`.

    `before` is None for an added one, `after` for a removed one.
    """

    text: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Overlaid:
    """What an overlay does.

    Attributes:
        changed: New content by file, of those that change.
        kept, moved, removed: Numbers of phrases of the package.
        edited: Number of its phrases that keep their intent and get other marks, or the other set.
        added: Number of texts that the package did not have.
        missing: Number of phrases of the package that the project had and has no more.
        changes: The phrases that are moved, added or removed.
        losses: What could not be carried.
        refusals: Why the package must not be written; none where this is empty.
    """

    changed: Mapping[str, bytes] = field(repr=False)
    kept: int
    moved: int
    edited: int
    added: int
    removed: int
    missing: int
    changes: tuple[PhraseChange, ...] = field(repr=False)
    losses: tuple[Loss, ...]
    refusals: tuple[Loss, ...]


@dataclass(slots=True, eq=False)
class _Plan:
    agent: Agent
    tests: frozenset[str]  # texts that the project has in its test set
    marks: dict[str, set[tuple[Slot, ...]]]  # what the package marks in each text
    has_marks: bool  # whether the project has any
    deleted: Deleted = Deleted()
    outside: Counter[str] = field(default_factory=Counter)  # intents that mean out of scope
    langs: dict[str, str] = field(default_factory=dict)  # what phrases of a file say in `lang`
    language: str = ""  # of most phrases, in which new ones are added
    arrays: dict[tuple[str, int], ArrayEdits] = field(default_factory=dict)
    placed: list[str] = field(default_factory=list)  # texts that the platform does not have yet
    missing: list[str] = field(default_factory=list)  # texts that the project has no more
    changes: list[PhraseChange] = field(default_factory=list)
    edited: int = 0
    lost: dict[str, list[str]] = field(default_factory=dict)
    refused: dict[str, list[str]] = field(default_factory=dict)

    def edits(self, home: Home) -> ArrayEdits:
        start = -1 if home.array is None else home.array.start
        if (home.file, start) not in self.arrays:
            text = self.agent.documents.get(home.file, "")
            kind = _EDITS.get(self.agent.platform, ArrayEdits)
            self.arrays[home.file, start] = kind(home.file, text, home.array)
        return self.arrays[home.file, start]

    @property
    def out_of_scope(self) -> str:
        """Name under which the package keeps what is out of scope."""
        if not self.outside or any(not intent for intent, _ in self.agent.homes):
            return OUT_OF_SCOPE
        return self.outside.most_common(1)[0][0]

    def lose(self, what: str, text: str) -> None:
        self.lost.setdefault(what, []).append(text)


def overlay(
    agent: Agent,
    project: Iterable[Labelled],
    intents: Collection[str] | None = None,
    deleted: Deleted = Deleted(),
) -> Overlaid:
    """Change those phrases of a package whose label differs in the project, and add what is new.

    Texts are matched in NFC without outer white space. A text that stands under several intents
    keeps all its places if its label is one of them. Test texts are matched, but added to CLU
    alone, which has a set for them; of a text that is in training, too, the label there counts.
    `intents` are the names that the project has: an intent of the package that is none of them,
    and whose phrases are out of scope in the project, is the package's own name for that.
    A phrase that the project never had stays, since others put it there.
    """
    under: dict[str, set[str]] = {}
    marks: dict[str, set[tuple[Slot, ...]]] = {}
    for phrase in agent.phrases:
        key = normalise(phrase.text)
        under.setdefault(key, set()).add(phrase.intent)
        marks.setdefault(key, set()).add(marks_of(phrase))
    tests_first = sorted(project, key=lambda row: not row.is_test)
    rows = {key_there(agent.platform, row.text, under): row for row in tests_first}
    tests = frozenset(normalise(row.text) for row in tests_first if row.is_test)
    has_marks = any(row.slots for row in tests_first)
    outside = _outside(agent, rows, intents)
    plan = _Plan(agent, tests, marks, has_marks, deleted, outside, agent.langs(), agent.language())
    for phrase in agent.phrases:
        _relabel(plan, phrase, rows, under)
    new = [row for key, row in rows.items() if key not in under]
    added = sum(_add(plan, row) for row in new)
    changed = changed_files(agent, plan.arrays.values())
    plan.refused |= limits_broken(agent, plan.arrays.values(), plan.placed)
    removed = sum(one.after is None for one in plan.changes)
    moved = len(plan.changes) - added - removed
    return Overlaid(
        changed=changed,
        kept=len(agent.phrases) - moved - removed - plan.edited,
        moved=moved,
        edited=plan.edited,
        added=added,
        removed=removed,
        missing=len(plan.missing),
        changes=tuple(plan.changes),
        losses=_told(plan.lost),
        refusals=_told(plan.refused),
    )


def _outside(
    agent: Agent, rows: Mapping[str, Labelled], intents: Collection[str] | None
) -> Counter[str]:
    """Count the phrases of intents by which a package means out of scope."""
    if intents is None:
        return Counter()
    named = (one for one in agent.phrases if one.intent and is_storable(one.intent))
    strange = (one for one in named if one.intent not in intents)
    found = ((one, rows.get(normalise(one.text))) for one in strange)
    return Counter(one.intent for one, row in found if row is not None and row.intents == ())


def _lang(plan: _Plan, home: Home, language: str) -> str:
    """Return what a new phrase says in `lang`: it does if those of its file do."""
    if plan.agent.files.get(home.file):
        return plan.langs.get(home.file, "")
    return language if plan.langs else ""


def _relabel(
    plan: _Plan, phrase: Phrase, rows: Mapping[str, Labelled], under: Mapping[str, set[str]]
) -> None:
    """Move, remove or rewrite a phrase, if the project says so and the file can be edited there."""
    row = rows.get(normalise(phrase.text))
    if row is None:
        _remove(plan, phrase)
        return
    home: Home | None = None
    intent = _wanted(plan, phrase, row, under)
    if intent is not None and _is_in_a_list(plan, phrase):
        home = _home(plan, intent, phrase.language, phrase.text)
    if intent is None or home is None:
        plan.edited += _rewrite(plan, phrase, row, phrase.intent) is not phrase
    elif _move(plan, _rewrite(plan, phrase, row, intent), intent, home):
        plan.changes.append(PhraseChange(phrase.text, storable(phrase.intent), intent))


def _rewrite(plan: _Plan, phrase: Phrase, row: Labelled, intent: str) -> Phrase:
    """Give a phrase its marks and its set of the project; return it as it is to be."""
    was_test = is_test = phrase.split == "test"
    if plan.agent.platform == "clu" and row.intents is not None:
        is_test = row.is_test or (is_test and normalise(phrase.text) in plan.tests)
    for slots in dict.fromkeys((_slots(plan, phrase, row, intent), phrase.slots)):
        if (slots, is_test) == (phrase.slots, was_test):
            break
        said, marks = SlottedText(phrase.text, slots), plan.agent.marks
        new = NewPhrase(said, intent, phrase.language, marks, is_test=is_test)
        if (element := rewritten(plan.agent, phrase, new)) is not None:
            plan.edits(Home(phrase.file, phrase.array)).rewrite(phrase.index, element)
            return replace(phrase, slots=slots)
        plan.lose(_OTHER_MARKS if slots != phrase.slots else _OTHER_SET, phrase.text)
    return phrase


def _slots(plan: _Plan, phrase: Phrase, row: Labelled, intent: str) -> tuple[Slot, ...]:
    """Return the marks that a phrase is to have; a project without any mark says nothing of them.

    Marks that are gone from the project stay, as its deleted texts do.
    """
    if row.slots in plan.marks[normalise(phrase.text)] or not plan.has_marks:
        return phrase.slots
    placed = placed_in(phrase, row.text, row.slots)
    if not placed or not {one.name for one in placed} <= _names(plan.agent, intent):
        plan.lose(_OTHER_MARKS, phrase.text)
        return phrase.slots
    return placed


def _names(agent: Agent, intent: str) -> frozenset[str]:
    """Return the slots that an intent's phrases may mark."""
    if agent.platform == "watson" and intent == OUT_OF_SCOPE:
        return frozenset()
    return agent.declared.get(intent, frozenset(agent.marks))


def _is_in_a_list(plan: _Plan, phrase: Phrase) -> bool:
    if phrase.label is None and not isinstance(phrase.array.value, list):
        plan.lose("phrases of several lines in the file: left as they are", phrase.text)
        return False
    return True


def _remove(plan: _Plan, phrase: Phrase) -> None:
    """Remove a phrase that the project has no more, if that is asked for."""
    if normalise(phrase.text) not in plan.deleted.texts:
        plan.lose("phrases that the project never had: left as they are", phrase.text)
        return
    plan.missing.append(phrase.text)
    if not plan.deleted.is_removed:
        plan.lose("phrases deleted or reworded in the project: left as they are", phrase.text)
    elif _is_in_a_list(plan, phrase):
        plan.edits(Home(phrase.file, phrase.array)).remove(phrase.index)
        plan.changes.append(PhraseChange(phrase.text, storable(phrase.intent), None))


def _move(plan: _Plan, phrase: Phrase, intent: str, home: Home) -> bool:
    """Put a phrase under another intent; whether the file can hold it there."""
    source = plan.edits(Home(phrase.file, phrase.array))
    if phrase.label is not None:
        source.relabel(phrase.index, phrase.label, intent or NONE)
        return True
    slots = _allowed(plan, phrase.slots, intent, phrase.text)
    if slots == phrase.slots:
        plan.edits(home).append(source.remove(phrase.index))
        return True
    said = SlottedText(phrase.text, slots)
    is_placed = _append(plan, home, NewPhrase(said, intent, phrase.language, plan.agent.marks))
    if is_placed:
        source.remove(phrase.index)
    return is_placed


def _wanted(
    plan: _Plan, phrase: Phrase, row: Labelled, under: Mapping[str, set[str]]
) -> str | None:
    """Return the intent that a phrase has in the project; None if it stays where it is."""
    key = normalise(phrase.text)
    if row.intents is None:
        plan.lose("phrases without a label in the project: left as they are", phrase.text)
        return None
    intents = row.intents or (plan.out_of_scope, OUT_OF_SCOPE, *plan.outside)
    joined = _joined(plan.agent, row.intents)
    if joined is not None:
        return None if joined in under[key] else joined
    if len(row.intents) > 1 and not under[key].issuperset(intents):
        plan.lose("phrases with several intents: they stand under one of them", phrase.text)
    return None if under[key].intersection(intents) else intents[0]


def _joined(agent: Agent, intents: Sequence[str]) -> str | None:
    """Return the package's name such as Rasa's `a+b` for several intents; None if it has none."""
    if len(intents) < 2 or agent.platform not in _JOINING:
        return None
    wanted = set(intents)
    return next((name for name in agent.intents if set(name.split(_JOINED)) == wanted), None)


def _append(plan: _Plan, home: Home, new: NewPhrase) -> bool:
    """Write a phrase behind those of its intent; whether the file can hold it."""
    new = replace(new, lang=_lang(plan, home, new.language))
    element = written(plan.agent.platform, new)
    if element is None:
        plan.lose("texts with signs that the file gives another meaning", new.said.text)
        return False
    if new.said.slots and _is_there(plan, home, element):
        plan.lose("texts that are another's template with other values", new.said.text)
        return False
    if lost := breaks_lost(plan.agent.platform, new.said.text):
        plan.lose(lost, new.said.text)
    plan.edits(home).append(element)
    return True


def _is_there(plan: _Plan, home: Home, element: str | dict[str, Any]) -> bool:
    """Whether a template of Lex, which takes any value, stands among those of its intent."""
    if plan.agent.platform != "lex" or not isinstance(element, dict):
        return False
    return plan.edits(home).has("utterance", element["utterance"])


def _allowed(plan: _Plan, slots: Sequence[Slot], intent: str, text: str) -> tuple[Slot, ...]:
    """Return the slots that an intent's phrases may mark; others become plain words."""
    names = _names(plan.agent, intent)
    if slots and plan.agent.platform == "watson" and intent == OUT_OF_SCOPE:
        plan.lose("marked values of texts out of scope: written as plain words", text)
        return ()
    for slot in slots:
        if slot.name not in names:
            plan.lose(f"values of “{slot.name}” where the intent has none: plain words", text)
    return tuple(slot for slot in slots if slot.name in names)


def _add(plan: _Plan, row: Labelled) -> bool:
    if row.intents is None or (row.is_test and plan.agent.platform != "clu"):
        return False
    joined = _joined(plan.agent, row.intents)
    if len(row.intents) > 1 and joined is None:
        plan.lose("new texts with several intents: the platform has one for each", row.text)
        return False
    intent = joined or (row.intents[0] if row.intents else plan.out_of_scope)
    home = _home(plan, intent, plan.language, row.text)
    if home is None:
        return False
    said = SlottedText(row.text, _allowed(plan, row.slots, intent, row.text))
    marks = plan.agent.marks
    new = NewPhrase(said, intent, plan.language, marks, is_test=row.is_test)
    is_placed = _append(plan, home, new)
    if is_placed:
        plan.placed.append(row.text)
        plan.changes.append(PhraseChange(row.text, None, intent))
    return is_placed


def _home(plan: _Plan, intent: str, language: str, text: str) -> Home | None:
    homes = plan.agent.homes
    home = homes.get((intent, language)) or homes.get((intent, ""))
    if home is None and intent == OUT_OF_SCOPE:
        plan.lose("texts out of scope, for which the package has no place", text)
    elif home is None and intent in plan.agent.intents:
        plan.lose(f"texts of “{intent}”, which has no list of phrases in the package", text)
    elif home is None:
        plan.lose(f"texts of “{intent}”, an intent that the package does not have", text)
    return home


def _told(found: Mapping[str, list[str]]) -> tuple[Loss, ...]:
    return tuple(
        Loss(what, len(texts), tuple(texts[:_NAMED]), max(0, len(texts) - _NAMED))
        for what, texts in found.items()
    )
