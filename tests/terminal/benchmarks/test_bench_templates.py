"""`bench templates` on a tiny encoder: what it prints, and what it refuses."""

import json
from pathlib import Path

import pytest

from app.cli import main

PATTERNS = (("fly to {}", "flight"), ("rain in {} today", "weather"), ("hotels in {}", "hotel"))


@pytest.fixture
def slotted_file(tmp_path: Path) -> Path:
    rows = []
    for pattern, intent in PATTERNS:
        for city in ("rome", "oslo", "bern", "york", "bonn"):
            text, start = pattern.format(city), pattern.index("{")
            slot = {"slot": "city", "value": city, "start": start, "end": start + len(city)}
            rows.append({"text": text, "intents": [intent], "slots": [slot]})
    path = tmp_path / "slotted.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def run(path: Path, tiny: Path, *words: str) -> int:
    files = ["--train", str(path), "--test", str(path), "--base", str(tiny)]
    return main(["bench", "templates", *files, "--set", "batch_size=4", *words])


def test_figures_of_every_variant_and_seed_are_printed(
    slotted_file: Path, tiny_path: Path, capsys
) -> None:
    assert run(slotted_file, tiny_path, "--seeds", "0,1", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["recipe"]["batch_size"] == 4
    assert list(found["seeds"]) == ["0", "1"]
    assert list(found["mean"]) == ["untuned", "utterances", "templates"]
    assert found["mean"]["untuned"]["accuracy"] == 100.0  # each text is its own neighbour
    for figures in found["seeds"]["1"].values():
        assert set(figures) >= {"accuracy", "uniformity", "alignment", "proposed", "annotated"}
    assert run(slotted_file, tiny_path, "--seeds", "0") == 0
    shown = capsys.readouterr().out
    assert "proposed.strength" in shown
    assert "utterances" in shown


def test_a_file_without_slots_cannot_be_learned_from(
    tmp_path: Path, tiny_path: Path, capsys
) -> None:
    bare = tmp_path / "bare.jsonl"
    rows = [{"text": f"{word} {n}", "intent": word} for word in ("a", "b") for n in range(5)]
    bare.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert run(bare, tiny_path) == 2
    assert "slots marked" in capsys.readouterr().err
