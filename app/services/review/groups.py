"""Propose how to split an intent: the groups within its texts, those of the test set included."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.services.embedding import embed_texts
from app.services.live.live_studio import LiveStudio, open_live
from core.review.borderline import words_in_order
from core.review.groups import find_groups, most_groups
from core.text import free_name, normalise
from core.types import Split
from storage.queries import dataset, utterances
from storage.queries.utterances import Filter
from storage.records import IntentRecord, UtteranceRecord

_LONGEST = 190
"""Letters of a proposed name, so that a number fits behind it."""
_WORD_SIZES = range(3, 41)
"""Signs of a word that can name a group: a longer one is a sentence without blanks."""


@dataclass(frozen=True, slots=True)
class GroupedText:
    """A text of a group."""

    id: str
    text: str
    split: Split


@dataclass(frozen=True, slots=True)
class IntentGroup:
    """A group of an intent's texts, the most typical first, then those of the test set.

    `name` is a proposal for a new intent.
    """

    name: str
    texts: tuple[GroupedText, ...]
    n_test: int


@dataclass(frozen=True, slots=True)
class IntentGroups:
    """Groups of an intent, the largest first; none if it has too few texts.

    `silhouette` is its mean, -1 to 1; up to `most` groups can be asked for.
    """

    groups: tuple[IntentGroup, ...]
    silhouette: float
    most: int


def propose_groups(
    live_studio: LiveStudio, project: str, intent: str, k: int | None = None
) -> IntentGroups:
    """Divide the examples of an intent; its other texts join the group they resemble most.

    `k` is the number of groups; by default the one with the best silhouette.

    Raises:
        NotFound: There is no such project or intent, or no model.
    """
    record, live = open_live(live_studio, project)
    database = live_studio.studio.database
    with database.read() as connection:
        source = dataset.intent_by_id(connection, record.id, intent)
        taken = {one.name for one in dataset.intents(connection, record.id)}
        carriers = utterances.find_all(connection, record.id, Filter(intent_id=intent))
    examples = [one for one in carriers if one.split == "train"]
    others = [one for one in carriers if one.split != "train"]
    rows = embed_texts(database, live.pipeline.encoder, [one.text for one in examples])
    groups = find_groups(rows, k)
    if groups is None:
        return IntentGroups((), 0.0, 0)
    joined = groups.nearest(
        embed_texts(database, live.pipeline.encoder, [one.text for one in others])
    )
    members = [
        [
            *(examples[row] for row in groups.typical(group, rows).tolist()),
            *(others[row] for row in np.flatnonzero(joined == group).tolist()),
        ]
        for group in range(len(groups.centres))
    ]
    names = _names(source, members, taken)
    made = [_group(name, texts) for name, texts in zip(names, members, strict=True)]
    return IntentGroups(tuple(made), groups.silhouette, most_groups(len(rows)))


def _group(name: str, records: Sequence[UtteranceRecord]) -> IntentGroup:
    texts = tuple(GroupedText(one.id, one.text, one.split) for one in records)
    return IntentGroup(name, texts, sum(one.split == "test" for one in texts))


def _names(
    source: IntentRecord, members: Sequence[Sequence[UtteranceRecord]], taken: set[str]
) -> list[str]:
    """Name each group after the intent and the word that is most its own."""
    shares = [_shares([one.text for one in records]) for records in members]
    of_name = set(_words(source.name.replace("_", " ")))
    names: list[str] = []
    for place, share in enumerate(shares):
        others = [shares[other] for other in range(len(shares)) if other != place]
        lead = {
            word: here - max(other.get(word, 0.0) for other in others)
            for word, here in share.items()
            if word not in of_name
        }
        best = min(lead, key=lambda word: (-lead[word], word), default="")
        name = f"{source.name}_{best}" if best else source.name
        names.append(free_name(name[:_LONGEST], taken | set(names), "_"))
    return names


def _shares(texts: Sequence[str]) -> dict[str, float]:
    """Return in which share of texts each word occurs."""
    counts = Counter(word for text in texts for word in set(_words(text)))
    return {word: count / len(texts) for word, count in counts.items()}


def _words(text: str) -> list[str]:
    words = words_in_order(normalise(text))
    return [
        word
        for word in words
        if len(word) in _WORD_SIZES and not any(sign.isdecimal() for sign in word)
    ]
