"""Request bodies with texts: to add, to judge a model by, to pin, or to delete with their log."""

from typing import Annotated, Literal

from pydantic import Field

from app.api.http.bodies import Body, Key, MarkBody, SlotBody, Text, WhichModel
from app.services.conversations.removing import TextsToo
from app.services.data.bulk import Allowed
from app.services.data.import_cases import Across, Contradicted, ImportChoices, Kept
from app.services.data.uploads import ColumnMapping
from app.services.traffic.receiving import LONGEST_SOURCE, MOST, Sent
from app.services.trying.pins import SeenPin
from core.formats.rows import LONGEST_TEXT, ImportedRow
from core.templates.slots import Slot, SlottedText
from core.types import Exemplar, Split


class LabelledText(Body):
    """A text and its label: no list is unlabelled, an empty one means that no intent fits."""

    text: str = Field(max_length=LONGEST_TEXT)
    intents: tuple[Annotated[str, Field(min_length=1, max_length=1_000)], ...] | None = Field(
        default=None, max_length=50
    )


class NewText(LabelledText):
    """A text to add; without a split, a labelled one is for training."""

    split: Split | None = None

    def read(self) -> ImportedRow:
        """Convert to the row of a file."""
        return ImportedRow(self.text, self.intents, self.split)


class NewTextsBody(Body):
    """Texts to add, and what to do with those that are there already, as for an import."""

    texts: tuple[NewText, ...] = Field(min_length=1, max_length=20_000)
    otherwise: Kept = "mine"
    across: Across = "skip"
    contradicted: Contradicted = "first"

    def read(self) -> tuple[ImportedRow, ...]:
        """Convert to the rows of a file."""
        return tuple(text.read() for text in self.texts)

    def choices(self) -> ColumnMapping:
        """Convert to the service's choices."""
        choices = ImportChoices(**self.model_dump(exclude={"texts"}))
        return ColumnMapping(format="jsonl", choices=choices)


class EvaluateBody(Body):
    """Labelled texts to judge a model by."""

    texts: tuple[LabelledText, ...] = Field(min_length=1, max_length=20_000)
    model: WhichModel = "live"

    def read(self) -> list[Exemplar]:
        """Convert to exemplars; texts without a label are left out."""
        return [
            Exemplar(str(number), text.text, text.intents)
            for number, text in enumerate(self.texts, 1)
            if text.intents is not None
        ]


class SaidTextBody(Body):
    """A text that was said: `time` as ISO 8601, UTC without an offset; `source` is the channel.

    With the same `key` it is stored once. Without a key, a text is known by its words, its time,
    its source, and how often the same stands before it in the request.
    """

    text: str = Field(max_length=LONGEST_TEXT)
    time: str = Field(max_length=64)
    source: str = Field(max_length=LONGEST_SOURCE)
    key: str = Field(default="", max_length=255)


class TrafficBody(Body):
    """Texts that were said; `mask` replaces personal data before anything is stored."""

    texts: tuple[SaidTextBody, ...] = Field(min_length=1, max_length=MOST)
    mask: bool = True

    def read(self) -> list[Sent]:
        """Convert to the service's texts."""
        return [Sent(one.text, one.time, one.source, one.key) for one in self.texts]


class PinBody(Body):
    """A text, and the ids of its expected intents; without a list, the pin is removed.

    With `seen`, the intents of the pin that the caller knows, null for none, nothing is done if the
    text has another pin by now.
    """

    text: str = Field(max_length=10_000)
    intents: tuple[str, ...] | None = Field(default=None, max_length=50)
    seen: tuple[str, ...] | None = Field(default=None, max_length=50)

    def read_seen(self) -> SeenPin | None:
        """Return what the caller knows of the text's pin; None if it does not say."""
        return SeenPin(self.seen) if "seen" in self.model_fields_set else None


class SeenMarksBody(Body):
    """A text and its marked values as a person saw them."""

    text: Text
    slots: list[SlotBody] = Field(max_length=500)


class SeenMarkBody(MarkBody):
    """All values of an utterance; with `seen`, only if text and values still are as they were."""

    seen: SeenMarksBody | None = None

    def read_seen(self) -> SlottedText | None:
        """Return what the caller saw; None if it does not say."""
        if self.seen is None:
            return None
        slots = (Slot(slot.start, slot.end, slot.name) for slot in self.seen.slots)
        return SlottedText(self.seen.text, tuple(slots))


class LogRemovalQuery(Body):
    """How a log is removed: with `texts` the utterances that came from it are deleted, too.

    Of these, labelled ones and those of the test set stay unless `also` names them, and so do those
    that changed after `revision`. If their number is not as `expected`, nothing is removed.
    """

    texts: bool = False
    key: Key | None = None
    also: list[Literal["labelled", "test"]] = Field(default=[], max_length=2)
    expected: int | None = Field(default=None, ge=0)
    revision: int | None = Field(default=None, ge=0)

    def read(self) -> TextsToo | None:
        """Convert to the service's value; None keeps all utterances."""
        allowed = Allowed("labelled" in self.also, "test" in self.also, self.revision)
        return TextsToo(allowed, self.expected, self.key or "") if self.texts else None
