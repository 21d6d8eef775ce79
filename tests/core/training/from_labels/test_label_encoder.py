"""The recipe that trains with names, as a run: votes and names in one head, honestly weighed."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from core.bundle.layout import load_pipeline, save_pipeline
from core.encoders.dual.encoder import DualEncoder, names_side
from core.encoders.packed.encoder import TransformerEncoder
from core.errors import InvalidInput
from core.heads.mixture import MixtureHead
from core.heads.points import PointHead
from core.heads.votes.fit import VoteHead, votes
from core.intent_names import label_text
from core.recipes.labels import LabelEncoderRecipe
from core.recipes.read import read_recipe
from core.training.checkpoints import Checkpoint
from core.training.events import CheckpointReady, Event, StageStarted, StepDone, drain
from core.training.from_labels import held_out as cross_validated_scores
from core.training.from_labels.inputs import RunInputs
from core.training.from_labels.runs import RunResult, run_recipe
from core.types import Exemplar, Intent
from core.vectors import unit_rows
from tests.conftest import SENTENCES

QUICK: dict[str, object] = {
    "epochs": 4,
    "batch_size": 8,
    "learning_rate": 5e-3,
    "width": 8,
    "frozen_layers": 0,
}
INTENTS = tuple(Intent(name, f"about {name}") for name in sorted(SENTENCES))
EXEMPLARS = tuple(
    Exemplar(text, text, (name,)) for name, texts in SENTENCES.items() for text in texts
)
ASKED = ["hello there", "give me my money back", "where does my parcel stay"]


def run(
    tiny: TransformerEncoder, resume: Checkpoint | None = None, every: int = 0, **settings: object
) -> tuple[RunResult, list[Event]]:
    recipe = read_recipe("label-encoder", {**QUICK, **settings})
    inputs = RunInputs(EXEMPLARS, INTENTS, tiny, checkpoint_every=every)
    events: list[Event] = []
    return drain(run_recipe(recipe, inputs, resume), events.append), events


@pytest.fixture(scope="module")
def trained(tiny: TransformerEncoder) -> tuple[RunResult, list[Event]]:
    return run(tiny)


def test_names_are_one_more_voice_beside_the_votes(trained: tuple[RunResult, list[Event]]) -> None:
    pipeline = trained[0].pipeline
    head = pipeline.head
    assert isinstance(head, MixtureHead)
    assert isinstance(head.first, VoteHead)
    assert isinstance(pipeline.encoder, DualEncoder)
    rows = names_side(pipeline.encoder).encode([label_text(intent) for intent in INTENTS])
    np.testing.assert_allclose(head.names.points, unit_rows(rows), atol=1e-6)
    assert len(set(head.weights.tolist())) == 1
    for answer in pipeline.predict(ASKED):
        column = head.intents.index(answer.decision.leading)
        embedding = pipeline.encoder.encode([answer.text])[0]
        every = float(votes(head.first, embedding)[:, column].sum())
        reason = answer.reason
        assert every + reason.prior + reason.voice == pytest.approx(reason.score, abs=1e-9)
        assert reason.score == answer.decision.score
        assert reason.voice == pytest.approx(head.voices(embedding[None])[0, column], abs=1e-12)
        assert reason.voice >= 0
        assert not reason.by_name
        shown = {n.exemplar_id: n.vote for n in reason.neighbours}
        mine = votes(head.first, embedding)[:, column]
        own = {e.id: mine[row] for row, e in enumerate(pipeline.exemplars)}
        assert shown == pytest.approx({key: own[key] for key in shown}, abs=1e-9)


@pytest.fixture
def tuned(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[Exemplar]]:
    """The exemplars from which each encoder for held-out scores learns."""
    learned: list[Sequence[Exemplar]] = []
    original = cross_validated_scores.tune

    def spy(recipe, inputs, place, resume=None):
        learned.append(inputs.exemplars)
        return original(recipe, inputs, place, resume)

    monkeypatch.setattr(cross_validated_scores, "tune", spy)
    return learned


def test_each_held_out_text_is_scored_by_an_encoder_that_never_saw_it(
    tiny: TransformerEncoder, tuned: list[Sequence[Exemplar]]
) -> None:
    """Weight, temperature and threshold come from these scores, so no trained row may enter."""
    result, events = run(tiny, epochs=2)
    (part,) = tuned
    seen = {e.text for e in part}
    held_out = {EXEMPLARS[row].text for row in result.held_out.rows}
    assert held_out
    assert not held_out & seen
    assert held_out | seen == {e.text for e in EXEMPLARS}
    assert result.held_out.judged_on == f"{len(held_out)} of {len(EXEMPLARS)} texts, held out"
    assert [e.words for e in events if isinstance(e, StageStarted)] == [
        "tuning",
        "encoding",
        "calibrating",
    ]
    steps = [e for e in events if isinstance(e, StepDone)]
    assert [e.step for e in steps] == list(range(1, steps[-1].total + 1))


def test_the_honest_scores_are_those_of_the_whole_head(tiny: TransformerEncoder) -> None:
    """Without texts held out they are the closed form of the votes, and the voices on top."""
    result, _ = run(tiny, calibration="leave-one-out")
    head = result.pipeline.head
    assert isinstance(head, MixtureHead)
    from core.heads.votes.fit import leave_one_out

    assert isinstance(head.first, VoteHead)
    expected = leave_one_out(head.first) + head.voices(result.pipeline.embeddings)
    np.testing.assert_allclose(result.held_out.scores, expected, atol=1e-6)


@pytest.mark.parametrize("calibration", ["leave-one-out", "held-out"])
def test_the_voice_is_weighed_by_what_people_said(
    tiny: TransformerEncoder, tuned: list[Sequence[Exemplar]], calibration: str
) -> None:
    """Copies would let votes seem surer than they are, and a copy would give its source away."""
    copies = tuple(Exemplar(f"s{e.id}", f"{e.text} now", e.intents, e.id) for e in EXEMPLARS[::2])
    recipe = read_recipe("label-encoder", {**QUICK, "epochs": 2, "calibration": calibration})
    result = drain(run_recipe(recipe, RunInputs(EXEMPLARS + copies, INTENTS, tiny)), lambda _: None)
    rows = result.held_out.rows.tolist()
    assert len(result.held_out.scores) == len(rows) > 0
    assert max(rows) < len(EXEMPLARS)
    assert len(result.pipeline.exemplars) == len(EXEMPLARS + copies)  # all of them vote
    judged = {EXEMPLARS[row].id for row in rows}
    for part in tuned:
        seen = {e.id for e in part}
        assert not seen & judged
        assert not seen & {f"s{key}" for key in judged}
    assert len(tuned) == (calibration == "held-out")


def test_a_stored_model_answers_bit_for_bit(
    trained: tuple[RunResult, list[Event]], tmp_path: Path
) -> None:
    pipeline = trained[0].pipeline
    save_pipeline(pipeline, {}, tmp_path)
    again = load_pipeline(tmp_path)
    assert isinstance(again.encoder, DualEncoder)
    assert again.encoder.fingerprint == pipeline.encoder.fingerprint
    assert again.predict(ASKED) == pipeline.predict(ASKED)


def test_a_run_goes_on_where_it_stopped(
    trained: tuple[RunResult, list[Event]], tiny: TransformerEncoder
) -> None:
    _, events = run(tiny, every=2)
    kept = next(e for e in events if isinstance(e, CheckpointReady)).checkpoint
    resumed, later = run(tiny, kept)
    assert resumed.pipeline.predict(ASKED) == trained[0].pipeline.predict(ASKED)
    assert next(e for e in later if isinstance(e, StepDone)).step == kept.step + 1


def test_names_decide_alone_where_that_is_asked_for(tiny: TransformerEncoder) -> None:
    result, _ = run(tiny, head={"kind": "names"}, variant="siamese", similarity="dot")
    head = result.pipeline.head
    assert isinstance(head, PointHead)
    lengths = np.linalg.norm(head.points, axis=1)
    assert lengths.max() == pytest.approx(1.0)
    assert lengths.min() < 0.9999  # dot products keep them
    assert len(result.pipeline.predict(ASKED)) == 3


def test_a_model_with_two_encoders_can_be_trained_on(
    trained: tuple[RunResult, list[Event]], tiny: TransformerEncoder
) -> None:
    dual = trained[0].pipeline.encoder
    inputs = RunInputs(EXEMPLARS, INTENTS, dual)
    quick = read_recipe("convfit", {"epochs": 1, "frozen_layers": 1})
    found = drain(run_recipe(quick, inputs), lambda _: None)
    assert isinstance(found.pipeline.encoder, TransformerEncoder)
    again = drain(run_recipe(LabelEncoderRecipe(epochs=1), inputs), lambda _: None)
    assert isinstance(again.pipeline.encoder, DualEncoder)


def test_several_intents_an_utterance_are_refused_by_name(tiny: TransformerEncoder) -> None:
    with pytest.raises(InvalidInput, match=r"label-encoder.*one intent's name"):
        read_recipe("label-encoder", {}, "multi-label")
    inputs = RunInputs(EXEMPLARS, INTENTS, tiny, task="multi-label")
    with pytest.raises(InvalidInput, match="may have several"):
        drain(run_recipe(LabelEncoderRecipe(), inputs), lambda _: None)
