"""Accuracy on texts held out of a tuning, measured before it and after each epoch.

Measuring changes no weight. The exact accuracy would need all exemplars encoded after each epoch,
a third of the epoch's time. Instead, the embeddings that training computes in the epoch vote; they
are slightly older than the weights and have dropout. Only the watched texts are encoded in
addition: at most a tenth as many as are tuned on, but at least 50, about a twentieth of the time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor

from core.encoders.base import Tuning
from core.heads.votes.fit import fit_votes
from core.splits import Rows, drawn_rows
from core.text import match_key
from core.training.devices import repeatable
from core.types import Exemplar, FloatArray, ScoreArray

MOST_WATCHED = 300
_FEW, _SHARE = 50, 10
_MOST_VOTERS = 1_500
_CHUNK = 256
_EVEN = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """The texts to answer, and the labels and settings of the votes that answer them.

    Attributes:
        targets: Labels of the first rows that are tuned on, (m, intents) float64.
        settings: tau and ridge of the votes.
        seed: Draws 1,500 voters where there are more.
    """

    exemplars: tuple[Exemplar, ...]
    intents: tuple[str, ...]
    targets: ScoreArray = field(repr=False)
    settings: tuple[float, float]
    seed: int = 0


def unseen_sample(
    candidates: Sequence[Exemplar], tuned_on: Sequence[str], seed: int
) -> tuple[Exemplar, ...]:
    """Choose texts to watch: a tenth as many as are tuned on, none with a tuned text's wording."""
    seen = {match_key(text) for text in tuned_on}
    unseen = [exemplar for exemplar in candidates if match_key(exemplar.text) not in seen]
    most = min(MOST_WATCHED, max(_FEW, len(tuned_on) // _SHARE))
    return tuple(unseen[row] for row in drawn_rows(len(unseen), most, seed))


class Watcher:
    """Measures the accuracy of one tuning after each epoch."""

    def __init__(self, tuning: Tuning, watch: Watch, untuned: Tensor) -> None:
        self.tuning, self.watch = tuning, watch
        self.view = tuning.alongside([exemplar.text for exemplar in watch.exemplars])
        self.voters = drawn_rows(len(watch.targets), _MOST_VOTERS, watch.seed)
        self.latest = untuned.cpu().numpy().copy()
        self.fresh = np.ones(len(self.latest), dtype=bool)

    def begin_epoch(self) -> None:
        """Mark the embeddings of all rows as older than this epoch."""
        self.fresh[:] = False

    def note(self, rows: Rows, embedded: Tensor) -> None:
        """Store the embeddings of a batch, (b, dim)."""
        self.latest[rows] = embedded.cpu().numpy()
        self.fresh[rows] = True

    def accuracy(self) -> float | None:
        """Share of watched texts answered correctly; None if the epoch lacks an embedding."""
        if not self.fresh.all():  # the run was resumed in the middle of this epoch
            return None
        voters, watch = self.voters, self.watch
        unseen, rows = self._embed(), (self.latest[voters], watch.targets[voters])
        with threadpool_limits(limits=1, user_api="blas"):  # too small to gain from more
            scores = fit_votes(*rows, watch.intents, *watch.settings).scores(unseen)
        pairs = zip(scores, watch.exemplars, strict=True)
        return float(np.mean([_is_right(row, watch.intents, e.intents) for row, e in pairs]))

    @torch.no_grad()
    def _embed(self) -> FloatArray:
        rows = torch.arange(len(self.watch.exemplars), device=self.tuning.device)
        self.tuning.eval()
        with repeatable(self.tuning.device):
            parts = [self.view(part) for part in rows.split(_CHUNK)]
        self.tuning.train()
        embedded: FloatArray = torch.cat(parts).cpu().numpy()
        return embedded


def _is_right(scores: ScoreArray, names: Sequence[str], intents: Sequence[str]) -> bool:
    """Whether the best intent is one of the text's, or scores below 0.5 for a text without any."""
    best = int(scores.argmax())
    return names[best] in intents if intents else float(scores[best]) < _EVEN
