"""Request bodies with labelled texts, to add or to judge a model by."""

from typing import Annotated

from pydantic import Field

from app.api.http.bodies import Body, WhichModel
from app.services.data.import_cases import Across, Contradicted, ImportChoices, Kept
from app.services.data.uploads import ColumnMapping
from core.formats.rows import LONGEST_TEXT, ImportedRow
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
