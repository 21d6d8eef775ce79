"""An answer in one sentence, with what speaks for it."""

from collections.abc import Mapping, Sequence
from itertools import chain, zip_longest

from core.types import Method, Prediction, Reason

MEASURES: Mapping[Method, str] = {
    "votes": "score",
    "nearest": "familiarity by the nearest examples",
    "mahalanobis": "familiarity by the distance to the intents",
    "mixture": "familiarity by score, nearest examples and distance",
}
"""What a limit is one of, in words."""


def reasons_of(prediction: Prediction) -> tuple[Reason, ...]:
    """Return why each intent of an answer is in it, or of the leading one where none is told of."""
    if prediction.reasons:
        return prediction.reasons
    decision = prediction.decision
    return (
        Reason(
            decision.leading,
            decision.score,
            decision.threshold,
            prediction.prior,
            prediction.neighbours,
            prediction.voice,
            prediction.by_name,
        ),
    )


def votes_of_others(reason: Reason) -> float:
    """Return what all exemplars that a reason does not show add to its score."""
    return reason.score - reason.prior - reason.voice - sum(n.vote for n in reason.neighbours)


def sentence_of(prediction: Prediction) -> str:
    """Say in one sentence what was answered, and because of which examples."""
    decision = prediction.decision
    if decision.rule == "exact":
        is_it = "This is" if decision.intents else "This has"
        return f"{is_it} {decision.words}, exactly as a labelled example says."
    reasons = reasons_of(prediction)
    examples = "; ".join(f"“{text}”" for text in _helping(reasons)[:2])
    because = f", mostly because of {examples}" if examples else ""
    if reasons[0].by_name:
        because = f", {name_words(prediction)}"
    if decision.intents:
        shares = {one.intent: one.probability for one in prediction.ranked}
        named = " and ".join(f"{name} ({shares[name]:.0%})" for name in decision.intents)
        return f"This is {named}{because}."
    if decision.familiarity is not None:
        return (
            f"No intent fits well enough: the {MEASURES[decision.measure]} is "
            f"{decision.held:.2f}, under the limit of {decision.threshold:.2f}; the best intent is "
            f"{decision.leading}{because}."
        )
    if decision.out_of_scope:
        what, limit = "No intent fits well enough: the best", "the limit"
    else:
        what, limit = "This has no intent: the one nearest to its limit", "that"
    return (
        f"{what}, {decision.leading}, scores {decision.score:.2f}, under "
        f"{limit} of {decision.threshold:.2f}{because}."
    )


def name_words(prediction: Prediction) -> str:
    """Say that no example speaks for an answer; without a model there is none to be shown."""
    why = "no examples yet" if prediction.neighbours else "before any training"
    return f"by its name alone, {why}"


def _helping(reasons: Sequence[Reason]) -> list[str]:
    """Texts that vote for the answer, in turn those of each of its intents."""
    texts = [[n.text for n in reason.neighbours if n.vote > 0] for reason in reasons]
    in_turn = chain.from_iterable(zip_longest(*texts))
    return list(dict.fromkeys(text for text in in_turn if text is not None))
