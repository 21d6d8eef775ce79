"""Learning from conversations: batches, cached gradients, whole runs that can be resumed."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from core.encoders import precision
from core.encoders.base import TuningOptions
from core.encoders.convert.encoder import ConvertEncoder
from core.encoders.convert.network import ConvertNetwork
from core.encoders.convert.sizes import named_sizes
from core.encoders.convert.subwords import Subwords
from core.encoders.loading import load_folder
from core.encoders.opening import open_tuning
from core.errors import ArtifactDamaged, InvalidInput
from core.formats.dialogues import Dialogue, Pair, Turn, pairs_of
from core.recipes.conversations import ConvertRecipe, DialoguesRecipe
from core.recipes.labels import ConvfitRecipe
from core.recipes.read import read_recipe
from core.responses import REPLY, Ranker, load_ranker, rank_responses
from core.training.checkpoints import Checkpoint
from core.training.devices import Share
from core.training.events import CheckpointReady, StageStarted, StepDone
from core.training.from_conversations.batches import count_pairs, stream_batches
from core.training.from_conversations.gradient_cache import Texts, backward
from core.training.from_conversations.loop import RankOptions, rank
from core.training.from_conversations.runs import RankingInputs, run_ranking
from core.training.from_conversations.towers import (
    ConvertTowers,
    EncoderTowers,
    pieces_tensor,
    read_pieces,
    texts_of,
)
from core.training.from_conversations.turns import turns_of
from core.training.loop import FitOptions, fit
from core.training.schedule import cosine_rate
from core.vectors import unit_rows

TOPICS = ["refund", "parcel", "password", "card", "weather", "music"]
LOG = [
    Dialogue(
        f"{topic}-{n}",
        tuple(
            Turn(text)
            for text in (
                f"hello, I ask about the {topic} {n}",
                f"what about your {topic}?",
                f"it is late, number {n}",
                f"I will see to the {topic} {n}",
            )
        ),
    )
    for topic in TOPICS
    for n in range(4)
]


def source(contexts: int = 0):
    def pairs() -> Iterator[Pair]:
        return (pair for dialogue in LOG for pair in pairs_of(dialogue, contexts))

    return pairs


N_PAIRS = 3 * len(LOG)
DIALOGUES = DialoguesRecipe(
    minutes=None, batch_size=16, epochs=2, shuffled=20, chunk=8, learning_rate=1e-3
)
CONVERT = ConvertRecipe(
    minutes=None, batch_size=16, epochs=2, shuffled=20, vocabulary=200, annealing=5, contexts=2
)


def drain(run, stop_at: int | None = None):
    events = []
    while True:
        try:
            events.append(next(run))
        except StopIteration as end:
            return end.value, events
        if isinstance(events[-1], StepDone) and events[-1].step == stop_at:
            return None, events


def checkpoints(events) -> list[Checkpoint]:
    return [event.checkpoint for event in events if isinstance(event, CheckpointReady)]


def test_each_pass_deals_every_pair_once_in_another_order() -> None:
    batches = stream_batches(source(), 16, 20, seed=0)
    dealt = [next(batches) for _ in range(10)]
    assert [epoch for epoch, _ in dealt] == [1] * 5 + [2] * 5
    assert [len(batch) for _, batch in dealt] == [16, 16, 16, 16, 8] * 2
    first = [pair for _, batch in dealt[:5] for pair in batch]
    second = [pair for _, batch in dealt[5:] for pair in batch]
    assert sorted(first, key=str) == sorted(second, key=str) == sorted(source()(), key=str)
    assert first != second
    assert count_pairs(source()) == N_PAIRS
    again = stream_batches(source(), 16, 20, seed=0)
    assert [next(again) for _ in range(10)] == dealt


def test_no_more_pairs_are_held_than_the_buffer() -> None:
    drawn = 0

    def endless() -> Iterator[Pair]:
        nonlocal drawn
        while True:
            drawn += 1
            yield Pair(str(drawn), str(drawn + 1))

    batches = stream_batches(endless, 10, 50, seed=0)
    for _ in range(3):
        next(batches)
    assert drawn <= 50 + 36  # thirty dealt, and rows of four that are begun


def test_a_stream_without_pairs_ends() -> None:
    assert list(stream_batches(lambda: iter([Pair("a", "b")]), 4, 5, seed=0)) == []


def test_the_learning_rate_rises_and_falls_by_a_cosine() -> None:
    assert [cosine_rate(p, 0.1) for p in (0.0, 0.05, 0.1)] == pytest.approx([0, 0.5, 1])
    assert cosine_rate(0.55, 0.1) == pytest.approx(0.001 + 0.999 / 2)
    assert cosine_rate(1.0, 0.1) == cosine_rate(2.0, 0.1) == pytest.approx(0.001)


@pytest.mark.parametrize("dropout", [0.0, 0.3])
@pytest.mark.parametrize("chunk", [1, 5, 1000])
def test_cached_gradients_equal_those_of_one_large_step(dropout: float, chunk: int) -> None:
    """Dropout is drawn again for each chunk, so that both passes see the same network."""
    torch.manual_seed(0)
    layer = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.Dropout(dropout)).double()
    behind = torch.nn.Linear(4, 3)
    inputs = torch.randn(24, 6).double()

    def embed(rows: torch.Tensor) -> torch.Tensor:
        return layer(inputs[rows])

    def loss(embedded: torch.Tensor) -> torch.Tensor:
        scores = behind(embedded[:12]) @ embedded[12:, :3].T
        return torch.nn.functional.cross_entropy(scores, torch.arange(12))

    torch.manual_seed(1)
    found = backward(Texts(embed, 24), loss, chunk, Share())
    cached = [layer[0].weight.grad.clone(), behind.weight.grad.clone()]
    layer.zero_grad()
    behind.zero_grad()
    torch.manual_seed(1)
    parts = torch.arange(24).split(min(chunk, 24))  # the same, so that dropout draws alike
    direct = loss(torch.cat([embed(part) for part in parts]).float())
    direct.backward()
    assert found == pytest.approx(direct.item(), abs=1e-6)
    assert torch.allclose(cached[0], layer[0].weight.grad, atol=1e-6)
    assert torch.allclose(cached[1], behind.weight.grad, atol=1e-6)


def test_each_text_of_a_batch_is_encoded_once() -> None:
    """A response that is the next pair's context is one text; histories are texts of their own."""
    batch = list(pairs_of(LOG[0], 2))[:3]
    turns = turns_of(batch, joined=False)
    said = [turn.text for turn in LOG[0].turns]
    assert turns.texts[:4] == tuple(said)
    assert turns.contexts.tolist() == [0, 1, 2]
    assert turns.responses.tolist() == [1, 2, 3]
    assert turns.owners.tolist() == [1, 2]
    assert [turns.texts[row] for row in turns.histories.tolist()] == [
        f"0 {said[0]}",
        f"0 {said[1]} 1 {said[0]}",
    ]
    some = turns_of(batch, joined=False, histories=slice(1, None, 2))
    assert (some.owners.tolist(), some.texts[4:]) == ([2], (f"0 {said[1]} 1 {said[0]}",))
    joined = turns_of(batch, joined=True)
    assert joined.texts[joined.contexts[2]] == f"{said[2]} {said[1]} {said[0]}"
    assert not len(joined.histories)


