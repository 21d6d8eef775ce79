"""The benchmark of response selection on a small log."""

import json
from pathlib import Path

import numpy as np
import pytest

from app.cli import main
from core.benchmarks.response_selection import (
    draw_blocks,
    judge,
    keyword_baselines,
    score_by_ranker,
)
from core.errors import InvalidInput
from core.formats.dialogues import Pair
from core.responses import Ranker
from tests.builders.tiny_encoder import HashingEncoder

PAIRS = [Pair(f"question {n}", f"answer {n}", ("x",) * (n % 4)) for n in range(230)]


def test_the_draw_is_fixed_and_no_block_holds_a_reply_twice() -> None:
    repeated = [*PAIRS, *(Pair(f"other {n}", "Answer 7 ") for n in range(30))]
    blocks = draw_blocks(iter(repeated), questions=200)
    assert blocks == draw_blocks(iter(repeated), questions=200)
    assert [len(block) for block in blocks] == [100, 100]
    for block in blocks:
        assert len({pair.response.casefold().strip() for pair in block}) == 100
    assert len({pair for block in blocks for pair in block}) == 200
    with pytest.raises(InvalidInput, match="100 different responses"):
        draw_blocks(iter(PAIRS[:99]))


def test_keywords_find_what_shares_words_and_no_opinion_earns_nothing() -> None:
    blocks = draw_blocks(iter(PAIRS), questions=200)
    for score in keyword_baselines(lambda: iter(PAIRS)).values():
        assert judge(blocks, score)[0] > 90  # the number is shared
    assert judge(blocks, lambda found: np.zeros((100 * len(found), 100))) == (0.0, 1.0, 0.0)
    assert judge(blocks, score_by_ranker(Ranker(HashingEncoder(dim=256))))[0] > 20


@pytest.mark.parametrize(("recipe", "extra"), [("dialogues", []), ("convert", ["--contexts", "2"])])
def test_the_command_prints_figures(
    tiny_path: Path, tmp_path: Path, capsys, recipe: str, extra: list[str]
) -> None:
    log = tmp_path / "log.jsonl"
    lines = [
        [f"hello {n}", f"hi number {n}", f"a question of {n}", f"no reply to {n}"]
        for n in range(60)
    ]
    log.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    command = ["bench", "response-selection", "--train", str(log), "--test", str(log), "--json"]
    settings = ["epochs=1", "batch_size=64", "minutes=1"]
    command += ["--recipe", recipe, "--base", str(tiny_path), "--save", str(tmp_path / "saved")]
    command += [part for setting in settings for part in ("--set", setting)]
    assert main([*command, *extra]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["recipe"] == recipe
    assert {"r100_at_1", "mrr", "seconds", "file_mb", "r100_at_1_deep"} <= found.keys()
    assert set(found["baselines"]) == {"tfidf", "bm25", "untuned"}
    assert found["steps"] == 3
    assert (tmp_path / "saved" / "modules.json").is_file()
