"""What a project hands over to a platform or a tool, and what one of them has a place for."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from core.formats.rows import ImportedRow
from core.platforms.agent import Loss
from core.platforms.gathering import Losses
from core.types import Split

Values: TypeAlias = Mapping[str, Mapping[str, tuple[str, ...]]]
"""Values with their synonyms, by slot or by type of value."""

Files: TypeAlias = Mapping[str, bytes]
"""Content by name; a single file has the name that it gets if none is chosen."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """A pin: a text and the intents that it must get; none of them is out of scope."""

    text: str
    intents: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """A project as it is handed over.

    Attributes:
        language: Code of the texts that have none of their own, such as `en`.
        intents: Description by name.
        values: Values with their synonyms by slot.
    """

    name: str
    language: str
    intents: Mapping[str, str]
    rows: Sequence[ImportedRow] = field(repr=False)
    values: Values = field(default_factory=dict, repr=False)
    pins: Sequence[Expectation] = ()


@dataclass(frozen=True, slots=True)
class FormatLimits:
    """What a platform refuses beyond; None where it has no such limit.

    Attributes:
        longest_phrase: Characters.
        most_phrases: Of an intent in a language.
        most_in_all: Phrases of all intents in all languages.
        longest_name: Characters of an intent's name.
        locale: What a language is called there; languages of one name are counted as one.
        counts_outside: Whether texts out of scope are phrases of an intent there.
    """

    longest_phrase: int | None = None
    most_phrases: int | None = None
    most_in_all: int | None = None
    most_intents: int | None = None
    longest_name: int | None = None
    locale: Callable[[str], str] = str
    counts_outside: bool = True


@dataclass(frozen=True, slots=True)
class FormatPlaces:
    """What a format has a place for; of everything else the report tells.

    Attributes:
        several: Texts of several intents.
        splits: Splits that it tells apart; without `test`, test texts are left out.
        pins: Expectations, as the platform's tests.
        labels: Intents of texts; all but plain texts have.
        breaks: Line breaks inside texts; writers that leave out texts tell of them themselves.
        languages: Texts of several languages.
        synthetic: Which text a synthetic one was made from.
        roles: Whether a slot `city.to` is the type `city` in the role `to`.
        reserved: Names that mean something else there, whatever their case.
        unfit: Signs that no name of an intent may have.
        unfit_in_slots: Signs that no name of a slot may have.
    """

    several: bool = False
    unlabelled: bool = False
    out_of_scope: bool = True
    splits: frozenset[Split] = frozenset()
    marks: bool = True
    values: bool = False
    descriptions: bool = False
    pins: bool = False
    labels: bool = True
    breaks: bool = True
    languages: bool = False
    synthetic: bool = False
    roles: bool = False
    reserved: frozenset[str] = frozenset()
    unfit: re.Pattern[str] | None = None
    unfit_in_slots: re.Pattern[str] | None = None
    limits: FormatLimits = FormatLimits()


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """What of a project goes into a format, under names that the format allows.

    Attributes:
        kinds: Type of value by slot.
        values: Values with their synonyms by type of value.
        left: Counts texts that are left out.
        lost: Counts what else is not carried.
    """

    name: str
    language: str
    intents: Mapping[str, str]
    rows: Sequence[ImportedRow] = field(repr=False)
    kinds: Mapping[str, str]
    values: Values = field(repr=False)
    pins: Sequence[Expectation]
    left: Losses
    lost: Losses

    def by_intent(self) -> dict[str, list[ImportedRow]]:
        """Return the rows of each intent, in order; those out of scope under the empty name."""
        found: dict[str, list[ImportedRow]] = {name: [] for name in self.intents}
        for row in self.rows:
            for name in row.intents or ("",):
                found.setdefault(name, []).append(row)
        return found

    def language_of(self, row: ImportedRow) -> str:
        """Return the language of a text."""
        return row.language or self.language


Write: TypeAlias = Callable[[Fitted], Files]


@dataclass(frozen=True, slots=True, eq=False)
class HandedOver:
    """What is written, and what is not.

    Attributes:
        written: Texts that are in the files.
        left_out: Texts that are not, each counted once.
        losses: What else has no place.
        refusals: Limits of the platform that the files would break; every offender is named.
    """

    files: Files = field(repr=False)
    written: int
    left_out: tuple[Loss, ...]
    losses: tuple[Loss, ...]
    refusals: tuple[Loss, ...]
