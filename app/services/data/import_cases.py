"""The cases that the rows of an import fall into, and what a person chooses for each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

CaseKind = Literal[
    "new",
    "given",
    "same",
    "unlabelled",
    "otherwise",
    "in-test",
    "in-training",
    "repeated",
    "contradicted",
    "other-values",
    "empty",
    "too-long",
]
"""What a row is, compared with every split of the project and with the rows before it.

`new`: a text that is not there. `given`: there without a label, and the file has one. `same`: there
with the same label, or both without. `unlabelled`: there with a label, and the file has none.
`otherwise`: there with another label. `in-test`: meant for another split, and in the test set.
`in-training`: meant for the test set, and in another split. `repeated`: earlier in the file.
`contradicted`: earlier in the file, where not all rows of the text have the same label.
`other-values`: there with other marked values, which are kept.
"""

CASE_KINDS: tuple[CaseKind, ...] = get_args(CaseKind)

UNCHANGED: frozenset[CaseKind] = frozenset({"same", "unlabelled", "repeated"})
"""Cases in which there is nothing to change or to choose."""

Meaning = Literal["out-of-scope", "unlabelled", "intent"]
Kept = Literal["mine", "file"]
Across = Literal["skip", "add"]
Contradicted = Literal["first", "last", "unlabelled"]


@dataclass(frozen=True, slots=True)
class ImportChoices:
    """What to do in the cases that the preview of an import counts; the defaults change nothing.

    Attributes:
        otherwise: Whose label a text keeps that has another one in the project.
        exceptions: Rows for which `otherwise` is the other way round, by their number in the file.
        across: Whether a text of the test set is added to another split as well, and the other way
            round; the model would be judged on what it has learned.
        contradicted: Which label a text gets that has several in the file.
        meanings: What a label such as `oos`, `None` or `-` means, by the label as the file writes
            it; "" is an empty cell.
        renamed: Names of the file that stand for an intent of the project, by the name in the file.
        counted: Rows of each case as the person saw them; if they differ by now, nothing is
            imported. None skips the check.
    """

    otherwise: Kept = "mine"
    exceptions: frozenset[int] = frozenset()
    across: Across = "skip"
    contradicted: Contradicted = "first"
    meanings: Mapping[str, Meaning] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    counted: Mapping[CaseKind, int] | None = None


@dataclass(frozen=True, slots=True)
class CaseExample:
    """A row of a case: its number in the file, and its label here and in the file, in words."""

    row: int
    text: str
    here: str
    file: str


@dataclass(frozen=True, slots=True)
class ImportCase:
    """How many rows of a file are of one kind, with the first of those that may be chosen."""

    kind: CaseKind
    rows: int
    examples: tuple[CaseExample, ...]


@dataclass(frozen=True, slots=True)
class DoubtfulLabel:
    """A label of a file that may mean "no label", and how its rows are read; "" is an empty cell.

    `chosen` is False while the meaning is only assumed. `texts` are the first of its rows.
    """

    label: str
    rows: int
    meaning: Meaning
    chosen: bool
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NameLikeOthers:
    """A name of a file that may stand for an intent of the project.

    `intents` are those whose names have a word in common with it, the closest first. `chosen` is
    the one that its rows get; "" makes a new intent. `texts` are the first of its rows.
    """

    label: str
    intents: tuple[str, ...]
    chosen: str
    texts: tuple[str, ...] = ()
