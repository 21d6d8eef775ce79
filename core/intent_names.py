"""Classify by similarity to intent names, so that an intent without examples can be answered."""

from collections.abc import Collection, Sequence

import numpy as np

from core.calibration.calibration import Calibration
from core.encoders.base import Encoder
from core.encoders.dual.encoder import names_side
from core.heads.base import Head
from core.heads.mixture import TAU, MixtureHead, without_names
from core.heads.points import PointHead, fit_names
from core.heads.votes.amending import widen_head
from core.heads.votes.fit import VoteHead
from core.heads.votes.kernel import kernel_of_cosines
from core.losses.naming import Similarity
from core.pipeline import IntentPipeline
from core.text import name_words
from core.types import FloatArray, Intent, ScoreArray
from core.vectors import cosines, unit_rows

_UNTRAINED = Calibration(temperature=0.055, threshold=0.3, rejection=0.05)
"""For cosines to names by the bundled encoder. Ten examples of each intent give temperatures 0.061
and 0.047 on two sets; the threshold rejects at most 4 % of the texts in scope."""

ALONE_WEIGHT, ALONE_TAU = 0.9, 0.3
"""For the name of an intent without examples. With five such intents among 77 or 150 of ten
examples each, others lost less than 0.1 point of accuracy (docs/experiments.md)."""


_MOST_NAMES = 20_000


class NameCache:
    """Embeddings of names by encoder fingerprint and wording.

    Above 20,000, those of other encoders than the one that is asked go.
    """

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], FloatArray] = {}

    def embed(self, encoder: Encoder, texts: Sequence[str]) -> FloatArray:
        """Embed names with the encoder's side for names; (n, dim) float32."""
        side = names_side(encoder)
        own = side.fingerprint
        missing = [text for text in dict.fromkeys(texts) if (own, text) not in self._rows]
        if missing:
            rows = side.encode(missing)
            if len(self._rows) > _MOST_NAMES:  # names of encoders that answer no more
                self._rows = {key: row for key, row in self._rows.items() if key[0] == own}
            self._rows |= {(own, text): row for text, row in zip(missing, rows, strict=True)}
        found = [self._rows[own, text] for text in texts]
        return np.stack(found) if found else np.zeros((0, side.dim), dtype=np.float32)


def label_text(intent: Intent) -> str:
    """Write an intent's name as words, with its description, for an encoder."""
    name = name_words(intent.name)
    return f"{name}: {intent.description.strip()}" if intent.description.strip() else name


def names_head(
    encoder: Encoder,
    intents: Sequence[Intent],
    similarity: Similarity = "cosine",
    cache: NameCache | None = None,
) -> PointHead:
    """Answer with the nearest of these names; none of them needs an example (zero-shot).

    Use the similarity of the encoder's training.
    """
    rows = (cache or NameCache()).embed(encoder, [label_text(intent) for intent in intents])
    return fit_names(rows, [intent.name for intent in intents], similarity)


def answer_by_name(
    head: Head,
    encoder: Encoder,
    intents: Sequence[Intent],
    cache: NameCache | None = None,
    brought: Collection[str] = (),
) -> Head:
    """Answer intents without a voting example by their names.

    Scores of intents with examples do not change by a bit, and heads other than votes do not
    change. `head` may have names that were trained with the votes; names in `brought` keep their
    embedding in it, since this project does not describe them.
    """
    votes = without_names(head)
    if not isinstance(votes, VoteHead):
        return head
    more = [intent.name for intent in intents if intent.name not in votes.intents]
    wide = widen_head(votes, more) if more else votes
    unlabelled = dict(zip(wide.intents, ~wide.labelled, strict=True))
    alone = [intent for intent in intents if unlabelled[intent.name]]
    if not alone and not isinstance(head, MixtureHead):
        return head
    found = _silent(wide, encoder.dim)
    if isinstance(head, MixtureHead):
        found = beside(wide, head)
        silent = [name not in brought for name in wide.intents]
        found.weights[~wide.labelled & silent] = 0.0
    places = [wide.intents.index(intent.name) for intent in alone]
    rows = (cache or NameCache()).embed(encoder, [label_text(intent) for intent in alone])
    found.names.points[places] = unit_rows(rows)
    found.weights[places], found.taus[places] = ALONE_WEIGHT, ALONE_TAU
    return found


def names_alone(
    encoder: Encoder, intents: Sequence[Intent], cache: NameCache | None = None
) -> IntentPipeline:
    """Answer with the nearest name, without any example or training."""
    head = names_head(encoder, intents, cache=cache)
    nothing = np.zeros((0, encoder.dim), np.float32)
    return IntentPipeline(encoder, head, _UNTRAINED, (), nothing)


def beside(votes: VoteHead, trained: MixtureHead) -> MixtureHead:
    """Add trained names to newer votes; the first columns of the votes are those of the names."""
    found, old = _silent(votes, trained.names.points.shape[1]), len(trained.intents)
    found.names.points[:old] = trained.names.points
    found.weights[:old], found.taus[:old] = trained.weights, trained.taus
    return found


def _silent(votes: VoteHead, dim: int) -> MixtureHead:
    """Return a mixture whose names have weight 0."""
    n_intents = len(votes.intents)
    points = np.zeros((n_intents, dim), np.float32)
    names = PointHead("names", votes.intents, points)
    return MixtureHead(votes, names, np.zeros(n_intents), np.full(n_intents, TAU))


def voices_alone(
    encoder: Encoder, intents: Sequence[Intent], embeddings: FloatArray, cache: NameCache
) -> ScoreArray:
    """Return the weighted score of each name by itself; (n, intents) float64."""
    rows = unit_rows(cache.embed(encoder, [label_text(intent) for intent in intents]))
    voices: ScoreArray = kernel_of_cosines(cosines(unit_rows(embeddings), rows), ALONE_TAU)
    voices *= ALONE_WEIGHT
    return voices
