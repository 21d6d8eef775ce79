"""One graph answers as the pipeline does: scores, probabilities, verdict and every vote."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from core.bundle.archive import export_bundle, verify_bundle
from core.bundle.graph_layout import keep_stored_answers, save_graph
from core.calibration.fence_units import measure_exemplars
from core.encoders.base import Encoder
from core.encoders.dual.encoder import DualEncoder, names_side, of_any_length
from core.encoders.loading import load_folder
from core.encoders.packed.encoder import TransformerEncoder
from core.errors import ArtifactDamaged, InvalidInput
from core.graph.build import build_graph
from core.heads.mixture import MixtureHead, even_mixture, without_names
from core.heads.votes.fit import VoteHead
from core.intent_names import answer_by_name, names_head
from core.pipeline import IntentPipeline
from core.recipes.heads import (
    LinearConfig,
    MlpConfig,
    NamesConfig,
    NeighboursConfig,
    PrototypesConfig,
    VotesConfig,
)
from core.runtime import engine as engines
from core.runtime.comparing import compare, tolerance_of
from core.runtime.engine import Engine, open_engine, runs_of
from core.types import Intent
from core.vectors import unit_rows
from tests.builders.tiny_encoder import (
    randomly_adapted,
    tiny_convert,
    tiny_folder,
    tiny_transformer,
)
from tests.builders.unpacked_bundle import unpack_bundle
from tests.conftest import SENTENCES
from tests.core.bundle.test_bundle import ASKED, FACTS, pipeline
from tests.core.test_multi_label_pipeline import pipeline as multi_label_pipeline
from tests.serving.refusing_imports import HEAVY, run_without

SMOOTH = VotesConfig(tau=0.3, ridge=0.3)
"""Votes as sharp as leave-one-out chooses on toy sentences enlarge rounding 250 times."""
TEXTS = [
    *(text for texts in SENTENCES.values() for text in texts),
    *ASKED[:4],
    *(f"{word} " * n for n in (1, 3, 9, 40) for word in ("parcel", "reset my password", "42")),
]


def opened(made: IntentPipeline, folder: Path, precision="float32") -> Engine:
    save_graph(made, FACTS, folder, precision)
    return open_engine(folder, threads=1)


def assert_alike(made: IntentPipeline, engine: Engine, within: float = 1e-5) -> None:
    for mine, its in zip(made.predict(TEXTS), engine.predict(TEXTS), strict=True):
        assert (its.decision.intents, its.decision.rule) == (
            mine.decision.intents,
            mine.decision.rule,
        )
        assert its.decision.measure == mine.decision.measure
        assert its.decision.held == pytest.approx(mine.decision.held, abs=10 * within)
        for one, other in zip(its.reasons, mine.reasons, strict=True):
            assert (one.intent, one.by_name) == (other.intent, other.by_name)
            assert one.score == pytest.approx(other.score, abs=within)
            assert one.prior == other.prior
            assert one.voice == pytest.approx(other.voice, abs=within)
            votes = {near.exemplar_id: near.vote for near in other.neighbours}
            assert [votes.get(near.exemplar_id) for near in one.neighbours] == pytest.approx(
                [near.vote for near in one.neighbours], abs=within
            )
        shares = {one.intent: one.probability for one in mine.ranked}
        assert [shares[one.intent] for one in its.ranked] == pytest.approx(
            [one.probability for one in its.ranked], abs=10 * within
        )


HEADS = {
    "votes": SMOOTH,
    "neighbours": NeighboursConfig(k=3),
    "prototypes": PrototypesConfig(),
    "linear": LinearConfig(),
    "mlp": MlpConfig(hidden=32, epochs=20),
    "names": NamesConfig(),
}


@pytest.mark.parametrize("head", HEADS)
def test_every_head_answers_as_the_pipeline(
    tiny: TransformerEncoder, tmp_path: Path, head: str
) -> None:
    made = pipeline(tiny, HEADS[head])
    assert_alike(made, opened(made, tmp_path))


def test_votes_of_all_exemplars_prior_and_name_sum_to_the_score(
    tiny: TransformerEncoder, tmp_path: Path
) -> None:
    made = with_names(tiny)
    engine = opened(made, tmp_path)
    found = engine.outputs(TEXTS)
    head, best = without_names(made.head), found["scores"].argmax(1)
    assert isinstance(head, VoteHead)
    rows = np.arange(len(TEXTS))
    total = found["votes"].sum(1) + head.prior[best] + found["voices"][rows, best]
    assert np.abs(total - found["scores"].max(1)).max() < 1e-5
    assert found["votes"].shape == (len(TEXTS), len(made.exemplars))
    assert np.abs(found["scores"] - made.scores(TEXTS)).max() < 1e-5
    assert {one.dtype for name, one in found.items() if name != "in_scope"} == {
        np.dtype(np.float32)
    }
    inside = [one.decision.rule != "out-of-scope" for one in replace(made, exact={}).predict(TEXTS)]
    assert found["in_scope"].tolist() == inside


def with_names(tiny: Encoder) -> IntentPipeline:
    """Votes, names beside them, and an intent that its name alone answers."""
    made = pipeline(tiny, SMOOTH)
    side = names_side(tiny)
    names = names_head(side, [Intent(name) for name in made.head.intents])
    head = answer_by_name(even_mixture(made.head, names, 0.7), side, [Intent("where is it")])
    assert isinstance(head, MixtureHead)
    return replace(made, head=head)


@pytest.mark.parametrize("method", ["nearest", "mahalanobis", "mixture"])
def test_a_fence_lets_the_same_texts_in(
    tiny: TransformerEncoder, tmp_path: Path, method: str
) -> None:
    made = with_names(tiny)
    found = measure_exemplars(made.head, made.embeddings, made.targets)
    measure = found.measure_on(method, made.embeddings, made.targets)
    asked = np.sort(measure.familiarity(made.encoder.encode(TEXTS), made.scores(TEXTS)))
    limit = float(asked[len(asked) // 2 - 1 : len(asked) // 2 + 1].mean())
    fence = replace(made.calibration, threshold=limit, familiarity_measure=measure)
    fenced = replace(made, calibration=fence, exact={})
    assert len({one.decision.out_of_scope for one in fenced.predict(TEXTS)}) == 2
    assert_alike(fenced, opened(fenced, tmp_path))


@pytest.mark.parametrize("adapter", ["bottleneck", "lora"])
def test_an_adapter_is_part_of_the_graph(tmp_path: Path, adapter: str) -> None:
    base = load_folder(tiny_folder(tmp_path / "base"))
    made = pipeline(randomly_adapted(base, adapter), SMOOTH)
    assert np.abs(base.encode(ASKED) - made.encoder.encode(ASKED)).max() > 0.01
    assert_alike(made, opened(made, tmp_path / "graph"))


def test_several_intents_are_answered_with_the_votes_on_each(
    tiny: TransformerEncoder, tmp_path: Path
) -> None:
    made = multi_label_pipeline(tiny)
    assert_alike(made, opened(made, tmp_path))


@pytest.mark.parametrize("embedding", ["r", "h"])
def test_convert_is_a_graph_with_its_own_subwords(tmp_path: Path, embedding: str) -> None:
    folder = tiny_convert(tmp_path / "base", quantised=True, embedding=embedding)
    made = pipeline(load_folder(folder), SMOOTH)
    engine = opened(made, tmp_path / "graph")
    files = {path.name for path in (tmp_path / "graph").iterdir()}
    assert ("subwords.json" in files, "tokenizer.json" in files) == (True, False)
    odd = [*TEXTS, "Ünïcode, 日本 ok?", "...", "a" * 300]
    cosines = engine.outputs(odd)["embeddings"] @ unit_rows(made.encoder.encode(odd)).T
    assert np.diag(cosines) == pytest.approx(1.0, abs=1e-5)
    assert_alike(made, engine)
    small = opened(made, tmp_path / "small", "int8")
    away = np.abs(small.outputs(TEXTS)["scores"] - made.scores(TEXTS)).max()
    assert 1e-6 < away < 0.1


@pytest.mark.parametrize("lengths", ["one", "any"])
def test_of_two_encoders_the_graph_is_that_of_utterances(
    tiny: TransformerEncoder, tmp_path: Path, lengths: str
) -> None:
    """Names are embedded once, by the other encoder, and are points of the head."""
    other = load_folder(tiny_folder(tmp_path / "other"))
    names = randomly_adapted(other, "bottleneck")
    own = tiny if lengths == "one" else of_any_length(tiny)
    dual = DualEncoder(own, names)
    made = with_names(dual)
    assert np.abs(names.encode(ASKED) - tiny.encode(ASKED)).max() > 0.01
    assert_alike(made, opened(made, tmp_path / "graph"))


def test_subwords_that_are_not_whole_are_refused(tmp_path: Path) -> None:
    made = pipeline(load_folder(tiny_convert(tmp_path / "base")), SMOOTH)
    opened(made, tmp_path / "graph")
    for said in ("{", '{"pieces": ["a"]}', '{"pieces": [7], "buckets": 3}', "[]"):
        (tmp_path / "graph" / "subwords.json").write_text(said, "utf-8")
        with pytest.raises(ArtifactDamaged, match="subwords cannot be read"):
            open_engine(tmp_path / "graph")


def test_an_encoder_of_another_kind_is_refused_in_words(tmp_path: Path) -> None:
    other = load_folder(tiny_transformer(tmp_path / "base", "mpnet"))
    with pytest.raises(InvalidInput, match="Only ConveRT and a BERT with mean pooling") as caught:
        save_graph(pipeline(other, SMOOTH), FACTS, tmp_path / "graph", "float32")
    assert "the usual bundle" in caught.value.hint


def test_in_8_bits_a_text_is_answered_alike_alone_and_among_others(
    tiny: TransformerEncoder, tmp_path: Path
) -> None:
    """One scale for a batch would let each text change the answers to its neighbours."""
    made = pipeline(tiny, SMOOTH)
    engine = opened(made, tmp_path, "int8")
    together = engine.outputs(TEXTS)["scores"]
    alone = np.concatenate([engine.outputs([text])["scores"] for text in TEXTS])
    assert np.abs(together - alone).max() < 1e-4
    away = np.abs(together - made.scores(TEXTS)).max()
    assert 1e-5 < away < 0.1


def test_every_rounding_has_a_constant_step(tiny: TransformerEncoder) -> None:
    """OpenVINO runs no rounding whose step is computed, one for each token."""
    graph = build_graph(pipeline(tiny, SMOOTH), "int8").graph
    constants = {one.name for one in graph.initializer}
    rounding = [node for node in graph.node if node.op_type == "QuantizeLinear"]
    assert len(rounding) == 2 * 4  # queries, keys and values of a layer share one
    assert all(set(node.input[1:]) <= constants for node in rounding)


def test_equal_models_give_equal_bytes(tiny: TransformerEncoder, tmp_path: Path) -> None:
    for name in ("one", "two"):
        made = pipeline(tiny, SMOOTH)
        save_graph(made, FACTS, tmp_path / name, "int8")
        keep_stored_answers(made, TEXTS, tmp_path / name)
        export_bundle(tmp_path / name, tmp_path / f"{name}.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_stored_answers_tell_how_far_a_graph_is_away(
    tiny: TransformerEncoder, tmp_path: Path
) -> None:
    made = pipeline(tiny, SMOOTH)
    engine = opened(made, tmp_path)
    keep_stored_answers(made, TEXTS, tmp_path)
    found = compare(tmp_path, engine)
    assert (found.texts, found.others) == (len(set(TEXTS)), 0)
    assert 0 < found.largest < 1e-5
    other = opened(made, tmp_path / "other", "int8")
    keep_stored_answers(made, TEXTS, tmp_path / "other")
    assert compare(tmp_path / "other", other).largest > found.largest
    stored = tmp_path / "answers.jsonl"
    lines = [json.loads(line) for line in stored.read_text("utf-8").splitlines()]
    stored.write_text("\n".join(json.dumps({**one, "rule": "no"}) for one in lines), "utf-8")
    assert compare(tmp_path, engine).others == len(lines)


def test_stored_answers_are_of_200_texts_taken_evenly(
    tiny: TransformerEncoder, tmp_path: Path
) -> None:
    """Of 201 texts every second one was taken, so that 101 were compared."""
    made = pipeline(tiny, SMOOTH)
    for n, last in ((3, 2), (200, 199), (201, 199), (450, 447)):
        keep_stored_answers(made, [f"text {at}" for at in range(n)] * 2, tmp_path)
        lines = (tmp_path / "answers.jsonl").read_text("utf-8").splitlines()
        numbers = [int(json.loads(line)["text"].removeprefix("text ")) for line in lines]
        assert len(numbers) == min(n, 200)
        assert (numbers[0], numbers[-1]) == (0, last)
        steps = {after - before for before, after in pairwise(numbers)}
        assert max(steps) - min(steps) <= 1


def test_no_difference_from_stored_answers_is_passed_over(
    tiny: TransformerEncoder, tmp_path: Path
) -> None:
    """Texts whose leading intent was another were skipped, and votes that one side did not show."""
    made = pipeline(tiny, SMOOTH)
    engine = opened(made, tmp_path)
    [mine] = made.predict(["where is it"])
    keep_stored_answers(made, [mine.text], tmp_path)
    stored = tmp_path / "answers.jsonl"
    answer = json.loads(stored.read_text("utf-8"))
    second = mine.ranked[1]
    shown = {near.exemplar_id for near in mine.reason.neighbours}
    other = next(one.id for one in made.exemplars if one.id not in shown)
    told = {"explained": second.intent, "score": second.score + 0.5, "votes": {}}
    told["probability"] = second.probability - 0.25
    for change, score, probability, vote in (
        (told, 0.5, 0.25, 0.0),
        ({"votes": {**answer["votes"], other: 0.75}}, 0.0, 0.0, 0.75),
    ):
        stored.write_text(json.dumps({**answer, **change}), "utf-8")
        found = compare(tmp_path, engine)
        gaps = (found.score, found.probability, found.vote)
        lightest = min(abs(one) for one in answer["votes"].values())
        assert gaps == pytest.approx((score, probability, vote), abs=1e-4 + lightest * bool(vote))
    stored.write_text(json.dumps({**answer, "explained": "nothing"}), "utf-8")
    with pytest.raises(ArtifactDamaged, match="stored answers cannot be compared"):
        compare(tmp_path, engine)


@pytest.mark.parametrize(
    ("precision", "limit"), [("float32", 1e-5), ("int8", 1e-3)], ids=["float32", "int8"]
)
def test_a_score_that_its_votes_do_not_sum_to_is_refused(
    tiny: TransformerEncoder, tmp_path: Path, precision: str, limit: float
) -> None:
    """Nothing held the votes against the scores, and 8 bits had no tolerance of their own."""
    engine = opened(with_names(tiny), tmp_path, precision)
    keep_stored_answers(with_names(tiny), TEXTS, tmp_path)
    allowed = replace(tolerance_of({"precision": precision}), apart=None)
    assert allowed.sums == limit
    found = compare(tmp_path, engine)
    assert found.sums < limit
    assert allowed.allows(found)
    moved = replace(engine.decider, prior=engine.decider.prior + 10)
    other = compare(tmp_path, replace(engine, decider=moved))
    assert other.sums > limit
    assert not allowed.allows(other)


def test_texts_of_similar_length_run_together() -> None:
    lengths = [10, 300, 11, 5, 10, 12, 300, 300, 300, 5, 10, 11]
    runs = list(runs_of(lengths, most_rows=100))
    assert sorted(row for run in runs for row in run) == list(range(len(lengths)))
    assert [[lengths[row] for row in run] for run in runs] == [
        [300],
        [300],
        [300],
        [300],
        [12, 11, 11, 10, 10, 10],
        [5, 5],
    ]
    assert [len(run) for run in runs_of([10] * 7, most_rows=3)] == [3, 3, 1]
    assert list(runs_of([], most_rows=3)) == []


def test_the_program_of_a_graph_needs_onnxruntime_tokenizers_and_numpy_alone(
    tiny: TransformerEncoder, tmp_path: Path
) -> None:
    convert = load_folder(tiny_convert(tmp_path / "convert"))
    cases = {"one": with_names(tiny), "many": multi_label_pipeline(tiny)}
    cases["convert"] = pipeline(convert, SMOOTH)
    for name, made in cases.items():
        save_graph(made, FACTS, tmp_path / name, "float32")
        export_bundle(tmp_path / name, tmp_path / f"{name}.zip")
        unpack_bundle(tmp_path / f"{name}.zip", tmp_path / f"{name} unpacked")
    code = (
        "import json; sys.path.insert(0, ''); import predict; "
        "print(json.dumps(predict.Bundle().predict(sys.argv[1:])))"
    )
    refused = (*HEAVY, "core", "app", "storage", "tests")
    for name, made in cases.items():
        unpacked = tmp_path / f"{name} unpacked"
        said = json.loads(run_without(refused, code, unpacked, *ASKED[:4], " "))
        assert said.pop() == {"text": " ", "intents": [], "rule": "empty"}
        for answer, mine in zip(said, made.predict(ASKED[:4]), strict=True):
            assert answer["intents"] == list(mine.decision.intents)
            assert answer["rule"] == mine.decision.rule
            for one, reason in zip(answer.get("reasons", [answer]), mine.reasons, strict=False):
                assert one["score"] == pytest.approx(reason.score, abs=1e-5)
                assert [near["vote"] for near in one["neighbours"]] == pytest.approx(
                    [near.vote for near in reason.neighbours], abs=1e-5
                )


def test_the_studio_refuses_to_open_a_graph(tiny: TransformerEncoder, tmp_path: Path) -> None:
    from core.bundle.layout import load_pipeline

    save_graph(pipeline(tiny, SMOOTH), FACTS, tmp_path / "g", "float32")
    manifest = export_bundle(tmp_path / "g", tmp_path / "g.zip")
    assert verify_bundle(tmp_path / "g.zip").facts == manifest.facts
    assert {"model.onnx", "tokenizer.json", "decision.json"} <= manifest.files.keys()
    assert not [name for name in manifest.files if name.endswith(".safetensors")]
    with pytest.raises(InvalidInput, match="graph for serving"):
        load_pipeline(tmp_path / "g")
    (tmp_path / "g" / "decision.json").write_text('{"intents": ["a"]}', "utf-8")
    with pytest.raises(ArtifactDamaged, match="decision cannot be read"):
        open_engine(tmp_path / "g")


def test_a_device_that_cannot_compute_is_refused_and_one_that_can_gets_large_runs(
    tiny: TransformerEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = pipeline(tiny, SMOOTH)
    save_graph(made, FACTS, tmp_path / "g", "float32")
    with pytest.raises(InvalidInput, match="cannot compute on cuda") as refused:
        open_engine(tmp_path / "g", device="cuda")
    assert "onnxruntime-gpu" in refused.value.hint
    monkeypatch.setitem(engines._PROVIDERS, "cuda", ["CPUExecutionProvider"])
    engine = open_engine(tmp_path / "g", threads=4, device="cuda")
    assert (engine.threads, engine.tokens) == (1, 16_384)
    assert_alike(made, engine)
    assert len(list(runs_of([16] * 40, 100, 256))) == 3
    assert len(list(runs_of([16] * 40, 100, 16_384))) == 1