def test_earlier_turns_are_read_for_other_pairs_in_each_step() -> None:
    """Read for every pair they were two thirds of a step, and fewer steps fit into the minutes."""
    batch = list(pairs_of(LOG[0], 2))[:3]
    recipe = CONVERT.model_copy(update={"history_every": 2})
    network, subwords = (
        ConvertNetwork(named_sizes("small", 30, history=True), quantised=True),
        Subwords(("a",), 29),
    )
    towers = ConvertTowers(network, subwords, recipe)
    towers.before_step(0, recipe.history_from)
    assert [towers.read(batch, step).owners.tolist() for step in range(3)] == [[1], [2], [1]]
    whole = ConvertTowers(network, subwords, recipe.model_copy(update={"history_every": 1}))
    whole.before_step(0, recipe.history_from)
    assert whole.read(batch, 1).owners.tolist() == [1, 2]


def test_earlier_turns_are_read_from_half_of_the_run_on_by_what_reads_contexts_then() -> None:
    """Read from the first step on, ten earlier turns were hardly better than none."""
    batch = list(pairs_of(LOG[0], 2))[:3]
    network, subwords = (
        ConvertNetwork(named_sizes("small", 30, history=True), quantised=True),
        Subwords(("a",), 29),
    )
    towers = ConvertTowers(network, subwords, CONVERT)
    sides = [network.sides[side] for side in ("context", "history")]

    def alike() -> bool:
        weights = [torch.cat([p.flatten() for p in side.parameters()]) for side in sides]
        return torch.equal(*weights)

    towers.before_step(4, 0.49)
    assert not len(towers.read(batch, 4).owners)
    assert not alike()
    towers.before_step(5, 0.5)
    assert len(towers.read(batch, 5).owners)
    assert alike()
    again = ConvertTowers(network, subwords, CONVERT)
    again.restore(towers.state())
    with torch.no_grad():
        sides[1].final.bias.add_(1.0)
    again.before_step(6, 0.6)  # what it has learned since is not put back
    assert not alike()
    assert len(again.read(batch, 6).owners)
    stopped = ConvertTowers(network, subwords, CONVERT)
    stopped.eval()
    assert alike()


