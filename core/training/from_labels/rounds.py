"""Two rounds of tuning: on the labels, then afresh on labels and unlabelled texts.

The first round's votes label the unlabelled texts (`pool.py`); what they find out of scope stays
out. The second round tunes the base encoder on labels and unlabelled texts. The head is fitted on
labelled texts alone, so that votes stay exact. A smaller pair of rounds, without the held-out
labels, gives the thresholds and says whether the second round is worth having.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from math import comb

import numpy as np
from numpy.typing import NDArray

from core.encoders.base import Encoder
from core.encoders.precision import settled_precision
from core.encoders.quick.copies import encoding_of, quick_copy
from core.heads.votes.fit import VoteHead
from core.heads.votes.settings import choose_votes, settle, vote_settings
from core.recipes.heads import VotesConfig
from core.recipes.labels import LabelEncoderRecipe, TunedRecipe, fewest_texts, second_epochs
from core.splits import Rows, drawn_rows
from core.training.checkpoints import Checkpoint
from core.training.events import Event, StageStarted
from core.training.from_labels.cores import threshold_of
from core.training.from_labels.held_out import (
    FittedHead,
    HeldOutPart,
    HeldOutScores,
    ScoredPart,
    fit_head_on,
    join_parts,
    score_part,
)
from core.training.from_labels.inputs import RunInputs
from core.training.from_labels.pool import pool_columns, usable_texts
from core.training.from_labels.tuning import (
    LABELS,
    AnyTuned,
    Lesson,
    StepOffset,
    n_epochs,
    n_steps,
    tune,
    tuning_rows,
)
from core.types import ScoreArray

_INSIDE = 0.5
"""Share of the unlabelled texts that must be in scope: a pool of another domain has fewer."""
_CHANCE = 0.05
"""The first round is kept where chance alone loses so many held-out labels less often than this."""


@dataclass(frozen=True, slots=True)
class PoolGain:
    """What unlabelled texts brought.

    Attributes:
        lesson: Unlabelled texts that the model learned from, with the labels that they were given;
            empty where they were left out.
        n_outside: Unlabelled texts that were taken for out of scope.
        n_judged: Held-out labels that both rounds answered; 0 where too few texts are in scope.
        right: Those that the second round answered rightly.
        right_without: Those that the first round did.
        lost: Those that the first round alone did.
        n_texts: Unlabelled texts that the run labelled, whether it kept what they brought or not.
        untried: Why the run tried none of them, in words; "" where it did.
    """

    lesson: Lesson = field(default=LABELS, repr=False)
    n_outside: int = 0
    n_judged: int = 0
    right: int = 0
    right_without: int = 0
    n_texts: int = 0
    untried: str = ""
    lost: int = 0

    @property
    def helped(self) -> bool:
        """Whether the first round is the worse one, beyond what a coin would do."""
        gain = self.right - self.right_without
        return gain > 0 and is_worse(self.lost, gain + self.lost)

    @property
    def n(self) -> int:
        """The number of unlabelled texts that the model learned from."""
        return len(self.lesson.texts)

    @property
    def kept(self) -> bool:
        """Whether the model is that of the second round."""
        return self.n > 0


@dataclass(frozen=True, slots=True)
class Round:
    """A tuned encoder, the head of the labelled texts on it, and scores of held-out ones.

    Attributes:
        gain: What unlabelled texts brought; None where there were none to learn from.
    """

    encoder: Encoder
    fitted: FittedHead
    held_out: HeldOutScores
    gain: PoolGain | None = None


def texts_to_learn(recipe: TunedRecipe, inputs: RunInputs) -> tuple[str, ...]:
    """Return the unlabelled texts that a run would learn from; none where they are too few.

    They differ from each other and from all labelled and watched texts.
    """
    found = _usable(recipe, inputs)
    return found if recipe.learnable(len(found), len(inputs.exemplars), inputs.task) else ()


def untried_pool(recipe: TunedRecipe, inputs: RunInputs) -> PoolGain | None:
    """Say why a run tries none of its unlabelled texts; None without any, or if it need not."""
    if not (recipe.pool and inputs.pool and inputs.task == "single-label"):
        return None
    found, fewest = len(_usable(recipe, inputs)), fewest_texts(len(inputs.exemplars))
    if found >= fewest:
        return PoolGain(untried="no label was held out that would tell whether they help")
    why = f"{found:,} differ from your examples and from each other, and it takes {fewest:,}"
    return PoolGain(untried=why)


def _usable(recipe: TunedRecipe, inputs: RunInputs) -> tuple[str, ...]:
    known = (exemplar.text for exemplar in (*inputs.exemplars, *inputs.watched))
    return usable_texts(inputs.pool, known, recipe.pool_size, recipe.seed)


def run_rounds(
    recipe: AnyTuned,
    inputs: RunInputs,
    parts: Sequence[HeldOutPart],
    texts: tuple[str, ...],
    resume: Checkpoint | None = None,
) -> Generator[Event, None, Round]:
    """Tune in two rounds; yields events and returns the round to keep.

    `parts` are those of `held_out_parts`, at least one; `texts` those of `texts_to_learn`.
    """
    course = _Course(inputs, resume, _expected_steps(recipe, inputs, parts, texts))
    yield StageStarted("tuning")
    first = yield from course.tune(recipe, inputs, LABELS)
    yield StageStarted("encoding")
    settled = recipe.model_copy(update={"head": settle(recipe.head, inputs.task)})
    fitted = _fitted(settled, inputs, first)
    pairs = yield from _held_out_rounds(course, parts, texts, fitted)
    without = join_parts(parts, [pair[0] for pair in pairs], fitted)
    again = [pair[1] for pair in pairs if pair[1] is not None]
    foreign = PoolGain(n_outside=len(texts), n_texts=len(texts))
    if len(again) < len(parts):
        return Round(first, fitted, without, foreign)
    held_out = join_parts(parts, again, fitted)
    before, after = (_hits(one, fitted.targets) for one in (without, held_out))
    lost = int((before & ~after).sum())
    right = int(after.sum()), int(before.sum())
    gain = PoolGain(LABELS, 0, len(after), *right, len(texts), lost=lost)
    if is_worse(int((after & ~before).sum()), lost):
        return Round(first, fitted, without, gain)
    yield StageStarted("labelling")
    limit = _limit(recipe, inputs, (first, fitted), without.rows, without.scores)
    lesson = label_texts((first, fitted), recipe, inputs, texts, limit)
    if not _is_usable(recipe, inputs, lesson, len(texts)):
        return Round(first, fitted, without, replace(foreign, n_outside=lesson.outside))
    yield StageStarted("retuning")
    second = yield from course.tune(_second(recipe, inputs, lesson), inputs, lesson)
    yield StageStarted("encoding")
    found = replace(gain, lesson=lesson, n_outside=lesson.outside)
    return Round(second, _fitted(settled, inputs, second), held_out, found)


def _held_out_rounds(
    course: "_Course", parts: Sequence[HeldOutPart], texts: tuple[str, ...], whole: FittedHead
) -> Generator[Event, None, list[tuple[ScoredPart, ScoredPart | None]]]:
    """Score held-out exemplars by both rounds of encoders that have not seen them.

    The second is None from the part on whose first round finds too few texts in scope.
    """
    scored: list[tuple[ScoredPart, ScoredPart | None]] = []
    is_usable = True
    for number, part in enumerate(parts, 1):
        recipe, inputs = part.recipe, part.inputs
        if isinstance(recipe, LabelEncoderRecipe):
            raise TypeError(recipe.kind)
        yield StageStarted("calibrating", number, len(parts))
        encoder = yield from course.tune(recipe, inputs, Lesson(f"calibrating {number}"))
        first = score_part(part, encoder, whole)
        second = None
        if is_usable:
            yield StageStarted("labelling", number, len(parts))
            tuned = encoder, first.fitted
            judged = replace(inputs, exemplars=inputs.watched)
            limit = _limit(recipe, judged, tuned, np.arange(len(first.scores)), first.scores)
            stage = f"recalibrating {number}"
            lesson = label_texts(tuned, recipe, inputs, texts, limit, stage)
            is_usable = _is_usable(recipe, inputs, lesson, len(texts))
        if is_usable:
            yield StageStarted("recalibrating", number, len(parts))
            shorter = _second(recipe, inputs, lesson, 2 if recipe.folds == 1 else 1)
            encoder = yield from course.tune(shorter, inputs, lesson)
            second = score_part(part, encoder, whole)
        scored.append((first, second))
    return scored


def label_texts(
    tuned: tuple[Encoder, FittedHead],
    recipe: TunedRecipe,
    inputs: RunInputs,
    texts: tuple[str, ...],
    limit: float,
    stage: str = "retuning",
) -> Lesson:
    """Label the texts in scope by a tuned encoder and the head of the labelled texts on it.

    A text is in scope if its largest score is at least `limit`. The texts are read by a quick copy
    in the number format of the tuning: bfloat16 changes the label of one text in a thousand.
    """
    (encoder, fitted), told = tuned, inputs.told
    asked = settled_precision(recipe.precision, inputs.device)
    quick = quick_copy(encoder, asked)
    precision = encoding_of(quick, encoder, asked)
    embeddings = quick.encode(texts, lambda done, total: told(done / total))
    inside = np.flatnonzero(fitted.head.scores(embeddings).max(1) >= limit)
    if not len(inside):
        return Lesson(stage, outside=len(texts), precision=precision)
    votes = fitted.head
    if not isinstance(votes, VoteHead):
        tau, ridge = vote_settings(recipe.head, inputs.task)
        config = VotesConfig(tau=tau, ridge=ridge)
        votes = choose_votes(fitted.embeddings, fitted.targets, fitted.head.intents, config)
    known = fitted.embeddings, fitted.targets
    columns = pool_columns(known, embeddings[inside], votes.scores(embeddings[inside]))
    kept = without_excess(columns, recipe.seed)
    chosen = tuple(texts[row] for row in inside[kept])
    given, outside = tuple(columns[kept].tolist()), len(texts) - len(inside)
    return Lesson(stage, chosen, given, outside, precision)


def without_excess(columns: Rows, seed: int) -> Rows:
    """Return the rows to keep so that no intent has more of them than all others; ascending.

    A step pushes intents apart, so that it needs others beside the most frequent one.
    """
    frequent = int(np.bincount(columns).argmax())
    own, others = np.flatnonzero(columns == frequent), np.flatnonzero(columns != frequent)
    drawn = own[drawn_rows(len(own), len(others), seed)]
    return np.sort(np.concatenate([drawn, others]))


def is_worse(won: int, lost: int) -> bool:
    """Whether a round that wins and loses so many held-out labels is the worse one (sign test).

    It is if a fair coin loses as often in fewer than a twentieth of all cases. The test
    is that strict because the smaller rounds gain less than the whole ones, and because a pool of
    the project's own brings points far more often than it costs any.
    """
    n = won + lost
    as_bad = sum(comb(n, k) for k in range(lost, n + 1)) / 2**n
    return lost > won and as_bad < _CHANCE


class _Course:
    """Counts the steps of a run's tunings and finds each one's checkpoint."""

    def __init__(self, inputs: RunInputs, resume: Checkpoint | None, expected: int) -> None:
        self.checkpoint_every, self.resume = inputs.checkpoint_every, resume
        self.expected, self.done = expected, 0

    def tune(
        self, recipe: AnyTuned, inputs: RunInputs, lesson: Lesson
    ) -> Generator[Event, None, Encoder]:
        """Tune by one lesson, with checkpoints as for the whole run."""
        kept = replace(inputs, checkpoint_every=self.checkpoint_every)
        before, steps = self.done, n_steps(recipe, inputs, lesson)
        self.done += steps
        offset = StepOffset(before, max(self.expected, self.done))
        return (yield from tune(recipe, kept, offset, self.resume, lesson))


def _expected_steps(
    recipe: AnyTuned, inputs: RunInputs, parts: Sequence[HeldOutPart], texts: tuple[str, ...]
) -> int:
    """Count the steps if all texts are in scope; as good as full batches for the second rounds."""
    size = recipe.intents_per_batch * recipe.utterances_per_intent
    lesson = Lesson("", texts, (0,) * len(texts))
    total = n_steps(recipe, inputs)
    pairs = [(recipe, inputs, 1)]
    for part in parts:
        total += n_steps(part.recipe, part.inputs)
        if not isinstance(part.recipe, LabelEncoderRecipe):
            pairs.append((part.recipe, part.inputs, 2 if recipe.folds == 1 else 1))
    for one, given, share in pairs:
        rows = len(tuning_rows(one, given, lesson)[0])
        total += -(-rows // size) * (_second(one, given, lesson, share).epochs or 1)
    return total


def _second(recipe: AnyTuned, inputs: RunInputs, lesson: Lesson, share: int = 1) -> AnyTuned:
    """Return the recipe of a second round, or of one with a `share`-th of the work."""
    rows = len(tuning_rows(recipe, inputs, lesson)[0])
    epochs = second_epochs(n_epochs(recipe, inputs), rows, share)
    return recipe.model_copy(update={"epochs": epochs})


def _is_usable(recipe: AnyTuned, inputs: RunInputs, lesson: Lesson, n_texts: int) -> bool:
    """Whether enough texts are in scope, and a larger share of them than of a foreign pool."""
    n, n_labels = len(lesson.texts), len(inputs.exemplars)
    is_own = n_texts - lesson.outside >= _INSIDE * n_texts
    return is_own and recipe.learnable(n, n_labels, inputs.task) > 0


def _fitted(recipe: AnyTuned, inputs: RunInputs, encoder: Encoder) -> FittedHead:
    embeddings = inputs.embed(encoder, [exemplar.text for exemplar in inputs.exemplars])
    return fit_head_on(recipe, inputs, encoder, embeddings)


def _limit(
    recipe: TunedRecipe,
    inputs: RunInputs,
    tuned: tuple[Encoder, FittedHead],
    rows: Rows,
    scores: ScoreArray,
) -> float:
    """Return the threshold for out of scope, as the version sets it.

    By the cores of groups alone it kept a third of the texts in scope from being learned.
    """
    encoder, fitted = tuned

    def scored(texts: Sequence[str]) -> ScoreArray:
        return fitted.head.scores(encoder.encode(texts))

    return threshold_of(inputs, rows, scores, scored, recipe.out_of_scope_rejection)


def _hits(found: HeldOutScores, targets: ScoreArray) -> NDArray[np.bool_]:
    """Tell which held-out exemplars are answered rightly, (n,)."""
    best = found.scores.argmax(1)
    right: NDArray[np.bool_] = targets[found.rows, best] > 0
    return right
