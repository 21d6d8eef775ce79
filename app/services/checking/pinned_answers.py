"""Judge pins, and name the labelled examples whose votes break one."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from app.services.answering.pinned import BrokenPin, OpenPin, broken_by
from app.services.checking.pins_of_graphs import NEAREST, SAYS_THIS, Told, deciding_in_graph
from app.services.checking.subject import Subject
from app.services.checking.views import CheckResult, DecidingExample
from app.services.embedding import rows_for
from app.services.explaining.counterfactuals import AskedText, load_bearing_view, shown_examples
from app.services.explaining.explained_model import (
    ExplainedModel,
    explained_bundle,
    explained_version,
    solved_votes_of,
)
from app.services.explaining.speaking import speaking_intents
from app.services.explaining.votes import origins_of, vote_shares
from app.services.studio import Studio
from core.pipeline import IntentPipeline
from core.text import label_words, match_key
from core.types import FloatArray, Prediction, ScoreArray, Task
from core.vectors import nearest

_FEWEST = 20
"""Broken pins of which the fewest examples are sought; that takes up to a second each."""
_NAMED = 5


def judge_pins(studio: Studio, subject: Subject, pins: Sequence[OpenPin]) -> list[CheckResult]:
    """Ask a model for each pin; of a broken one, name the examples whose votes decide."""
    if not pins:
        return []
    model, texts = subject.pipeline, [pin.text for pin in pins]
    rows = rows_for(studio.database, model, texts)
    found = model.predict(texts, rows)
    broken = broken_by(pins, [one.decision for one in found], model.task)
    answers = {pin: one for pin, one in zip(pins, found, strict=True) if pin in broken}
    if not isinstance(model, IntentPipeline) or rows is None:
        told = {pin: deciding_in_graph(model, pin, one) for pin, one in answers.items()}
    else:
        of_pin = dict(zip(pins, rows, strict=True))
        told = _told(studio, _explained(studio, subject, model), answers, of_pin) if broken else {}
    return [
        _broken(broken[pin], *told[pin]) if pin in broken else _kept(pin, model.task)
        for pin in pins
    ]


def _told(
    studio: Studio,
    model: ExplainedModel,
    answers: Mapping[OpenPin, Prediction],
    rows: Mapping[OpenPin, FloatArray],
) -> dict[OpenPin, Told]:
    """Return what broke each pin, and why; of the first ones the fewest examples."""
    return {
        pin: _deciding(studio, model, pin, answer, rows[pin], fewest=at < _FEWEST)
        for at, (pin, answer) in enumerate(answers.items())
    }


def _explained(studio: Studio, subject: Subject, pipeline: IntentPipeline) -> ExplainedModel:
    if subject.project is None:
        return explained_bundle(subject.reference, pipeline)
    return explained_version(studio, subject.reference)


def _kept(pin: OpenPin, task: Task) -> CheckResult:
    words = label_words(pin.names, task)
    return CheckResult("pin", _name(pin.text, words), "passed", f"gets {words}")


def _broken(pin: BrokenPin, examples: tuple[DecidingExample, ...], why: str) -> CheckResult:
    name, found = _name(pin.text, pin.expected), f"gets {pin.answer}"
    return CheckResult("pin", name, "failed", found, why, examples=examples)


def _name(text: str, expected: str) -> str:
    return f"“{text}” must get {expected}"


def _deciding(
    studio: Studio,
    model: ExplainedModel,
    pin: OpenPin,
    answer: Prediction,
    row: FloatArray,
    *,
    fewest: bool,
) -> Told:
    """Return the examples that break a pin, and why these; of votes the fewest, or the heaviest."""
    pipeline = model.pipeline
    lead, near = _lead(model, pin, answer, row)
    if answer.decision.rule == "exact":
        twins = _twins(pipeline, answer, near)
        return _named(studio, model, twins, lead), SAYS_THIS
    if not lead.any():
        chosen: NDArray[np.int64] = nearest(near[None], _NAMED)[0]
        return _named(studio, model, chosen.tolist(), lead), NEAREST
    few = _load_bearing(studio, model, answer, row, near) if fewest else None
    if few is not None:
        return _named(studio, model, few[0], lead), few[1]
    order = np.argsort(-lead, kind="stable")[:_NAMED]
    rows = [at for at in order.tolist() if lead[at] > 0]
    return _named(studio, model, rows, lead), "These examples vote most against what is expected."


def _twins(pipeline: IntentPipeline, answer: Prediction, near: ScoreArray) -> list[int]:
    """Return the examples that say just what a text says.

    Where a hash stands for their text, it is the nearest of those with the label of the answer.
    """
    key = match_key(answer.text)
    twins = [at for at, one in enumerate(pipeline.exemplars) if match_key(one.text) == key]
    if twins:
        return twins[:_NAMED]
    said = set(answer.decision.intents)
    alike = [at for at, one in enumerate(pipeline.exemplars) if set(one.intents) == said]
    return sorted(alike, key=lambda at: -near[at])[:1]


def _lead(
    model: ExplainedModel, pin: OpenPin, answer: Prediction, row: FloatArray
) -> tuple[ScoreArray, ScoreArray]:
    """Return each example's vote for the wrong answer less that for the right one, and cosines.

    A text that is refused has no wrong answer; one that should be refused has no right one.
    """
    intents = model.pipeline.head.intents
    answered, expected = answer.decision.intents, set(pin.names)
    wrong = next((one for one in answered if one not in expected), None)
    lacking = next((one for one in pin.names if one in intents and one not in answered), None)
    shares = vote_shares(model.pipeline, row, 0)
    lead = np.zeros(len(shares.votes))
    if wrong in intents:
        lead += vote_shares(model.pipeline, row, intents.index(str(wrong))).votes
    if lacking is not None:
        lead -= vote_shares(model.pipeline, row, intents.index(lacking)).votes
    return lead, shares.cosines


def _load_bearing(
    studio: Studio, model: ExplainedModel, answer: Prediction, row: FloatArray, near: ScoreArray
) -> tuple[list[int], str] | None:
    """Return the fewest examples without which one intent would not be the answer, in words."""
    pipeline, decision = model.pipeline, answer.decision
    votes = solved_votes_of(studio, model)
    n_intents = len(pipeline.head.intents)
    is_asked = decision.rule == "votes" and pipeline.task != "multi-label"
    if votes is None or not is_asked or not pipeline.calibration.has_one_limit(n_intents):
        return None
    speaking = speaking_intents(pipeline, answer, near)
    asked = AskedText(model, votes, row, answer.text, speaking)
    found = load_bearing_view(asked, pipeline.head.intents.index(decision.intents[0]))
    if not 0 < len(found.examples) <= _NAMED:
        return None
    places = {one.id: at for at, one in enumerate(pipeline.exemplars)}
    return [places[one.id] for one in found.examples], found.words


def _named(
    studio: Studio, model: ExplainedModel, rows: Sequence[int], lead: ScoreArray
) -> tuple[DecidingExample, ...]:
    examples = shown_examples(model.pipeline, rows)
    origins = origins_of(studio, model, [one.id for one in examples])
    task = model.pipeline.task
    return tuple(
        DecidingExample(
            one.id,
            one.text,
            label_words(one.intents, task),
            float(lead[at]),
            origins[one.id].by if one.id in origins else "",
            origins[one.id].how if one.id in origins else "",
        )
        for at, one in zip(rows, examples, strict=True)
    )
