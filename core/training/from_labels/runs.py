"""Training runs on labels: exemplars and a recipe in, events and a pipeline out."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

import numpy as np

from core.calibration.calibration import Calibration, fit_calibration
from core.calibration.thresholds import fit_multi_label_calibration
from core.encoders.base import Encoder
from core.errors import InvalidInput
from core.heads.base import Head
from core.heads.cross_validation import fold_scores
from core.heads.folds import judged_folds, sources_of, with_made
from core.heads.votes.fit import VoteHead
from core.heads.votes.settings import settle
from core.pipeline import IntentPipeline, exact_answers, hashes_of
from core.recipes.labels import (
    AdapterRecipe,
    AnyModelRecipe,
    ConvfitRecipe,
    InstantRecipe,
    LabelEncoderRecipe,
)
from core.recipes.read import require_task
from core.splits import Rows
from core.training.checkpoints import Checkpoint
from core.training.devices import with_precision
from core.training.events import Event, StageStarted
from core.training.from_labels.cores import threshold_of, usable_cores
from core.training.from_labels.held_out import (
    FittedHead,
    HeldOutScores,
    fit_head_on,
    folds_in_words,
    held_out_parts,
    held_out_scores,
    leave_one_out,
    let_names_speak,
    told_of_base,
)
from core.training.from_labels.inputs import RunInputs
from core.training.from_labels.rounds import (
    PoolGain,
    run_rounds,
    texts_to_learn,
    untried_pool,
)
from core.training.from_labels.tuning import LearningRecipe, StepOffset, n_steps, tune
from core.types import Exemplar, FloatArray, ScoreArray, Task
from core.vectors import unit_rows


@dataclass(frozen=True, slots=True)
class RunResult:
    """A pipeline, held-out scores, and embeddings of intent names, (intents, d) float32.

    `pool` is what unlabelled texts brought, or why none were tried; None where there were none.
    """

    pipeline: IntentPipeline
    held_out: HeldOutScores
    name_embeddings: FloatArray = field(repr=False)
    pool: PoolGain | None = None


def run_recipe(
    recipe: AnyModelRecipe, inputs: RunInputs, resume: Checkpoint | None = None
) -> Generator[Event, None, RunResult]:
    """Train by a recipe; yields events and returns the result.

    Raises:
        InvalidInput: Fewer than two intents have labels, or the recipe cannot do the task.
    """
    require_task(recipe, inputs.task)
    _require_two_intents(inputs.exemplars)
    match recipe:
        case InstantRecipe():
            return (yield from _run_instant(recipe, inputs))
        case ConvfitRecipe() | AdapterRecipe() | LabelEncoderRecipe():
            settled = with_precision(recipe, inputs.device, resume)
            return (yield from _run_tuned(settled, inputs, resume))
        case _:
            assert_never(recipe)


def _run_instant(recipe: InstantRecipe, inputs: RunInputs) -> Generator[Event, None, RunResult]:
    yield StageStarted("encoding")
    embeddings = inputs.embed(inputs.encoder, [e.text for e in inputs.exemplars])
    yield StageStarted("deciding")
    fitted = fit_head_on(recipe, inputs, inputs.encoder, embeddings)
    if recipe.folds == 1:
        held_out = leave_one_out(recipe.head, fitted, inputs.exemplars)
    else:
        folds = judged_folds(inputs.exemplars, recipe.folds, recipe.seed)
        sources, rows = sources_of(inputs.exemplars), np.sort(np.concatenate(folds))
        left_out = [with_made(fold, sources) for fold in folds]
        yield StageStarted("checking")
        scores = fold_scores(
            fitted.head, recipe.head, embeddings, fitted.targets, left_out, inputs.told
        )
        held_out = HeldOutScores(scores[rows], rows, folds_in_words(folds))
    return _result(recipe, inputs, inputs.encoder, fitted, held_out)


def _run_tuned(
    recipe: LearningRecipe, inputs: RunInputs, resume: Checkpoint | None
) -> Generator[Event, None, RunResult]:
    parts = held_out_parts(recipe, inputs)
    gain: PoolGain | None = None
    if not isinstance(recipe, LabelEncoderRecipe):
        texts = texts_to_learn(recipe, inputs) if parts else ()
        gain = None if texts else untried_pool(recipe, inputs)
        if texts:
            best = yield from run_rounds(recipe, inputs, parts, texts, resume)
            result = _result(recipe, inputs, best.encoder, best.fitted, best.held_out)
            return _with_gain(result, best.gain)
    sizes = [n_steps(recipe, inputs), *(n_steps(part.recipe, part.inputs) for part in parts)]
    yield StageStarted("tuning")
    encoder = yield from tune(recipe, inputs, StepOffset(0, sum(sizes)), resume)
    yield StageStarted("encoding")
    embeddings = inputs.embed(encoder, [e.text for e in inputs.exemplars])
    settled = recipe.model_copy(update={"head": settle(recipe.head, inputs.task)})
    fitted = fit_head_on(settled, inputs, encoder, embeddings)
    if parts:
        offsets = [StepOffset(sum(sizes[:at]), sum(sizes)) for at in range(1, len(sizes))]
        held_out = yield from held_out_scores(parts, offsets, fitted)
    else:
        held_out = leave_one_out(recipe.head, fitted, inputs.exemplars)
        words = f"{held_out.judged_on} that the encoder was tuned on"  # as an untuned one's are not
        held_out = replace(held_out, judged_on=words)
    return _with_gain(_result(recipe, inputs, encoder, fitted, held_out), gain)


def _with_gain(result: RunResult, gain: PoolGain | None) -> RunResult:
    """Add what unlabelled texts brought; the pipeline remembers those that it learned from."""
    fresh = hashes_of(() if gain is None else gain.lesson.texts)
    learned = result.pipeline.learned | fresh
    return replace(result, pool=gain, pipeline=replace(result.pipeline, learned=learned))


def _result(
    recipe: AnyModelRecipe,
    inputs: RunInputs,
    encoder: Encoder,
    fitted: FittedHead,
    held_out: HeldOutScores,
) -> RunResult:
    voters = _voters(fitted.head, len(inputs.exemplars))
    head, scores = let_names_speak(fitted, held_out)
    judged = told_of_base(replace(held_out, scores=scores), inputs)
    calibration = _calibration(recipe, inputs.task, scores, fitted.targets[held_out.rows])
    pipeline = IntentPipeline(
        encoder=encoder,
        head=head,
        calibration=_beside_cores(calibration, inputs, head, encoder, judged),
        exemplars=tuple(inputs.exemplars[row] for row in voters),
        embeddings=unit_rows(fitted.embeddings[voters]),
        n_neighbours=recipe.neighbours,
        exact=exact_answers(inputs.exemplars),
        learned=inputs.learned,
    )
    return RunResult(pipeline, judged, fitted.name_embeddings)


def _calibration(
    recipe: AnyModelRecipe, task: Task, scores: ScoreArray, targets: ScoreArray
) -> Calibration:
    if task == "multi-label":
        return fit_multi_label_calibration(scores, targets, recipe.theta)
    return fit_calibration(scores, targets, recipe.out_of_scope_rejection)


def _beside_cores(
    calibration: Calibration,
    inputs: RunInputs,
    head: Head,
    encoder: Encoder,
    held_out: HeldOutScores,
) -> Calibration:
    """Correct the threshold of one intent a text where labels came with the cores of groups."""
    if usable_cores(inputs, held_out.rows) is None or calibration.task == "multi-label":
        return calibration

    def scored(texts: Sequence[str]) -> ScoreArray:
        return head.scores(inputs.embed(encoder, texts))

    limit = threshold_of(inputs, held_out.rows, held_out.scores, scored, calibration.rejection)
    return replace(calibration, threshold=limit)


def _voters(head: Head, n_exemplars: int) -> Rows:
    """Return the exemplars that vote; only these can be shown as evidence."""
    if isinstance(head, VoteHead) and head.carriers is not None:
        return head.carriers
    return np.arange(n_exemplars)


def _require_two_intents(exemplars: Sequence[Exemplar]) -> None:
    seen = sorted({name for e in exemplars for name in e.intents})
    if len(seen) < 2:
        raise InvalidInput(
            f"Training needs labels of at least two intents; found {len(seen)}"
            + (f" ('{seen[0]}')." if seen else "."),
            "Label a few texts of another intent, or import a labelled file.",
        )
