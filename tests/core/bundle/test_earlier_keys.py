"""Bundles of earlier releases, whose match keys kept outer punctuation of some scripts."""

import json
from pathlib import Path

from core.bundle.graph_layout import keep_stored_answers
from core.bundle.layout import load_pipeline, save_pipeline
from core.encoders.packed.encoder import TransformerEncoder
from core.runtime.comparing import compare
from tests.core.bundle.test_bundle import FACTS, pipeline
from tests.core.bundle.test_graph import SMOOTH, opened


def test_a_stored_version_knows_its_texts_by_the_keys_of_now(
    tiny: TransformerEncoder, tmp_path: Path
) -> None:
    made = pipeline(tiny)
    save_pipeline(made, FACTS, tmp_path / "p")
    stored = {"أين بطاقتي؟": ["refund"], "hello": ["greeting"]}
    (tmp_path / "p" / "exact.json").write_text(json.dumps(stored, ensure_ascii=False), "utf-8")
    again = load_pipeline(tmp_path / "p")
    assert again.exact == {"أين بطاقتي": ("refund",), "hello": ("greeting",)}
    answers = again.predict(["أين بطاقتي؟", "أين بطاقتي"])
    assert [one.decision.rule for one in answers] == ["exact", "exact"]


def test_a_graph_may_answer_exactly_what_it_answered_by_votes(
    tiny: TransformerEncoder, tmp_path: Path
) -> None:
    """An earlier release counted the mark, so that no example said the same as the text."""
    made = pipeline(tiny, SMOOTH)
    engine = opened(made, tmp_path)
    first, second = (one.text for one in made.exemplars[:2])
    keep_stored_answers(made, [f"{first}؟", second], tmp_path)
    stored = tmp_path / "answers.jsonl"
    lines = [json.loads(line) for line in stored.read_text("utf-8").splitlines()]
    assert [one["rule"] for one in lines] == ["exact", "exact"]
    stored.write_text("\n".join(json.dumps({**one, "rule": "votes"}) for one in lines), "utf-8")
    assert compare(tmp_path, engine).others == 1
