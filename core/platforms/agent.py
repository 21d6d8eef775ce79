"""An agent as a platform keeps it: its phrases, each with its place in the package."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from core.characters import storable
from core.errors import InvalidInput
from core.platforms.json_places import Node
from core.platforms.packages import Package
from core.templates.slots import Slot
from core.types import Split

Platform = Literal[
    "dialogflow-es",
    "dialogflow-cx",
    "cx-csv",
    "luis",
    "clu",
    "watson",
    "watson-csv",
    "lex",
    "lu",
    "rasa",
    "rasa-json",
]

OUT_OF_SCOPE = ""
"""In place of an intent's name: the phrase is an example of what fits no intent."""


@dataclass(frozen=True, slots=True, eq=False)
class Phrase:
    """A training phrase.

    Attributes:
        intent: Name of its intent, or `OUT_OF_SCOPE`.
        file: Name of the file in the package.
        array: The array in the file that holds it, at `index`.
        label: The string that names its intent; None where the array belongs to one intent.
        language: Code such as `en`; empty where the platform has none.
        split: Where the platform says whether it is for training or for testing.
        fields: What else the platform says of it, by key.
    """

    text: str
    intent: str
    file: str
    array: Node
    index: int
    slots: tuple[Slot, ...] = ()
    label: Node | None = None
    language: str = ""
    split: Split | None = None
    fields: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Home:
    """Where the phrases of an intent stand: an array of a file, None if the file is to be made."""

    file: str
    array: Node | None


@dataclass(frozen=True, slots=True)
class Loss:
    """What has no place on the other side: what it is, how many, and some of them by name.

    `more` is the number of examples beyond those that are named. Characters of a file that cannot
    be written are U+FFFD.
    """

    what: str
    count: int
    examples: tuple[str, ...] = ()
    more: int = 0

    def __post_init__(self) -> None:
        """Replace what can be sent in no answer."""
        object.__setattr__(self, "what", storable(self.what))
        object.__setattr__(self, "examples", tuple(map(storable, self.examples)))

    def lines(self, verb: str) -> list[str]:
        """Say it in a line that begins with a verb, and name the examples below."""
        names = [f"  {one}" for one in self.examples]
        names += [f"  and {self.more:,} more"] * bool(self.more)
        return [f"{verb}: {self.what} ({self.count:,}){':' if names else '.'}", *names]


def refused(by: str, what: str, refusals: Sequence[Loss]) -> InvalidInput:
    """Return the error of a file or package that a platform would refuse; one refusal or more."""
    broken = "; ".join(f"{one.what} ({one.count:,})" for one in refusals)
    return InvalidInput(
        f"{by} would refuse {what}: {broken}.",
        f"Nothing is written. Begin with “{refusals[0].examples[0][:60]}”.",
    )


ROLE = '"role"'
"""Mark of a slot such as `city.to`, of which a package says that the part behind is a role."""


@dataclass(frozen=True, slots=True, eq=False)
class Agent:
    """What a package holds.

    Attributes:
        files: For each file that holds phrases or intents, its number of phrases.
        intents: Description by name, in the order of the package.
        homes: Place of phrases by intent and language.
        declared: Slots that phrases of an intent may mark, where the platform asks for that.
        values: Values with their synonyms by slot type.
        marks: Type by name of each slot that phrases of the package mark; empty if it has none.
        kinds: Type of values by slot, where the platform keeps both apart.
        losses: What the studio has no place for; it stays in the package.
        documents: The parsed files, by name.
    """

    platform: Platform
    package: Package
    phrases: Sequence[Phrase] = field(repr=False)
    intents: Mapping[str, str]
    homes: Mapping[tuple[str, str], Home] = field(repr=False)
    files: Mapping[str, int] = field(repr=False)
    declared: Mapping[str, frozenset[str]] = field(repr=False)
    values: Mapping[str, Mapping[str, tuple[str, ...]]] = field(repr=False)
    marks: Mapping[str, str]
    losses: Sequence[Loss]
    documents: Mapping[str, str] = field(repr=False)
    kinds: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def slot_values(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Values with their synonyms by slot; a type that no phrase marks is a slot of its name."""
        found: dict[str, dict[str, tuple[str, ...]]] = {}
        used = set[str]()
        for slot in self.marks:
            kind = self.kinds.get(slot) or slot.partition(".")[0]
            if kind in self.values:
                found[slot] = dict(self.values[kind])
                used.add(kind)
        return found | {kind: dict(one) for kind, one in self.values.items() if kind not in used}

    def language(self) -> str:
        """Return the language of most phrases, of several the first by name."""
        counts = Counter(phrase.language for phrase in self.phrases)
        return max(sorted(counts), key=counts.__getitem__)

    def langs(self) -> dict[str, str]:
        """Return by file the newest `lang` of its phrases in Dialogflow ES."""
        if self.platform != "dialogflow-es":
            return {}
        found = ((one.file, (one.fields or {}).get("lang")) for one in self.phrases)
        return {file: lang for file, lang in found if isinstance(lang, str)}
