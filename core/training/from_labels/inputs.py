"""Inputs of a training run, and its labels as numbers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.encoders.base import Encoder
from core.heads.targets import target_matrix
from core.training.devices import ComputeOptions
from core.types import Exemplar, FloatArray, Intent, ScoreArray, Task, Told, told_nobody

Embed = Callable[[Encoder, Sequence[str]], FloatArray]
"""Embeds texts with an encoder or from a cache; (n, d) float32."""


def embed_directly(encoder: Encoder, texts: Sequence[str]) -> FloatArray:
    """Encode without a cache."""
    return encoder.encode(texts)


@dataclass(frozen=True, slots=True)
class CoreLabels:
    """Labels that came with the sure cores of groups: texts that are easier than others.

    Attributes:
        ids: Exemplars labelled with a group.
        doubtful: Texts of these groups that wait for a label. A run only scores them.
        waiting: Share of all texts, labelled or not, that wait for a label, in [0, 1].
    """

    ids: frozenset[str]
    doubtful: tuple[str, ...]
    waiting: float


@dataclass(frozen=True, slots=True)
class RunInputs(ComputeOptions):
    """Everything a run depends on; equal inputs give an equal pipeline.

    Attributes:
        exemplars: The labelled utterances of the training split.
        watched: Labelled texts that are not trained on. Accuracy on a sample of them is reported
            after each epoch; it decides nothing.
        pool: Unlabelled texts. Recipes that learn from them draw from these, in this order.
        cores: Labels that came with groups; None where there are none.
        learned: Hashes of the texts that trainings on labels have taught the encoder, by
            `hashes_of`.
        told: Told how much of the stage at hand is done, where it takes long.
    """

    exemplars: tuple[Exemplar, ...]
    intents: tuple[Intent, ...]
    encoder: Encoder
    embed: Embed = embed_directly
    watched: tuple[Exemplar, ...] = ()
    pool: tuple[str, ...] = ()
    task: Task = "single-label"
    cores: CoreLabels | None = None
    learned: frozenset[str] = frozenset()
    told: Told = told_nobody


def exemplar_targets(exemplars: Sequence[Exemplar], intents: Sequence[Intent]) -> ScoreArray:
    """Return the 0/1 matrix of the exemplars' labels; (m, intents) float64."""
    return target_matrix([e.intents for e in exemplars], [intent.name for intent in intents])


def n_intents(exemplars: Sequence[Exemplar]) -> int:
    """Count the intents that have labels."""
    return len({name for e in exemplars for name in e.intents})


def first_columns(exemplars: Sequence[Exemplar], intents: Sequence[Intent]) -> list[int]:
    """Return the column of each exemplar's first intent."""
    column = {intent.name: place for place, intent in enumerate(intents)}
    return [column[e.intents[0]] for e in exemplars]
