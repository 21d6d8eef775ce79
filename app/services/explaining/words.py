"""Sentences that say why a text got its answer, for pages, the terminal and reports."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from app.services.explaining.views import IntentReason, Vote
from core.text import counted, decimal, percent, points
from core.types import Decision, Method, Prediction, Reason
from storage.log.label_origins import GROUP

if TYPE_CHECKING:
    from app.services.explaining.explained_model import ExplainedModel

MEASURES: Mapping[Method, str] = {
    "votes": "score",
    "nearest": "familiarity by the nearest examples",
    "mahalanobis": "familiarity by the distance to the intents",
    "mixture": "familiarity by score, nearest examples and distance",
}
"""The quantity that a limit applies to, in words."""

VOTES = (
    "Vote, in points: how much one example speaks for the intent, or with a minus against it. "
    "Examples that say nearly the same share one vote, and stand in one line."
)
SCORE = (
    "Score, in points: all votes together, about 100 for a text that is clearly this intent and "
    "about 0 for one that has nothing to do with it."
)
"""What a vote and its points are; `assets/js/shared/votes.js` says the same."""

OUTVOTED = "Texts like it are labelled {label}: is its label right?"
"""Stands beside an example none of whose neighbours has its label; `acts.js` says the same."""

UNCLEAR = (
    "No single word decides here: measured in two ways, the words speak for different intents. The "
    "text may ask for several things, or be unlike your examples."
)
DEPENDS, WHY_NOT = "What the answer depends on", "Why not"
"""Headings of the Try page and of receipts, which notes refer to."""
_ALONE = 0.7
"""With at least this share of the nearest examples, an intent is named alone."""
_BESIDE = 0.3
"""With a smaller share of the examples beside it on a flat map, a text is not seen among them."""
_MORE_DIGITS = 3
"""Ways to write a figure that is just below the line, before both are told as the same."""
_NOTHING = "texts of no intent"
_LOCAL = "local"
"""Actor name in a studio without user names."""


def votes_of_others(reason: Reason) -> float:
    """Return the sum of the votes that a reason does not show."""
    return reason.score - reason.prior - reason.voice - sum(n.vote for n in reason.neighbours)


def sentence_of(prediction: Prediction) -> str:
    """Say in one sentence what was answered, and which examples have the strongest votes."""
    decision = prediction.decision
    if decision.rule in ("out-of-scope", "no-intent"):
        return nothing_words(decision)
    if decision.rule == "exact":
        is_it = "This is" if decision.intents else "This has"
        return f"{is_it} {decision.words}, exactly as an example says."
    reasons = prediction.reasons
    examples = "; ".join(f"“{text}”" for text in _helping(reasons)[:2])
    because = f". Strongest votes: {examples}" if examples else ""
    if reasons[0].by_name:
        because = f", {name_words(prediction)}"
    shares = {one.intent: one.probability for one in prediction.ranked}
    named = " and ".join(f"{name} ({sure(shares[name])})" for name in decision.intents)
    return f"This is {named}{because}."


def nothing_words(decision: Decision) -> str:
    """Say that no intent is answered, which one came closest, and the line that it missed.

    In points, as the line is: a probability of the closest intent would read as that of the answer.
    """
    missed = _missed_words(decision)
    if decision.out_of_scope:
        return f"Out of scope. Closest: {decision.leading}, but too unlike its examples: {missed}."
    return f"No intent. Closest: {decision.leading}, but not likely enough: {missed}."


def _missed_words(decision: Decision) -> str:
    held, line = _told_apart(decision)
    if decision.measure == "votes":
        return f"{held} points of the {line} needed"
    return f"a familiarity of {held}; {line} is needed"


def _told_apart(decision: Decision) -> tuple[str, str]:
    """Write the figure below the line and the line, so finely that they differ where they can."""
    in_points = decision.measure == "votes"
    factor, fewest = (100, 1) if in_points else (1, 2)
    pair = factor * decision.held, factor * decision.threshold
    for digits in range(fewest, fewest + _MORE_DIGITS):
        held, line = (decimal(one, digits) for one in pair)
        if held != line:
            break
    return held, line


def name_words(prediction: Prediction) -> str:
    """Say that an intent has no example; without a model there is none to show."""
    why = "no examples yet" if prediction.reason.neighbours else "before any training"
    return f"by its name alone, {why}"


def _helping(reasons: Sequence[Reason]) -> list[str]:
    """Return texts that vote for the answer, alternating between its intents."""
    texts = [[n.text for n in reason.neighbours if n.vote > 0] for reason in reasons]
    in_turn = chain.from_iterable(zip_longest(*texts))
    return list(dict.fromkeys(text for text in in_turn if text is not None))


def plain_words(found: Prediction, reasons: Sequence[IntentReason]) -> str:
    """Say what was answered, and which example speaks most for it."""
    decision = found.decision
    if decision.rule == "exact":
        return (
            f"Somebody has labelled just this text, and the answer is that label: {decision.words}."
        )
    if decision.rule in ("out-of-scope", "no-intent"):
        return nothing_words(decision)
    return f"The model takes this text for {decision.words}.{_because(reasons)}"


def sure(probability: float) -> str:
    """Write a probability as a person would, never as certainty."""
    return f"{sure_share(probability)} sure"


def sure_share(probability: float) -> str:
    """Write a probability in whole percent, from 1 to 99."""
    return percent(min(max(probability, 0.01), 0.99))


def _because(reasons: Sequence[IntentReason]) -> str:
    if reasons and reasons[0].by_name:
        return " No example of it was given yet: its name alone speaks for it."
    helping = [vote for reason in reasons for vote in reason.votes if vote.vote > 0]
    if not helping:
        return ""
    best = max(helping, key=lambda vote: vote.vote)
    return f" The example that speaks most for it is “{best.example.text}”{_whose(best)}."


def _whose(vote: Vote) -> str:
    labels = " and ".join(vote.example.intents) or "none of the intents"
    if vote.origin is None:
        return f", labelled {labels}"
    if vote.origin.synthetic:
        return f", generated, of a template labelled {labels}"
    by = "" if vote.origin.by == _LOCAL else f" by {vote.origin.by}"
    group = " with its group" if vote.origin.how == GROUP else ""
    return f", labelled {labels}{group}{by} on {day(vote.origin.at)}"


def day(stamp: str) -> str:
    """Write the day of a time stamp: "3 Dec 2026"."""
    found = datetime.fromisoformat(stamp)
    return f"{found.day} {found:%b %Y}"


def scope_words(decision: Decision, nearest: float) -> str:
    """Say on which side of its limit a text is, and how near the nearest example is.

    An answer of no intent is told without the similarity, which would speak for an intent.
    """
    rule = decision.rule
    if rule in ("out-of-scope", "no-intent"):
        held, line = _told_apart(decision)
        unit = " points" if decision.measure == "votes" else ""
        return f"Its {MEASURES[decision.measure]} is {held}{unit}; {line}{unit} would be needed."
    near = f"The most similar example has a similarity of {points(nearest)} of 100."
    if rule == "exact":
        return f"The text is an example itself, so no points are needed. {near}"
    write = _in_points if decision.measure == "votes" else _deviations
    return (
        f"It is not refused: its {MEASURES[decision.measure]} is {write(decision.held)}, "
        f"and {write(decision.threshold)} would be enough. {near}"
    )


def _in_points(score: float) -> str:
    return f"{points(score)} points"


def _deviations(familiarity: float) -> str:
    """Write a familiarity, which is told in standard deviations."""
    return decimal(familiarity, 2)


def notes_of(model: "ExplainedModel", found: Prediction, *, asked: bool) -> tuple[str, ...]:
    """Say what a reader of the figures should know."""
    notes = []
    if found.decision.rule == "exact":
        notes.append(
            "The text is an example, so its label is the answer; the votes below are what "
            "the model would say otherwise."
        )
        if set(found.decision.intents) != {one.intent for one in found.reasons}:
            notes.append("The votes differ from the label.")
    if found.decision.familiarity is not None:
        notes.append(
            f"Whether a text is refused goes by its {MEASURES[found.decision.measure]}. "
            f"“{DEPENDS}” and “{WHY_NOT}” go by the votes alone."
        )
    if model.later:
        notes.append(
            f"This counts {counted(model.later, 'change')} since the training. The next "
            "training learns from them, too."
        )
    if not asked:
        notes.append(f"“{DEPENDS}” and “{WHY_NOT}” can be computed only where every example votes.")
    elif not model.pipeline.calibration.has_one_limit(len(model.pipeline.head.intents)):
        notes.append(
            f"“{DEPENDS}” and “{WHY_NOT}” are not told where an intent has a limit of its own."
        )
    return tuple(notes)


def landing_words(
    labels: Sequence[Sequence[str]],
    drawn: Sequence[Sequence[str]],
    *,
    outside: bool,
    leading: str = "",
) -> str:
    """Say where a text is by the labels of its nearest examples, the nearest first.

    `drawn` are the labels of the examples nearest on the flat map. Where it draws the text away
    from those that are most similar, the words say so. `leading` is the intent that all votes
    speak most for: it need not be that of the most similar examples. Of a text that is unlike all
    of them no intent is named: its answer names the closest one.
    """
    if outside:
        return "Unlike all examples, so its place on this small map says nothing."
    ranked = _ranked(labels)
    most_similar = [name for name, _ in ranked[:2]]
    votes = (
        f" The answer goes by all examples together: they speak most for {leading}."
        if leading and leading not in most_similar
        else ""
    )
    return f"{_inside_words(labels, drawn, ranked)}{votes}"


def _inside_words(
    labels: Sequence[Sequence[str]],
    drawn: Sequence[Sequence[str]],
    ranked: list[tuple[str, int]],
) -> str:
    frequent = [name for name, n in ranked if n >= _ALONE * len(labels)]
    beside = _ranked(drawn)
    named = set(frequent or [name for name, _ in ranked[:2]])
    if sum(n for name, n in beside if name in named) < _BESIDE * len(drawn):
        elsewhere = next(name for name, _ in beside if name not in named)
        among = " and ".join(frequent) or _listed(ranked)
        return (
            f"Most similar examples: {among}. "
            f"This flat map draws it among others, such as {elsewhere}."
        )
    if frequent:
        return f"Lands among {' and '.join(frequent)}."
    return f"Lands between {_listed(ranked)}."


def _ranked(labels: Sequence[Sequence[str]]) -> list[tuple[str, int]]:
    """Count names, the most frequent first; among equals the nearest is first."""
    return Counter(name for label in labels for name in label or (_NOTHING,)).most_common()


def _listed(ranked: list[tuple[str, int]]) -> str:
    return " and ".join(name for name, _ in ranked[:2])
