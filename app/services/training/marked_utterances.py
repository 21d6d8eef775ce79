"""What a training on templates learns from: utterances with values marked in them."""

from collections.abc import Iterable

import numpy as np

from core.errors import InvalidInput
from core.recipes.templates import TemplatesRecipe
from core.templates.matching import learn_matcher
from core.templates.slots import SlottedText
from core.text import match_key
from storage.database import Transaction
from storage.queries import slots
from storage.records import ProjectRecord, UtteranceRecord


def require_slots(connection: Transaction, project: ProjectRecord) -> None:
    """Refuse to learn where no value is marked.

    Raises:
        InvalidInput: No utterance outside of the test split has one.
    """
    if not slots.is_any_marked(connection, project.id):
        raise InvalidInput(
            f"'{project.name}' has no marked values to learn templates from.",
            "Mark values in utterances on the Label page, or import a file that has them marked.",
        )


def read_utterances(
    records: Iterable[UtteranceRecord], recipe: TemplatesRecipe
) -> tuple[SlottedText, ...]:
    """Choose what is learned from, of train and pool; no text of the test split is among it.

    Where nobody marked a value, known ones are proposed. Utterances without any value are their
    own templates; as many of them come along as have one, so that a large pool does not drown
    those that teach. They come in the order of their texts: ids are drawn by chance, and the same
    file and seed shall give the same encoder in every project.

    Args:
        records: All of the project.
        recipe: Whoever adds synthetic utterances of its own does without those that are stored.
    """
    rows = sorted(records, key=lambda record: (record.text, record.id))
    tested = {match_key(record.text) for record in rows if record.split == "test"}
    given = [
        SlottedText(record.text, record.slots)
        for record in rows
        if record.split != "test"
        and match_key(record.text) not in tested
        and not (record.synthetic and recipe.augment)
    ]
    matcher = learn_matcher(one for one in given if one.slots)
    told = [one if one.slots else matcher.propose(one.text) for one in given]
    bare = [row for row, one in enumerate(told) if not one.slots]
    spare = max(0, 2 * len(bare) - len(told))
    generator = np.random.default_rng(recipe.seed)
    left_out = {bare[at] for at in generator.choice(len(bare), spare, replace=False)}
    return tuple(one for row, one in enumerate(told) if row not in left_out)
