"""Name the examples that break a pin by what a graph tells: its votes for its own answer."""

from app.services.answering.pinned import OpenPin
from app.services.checking.views import DecidingExample
from core.pipeline import Answerer
from core.text import label_words, match_key
from core.types import Neighbour, Prediction, Task

Told = tuple[tuple[DecidingExample, ...], str]
"""The examples that break a pin, and why these."""

SAYS_THIS, NEAREST = "An example says just this.", "These examples are the nearest."
_FOR_IT = "These examples vote most for the answer."
_NOT_TOLD = (
    "A graph does not tell which examples vote against what is expected, nor the fewest without "
    "which the answer would change: check the bundle of this version that holds its encoder."
)
_NAMED = 5


def deciding_in_graph(model: Answerer, pin: OpenPin, answer: Prediction) -> Told:
    """Return the examples that vote for a wrong answer; none where nothing wrong is answered."""
    task, expected = model.task, set(pin.names)
    reasons = [one for one in answer.reasons if one.intent in set(answer.decision.intents)]
    reason = next((one for one in reasons if one.intent not in expected), None)
    near = () if reason is None else reason.neighbours
    if answer.decision.rule == "exact":
        key = match_key(pin.text)
        twins = [one for one in model.exemplars if match_key(one.text) == key][:_NAMED]
        return tuple(
            DecidingExample(one.id, one.text, label_words(one.intents, task), vote=0.0)
            for one in twins
        ), SAYS_THIS
    voting = [one for one in near if one.vote > 0]
    if voting:
        return tuple(_example(one, task) for one in voting[:_NAMED]), f"{_FOR_IT} {_NOT_TOLD}"
    if near and not any(one.vote for one in near):
        return tuple(_example(one, task) for one in near[:_NAMED]), f"{NEAREST} {_NOT_TOLD}"
    return (), _NOT_TOLD


def _example(near: Neighbour, task: Task) -> DecidingExample:
    return DecidingExample(near.exemplar_id, near.text, label_words(near.intents, task), near.vote)
