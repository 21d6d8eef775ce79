"""Fit a head by its recipe, and take any head apart for storing and back."""

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

import numpy as np

from core.errors import ArtifactDamaged, InvalidInput
from core.heads.base import Head
from core.heads.selection import choose_votes
from core.heads.simple import LinearHead, NeighbourHead, PointHead, fit_linear, fit_prototypes
from core.heads.votes import VoteHead, solve_again
from core.recipes import (
    HeadConfig,
    LinearConfig,
    NamesConfig,
    NeighboursConfig,
    PrototypesConfig,
    VotesConfig,
)
from core.types import FloatArray, ScoreArray
from core.vectors import unit_rows

Arrays = dict[str, np.ndarray[Any, Any]]


def fit_head(
    config: HeadConfig,
    embeddings: FloatArray,
    targets: ScoreArray,
    intents: Sequence[str],
    names: FloatArray | None = None,
) -> Head:
    """Fit the head that a recipe names.

    Args:
        config: The recipe's head.
        embeddings: Of the exemplars, (m, d) float32.
        targets: Their labels, (m, intents) float64.
        intents: Names of the columns.
        names: Embedded intent names, (intents, d); needed by `names` alone.

    Raises:
        InvalidInput: The head `names` was asked for without names.
    """
    match config:
        case VotesConfig():
            return choose_votes(embeddings, targets, intents, config)
        case NeighboursConfig():
            return NeighbourHead(tuple(intents), config.k, unit_rows(embeddings), targets)
        case PrototypesConfig():
            return fit_prototypes(embeddings, targets, intents)
        case LinearConfig():
            return fit_linear(embeddings, targets, intents, config.inverse_penalty)
        case NamesConfig():
            if names is None:
                raise InvalidInput("The head 'names' needs intent names.", "Name the intents.")
            return PointHead("names", tuple(intents), unit_rows(names))
        case _:
            assert_never(config)


def head_to_arrays(head: Head) -> tuple[dict[str, Any], Arrays]:
    """Take a head apart into JSON values and arrays; exemplars of votes are stored once only."""
    facts: dict[str, Any] = {"kind": head.kind, "intents": list(head.intents)}
    match head:
        case VoteHead():
            facts |= {"tau": head.tau, "ridge": head.ridge, "whole": head.inverse is not None}
            arrays = {"targets": head.targets, "prior": head.prior, "weights": head.weights}
            return facts, {"exemplars": head.exemplars, **arrays}
        case NeighbourHead():
            facts |= {"k": head.k}
            return facts, {"exemplars": head.exemplars, "targets": head.targets}
        case PointHead():
            return facts, {"points": head.points}
        case LinearHead():
            return facts, {"coefficients": head.coefficients, "intercepts": head.intercepts}
        case _:
            message = f"no way to store a head of kind {head.kind}"
            raise TypeError(message)


def head_from_arrays(facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]) -> Head:
    """Put a head together again; scores are bit for bit those of the one taken apart.

    Raises:
        ArtifactDamaged: Something is missing, or the kind is unknown.
    """
    try:
        intents = tuple(str(name) for name in facts["intents"])
        match facts["kind"]:
            case "votes":
                return _votes_from(facts, arrays, intents)
            case "neighbours":
                return NeighbourHead(
                    intents, int(facts["k"]), arrays["exemplars"], arrays["targets"]
                )
            case "prototypes" | "names":
                return PointHead(str(facts["kind"]), intents, arrays["points"])
            case "linear":
                return LinearHead(intents, arrays["coefficients"], arrays["intercepts"])
            case other:
                raise ArtifactDamaged(
                    f"The head's kind '{other}' is not known.", "Update the studio."
                )
    except KeyError as error:
        raise ArtifactDamaged(f"The stored head lacks {error}.", "Export it again.") from error


def _votes_from(
    facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]], intents: tuple[str, ...]
) -> VoteHead:
    return VoteHead(
        intents,
        float(facts["tau"]),
        float(facts["ridge"]),
        arrays["exemplars"],
        arrays["targets"],
        arrays["prior"],
        arrays["weights"],
        None,
    )


def with_inverse(head: VoteHead) -> VoteHead:
    """Return the head ready for leave-one-out and updates; a stored head leaves its inverse out."""
    if head.inverse is not None:
        return head
    return solve_again(head)
