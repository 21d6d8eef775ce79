"""What REST and the command line show of a prediction."""

from dataclasses import replace

import pytest

from app.services.answering.prediction_view import prediction_view
from core.types import Decision, IntentScore, Neighbour, Prediction, Reason, Task

NEAR = Neighbour("7", "cancel it", ("cancel",), 0.9, 0.4)
REASON = Reason("cancel", 0.7, 0.5, 0.1, (NEAR,), 0.2, by_name=True)
ANSWER = Prediction(
    "cancel it please",
    (IntentScore("cancel", 0.7, 0.8), IntentScore("card", 0.1, 0.2)),
    Decision(("cancel",), "votes", 0.7, 0.5, "cancel"),
    (REASON,),
    "p@1",
    "data version 1",
)


@pytest.mark.parametrize("task", ["single-label", "multi-label"])
def test_the_evidence_of_the_first_reason_stands_beside_the_answer(task: Task) -> None:
    view = prediction_view(ANSWER, task, 7)
    assert (view.neighbours, view.prior, view.voice, view.by_name) == ((NEAR,), 0.1, 0.2, True)
    assert (view.text, view.ranked, view.decision) == (ANSWER.text, ANSWER.ranked, ANSWER.decision)
    assert (view.model_version, view.dataset_version) == ("p@1", "data version 1")
    assert view.label_revision == 7


def test_reasons_are_listed_for_each_intent_of_a_multi_label_answer_alone() -> None:
    assert prediction_view(ANSWER, "multi-label", None).reasons == (REASON,)
    assert prediction_view(ANSWER, "single-label", None).reasons == ()
    nothing = replace(ANSWER, decision=Decision((), "no-intent", 0.4, 0.5, "cancel"))
    assert prediction_view(nothing, "multi-label", None).reasons == ()
