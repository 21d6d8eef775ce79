"""Measure a model of a project on labelled texts that are in no project."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

from app.services.answering.stored import no_model_yet
from app.services.live.asked import Which, open_asked
from app.services.live.live_studio import LiveStudio
from core.errors import InvalidInput
from core.text import require_answerable
from core.types import Exemplar


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Figures of a model on labelled texts; shares in [0, 1].

    Attributes:
        accuracy: Share of right best intents; for several intents, of right sets. None, as all
            figures of intents, where each text fits none.
        macro_f1: Mean F1 over the `tested_intents`.
        n: Number of texts with an intent that were judged; for several intents, of all.
        tested_intents: Number of intents that have a text, of all `intents` of model and texts.
        judged_on: What they are, in words.
        left_out: Number of texts that were left out because the model has learned them.
        in_scope: Share of texts that are not refused; None for several intents.
        answered_right: Share that is answered, and rightly; None for several intents.
        micro_f1: None for one intent.
        kept_out: Share of the `outside_n` texts that fit no intent that is refused.
    """

    n: int
    judged_on: str
    left_out: int
    accuracy: float | None = None
    macro_f1: float | None = None
    tested_intents: int = 0
    intents: int = 0
    expected_calibration_error: float | None = None
    per_intent: list[dict[str, str | int | float]] = field(default_factory=list)
    confusions: list[dict[str, str | int]] = field(default_factory=list)
    in_scope: float | None = None
    answered_right: float | None = None
    micro_f1: float | None = None
    kept_out: float | None = None
    outside_n: int = 0


def evaluate_given(
    live_studio: LiveStudio, project: str, which: Which, exemplars: Sequence[Exemplar]
) -> Evaluation:
    """Judge the live model, the champion or a version by labelled texts.

    Raises:
        InvalidInput: No text has a label, or one is blank.
        NotFound: There is no such project or model.
    """
    from app.services.versions.evaluating import evaluate_texts  # imports torch

    if not exemplars:
        raise InvalidInput("No text has a label to judge by.", "Give each its intents.")
    require_answerable([exemplar.text for exemplar in exemplars])
    if which == "live":
        _, live = live_studio.models.open(project)
        if live is None:
            raise no_model_yet(project)
        pipeline = live.pipeline
    else:
        pipeline = open_asked(live_studio.studio, f"{project}@{which}").pipeline
    figures = evaluate_texts(pipeline, exemplars, "of the request")
    return Evaluation(**{f.name: figures[f.name] for f in fields(Evaluation) if f.name in figures})
