"""Scores of exemplars by encoders and heads that have not seen them; they calibrate a run."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from core.encoders.base import Encoder
from core.encoders.dual.encoder import names_side
from core.heads.base import Head
from core.heads.build import fit_head
from core.heads.cross_validation import cross_validated_scores, fixed_config
from core.heads.folds import (
    judged_folds,
    judged_part,
    left_with_source,
    said_rows,
    settled_on_said,
    sources_of,
    with_made,
)
from core.heads.mixture import choose_weight, even_mixture
from core.heads.points import PointHead, fit_names
from core.heads.votes.fit import VoteHead
from core.intent_names import label_text
from core.pipeline import LearnedTexts
from core.recipes.heads import HeadConfig, NamesConfig
from core.recipes.labels import AnyModelRecipe, LabelEncoderRecipe
from core.splits import Rows, drawn_rows
from core.text import name_words
from core.training.events import Event, StageStarted
from core.training.from_labels.inputs import RunInputs, exemplar_targets, n_intents
from core.training.from_labels.tuning import LearningRecipe, StepOffset, n_epochs, tune
from core.types import Exemplar, FloatArray, ScoreArray

_FIFTHS = 5


@dataclass(frozen=True, slots=True)
class HeldOutScores:
    """Scores of exemplars by encoders and heads that have not seen them.

    Attributes:
        scores: (n, intents) float64.
        rows: Rows of the exemplars, (n,) int64.
        judged_on: How the exemplars were held out, in words.
        names: Cosines to intent names, (n, intents) float64, where names take part in the scores.
        n_learned: How many of them an earlier training has taught the encoder that the run began
            with: their scores are too high.
    """

    scores: ScoreArray
    rows: Rows = field(repr=False)
    judged_on: str
    names: ScoreArray | None = None
    n_learned: int = 0


@dataclass(frozen=True, slots=True)
class HeldOutPart:
    """A tuning with the sole purpose of scoring the exemplars held out of it."""

    recipe: LearningRecipe
    inputs: RunInputs
    held_out: Rows


@dataclass(frozen=True, slots=True)
class FittedHead:
    """A head, and the data that it was fitted on.

    Attributes:
        embeddings: Embeddings of the exemplars, (m, d) float32.
        targets: Labels of the exemplars, (m, intents) float64.
        name_embeddings: Embeddings of the intents' names, (intents, d) float32.
        names: Head of those names, where names take part beside the votes.
    """

    head: Head
    embeddings: FloatArray
    targets: ScoreArray
    name_embeddings: FloatArray
    names: PointHead | None = None


def fit_head_on(
    recipe: AnyModelRecipe, inputs: RunInputs, encoder: Encoder, embeddings: FloatArray
) -> FittedHead:
    """Fit a recipe's head on exemplars embedded (m, d), with a head of names where it needs one."""
    targets = exemplar_targets(inputs.exemplars, inputs.intents)
    labels = [intent.name for intent in inputs.intents]
    config = settled_on_said(recipe.head, embeddings, targets, sources_of(inputs.exemplars))
    if not isinstance(recipe, LabelEncoderRecipe):
        rows = encoder.encode([name_words(intent.name) for intent in inputs.intents])
        head = fit_head(config, embeddings, targets, labels, rows, inputs.told)
        return FittedHead(head, embeddings, targets, rows)
    rows = names_side(encoder).encode([label_text(intent) for intent in inputs.intents])
    names = fit_names(rows, labels, recipe.similarity)
    if isinstance(config, NamesConfig):
        return FittedHead(names, embeddings, targets, rows)
    head = fit_head(config, embeddings, targets, labels, told=inputs.told)
    return FittedHead(head, embeddings, targets, rows, names)


def let_names_speak(fitted: FittedHead, held_out: HeldOutScores) -> tuple[Head, ScoreArray]:
    """Weight names so that held-out labels are likeliest; return head and held-out scores.

    The weight is chosen on the texts that also set the thresholds.
    """
    if fitted.names is None or held_out.names is None:
        return fitted.head, held_out.scores
    columns = fitted.targets[held_out.rows].argmax(1).tolist()
    weight = choose_weight(held_out.scores, held_out.names, columns)
    head = even_mixture(fitted.head, fitted.names, weight)
    return head, head.mixed(held_out.scores, held_out.names)


def told_of_base(held_out: HeldOutScores, inputs: RunInputs) -> HeldOutScores:
    """Count the held-out exemplars that the inputs' encoder has learned before, and say so."""
    if not inputs.learned:
        return held_out
    learned = LearnedTexts(inputs.learned)
    n = sum(inputs.exemplars[row].text in learned for row in held_out.rows)
    if not n:
        return held_out
    words = f"{held_out.judged_on}; the base has learned {n:,} of them"
    return replace(held_out, judged_on=words, n_learned=n)


def folds_in_words(folds: Sequence[Rows]) -> str:
    """Describe how scores by folds were made."""
    n_texts = sum(len(fold) for fold in folds)
    return f"{len(folds)}-fold cross-validation over {n_texts:,} texts"


