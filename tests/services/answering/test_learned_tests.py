"""A text that is an example and a test text at once does not test the model.

The same file imported as train and as test gave "accuracy 100 %" without a word.
"""

from pathlib import Path

import pytest

from app.services.answering.stored import load_model
from app.services.checking.checks import CheckRequest, check_model
from app.services.checking.wanted import read_wanted
from app.services.data.exporting import ExportChoice, export_file
from app.services.data.import_cases import ImportChoices
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.live.accuracy import accuracy_now
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.review.review import review
from app.services.studio import Studio
from app.services.training.runs import TrainingRequest
from app.services.versions.evaluating import evaluate_file
from app.services.what_if.repairs import apply_repair
from core.types import no_pause
from storage import models
from storage.queries import dataset
from tests.builders.trained_home import train_here

OTHERS = ("Please refund me", "the parcel is not here", "password forgotten", "hello to you")


def import_tests(studio: Studio, file: Path) -> None:
    """Import a file as the test set, its rows that are examples, too, included."""
    choices = ImportChoices(across="add")
    import_file(studio, ImportRequest("p", file, split="test", choices=choices))


@pytest.fixture
def doubled(studio: Studio, labelled_csv: Path, tmp_path: Path) -> Studio:
    """Twenty examples that are test texts, too, and four test texts that are none."""
    create_project(studio, "p")
    import_file(studio, ImportRequest("p", labelled_csv))
    import_tests(studio, labelled_csv)
    others = tmp_path / "others.csv"
    intents = ("refund", "parcel", "password", "greeting")
    rows = [f"{text},{intent}" for text, intent in zip(OTHERS, intents, strict=True)]
    others.write_text("\n".join(["text,intent", *rows, ""]), encoding="utf-8")
    import_tests(studio, others)
    return studio


def champion_metrics(studio: Studio) -> dict[str, object]:
    with studio.database.read() as connection:
        found = models.champion(connection, 1)
    assert found is not None
    return dict(found.metrics)


def live_of(studio: Studio, tiny_path: Path) -> LiveStudio:
    train_here(studio, TrainingRequest("p", "instant", {}, base=str(tiny_path)))
    return open_live_studio(studio)


def test_a_training_judges_by_the_texts_that_it_has_not_learned(
    doubled: Studio, tiny_path: Path
) -> None:
    live_studio = live_of(doubled, tiny_path)
    metrics = champion_metrics(doubled)
    assert (metrics["n"], metrics["left_out"]) == (4, 20)
    left_out = "20 texts that it has learned were left out"
    assert metrics["judged_on"] == f"test set of 4 texts; {left_out}"
    now = accuracy_now(doubled, *live_studio.models.open("p"), no_pause)
    assert now is not None
    assert (now.n, now.causes) == (4, ())


def test_without_any_other_test_text_examples_are_held_out(
    studio: Studio, labelled_csv: Path, tiny_path: Path
) -> None:
    create_project(studio, "p")
    import_file(studio, ImportRequest("p", labelled_csv))
    import_tests(studio, labelled_csv)
    live_studio = live_of(studio, tiny_path)
    metrics = champion_metrics(studio)
    assert metrics["judged_on"] == (
        "5-fold cross-validation over 20 texts; 20 texts that it has learned were left out"
    )
    assert accuracy_now(studio, *live_studio.models.open("p"), no_pause) is None
    floor = read_wanted(["accuracy=0"], [])
    checked = check_model(studio, CheckRequest("p@1", floor))
    assert [one.state for one in checked.checks] == ["passed"]
    assert "5-fold cross-validation" in checked.judged_on
    of_file = check_model(studio, CheckRequest("p@1", floor, tests=labelled_csv))
    assert [one.state for one in of_file.checks] == ["failed"]  # it has learned the whole file


def test_review_lists_them_until_one_of_the_copies_is_deleted(
    doubled: Studio, tiny_path: Path
) -> None:
    live_studio = live_of(doubled, tiny_path)
    [finding] = review(live_studio, "p", "tested").findings
    assert finding.title == "20 test texts are examples, too"
    words = [remedy.words for remedy in finding.remedies]
    assert words == ["Keep as it is", "Delete 20 test texts", "Delete 20 examples"]
    repair = finding.remedies[1].repair
    assert repair is not None
    apply_repair(doubled, "p", repair, "delete-0001", finding.id)
    assert review(live_studio, "p", "tested").findings == ()
    with doubled.database.read() as connection:
        left = [row.split for row in dataset.utterances(connection, 1)]
    assert (left.count("train"), left.count("test")) == (20, 4)


