"""A head plus the similarity to intent names, with a weight fitted to the labels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax, softmax

from core.heads.base import Head
from core.heads.points import PointHead
from core.heads.votes.kernel import kernel_of_cosines
from core.types import FloatArray, ScoreArray

TAU = 0.1
"""Width of a name's voice: narrower than an exemplar's, since only a close name is informative."""

_START = 5.0
_BOUNDS = [(1e-3, 1e3), (0.0, 1e3)]


@dataclass(frozen=True, slots=True, eq=False)
class MixtureHead:
    """A head's scores plus weighted voices of intent names.

    A name's voice is exp((cosine - 1) / tau), like an exemplar's kernel.

    Attributes:
        first: Head fitted on labels.
        names: Points of the names of the same intents.
        weights: Weight of each name, (intents,) float64; 0 ignores the name.
        taus: Width of each name's voice, (intents,) float64.
    """

    first: Head
    names: PointHead
    weights: ScoreArray
    taus: ScoreArray

    @property
    def kind(self) -> str:
        """Name of this kind; no recipe names it."""
        return "mixture"

    @property
    def intents(self) -> tuple[str, ...]:
        """Names of the score columns."""
        return self.first.intents

    @property
    def consistent(self) -> bool:
        """Whether the shapes of the arrays fit together."""
        fits = self.weights.shape == self.taus.shape == (len(self.intents),)
        return fits and bool((self.taus > 0).all())

    def scores(self, embeddings: FloatArray) -> ScoreArray:
        """Score embeddings (n, d) by both parts; (n, intents) float64."""
        return self.mixed(self.first.scores(embeddings), self.names.scores(embeddings))

    def voices(self, embeddings: FloatArray) -> ScoreArray:
        """Return what names add to the scores of embeddings (n, d); (n, intents) float64."""
        return self._weighed(self.names.scores(embeddings))

    def mixed(self, first: ScoreArray, names: ScoreArray) -> ScoreArray:
        """Add known scores of the first head and cosines to names, each (n, intents)."""
        total: ScoreArray = first + self._weighed(names)
        return total

    def _weighed(self, cosines: ScoreArray) -> ScoreArray:
        voices: ScoreArray = self.weights * kernel_of_cosines(cosines, self.taus)
        return voices


def even_mixture(first: Head, names: PointHead, weight: float, tau: float = TAU) -> MixtureHead:
    """Give all names the same weight and width."""
    each = np.ones(len(names.intents))
    return MixtureHead(first, names, weight * each, tau * each)


def without_names(head: Head) -> Head:
    """Return the head fitted on labels: the head itself, or a mixture's first head."""
    return head.first if isinstance(head, MixtureHead) else head


def voices_of(head: Head, embeddings: FloatArray) -> ScoreArray:
    """Return what names add to the scores of embeddings (n, d); zeros if names have no weight."""
    if isinstance(head, MixtureHead):
        return head.voices(embeddings)
    if isinstance(head, PointHead) and head.kind == "names":
        return head.scores(embeddings)  # here names alone decide
    return np.zeros((len(embeddings), len(head.intents)))


def choose_weight(
    first: ScoreArray, names: ScoreArray, columns: Sequence[int], tau: float = TAU
) -> float:
    """Return the weight of names under which the labels are likeliest.

    The cross-entropy of softmax(a first + b voices of names) is convex in (a, b); the weight is b /
    a. It is smooth, while accuracy on a few hundred labels jumps. `first` are held-out scores of a
    head, `names` the texts' cosines to names, both (m, intents); `columns` are the right intents.
    """
    from scipy.optimize import minimize  # takes most of a second, and is rarely needed

    rows = np.arange(len(first))
    right = np.asarray(columns, dtype=np.int64)
    voices = np.stack([first, kernel_of_cosines(names, tau)])

    def loss(factors: ScoreArray) -> tuple[float, ScoreArray]:
        logits = np.tensordot(factors, voices, 1)
        surplus = softmax(logits, axis=1)
        surplus[rows, right] -= 1.0
        gradient = (voices * surplus).sum((1, 2)) / len(rows)
        return -float(log_softmax(logits, axis=1)[rows, right].mean()), gradient

    start = np.array([_START, _START])
    found = minimize(loss, start, jac=True, bounds=_BOUNDS, method="L-BFGS-B").x
    return float(found[1] / found[0])
