"""What an encoder has learned from labels tests neither its version nor those made from it.

A version that started from a tuned one was “ready to use”, by texts that its encoder knew.
"""

import dataclasses
from pathlib import Path

import pytest

from app.services.answering.stored import load_model
from app.services.studio import Studio
from app.services.training import bases
from app.services.training.jobs import project_jobs
from app.services.versions.comparison import compare_models
from core.bundle import layout
from core.metrics.in_words import measured_on
from core.pipeline import hashes_of
from storage.artifacts import tree_files
from tests.builders.trained_home import change, train, version
from tests.conftest import SENTENCES

TEXTS = [text for texts in SENTENCES.values() for text in texts]
QUICK: dict[str, object] = {"kind": "instant"}


def test_texts_that_the_base_has_learned_are_no_test_texts(home: Studio, tiny_path: Path) -> None:
    """Moved to the test set after the training of the base, they judged what started from it."""
    for texts in SENTENCES.values():
        change(home, texts[0], "split", "test")
    train(home, "p@2", QUICK)
    train(home, tiny_path, QUICK)
    train(home, "p@3", QUICK)
    assert version(home, 3).metrics["judged_on"] == (
        "5-fold cross-validation over 16 texts; the base has learned 16 of them; "
        "4 texts that it has learned were left out"
    )
    assert version(home, 4).metrics["judged_on"] == "test set of 4 texts"
    assert version(home, 5).metrics["left_out"] == 4  # what it started from had it from its base
    found = compare_models(home, "p", 3, 4)
    assert (found.n, found.left_out, found.outcome) == (0, 4, "unknown")


def test_figures_of_labels_that_the_base_has_learned_are_compared_with_no_others(
    home: Studio,
) -> None:
    """Of the same data and the same folds, 86 % were told to be worse than 100 % by heart."""
    train(home, "p@2", QUICK)
    first, last = version(home, 1), version(home, 3)
    assert first.lineage["dataset_sha256"] == last.lineage["dataset_sha256"]
    assert "base_learned" not in first.metrics
    assert last.metrics["base_learned"] == 20
    assert measured_on(last.metrics) == (
        "on held-out labels when trained (5-fold cross-validation over 20 texts); "
        "the base has learned 20 of them"
    )
    assert compare_models(home, "p", 3, 1).basis == "nothing"
    assert compare_models(home, "p", 2, 1).basis == "nothing"  # a held-out fifth and five folds
    newest, *_, oldest = project_jobs(home, "p")
    assert newest.warning.startswith(
        "Of the texts that set its limit for out of scope, 20 are known to the version that this "
        "training started from. It may refuse texts that fit an intent"
    )
    assert oldest.warning == ""


def test_labels_that_an_encoder_was_tuned_on_are_compared_with_no_others(
    home: Studio, tiny_path: Path
) -> None:
    """A tuned version has them by heart, and was told to be better than one that has not."""
    train(home, tiny_path, {"kind": "instant", "folds": 1})
    train(home, tiny_path, {"kind": "convfit", "epochs": 1, "calibration": "leave-one-out"})
    assert version(home, 3).metrics["judged_on"] == "leave-one-out over 20 texts"
    found = compare_models(home, "p", 4, 3)
    assert (found.basis, found.outcome) == ("nothing", "unknown")
    assert (
        "of version 4 stand on labels that it has learned, when trained "
        "(leave-one-out over 20 texts that the encoder was tuned on)"
    ) in found.verdict


def test_what_a_base_has_learned_is_known_without_its_files(home: Studio, tiny_path: Path) -> None:
    assert bases.learned_by(home, str(tiny_path)) == frozenset()
    assert bases.learned_by(home, "p@1") == frozenset()  # it left its encoder as it was
    learned = bases.learned_by(home, "p@2")
    assert learned == hashes_of(TEXTS)
    deleted = dataclasses.replace(version(home, 2), tree_sha256="")
    assert bases._taught(home, deleted) == learned
    train(home, "p@2", QUICK)
    assert load_model(home, "p@3").learned == learned
    assert bases.learned_by(home, "p@3") == learned


def test_what_a_base_has_learned_is_read_without_its_model(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The encoders of the base and of each ancestor were opened for hashes of small files."""
    train(home, "p@2", QUICK)

    def opened(*_: object) -> None:
        message = "a whole model was opened"
        raise AssertionError(message)

    monkeypatch.setattr(layout, "load_pipeline", opened)
    with home.database.read() as connection:
        files = tree_files(connection, version(home, 2).tree_sha256)
    weights = [sha256 for path, sha256 in files.items() if path.endswith("model.safetensors")]
    assert weights
    for sha256 in weights:
        home.artifacts.path(sha256).unlink()
    assert bases.learned_by(home, "p@3") == bases.learned_by(home, "p@2") == hashes_of(TEXTS)
    examples = home.artifacts.path(files["exemplars.jsonl"])
    examples.write_bytes(b"")  # of damaged ones, the data of its training tell it
    assert bases._taught(home, version(home, 2)) == hashes_of(TEXTS)
