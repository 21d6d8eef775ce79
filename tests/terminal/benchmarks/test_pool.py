"""`bench few-shot --pool` on a tiny encoder: what it prints, and what it refuses."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from core.benchmarks import out_of_scope
from core.recipes import labels
from core.training.from_labels import rounds
from core.training.from_labels.inputs import RunInputs
from core.training.from_labels.runs import run_recipe
from tests.conftest import SENTENCES

ENDS = ("now", "please", "today", "soon")
QUICK = ("--set", "epochs=1", "--set", "frozen_layers=1", "--seeds", "0", "--json")


@pytest.fixture
def bench(
    tmp_path: Path, labelled_csv: Path, tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., int]:
    monkeypatch.setattr(labels, "_FEWEST_TEXTS", 40)
    monkeypatch.setattr(rounds, "_CHANCE", 0.0)
    monkeypatch.setattr(rounds, "_INSIDE", 0.0)
    rows = [(f"{text} {end}", name) for name, s in SENTENCES.items() for text in s for end in ENDS]
    written = {"pool": rows, "test": rows[:8], "weather": [(f"sun {n}", "") for n in range(90)]}
    for name, made in written.items():
        lines = "\n".join(f"{text},{intent}" for text, intent in made)
        (tmp_path / f"{name}.csv").write_text(f"text,intent\n{lines}\n", encoding="utf-8")

    def run(*words: str) -> int:
        files = ["--train", str(labelled_csv), "--test", str(tmp_path / "test.csv")]
        named = [word.replace("DIR", str(tmp_path)) for word in words]
        return main(["bench", "few-shot", *files, "--base", str(tiny_path), *named, *QUICK])

    return run


def test_the_pools_labels_judge_and_its_texts_teach(
    bench: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench("--pool", "DIR/pool.csv") == 0
    found = json.loads(capsys.readouterr().out)
    [texts], [outside] = found["pool"]["texts"], found["pool"]["outside"]
    assert texts + outside == 72  # 80 without the 8 of the test file
    assert found["pool"]["kept"] == [True]
    assert 0.0 <= found["pool_right"] <= 100.0
    assert bench() == 0
    assert "pool_right" not in json.loads(capsys.readouterr().out)


def test_a_share_of_the_pool_is_out_of_scope(
    bench: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench("--pool", "DIR/pool.csv", "--pool-oos", "DIR/weather.csv:0.25") == 0
    found = json.loads(capsys.readouterr().out)["pool"]
    assert found["texts"][0] + found["outside"][0] == 72 + 27
    assert bench("--pool", "DIR/pool.csv", "--pool-oos", "DIR/weather.csv:2") == 2
    assert "'2' is no share" in capsys.readouterr().err
    assert bench("--pool-oos", "DIR/weather.csv") == 2
    assert "--pool FILE" in capsys.readouterr().err


def test_a_share_alone_is_of_the_pools_own_texts_of_other_intents(
    bench: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (tmp_path / "pool.csv").open("a", encoding="utf-8") as pool:
        pool.writelines(f"sun {n},weather\n" for n in range(90))
    assert bench("--pool", "DIR/pool.csv", "--pool-oos", "0.25") == 0
    found = json.loads(capsys.readouterr().out)["pool"]
    assert found["texts"][0] + found["outside"][0] == 72 + 27
    assert bench("--pool", "DIR/pool.csv", "--pool-oos", "1.5") == 2
    assert "'1.5' is no share" in capsys.readouterr().err
    assert bench("--pool", "DIR/test.csv", "--pool-oos", "0.25") == 2
    assert "no text of other intents" in capsys.readouterr().err


def test_a_fence_is_judged_after_learning_from_a_pool_without_the_judged_texts(
    bench: Callable[..., int],
    tmp_path: Path,
    labelled_csv: Path,
    tiny_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given: list[tuple[str, ...]] = []

    def spy(recipe: Any, inputs: RunInputs, resume: Any = None) -> Any:
        given.append(inputs.pool)
        return run_recipe(recipe, inputs, resume)

    monkeypatch.setattr(out_of_scope, "run_recipe", spy)
    rain = tmp_path / "rain.csv"
    rain.write_text("text\n" + "\n".join(f"sun {n}" for n in range(60, 95)) + "\n", "utf-8")
    files = {"train": labelled_csv, "base": tiny_path, "oos-val": rain, "oos-test": rain}
    files |= {"test": tmp_path / "test.csv", "pool": tmp_path / "pool.csv"}
    words = [word for name, file in files.items() for word in (f"--{name}", str(file))]
    words += ["--pool-oos", str(tmp_path / "weather.csv"), *QUICK[:4], "--json"]
    assert main(["bench", "out-of-scope", *words]) == 0
    assert 0.0 <= json.loads(capsys.readouterr().out)["auroc"] <= 1.0
    [texts] = given
    assert len(texts) == 80 - 8 + 60
    assert not {f"sun {n}" for n in range(60, 90)} & set(texts)