def held_out_parts(recipe: LearningRecipe, inputs: RunInputs) -> list[HeldOutPart]:
    """Plan the tunings that score the exemplars held out of them.

    A tuned encoder has pulled its training texts together, so that even leave-one-out scores of
    these texts are too high: thresholds taken from them would reject texts in scope.
    """
    if recipe.calibration == "leave-one-out":
        return []
    epochs = n_epochs(recipe, inputs)
    if recipe.folds > 1:
        folds = judged_folds(inputs.exemplars, recipe.folds, recipe.seed)
    else:
        folds = [judged_part(inputs.exemplars, _FIFTHS)]
        # Half the epochs embed held-out texts nearly as all epochs do.
        epochs = max(1, epochs // 2)
    settled = recipe.model_copy(update={"epochs": epochs})  # otherwise the part's size would choose
    parts = [_part(settled, inputs, fold) for fold in folds]
    # With very few labels none can be held out: the others would have a single intent.
    return parts if all(n_intents(part.inputs.exemplars) > 1 for part in parts) else []


def _part(recipe: LearningRecipe, inputs: RunInputs, held_out: Rows) -> HeldOutPart:
    """Leave a part out; above the recipe's sample, a sample of it is judged by one of the rest.

    To embed 100,000 texts by a second encoder takes as long as by the first.
    """
    left_out = with_made(held_out, sources_of(inputs.exemplars))
    rest = np.setdiff1d(np.arange(len(inputs.exemplars)), left_out)
    most = None if isinstance(recipe, LabelEncoderRecipe) else recipe.tuned_on
    if recipe.folds == 1 and most is not None and len(rest) > most:
        rest = rest[drawn_rows(len(rest), most, recipe.seed)]
        held_out = held_out[drawn_rows(len(held_out), most // _FIFTHS, seed=0)]  # as all are
    part_inputs = replace(
        inputs,
        exemplars=tuple(inputs.exemplars[row] for row in rest),
        watched=tuple(inputs.exemplars[row] for row in held_out),
        checkpoint_every=0,
    )
    return HeldOutPart(recipe, part_inputs, held_out)


@dataclass(frozen=True, slots=True)
class ScoredPart:
    """Scores of a part's held-out exemplars, and the head that gave them.

    Attributes:
        fitted: Votes without their inverse root: it takes m x m numbers, and changes alone need it.
        scores: (n, intents) float64.
        names: Cosines to intent names, (n, intents), where names take part beside the votes.
    """

    fitted: FittedHead
    scores: ScoreArray
    names: ScoreArray | None


def score_part(part: HeldOutPart, encoder: Encoder, whole: FittedHead) -> ScoredPart:
    """Score a part's held-out exemplars by an encoder tuned on the others.

    The head has the settings that were chosen for `whole`, the head of all exemplars.
    """
    embeddings = encoder.encode([e.text for e in part.inputs.exemplars])
    settled = fixed_config(whole.head, part.recipe.head)
    recipe = part.recipe.model_copy(update={"head": settled})
    fitted = fit_head_on(recipe, part.inputs, encoder, embeddings)
    unseen = encoder.encode([e.text for e in part.inputs.watched])
    names = None if fitted.names is None else fitted.names.scores(unseen)
    return ScoredPart(_without_root(fitted), fitted.head.scores(unseen), names)


def _without_root(fitted: FittedHead) -> FittedHead:
    if not isinstance(fitted.head, VoteHead):
        return fitted
    return replace(fitted, head=replace(fitted.head, root=None))


def join_parts(
    parts: Sequence[HeldOutPart], scored: Sequence[ScoredPart], whole: FittedHead
) -> HeldOutScores:
    """Put the scores of all parts in the order of the exemplars."""
    scores = np.zeros_like(whole.targets)
    names = None if whole.names is None else np.zeros_like(whole.targets)
    for part, found in zip(parts, scored, strict=True):
        scores[part.held_out] = found.scores
        if names is not None and found.names is not None:
            names[part.held_out] = found.names
    rows = np.sort(np.concatenate([part.held_out for part in parts]))
    if len(parts) > 1:
        words = folds_in_words([part.held_out for part in parts])
    else:
        words = f"{len(rows):,} of {len(scores):,} texts, held out"
    return HeldOutScores(scores[rows], rows, words, None if names is None else names[rows])


def held_out_scores(
    parts: Sequence[HeldOutPart], offsets: Sequence[StepOffset], fitted: FittedHead
) -> Generator[Event, None, HeldOutScores]:
    """Score held-out exemplars, each by an encoder and a head that have not seen it."""
    scored = []
    for number, (part, offset) in enumerate(zip(parts, offsets, strict=True), 1):
        yield StageStarted("calibrating", number, len(parts))
        encoder = yield from tune(part.recipe, part.inputs, offset)
        scored.append(score_part(part, encoder, fitted))
    return join_parts(parts, scored, fitted)


def leave_one_out(
    config: HeadConfig, fitted: FittedHead, exemplars: Sequence[Exemplar]
) -> HeldOutScores:
    """Score each exemplar that is not synthetic by a head without it; the encoder has seen it."""
    sources = sources_of(exemplars)
    rows = said_rows(sources)
    scores = cross_validated_scores(fitted.head, config, fitted.embeddings, fitted.targets)
    scores = left_with_source(fitted.head, scores, sources)[rows]
    names = None if fitted.names is None else fitted.names.scores(fitted.embeddings[rows])
    return HeldOutScores(scores, rows, f"leave-one-out over {len(rows):,} texts", names)
