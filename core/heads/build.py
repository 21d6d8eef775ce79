"""Fit a head by its recipe; convert any head to arrays and back."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, assert_never

import numpy as np

from core.errors import MALFORMED, ArtifactDamaged, InvalidInput
from core.heads.base import Head, StoredHead
from core.heads.linear import LinearHead, fit_linear
from core.heads.mixture import MixtureHead
from core.heads.neighbours import NeighbourHead
from core.heads.perceptron import MlpHead, fit_mlp
from core.heads.points import PointHead, fit_names, fit_prototypes
from core.heads.votes.fit import VoteHead
from core.heads.votes.settings import choose_votes
from core.recipes.heads import (
    HeadConfig,
    LinearConfig,
    MlpConfig,
    NamesConfig,
    NeighboursConfig,
    PrototypesConfig,
    VotesConfig,
)
from core.types import FloatArray, ScoreArray, Told, told_nobody
from core.vectors import unit_rows

Arrays = dict[str, np.ndarray[Any, Any]]
"""Named arrays, as safetensors stores them."""

_CLASSES: Mapping[str, type[Any]] = {
    "votes": VoteHead,
    "neighbours": NeighbourHead,
    "prototypes": PointHead,
    "names": PointHead,
    "linear": LinearHead,
    "mlp": MlpHead,
}
_PARTS = ("first", "names")
"""The heads of a mixture."""

_DERIVED = "root"
"""The inverse root of votes is not stored: it is large, and can be computed from the exemplars."""


def fit_head(
    config: HeadConfig,
    embeddings: FloatArray,
    targets: ScoreArray,
    intents: Sequence[str],
    name_embeddings: FloatArray | None = None,
    told: Told = told_nobody,
) -> Head:
    """Fit the head that a recipe names, on embeddings (m, d) and labels (m, intents).

    Only the head `names` needs `name_embeddings`, (intents, d).

    Raises:
        InvalidInput: There is no exemplar, or for the head `names` no name.
    """
    if isinstance(config, NamesConfig):
        if name_embeddings is None:
            raise InvalidInput("The head 'names' needs intent names.", "Name the intents.")
        return fit_names(name_embeddings, intents, config.similarity)
    if not len(embeddings):
        raise InvalidInput(
            f"The head '{config.kind}' needs labelled texts; there are none.",
            "Label some, or use the head 'names'.",
        )
    return _fit_to_labels(config, embeddings, targets, tuple(intents), told)


def _fit_to_labels(
    config: VotesConfig | NeighboursConfig | PrototypesConfig | LinearConfig | MlpConfig,
    embeddings: FloatArray,
    targets: ScoreArray,
    intents: tuple[str, ...],
    told: Told,
) -> Head:
    match config:
        case VotesConfig():
            return choose_votes(embeddings, targets, intents, config, told)
        case NeighboursConfig():
            return NeighbourHead(intents, config.k, unit_rows(embeddings), targets)
        case PrototypesConfig():
            return fit_prototypes(embeddings, targets, intents)
        case LinearConfig():
            return fit_linear(embeddings, targets, intents, config.inverse_penalty)
        case MlpConfig():
            return fit_mlp(embeddings, targets, intents, config)
        case _:
            assert_never(config)


def config_of(head: Head) -> HeadConfig | None:
    """Return settings to fit a head of this kind again, or None if that takes a training.

    For votes, tau and ridge are None: the head itself has them.
    """
    if isinstance(head, NeighbourHead):
        return NeighboursConfig(k=head.k)
    configs: dict[str, HeadConfig] = {
        "votes": VotesConfig(),
        "prototypes": PrototypesConfig(),
        "linear": LinearConfig(),
    }
    return configs.get(head.kind)


def head_to_arrays(head: Head) -> tuple[dict[str, Any], Arrays]:
    """Convert a head to JSON values and arrays, by the fields of its class."""
    facts: dict[str, Any] = {"kind": head.kind, "intents": list(head.intents)}
    if isinstance(head, MixtureHead):
        arrays: Arrays = {"weights": head.weights, "taus": head.taus}
        for part in _PARTS:
            facts[part], own = head_to_arrays(getattr(head, part))
            arrays |= {f"{part}.{name}": values for name, values in own.items()}
        return facts, arrays
    if head.kind not in _CLASSES:
        message = f"no way to store a head of kind {head.kind}"
        raise TypeError(message)
    names = [field.name for field in fields(_CLASSES[head.kind]) if field.name != _DERIVED]
    values = {name: getattr(head, name) for name in names}
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    numbers = {name: value for name, value in values.items() if isinstance(value, int | float)}
    return facts | numbers, arrays


def head_from_arrays(facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]) -> Head:
    """Rebuild a head; its scores equal the stored head's bit for bit.

    Raises:
        ArtifactDamaged: A value is missing, shapes do not fit, or the kind is unknown.
    """
    try:
        mixed = facts.get("kind") == "mixture"
        head = _mixture(facts, arrays) if mixed else _assembled(facts, arrays)
    except MALFORMED as error:
        raise ArtifactDamaged(
            f"The stored head cannot be read: {type(error).__name__} {error}.", "Export it again."
        ) from error
    if not head.consistent:
        raise ArtifactDamaged(
            f"The arrays of the stored head '{head.kind}' do not fit its {len(head.intents)} "
            "intents.",
            "Export it again.",
        )
    return head


def _assembled(facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]) -> StoredHead:
    kind = facts["kind"]
    if kind not in _CLASSES:
        raise ArtifactDamaged(f"The head's kind '{kind}' is not known.", "Update the studio.")
    values: dict[str, Any] = {}
    for field in fields(_CLASSES[kind]):
        if field.name == "kind":
            values[field.name] = kind
        elif field.name == "intents":
            values[field.name] = tuple(str(name) for name in facts["intents"])
        elif field.type in (int, float):
            values[field.name] = field.type(facts[field.name])
        elif field.name != _DERIVED:  # an array; optional where its default is None
            optional = field.default is None
            values[field.name] = arrays.get(field.name) if optional else arrays[field.name]
    head: StoredHead = _CLASSES[kind](**values)
    return head


def _mixture(facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]) -> MixtureHead:
    first, names = (
        head_from_arrays(
            facts[part],
            {
                name.removeprefix(f"{part}."): values
                for name, values in arrays.items()
                if name.startswith(f"{part}.")
            },
        )
        for part in _PARTS
    )
    intents = tuple(str(name) for name in facts["intents"])
    if not isinstance(names, PointHead) or not first.intents == names.intents == intents:
        message = "a mixture of other intents than those of its parts"
        raise ValueError(message)
    return MixtureHead(first, names, arrays["weights"], arrays["taus"])
