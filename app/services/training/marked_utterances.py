"""Choose the utterances that a training on templates learns from."""

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
    """Raise InvalidInput if no utterance outside the test split has a marked value."""
    if not slots.is_any_marked(connection, project.id):
        raise InvalidInput(
            f"'{project.name}' has no marked values to learn templates from.",
            "Mark values in texts on the page Slots, or import a file that has them marked.",
        )


def read_utterances(
    records: Iterable[UtteranceRecord], recipe: TemplatesRecipe
) -> tuple[SlottedText, ...]:
    """Choose utterances of train and pool whose text is not in the test split, ordered by text.

    Utterances without marked values are searched for values marked elsewhere. An utterance without
    any value is its own template; at most as many of these are kept, drawn at random, as there are
    utterances with values. Stored synthetic utterances are left out if the recipe adds its own,
    and those made of a test text always.
    Ids are random; ordering by text gives equal encoders for equal files and seeds in all projects.
    """
    rows = sorted(records, key=lambda record: (record.text, record.id))
    tests = {record.id: match_key(record.text) for record in rows if record.split == "test"}
    tested = set(tests.values())
    learnable = [
        SlottedText(record.text, record.slots)
        for record in rows
        if record.split != "test"
        and match_key(record.text) not in tested
        and record.synthetic not in tests
        and not (record.synthetic and recipe.augment)
    ]
    matcher = learn_matcher(text for text in learnable if text.slots)
    slotted = [text if text.slots else matcher.propose(text.text) for text in learnable]
    bare = [row for row, text in enumerate(slotted) if not text.slots]
    surplus = max(0, 2 * len(bare) - len(slotted))
    generator = np.random.default_rng(recipe.seed)
    left_out = {bare[place] for place in generator.choice(len(bare), surplus, replace=False)}
    return tuple(text for row, text in enumerate(slotted) if row not in left_out)
