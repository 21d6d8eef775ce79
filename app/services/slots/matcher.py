"""The values that people marked in a project, and the templates of its utterances."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.services.answering.ancestry import recipes_behind
from app.services.embedding import Points
from app.services.slots.book import book_of
from app.services.studio import Studio
from core.recipes.read import learns_from
from core.templates.matching import SlotMatcher
from core.templates.slots import SlottedText, Tokens, template_of
from storage.database import Database, Transaction
from storage.people.known_values import count_kept
from storage.queries import columns, slots
from storage.records import ModelVersionRecord, ProjectRecord

_BYTES_A_ROW = 600


@dataclass(frozen=True, slots=True, eq=False)
class MarkedValues:
    """Utterances with marked values at one revision of a project, by id, and the synthetic ids.

    `matcher` finds the values of the training split, and those that `imports` imports brought, as
    the slot book does.
    """

    utterances: Mapping[str, SlottedText] = field(repr=False)
    matcher: SlotMatcher = field(repr=False)
    synthetic: frozenset[str] = frozenset()
    imports: int = 0

    def of(self, key: str, text: str) -> SlottedText:
        """Return an utterance with its values; without values if its text has changed."""
        marked = self.utterances.get(key)
        return marked if marked is not None and marked.text == text else SlottedText(text)


def read_marked_values(studio: Studio, project: ProjectRecord) -> MarkedValues:
    """Read the marked values, once for each revision and import of values."""
    with studio.database.read() as connection:
        imports = count_kept(connection, project.id)

    def read() -> MarkedValues:
        with studio.database.read() as connection:
            rows = slots.marked(connection, project.id)
            matcher = book_of(studio, connection, project).sure
        return MarkedValues(
            {row.id: SlottedText(row.text, row.slots) for row in rows},
            matcher,
            frozenset(row.id for row in rows if row.synthetic),
            imports,
        )

    return studio.cache.get_newest(
        ("marks", project.id),
        (project.head_revision, imports),
        read,
        lambda marked: _BYTES_A_ROW * len(marked.utterances),
    )


def templates_of(
    database: Database, project_id: int, found: Points, marked: MarkedValues, tokens: Tokens
) -> dict[str, str]:
    """Return the template of each utterance with a value, by id.

    Utterances outside the training split without marks use the values that the matcher proposes.
    """
    pairs = zip(found.columns.ids, found.columns.splits, strict=True)
    bare = [key for key, split in pairs if split != "train" and key not in marked.utterances]
    with database.read() as connection:
        texts = columns.texts(connection, project_id, bare)
    proposed = {key: marked.matcher.propose(text) for key, text in texts.items()}
    proposed = {key: utterance for key, utterance in proposed.items() if utterance.slots}
    known = {**marked.utterances, **proposed}
    return {key: template_of(utterance, tokens) for key, utterance in known.items()}


def tokens_of(connection: Transaction, version: ModelVersionRecord | None) -> Tokens:
    """Return how values were replaced in the templates that a version was trained on."""
    if version is not None:
        for recipe in recipes_behind(connection, version):
            if learns_from(recipe) == "templates":
                return "distinct" if recipe.get("tokens") == "distinct" else "one"
    return "one"
