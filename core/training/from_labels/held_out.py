"""Scores of exemplars by encoders and heads that have not seen them: what calibrates a run."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.encoders.base import Encoder
from core.encoders.dual.encoder import names_side
from core.heads.base import Head
from core.heads.build import fit_head
from core.heads.cross_validation import cross_validated_scores, fixed_config
from core.heads.folds import (
    judged_folds,
    left_with_source,
    said_rows,
    settled_on_said,
    sources_of,
    with_made,
)
from core.heads.mixture import choose_weight, even_mixture
from core.heads.points import PointHead, fit_names
from core.intent_names import label_text
from core.recipes.heads import HeadConfig, NamesConfig
from core.recipes.labels import AnyModelRecipe, LabelEncoderRecipe
from core.splits import Rows
from core.text import name_words
from core.training.events import Event, StageStarted
from core.training.from_labels.inputs import RunInputs, n_intents, target_matrix
from core.training.from_labels.tuning import LearningRecipe, Place, n_epochs, tune
from core.types import Exemplar, FloatArray, ScoreArray

_FIFTHS = 5


@dataclass(frozen=True, slots=True)
class Honest:
    """Scores of exemplars by what had not seen them.

    Attributes:
        scores: (n, intents) float64.
        rows: Which exemplars those are, (n,) int64.
        judged_on: How the scores came about, in words.
        names: Their cosines to the names of intents, (n, intents), where names have a voice.
    """

    scores: ScoreArray
    rows: Rows
    judged_on: str
    names: ScoreArray | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A tuning that is made only to score the exemplars held out of it."""

    recipe: LearningRecipe
    inputs: RunInputs
    held_out: Rows


@dataclass(frozen=True, slots=True)
class Fitted:
    """A head, and what it was fitted on.

    Attributes:
        head: Decides from embeddings.
        embeddings: Of the exemplars, (m, d) float32.
        targets: Their labels, (m, intents) float64.
        name_embeddings: Of the intents' names, (intents, d) float32.
        names: Those names, where they have a voice beside the head.
    """

    head: Head
    embeddings: FloatArray
    targets: ScoreArray
    name_embeddings: FloatArray
    names: PointHead | None = None


def fit_head_on(
    recipe: AnyModelRecipe, inputs: RunInputs, encoder: Encoder, embeddings: FloatArray
) -> Fitted:
    """Fit a recipe's head on exemplars embedded (m, d), and the names beside it if they speak."""
    targets = target_matrix(inputs.exemplars, inputs.intents)
    labels = [intent.name for intent in inputs.intents]
    config = settled_on_said(recipe.head, embeddings, targets, sources_of(inputs.exemplars))
    if not isinstance(recipe, LabelEncoderRecipe):
        rows = encoder.encode([name_words(intent.name) for intent in inputs.intents])
        head = fit_head(config, embeddings, targets, labels, rows)
        return Fitted(head, embeddings, targets, rows)
    rows = names_side(encoder).encode([label_text(intent) for intent in inputs.intents])
    names = fit_names(rows, labels, recipe.similarity)
    if isinstance(config, NamesConfig):
        return Fitted(names, embeddings, targets, rows)
    head = fit_head(config, embeddings, targets, labels)
    return Fitted(head, embeddings, targets, rows, names)


def let_names_speak(fitted: Fitted, honest: Honest) -> tuple[Head, ScoreArray]:
    """Give names the weight under which the labels of honest scores are likeliest.

    Returns:
        The head with the names' voices, and the honest scores with them. The one weight is chosen
        on the texts that thresholds come from.
    """
    if fitted.names is None or honest.names is None:
        return fitted.head, honest.scores
    columns = fitted.targets[honest.rows].argmax(1).tolist()
    weight = choose_weight(honest.scores, honest.names, columns)
    head = even_mixture(fitted.head, fitted.names, weight)
    return head, head.mixed(honest.scores, honest.names)


def folds_in_words(folds: Sequence[Rows]) -> str:
    """Say how scores by folds came about."""
    n_texts = sum(len(fold) for fold in folds)
    return f"{len(folds)}-fold cross-validation over {n_texts} texts"


def held_out_parts(recipe: LearningRecipe, inputs: RunInputs) -> list[Part]:
    """Plan the tunings that score exemplars they never saw.

    A tuned encoder has pulled its own training texts together, so even leave-one-out scores of
    them are too good; thresholds taken from those would send real texts out of scope.
    """
    if recipe.calibration == "leave-one-out":
        return []
    epochs = n_epochs(recipe, inputs)
    if recipe.folds > 1:
        folds = judged_folds(inputs.exemplars, recipe.folds, recipe.seed)
    else:
        folds = judged_folds(inputs.exemplars, _FIFTHS, recipe.seed)[:1]
        # Half the epochs place held-out texts nearly as the whole run does, at half its price.
        epochs = max(1, epochs // 2)
    settled = recipe.model_copy(update={"epochs": epochs})  # not chosen anew by a part's size
    parts = [_part(settled, inputs, fold) for fold in folds]
    # From a handful of labels nothing can be held out: the rest would know a single intent.
    return parts if all(n_intents(part.inputs.exemplars) > 1 for part in parts) else []


def _part(recipe: LearningRecipe, inputs: RunInputs, held_out: Rows) -> Part:
    gone = with_made(held_out, sources_of(inputs.exemplars))
    kept = np.setdiff1d(np.arange(len(inputs.exemplars)), gone)
    seen = tuple(inputs.exemplars[row] for row in kept)
    unseen = tuple(inputs.exemplars[row] for row in held_out)
    own = replace(inputs, exemplars=seen, watched=unseen, checkpoint_every=0)
    return Part(recipe, own, held_out)


def held_out_scores(
    parts: Sequence[Part], places: Sequence[Place], fitted: Fitted
) -> Generator[Event, None, Honest]:
    """Score held-out exemplars, each by an encoder and a head that never saw it."""
    scores = np.zeros_like(fitted.targets)
    names = None if fitted.names is None else np.zeros_like(fitted.targets)
    for number, (part, place) in enumerate(zip(parts, places, strict=True), 1):
        yield StageStarted("calibrating", number, len(parts))
        encoder = yield from tune(part.recipe, part.inputs, place)
        seen = encoder.encode([e.text for e in part.inputs.exemplars])
        settled = fixed_config(fitted.head, part.recipe.head)
        own = part.recipe.model_copy(update={"head": settled})
        found = fit_head_on(own, part.inputs, encoder, seen)
        asked = encoder.encode([e.text for e in part.inputs.watched])
        scores[part.held_out] = found.head.scores(asked)
        if names is not None and found.names is not None:
            names[part.held_out] = found.names.scores(asked)
    rows = np.sort(np.concatenate([part.held_out for part in parts]))
    if len(parts) > 1:
        words = folds_in_words([part.held_out for part in parts])
    else:
        words = f"{len(rows)} of {len(scores)} texts, held out"
    return Honest(scores[rows], rows, words, None if names is None else names[rows])


def leave_one_out(config: HeadConfig, fitted: Fitted, exemplars: Sequence[Exemplar]) -> Honest:
    """Score what somebody said, each without its own label; honest about the head alone."""
    sources = sources_of(exemplars)
    rows = said_rows(sources)
    scores = cross_validated_scores(fitted.head, config, fitted.embeddings, fitted.targets)
    scores = left_with_source(fitted.head, scores, sources)[rows]
    names = None if fitted.names is None else fitted.names.scores(fitted.embeddings[rows])
    return Honest(scores, rows, f"leave-one-out over {len(rows)} texts", names)