def test_any_encoder_learns_to_rank(tiny) -> None:
    recipe = DIALOGUES.model_copy(update={"epochs": 12, "learning_rate": 3e-3})
    ranker, events = drain(run_ranking(recipe, RankingInputs(source(), tiny)))
    encoder = ranker.encoder
    steps = [event for event in events if isinstance(event, StepDone)]
    assert isinstance(events[0], StageStarted)
    assert [step.step for step in steps] == list(range(1, 61))
    assert {step.total for step in steps} <= {60, 61}
    assert np.mean([s.loss for s in steps[-5:]]) < 0.8 * np.mean([s.loss for s in steps[:5]])
    assert encoder.fingerprint != tiny.fingerprint
    assert type(encoder) is type(tiny)


def test_responses_have_a_layer_of_their_own_that_is_kept_beside_the_encoder(
    tiny, tmp_path: Path
) -> None:
    """With one function for both sides a turn's own wording is its best reply."""
    recipe = DIALOGUES.model_copy(update={"epochs": 12, "learning_rate": 3e-3})
    ranker, _ = drain(run_ranking(recipe, RankingInputs(source(), tiny)))
    assert np.abs(ranker.reply - np.eye(tiny.dim)).max() > 1e-3
    texts = ["a refund", "the parcel"]
    by_hand = unit_rows(unit_rows(ranker.encoder.encode(texts)) @ ranker.reply.T)
    assert ranker.encode_responses(texts) == pytest.approx(by_hand, abs=1e-6)
    asked = ranker.encode_contexts([Pair(text, "") for text in texts])
    assert asked == pytest.approx(unit_rows(ranker.encoder.encode(texts)), abs=1e-6)
    ranker.save(tmp_path)
    again = load_ranker(tmp_path, load_folder(tmp_path))
    assert again.fingerprint == ranker.fingerprint != ranker.encoder.fingerprint
    assert again.encode_responses(texts) == pytest.approx(by_hand, abs=1e-6)
    plain = recipe.model_copy(update={"reply_layer": False, "epochs": 1})
    alike, _ = drain(run_ranking(plain, RankingInputs(source(), tiny)))
    assert alike.reply is None
    save_file({"weight": np.eye(3, dtype=np.float32)}, tmp_path / REPLY)
    with pytest.raises(ArtifactDamaged, match="3, 3"):
        load_ranker(tmp_path, again.encoder)


@pytest.mark.parametrize("denominator", ["all", "others"])
def test_frozen_layers_stay_with_either_denominator(tiny, denominator: str) -> None:
    update = {"frozen_layers": 1, "denominator": denominator}
    ranker, _ = drain(
        run_ranking(DIALOGUES.model_copy(update=update), RankingInputs(source(), tiny))
    )
    encoder = ranker.encoder
    before, after = tiny.bert.state_dict(), encoder.bert.state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed
    assert all(name.startswith("layers.1.") for name in changed)


def test_the_size_of_a_chunk_does_not_change_the_step(tiny) -> None:
    found = []
    for chunk in (4, 1000):
        tuning = open_tuning(tiny, ["a"], TuningOptions(frozen_layers=0))
        for module in tuning.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
            if hasattr(module, "attention_dropout"):
                module.attention_dropout = 0.0
        recipe = DIALOGUES.model_copy(update={"chunk": chunk, "epochs": 1})
        list(rank(EncoderTowers(tuning, recipe, tiny.dim), source(), recipe, RankOptions()))
        found.append(torch.cat([p.detach().flatten() for _, p in tuning.trainable()]))
    assert torch.allclose(found[0], found[1], atol=2e-4)


@pytest.mark.parametrize("recipe", [DIALOGUES, CONVERT], ids=["dialogues", "convert"])
def test_a_stopped_run_resumes_to_the_same_encoder(tiny, monkeypatch, recipe) -> None:
    monkeypatch.setattr(precision, "has_bfloat16", lambda: True)
    monkeypatch.setattr(precision, "bfloat16_gain", lambda: 2.0)
    inputs = RankingInputs(source(recipe.contexts), tiny, checkpoint_every=3)
    whole, events = drain(run_ranking(recipe, inputs))
    kept = checkpoints(events)
    assert [checkpoint.step for checkpoint in kept] == [3, 6, 9, 10]
    torch.manual_seed(999)
    monkeypatch.setattr(precision, "bfloat16_gain", lambda: 1.0)  # measured beside other programs
    resumed, rest = drain(run_ranking(recipe, inputs, kept[1]))
    assert [event.step for event in rest if isinstance(event, StepDone)] == [7, 8, 9, 10]
    assert resumed.fingerprint == whole.fingerprint
    ended, rest = drain(run_ranking(recipe, inputs, kept[-1]))
    assert not [event for event in rest if isinstance(event, StepDone)]
    assert ended.fingerprint == whole.fingerprint


