"""Read a file's labels: names that may mean "no label", and texts with several labels."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from app.services.data.import_cases import (
    Contradicted,
    DoubtfulLabel,
    ImportChoices,
    Meaning,
    NameLikeOthers,
)
from core.formats.rows import ImportedRow, RowProblem
from core.review.name_words import similar_names
from core.text import plain_name, text_hash

Labels: TypeAlias = tuple[str, ...] | None
"""Names of intents; None is unlabelled, empty is "no intent"."""

_OWN_ID = re.compile(r"[0-9a-f]{32}")
"""Ids of texts as the studio makes them."""

Place: TypeAlias = tuple[str, str | None]
"""A text's hash, and the split of a row that an export of the studio wrote; None for other rows."""

_SUGGESTED = 3
_SHOWN = 3
"""Texts of a name that is asked about."""
_MOST_NEW = 30
"""With more new names a file has intents of its own."""
_DASHES = re.compile(r"[\s_\-\u2013\u2014]+")
_MEANINGS: dict[str, Meaning] = {
    "out of scope": "out-of-scope",
    "outofscope": "out-of-scope",
    "oos": "out-of-scope",
    "out of domain": "out-of-scope",
    "ood": "out-of-scope",
    "no intent": "out-of-scope",
    "no match": "out-of-scope",
    "no topic": "out-of-scope",
    "none of the above": "out-of-scope",
    "none of these": "out-of-scope",
    "none": "unlabelled",
    "n/a": "unlabelled",
    "#n/a": "unlabelled",
    "": "unlabelled",  # dashes alone
}


@lru_cache(maxsize=4096)
def assumed_meaning(name: str) -> Meaning | None:
    """Return what a label probably means that is hardly an intent's name; None for other names."""
    return _MEANINGS.get(_DASHES.sub(" ", name.casefold()).strip())


def place_of(row: ImportedRow) -> Place:
    """Return what is one text of a file.

    An export of the studio names id and split of each row, and may have a text in two splits. Other
    tables number their rows.
    """
    is_exported = row.id is not None and _OWN_ID.fullmatch(row.id) is not None
    return text_hash(row.text), row.split if is_exported and row.split else None


@dataclass(frozen=True, slots=True)
class LabelReader:
    """Reads the label of a row; `intents` are the names of the project's intents in use.

    `renamed` are names that stand for one of these.
    """

    meanings: Mapping[str, Meaning]
    intents: frozenset[str]
    renamed: Mapping[str, str] = field(default_factory=dict)

    def read(self, row: ImportedRow) -> Labels:
        """Return the label that a row gives, without names that mean no intent."""
        if row.intents is None:
            return () if self.meanings.get("") == "out-of-scope" else None
        written = map(plain_name, row.intents)
        names = tuple(dict.fromkeys(self.renamed.get(name, name) for name in written))
        meant = {self.meaning(name) for name in names}
        kept = tuple(name for name in names if self.meaning(name) in (None, "intent"))
        if kept or not names:
            return kept
        return None if "unlabelled" in meant else ()

    def meaning(self, name: str) -> Meaning | None:
        """Return what a doubtful name means; None for the name of an intent."""
        assumed = assumed_meaning(name)
        if assumed is None:
            return None
        return self.meanings.get(name) or ("intent" if name in self.intents else assumed)

    def doubtful(self, row: ImportedRow) -> tuple[str, ...]:
        """Return the names of a row that may mean no intent; "" is an empty cell."""
        if row.intents is None:
            return ("",)
        names = dict.fromkeys(map(plain_name, row.intents))
        return tuple(n for n in names if assumed_meaning(n) and n not in self.intents)


@dataclass(slots=True)
class FileLabels:
    """The labels of all rows of a file, by text."""

    reader: LabelReader
    choice: Contradicted
    first: dict[Place, Labels] = field(default_factory=dict)
    last: dict[Place, Labels] = field(default_factory=dict)
    contradicted: set[Place] = field(default_factory=set)
    doubts: Counter[str] = field(default_factory=Counter)
    named: int = 0
    new: dict[str, None] = field(default_factory=dict)
    shown: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def of(self, row: ImportedRow) -> Labels:
        """Return the label that a row's text gets, whichever of its rows gives it."""
        place = place_of(row)
        if place not in self.contradicted or self.choice == "first":
            return self.first[place]
        return self.last[place] if self.choice == "last" else None

    def doubtful(self) -> tuple[DoubtfulLabel, ...]:
        """Return the labels to ask about; empty cells only beside labelled rows."""
        meanings = self.reader.meanings
        return tuple(
            DoubtfulLabel(
                name,
                rows,
                (self.reader.meaning(name) if name else meanings.get("")) or "unlabelled",
                name in meanings,
                tuple(self.shown[name]),
            )
            for name, rows in sorted(self.doubts.items())
            if name or self.named
        )

    def like_others(self) -> tuple[NameLikeOthers, ...]:
        """Return the names of the file that may stand for intents of the project."""
        renamed, known = self.reader.renamed, sorted(self.reader.intents)
        if len(self.new) > _MOST_NEW:
            return ()
        close = {name: similar_names(name, known)[:_SUGGESTED] for name in self.new}
        return tuple(
            NameLikeOthers(name, names, renamed.get(name, ""), tuple(self.shown[name]))
            for name, names in close.items()
            if names
        )

    def add(self, row: ImportedRow) -> None:
        """Read one more row; the label of a text is the first that one of its rows has."""
        place, labels = place_of(row), self.reader.read(row)
        doubtful = self.reader.doubtful(row)
        self.doubts.update(doubtful)
        self.named += bool(row.intents)
        new = [name for name in map(plain_name, row.intents or ()) if self._is_new(name)]
        self.new.update(dict.fromkeys(new))
        for name in dict.fromkeys((*doubtful, *new)):
            if len(self.shown[name]) < _SHOWN and row.text not in self.shown[name]:
                self.shown[name].append(row.text)
        before = self.first.get(place)
        if labels is not None and before is not None and set(labels) != set(before):
            self.contradicted.add(place)
        if before is None:
            self.first[place] = labels
        if labels is not None:
            self.last[place] = labels

    def _is_new(self, name: str) -> bool:
        reads_as_intent = self.reader.meaning(name) in (None, "intent")
        return name not in self.reader.intents and reads_as_intent


def read_file_labels(
    rows: Iterable[ImportedRow | RowProblem], choices: ImportChoices, intents: frozenset[str]
) -> FileLabels:
    """Read the labels of all rows of a file; `intents` are names of intents in use."""
    renamed = {name: intent for name, intent in choices.renamed.items() if intent in intents}
    reader = LabelReader(choices.meanings, intents, renamed)
    labels = FileLabels(reader, choices.contradicted)
    for row in rows:
        if isinstance(row, ImportedRow):
            labels.add(row)
    return labels
