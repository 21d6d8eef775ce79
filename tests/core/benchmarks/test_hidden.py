"""Intents are hidden among others, and the first groups are counted that are about them."""

import json
from pathlib import Path

import pytest

from app.cli import main
from core.benchmarks.hidden import FRAMES, in_other_words


def test_each_text_is_said_as_it_is_and_then_in_other_words() -> None:
    made = in_other_words(["lost it", "found it"], 6, seed=0)
    assert [row for _, row in made] == [0, 0, 0, 1, 1, 1]
    assert made[0] == ("lost it", 0)
    assert len(set(made)) == 6
    assert all("lost it" in text for text, row in made if row == 0)
    assert len(in_other_words(["a"], 1_000, seed=0)) == len(FRAMES)
    assert in_other_words(["a", "b", "c"], 1, seed=0) == [("a", 0), ("b", 1), ("c", 2)]


def test_the_command_prints_how_many_were_found_and_refuses_to_hide_all(
    labelled_csv: Path, tiny_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bench", "discover", "--texts", str(labelled_csv), "--base", str(tiny_path)]
    more = ["--labels", "2", "--grouped", "60", "--json"]
    assert main([*words, "--hide", "1", *more]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["hidden"], found["labels"], found["texts"], found["first"]) == (1, 2, 60, 20)
    assert (found["recipe"], len(found["per_draw"])) == ("convfit", 5)
    assert 0 <= found["found"] <= 1
    assert main([*words, "--hide", "400", *more]) == 2
    assert "cannot be hidden" in capsys.readouterr().err
    assert main([*words, "--hide", "0", *more]) == 2