def test_a_run_ends_when_its_time_is_over_and_the_time_counts_on_after_a_stop(tiny) -> None:
    recipe = DIALOGUES.model_copy(update={"minutes": 1.0, "epochs": 50})

    def steps_until_the_end(resume: Checkpoint | None = None):
        ticks = iter(range(0, 10_000, 2))
        options = RankOptions(resume, checkpoint_every=1, seconds=lambda: float(next(ticks)))
        tuning = open_tuning(tiny, ["a"], TuningOptions(frozen_layers=1))
        return list(rank(EncoderTowers(tuning, recipe, tiny.dim), source(), recipe, options))

    events = steps_until_the_end()
    steps = [event for event in events if isinstance(event, StepDone)]
    assert len(steps) == 30  # a look at the clock after each, two seconds apart
    assert steps[-1].step == steps[-1].total
    assert all(step.total > step.step for step in steps[:-1])
    kept = checkpoints(events)[2]
    rest = [event for event in steps_until_the_end(kept) if isinstance(event, StepDone)]
    assert [step.step for step in rest] == list(range(4, 31))


def test_convert_learns_from_conversations_alone(tmp_path: Path) -> None:
    recipe = CONVERT.model_copy(update={"epochs": 30, "annealing": 20, "learning_rate": 1e-3})
    ranker, events = drain(run_ranking(recipe, RankingInputs(source(2))))
    encoder = ranker.encoder
    losses = [event.loss for event in events if isinstance(event, StepDone)]
    assert isinstance(encoder, ConvertEncoder)
    assert encoder.knows_history
    assert [event.stage for event in events if isinstance(event, StageStarted)] == [
        "reading",
        "ranking",
    ]
    assert len(losses) == 150
    replies = [f"what about your {topic}?" for topic in TOPICS]
    firsts = [
        rank_responses(ranker, Pair(f"hello, I ask about the {topic} 1", ""), replies)[0][0]
        for topic in TOPICS
    ]
    assert sum(first == reply for first, reply in zip(firsts, replies, strict=True)) >= 5  # of 6
    encoder.save(tmp_path)
    again = load_folder(tmp_path)
    assert again.fingerprint == encoder.fingerprint
    asked = Pair("hello, I ask about the card 1", "")
    ranked = rank_responses(ranker, asked, replies)
    assert rank_responses(Ranker(again), asked, replies) == ranked
    assert rank_responses(ranker, asked, replies, ranker.encode_responses(replies)) == ranked


def test_stage_2_starts_from_what_conversations_taught(tiny) -> None:
    for recipe in (DIALOGUES, CONVERT):
        ranker, _ = drain(run_ranking(recipe, RankingInputs(source(recipe.contexts), tiny)))
        base = ranker.encoder
        texts, labels = ["my refund", "the refund", "a parcel", "the parcel"], [0, 0, 1, 1]
        tuning = open_tuning(base, texts, TuningOptions(frozen_layers=1))
        steps = list(fit(tuning, labels, ConvfitRecipe(epochs=1), FitOptions()))
        assert steps
        assert tuning.finish().fingerprint != base.fingerprint


def test_earlier_turns_count_where_an_encoder_reads_them_as_text(tiny) -> None:
    ranker = Ranker(tiny)
    alone, after = ranker.encode_contexts([Pair("yes", ""), Pair("yes", "", ("a refund?",))])
    joined = ranker.encode_contexts([Pair("yes a refund?", "")])[0]
    assert np.abs(alone - after).max() > 1e-3
    assert after == pytest.approx(joined, abs=1e-6)
    assert rank_responses(ranker, Pair("yes", ""), []) == []


def test_subwords_travel_in_a_checkpoint() -> None:
    pieces = ("a", "##ß", "你", "##🙂")
    assert read_pieces(pieces_tensor(pieces)) == pieces


def test_each_turn_is_read_once_for_the_vocabulary() -> None:
    first = [turn.text for turn in LOG[0].turns]
    assert list(texts_of(pairs_of(LOG[0]))) == first


def test_too_few_pairs_and_wrong_settings_are_named(tiny) -> None:
    empty = RankingInputs(lambda: iter([Pair("a", "b")]), tiny)
    with pytest.raises(InvalidInput, match="two pairs of turns; found 1"):
        drain(run_ranking(DIALOGUES, empty))
    with pytest.raises(ValueError, match="base encoder"):
        drain(run_ranking(DIALOGUES, RankingInputs(source())))
    with pytest.raises(InvalidInput, match="contexts: "):
        read_recipe("convert", {"contexts": 11})
    assert read_recipe("dialogues", {"batch_size": 8}).batch_size == 8