def test_a_file_of_examples_is_told_from_one_of_new_texts(
    doubled: Studio, labelled_csv: Path, tmp_path: Path, tiny_path: Path
) -> None:
    live_of(doubled, tiny_path)
    mixed = tmp_path / "mixed.csv"
    more = "nobody ever said this,refund\n"
    mixed.write_text(labelled_csv.read_text(encoding="utf-8") + more, encoding="utf-8")
    judged = evaluate_file(doubled, "p@1", mixed).figures
    assert (judged["n"], judged["left_out"]) == (1, 20)
    learned = evaluate_file(doubled, "p@1", labelled_csv).figures
    assert (learned["n"], learned["left_out"]) == (20, 0)
    words = "20 texts that the model has learned, which cannot test it"
    assert learned["judged_on"] == words


def test_no_export_mixes_examples_and_test_texts(doubled: Studio, tmp_path: Path) -> None:
    """Whoever trained on an exported Rasa file had the test set among the examples."""
    out = tmp_path / "nlu.yml"
    done = export_file(doubled, "p", out)
    assert (done.written, done.left_out) == (20, 24)
    assert "Please refund me" not in out.read_text(encoding="utf-8")
    tests = export_file(doubled, "p", out, ExportChoice(split="test"))
    assert (tests.written, tests.left_out) == (24, 0)
    assert "Please refund me" in out.read_text(encoding="utf-8")
    assert export_file(doubled, "p", tmp_path / "all.csv").written == 44


def test_test_texts_without_an_intent_are_counted_by_whether_they_are_refused(
    doubled: Studio, tmp_path: Path, tiny_path: Path
) -> None:
    """1,100 test texts were imported, 1,000 judged, and nothing said what became of the others."""
    train_here(doubled, TrainingRequest("p", "instant", {}, base=str(tiny_path)))
    assert "kept_out" not in champion_metrics(doubled)
    texts = ("how high is mount everest", "tell me a joke", "zzz 999", "play some jazz")
    file = tmp_path / "oos.csv"
    file.write_text("\n".join(["text,intent", *(f"{text},oos" for text in texts), ""]), "utf-8")
    import_file(doubled, ImportRequest("p", file, split="test"))
    train_here(doubled, TrainingRequest("p", "instant", {}, base=str(tiny_path)))
    with doubled.database.read() as connection:
        second = models.find(connection, 1, 2)
    assert second.metrics["outside_n"] == 4
    assert second.metrics["n"] == 4  # the others, as before
    refused = [one.decision.out_of_scope for one in load_model(doubled, "p@2").predict(list(texts))]
    assert second.metrics["kept_out"] == sum(refused) / 4


def test_texts_out_of_scope_of_a_file_are_right_when_they_are_refused(
    doubled: Studio, tmp_path: Path, tiny_path: Path
) -> None:
    """They were texts of an intent “none”, which no answer can be: always wrong."""
    train_here(doubled, TrainingRequest("p", "instant", {}, base=str(tiny_path)))
    inside, file = "nobody ever said this,refund", tmp_path / "tests.csv"
    outside = ("zzz 999", "xx yy zz", "how high is mount everest")
    names = ("|", "oos", "out of scope")
    rows = [f"{text},{name}" for text, name in zip(outside, names, strict=True)]
    file.write_text("\n".join(["text,intent", inside, *rows, ""]), encoding="utf-8")
    judged = evaluate_file(doubled, "p@1", file)
    answers = load_model(doubled, "p@1").predict(list(outside))
    refused = sum(one.decision.out_of_scope for one in answers)
    figures = judged.figures
    assert (figures["n"], figures["outside_n"], figures["kept_out"]) == (1, 3, refused / 3)
    assert [one["intent"] for one in figures["per_intent"] if one["support"]] == ["refund"]
    assert (figures["tested_intents"], figures["intents"]) == (1, 4)
    assert judged.untested == ("greeting", "parcel", "password")
    assert figures["judged_on"] == "1 text of the file and 3 that fit no intent"
    file.write_text("\n".join(["text,intent", *rows, ""]), encoding="utf-8")
    alone = evaluate_file(doubled, "p@1", file).figures
    assert (alone["n"], alone["outside_n"], "accuracy" in alone) == (0, 3, False)
    assert alone["judged_on"] == "3 texts of the file that fit no intent"
