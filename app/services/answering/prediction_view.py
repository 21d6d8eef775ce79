"""A prediction as REST and the command line show it."""

from dataclasses import dataclass

from core.types import Decision, IntentScore, Neighbour, Prediction, Reason, Task


@dataclass(frozen=True, slots=True)
class PredictionView:
    """The answer to one text, with its evidence.

    Attributes:
        neighbours: The exemplars with the most weight in the decision's score.
        prior: The part of that score that does not depend on exemplars.
        voice: The part of that score from the intent's name and description.
        by_name: Whether no exemplar of the intent votes, so that its name alone decides.
        reasons: One for each intent of a multi-label answer, in its order; else empty.
        label_revision: Revision of the project up to which its labels vote, the last one before
            labels that wait for a training; None for a bundle, and where names alone answer.
    """

    text: str
    ranked: tuple[IntentScore, ...]
    decision: Decision
    neighbours: tuple[Neighbour, ...]
    prior: float = 0.0
    voice: float = 0.0
    by_name: bool = False
    model_version: str | None = None
    dataset_version: str | None = None
    reasons: tuple[Reason, ...] = ()
    label_revision: int | None = None


def prediction_view(
    prediction: Prediction, task: Task, label_revision: int | None
) -> PredictionView:
    """Convert a prediction, with the evidence of its first reason."""
    several = task == "multi-label" and prediction.decision.intents
    return PredictionView(
        prediction.text,
        prediction.ranked,
        prediction.decision,
        prediction.reason.neighbours,
        prediction.reason.prior,
        prediction.reason.voice,
        prediction.reason.by_name,
        prediction.model_version,
        prediction.dataset_version,
        prediction.reasons if several else (),
        label_revision,
    )
