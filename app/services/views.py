"""What services hand to pages, the command line and REST: frozen values, ready to show."""

from dataclasses import dataclass

from core.types import Prediction


@dataclass(frozen=True, slots=True)
class ProjectView:
    """A project in a list."""

    name: str
    task: str
    intents: int
    labelled: int
    utterances: int
    champion: str | None
    accuracy: float | None


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did, or with `dry_run` would do.

    Attributes:
        added: New utterances.
        labelled: Labels given by the file, to new and to known utterances.
        already_there: Rows that change nothing.
        conflicting: Rows whose utterance already has another label; the label is kept as it was.
        empty: Rows without text, left out.
        too_long: Rows over the length limit, left out.
        new_intents: Names of intents that the file brings.
        examples: A few sentences about single rows, with their line.
        dry_run: Whether nothing was written.
    """

    added: int
    labelled: int
    already_there: int
    conflicting: int
    empty: int
    too_long: int
    new_intents: tuple[str, ...]
    examples: tuple[str, ...]
    dry_run: bool


@dataclass(frozen=True, slots=True)
class ModelView:
    """A model version with where it came from and how good it is."""

    name: str
    project: str
    number: int
    recipe: str
    base: str
    dataset_version: str
    created_at: str
    champion: bool
    metrics: dict[str, object]


@dataclass(frozen=True, slots=True)
class Explanation:
    """A prediction with the sentence that says it in words."""

    prediction: Prediction
    sentence: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that `doctor` looked at."""

    subject: str
    healthy: bool
    detail: str
