"""The values that people marked in a project, and what proposes them in other texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.services.embedding import Points
from app.services.slots.book import book_of
from app.services.studio import Studio
from app.services.versions.registry import recipes_behind
from core.templates.matching import SlotMatcher, learn_matcher
from core.templates.slots import SlottedText, Tokens, template_of
from storage.database import Database, Transaction
from storage.queries import columns as points
from storage.queries import slots
from storage.records import ModelVersionRecord, ProjectRecord, UtteranceRecord

_BYTES_A_ROW = 600


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """What is marked at one revision of a project.

    Attributes:
        utterances: Those with a value, by id.
        matcher: Knows the values of the train split, as the slot book does.
        synthetic: Ids of those that nobody said.
    """

    utterances: Mapping[str, SlottedText] = field(repr=False)
    matcher: SlotMatcher = field(repr=False)
    synthetic: frozenset[str] = frozenset()

    def of(self, key: str, text: str) -> SlottedText:
        """Return an utterance with its values; without any where its text is another meanwhile."""
        found = self.utterances.get(key)
        return found if found is not None and found.text == text else SlottedText(text)


def read_marks(studio: Studio, project: ProjectRecord) -> Marks:
    """Read what is marked, once for each revision."""

    def read() -> Marks:
        with studio.database.read() as connection:
            rows = slots.marked(connection, project.id)
            return _marks(rows, book_of(studio, connection, project).sure)

    key = ("marks", project.id, project.head_revision)
    return studio.cache.get(key, read, lambda made: _BYTES_A_ROW * len(made.utterances))


def load_marks(database: Database, project_id: int) -> Marks:
    """Read what is marked."""
    with database.read() as connection:
        rows = slots.marked(connection, project_id)
        taught = slots.giving(connection, project_id)
    return _marks(rows, learn_matcher(SlottedText(row.text, row.slots) for row in taught))


def _marks(rows: Sequence[UtteranceRecord], matcher: SlotMatcher) -> Marks:
    return Marks(
        {row.id: SlottedText(row.text, row.slots) for row in rows},
        matcher,
        frozenset(row.id for row in rows if row.synthetic),
    )


def templates_of(
    database: Database, project_id: int, found: Points, known: tuple[Marks, Tokens]
) -> dict[str, str]:
    """Return the template of each utterance that has a value, by id.

    Values are those that somebody marked; of texts outside of the train split without any, those
    that the train split knows.
    """
    marks, tokens = known
    columns = found.columns
    pairs = zip(columns.ids, columns.splits, strict=True)
    bare = [key for key, split in pairs if split != "train" and key not in marks.utterances]
    with database.read() as connection:
        texts = points.texts(connection, project_id, bare)
    asked = ((key, marks.matcher.propose(text)) for key, text in texts.items())
    proposed = {key: template_of(one, tokens) for key, one in asked if one.slots}
    return {key: template_of(one, tokens) for key, one in marks.utterances.items()} | proposed


def tokens_of(connection: Transaction, version: ModelVersionRecord | None) -> Tokens:
    """Say what stands for a value in the templates that a version learned from, if it did."""
    if version is not None:
        for recipe in recipes_behind(connection, version):
            if recipe.get("kind") == "templates":
                return "distinct" if recipe.get("tokens") == "distinct" else "one"
    return "one"
