"""Fit a head by its recipe, and take any head apart for storing and back."""

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

import numpy as np

from core.errors import ArtifactDamaged, InvalidInput
from core.heads.base import Head
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
from core.types import FloatArray, ScoreArray
from core.vectors import unit_rows

Arrays = dict[str, np.ndarray[Any, Any]]
"""Named arrays, as safetensors keeps them."""

_LAYERS = ("inner", "inner_offsets", "outer", "outer_offsets")


def fit_head(
    config: HeadConfig,
    embeddings: FloatArray,
    targets: ScoreArray,
    intents: Sequence[str],
    name_embeddings: FloatArray | None = None,
) -> Head:
    """Fit the head that a recipe names.

    Args:
        config: The recipe's head.
        embeddings: Of the exemplars, (m, d) float32.
        targets: Their labels, (m, intents) float64.
        intents: Names of the columns.
        name_embeddings: Embedded intent names, (intents, d); needed by `names` alone.

    Raises:
        InvalidInput: There is no exemplar, or for the head `names` no name.
    """
    if isinstance(config, NamesConfig):
        if name_embeddings is None:
            raise InvalidInput("The head 'names' needs intent names.", "Name the intents.")
        return fit_names(name_embeddings, intents, config.similarity)
    if not len(embeddings):
        raise InvalidInput(
            f"The head '{config.kind}' needs labelled utterances; there are none.",
            "Label some, or use the head 'names'.",
        )
    return _fitted(config, embeddings, targets, tuple(intents))


def _fitted(
    config: VotesConfig | NeighboursConfig | PrototypesConfig | LinearConfig | MlpConfig,
    embeddings: FloatArray,
    targets: ScoreArray,
    intents: tuple[str, ...],
) -> Head:
    match config:
        case VotesConfig():
            return choose_votes(embeddings, targets, intents, config)
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


def head_to_arrays(head: Head) -> tuple[dict[str, Any], Arrays]:
    """Take a head apart into JSON values and arrays.

    Votes leave out the inverse root: it is large, and follows from the exemplars.
    """
    if not isinstance(head, MixtureHead):
        return _taken_apart(head)
    facts: dict[str, Any] = {"kind": head.kind, "intents": list(head.intents)}
    arrays: Arrays = {"weights": head.weights, "taus": head.taus}
    for voice, own in (("first", head.first), ("names", head.names)):
        facts[voice], parts = head_to_arrays(own)
        arrays |= {f"{voice}.{name}": values for name, values in parts.items()}
    return facts, arrays


def _taken_apart(head: Head) -> tuple[dict[str, Any], Arrays]:
    facts: dict[str, Any] = {"kind": head.kind, "intents": list(head.intents)}
    match head:
        case VoteHead():
            arrays: Arrays = {"exemplars": head.exemplars, "targets": head.targets}
            arrays |= {"prior": head.prior, "weights": head.weights}
            if head.diagonal is not None:
                arrays["diagonal"] = head.diagonal
            if head.carriers is not None:
                arrays["carriers"] = head.carriers
            return facts | {"tau": head.tau, "ridge": head.ridge}, arrays
        case NeighbourHead():
            return facts | {"k": head.k}, {"exemplars": head.exemplars, "targets": head.targets}
        case PointHead():
            return facts, {"points": head.points}
        case LinearHead():
            return facts, {"coefficients": head.coefficients, "intercepts": head.intercepts}
        case MlpHead():
            return facts, {name: getattr(head, name) for name in _LAYERS}
        case _:
            message = f"no way to store a head of kind {head.kind}"
            raise TypeError(message)


def head_from_arrays(facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]) -> Head:
    """Put a head together again; scores are bit for bit those of the one taken apart.

    Raises:
        ArtifactDamaged: Something is missing or does not fit together, or the kind is unknown.
    """
    try:
        mixed = facts.get("kind") == "mixture"
        head = _mixture(facts, arrays) if mixed else _assembled(facts, arrays)
    except (KeyError, TypeError, ValueError) as error:
        raise ArtifactDamaged(
            f"The stored head cannot be read: {type(error).__name__} {error}.", "Export it again."
        ) from error
    _require_shapes(head)
    return head


def _assembled(facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]) -> Head:
    intents = tuple(str(name) for name in facts["intents"])
    match facts["kind"]:
        case "votes":
            return VoteHead(
                intents,
                float(facts["tau"]),
                float(facts["ridge"]),
                arrays["exemplars"],
                arrays["targets"],
                arrays["prior"],
                arrays["weights"],
                diagonal=arrays.get("diagonal"),
                carriers=arrays.get("carriers"),
            )
        case "neighbours":
            return NeighbourHead(intents, int(facts["k"]), arrays["exemplars"], arrays["targets"])
        case "prototypes":
            return PointHead("prototypes", intents, arrays["points"])
        case "names":
            return PointHead("names", intents, arrays["points"])
        case "linear":
            return LinearHead(intents, arrays["coefficients"], arrays["intercepts"])
        case "mlp":
            return MlpHead(intents, *(arrays[name] for name in _LAYERS))
        case other:
            raise ArtifactDamaged(f"The head's kind '{other}' is not known.", "Update the studio.")


def _mixture(facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]) -> MixtureHead:
    first, names = (
        head_from_arrays(
            facts[voice],
            {
                k.removeprefix(f"{voice}."): v
                for k, v in arrays.items()
                if k.startswith(f"{voice}.")
            },
        )
        for voice in ("first", "names")
    )
    intents = tuple(str(name) for name in facts["intents"])
    if not isinstance(names, PointHead) or not first.intents == names.intents == intents:
        message = "a mixture of other intents than those of its voices"
        raise ValueError(message)
    return MixtureHead(first, names, arrays["weights"], arrays["taus"])


def _require_shapes(head: Head) -> None:
    """Refuse arrays that would fail, or answer wrongly, at the first prediction."""
    c = len(head.intents)
    match head:
        case VoteHead():
            rows = (len(head.exemplars), c)
            right = head.targets.shape == head.weights.shape == rows and head.prior.shape == (c,)
        case NeighbourHead():
            right = head.targets.shape == (len(head.exemplars), c) and head.k >= 1
        case PointHead():
            right = head.points.ndim == 2 and len(head.points) == c
        case LinearHead():
            right = head.coefficients.shape[1:] == head.intercepts.shape == (c,)
        case MixtureHead():
            right = head.weights.shape == head.taus.shape == (c,) and bool((head.taus > 0).all())
        case MlpHead():
            hidden = head.inner_offsets.shape
            right = head.inner.shape[1:] == hidden and head.outer.shape == (*hidden, c)
            right = right and head.outer_offsets.shape == (c,)
        case _:
            right = True
    if not right:
        raise ArtifactDamaged(
            f"The arrays of the stored head '{head.kind}' do not fit its {c} intents.",
            "Export it again.",
        )
