"""Where a typed text is in its project already, and what to do with its answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from app.services.studio import Studio
from core.types import Split
from storage.log import events
from storage.queries import dataset, utterances

RightAct = Literal["add", "pin", "relabel"]
"""What to do with an answer that is right: make the text an example, pin it, or correct its label.

The Try page and receipts go by this alone.
"""


@dataclass(frozen=True, slots=True)
class KnownText:
    """An utterance of the project; `labels` are intent ids, None if it is unlabelled."""

    id: str
    split: Split
    labels: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Occurrences:
    """The utterances that have just one given text; `ids` are those of intents, by name.

    `revision` is the project's at which they were read; None for several texts.
    """

    texts: tuple[KnownText, ...] = ()
    ids: Mapping[str, str] = field(default_factory=dict, repr=False)
    revision: int | None = None

    def act_if_right(self, answer: Iterable[str]) -> RightAct:
        """Say what to do if an answer, as intent names, is right.

        A text that is not labelled yet becomes an example. One that is an example with this label
        already, or tests the model, can be pinned. One with another label has it corrected.
        """
        wanted = {self.ids.get(name, name) for name in answer}
        examples = [one for one in self.texts if one.split != "test"]
        asked = examples or self.texts
        labels = [None if one.labels is None else set(one.labels) for one in asked]
        if any(label not in (None, wanted) for label in labels):
            return "relabel"
        return "add" if not labels or (examples and None in labels) else "pin"


def known_texts(studio: Studio, project_id: int, texts: Sequence[str]) -> Occurrences:
    """Return the utterances that have just the one given text; none for several texts."""
    if len(texts) != 1:
        return Occurrences()
    with studio.database.read() as connection:
        revision = events.head(connection, project_id)
        records = utterances.by_text(connection, project_id, texts[0])
        if not records:
            return Occurrences(revision=revision)
        ids = {one.name: one.id for one in dataset.intents(connection, project_id)}
    known = tuple(KnownText(one.id, one.split, one.labels) for one in records)
    return Occurrences(known, ids, revision)
