"""What is stored with a bundle is told, and compared, with the texts that it was counted over."""

from pathlib import Path

import pytest

from app.services.checking.checks import CheckRequest, check_model
from app.services.checking.wanted import Wanted, read_wanted
from app.services.studio import Studio
from app.services.training.runs import TrainingRequest
from app.services.versions.bundles import export_model
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset
from tests.builders.trained_home import POOL, train_here
from tests.conftest import SENTENCES


def hold_out(studio: Studio, tests: list[str]) -> None:
    """Make some of the pool's texts the test set, and the others none."""
    with studio.database.write() as connection:
        label = dataset.intents(connection, 1)[0].id
        rows = [row for row in dataset.utterances(connection, 1) if row.text in POOL]
        splits = ["test" if row.text in tests else "pool" for row in rows]
        changes = [edits.edit(row, "split", split) for row, split in zip(rows, splits, strict=True)]
        changes += [edits.label(row, [label]) for row in rows if row.text in tests]
        events.record(connection, 1, Action("tests", "local"), changes)


@pytest.fixture
def bundles(home: Studio, tiny_path: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Two versions, each judged by two test texts when trained; none is both times the same."""
    made = []
    for number, tests in ((3, POOL[:2]), (4, POOL[2:4])):
        hold_out(home, tests)
        train_here(home, TrainingRequest("p", "instant", {}, str(tiny_path)))
        made.append(tmp_path / f"p{number}.zip")
        export_model(home, f"p@{number}", made[-1])
    return made[0], made[1]


def test_figures_of_other_test_texts_are_not_compared(
    home: Studio, bundles: tuple[Path, Path]
) -> None:
    """Two test sets of as many texts were taken for one, and a difference was called real."""
    older, newer = bundles
    [found] = check_model(home, CheckRequest(str(newer), Wanted(), str(older))).checks
    assert (found.kind, found.state, found.value) == ("champion", "failed", None)
    assert found.found.startswith("Nobody can say whether p4.zip is better than p3.zip")
    assert "The figures of their trainings do not compare them" in found.found
    [same] = check_model(home, CheckRequest(str(newer), Wanted(), str(newer))).checks
    assert same.state == "passed"
    assert "on the same texts" in same.found


def test_right_answers_of_an_export_are_told_with_the_texts_of_then(
    home: Studio, bundles: tuple[Path, Path], tmp_path: Path
) -> None:
    """“of 2 texts” stood beside a share of five: how many the training had been judged by."""
    hold_out(home, POOL)
    grown = tmp_path / "grown.zip"
    export_model(home, "p@4", grown)
    floors = read_wanted(["answered_right=0", "accuracy=0"], [])
    for bundle, told in ((bundles[1], "of 2 texts"), (grown, "of 5 texts")):
        right, accuracy = check_model(home, CheckRequest(str(bundle), floors)).checks
        assert right.found.endswith(told)
        assert accuracy.found.endswith("of 2 texts")


def test_a_file_of_learned_texts_passes_no_floor_by_what_is_stored(
    home: Studio, bundles: tuple[Path, Path], tmp_path: Path
) -> None:
    """The figures of the training were taken, and passed: nothing of the file had been judged."""
    learned = tmp_path / "tests.csv"
    rows = [f"{text},{name}" for name, texts in SENTENCES.items() for text in texts]
    learned.write_text("\n".join(["text,intent", *rows]), "utf-8")
    floors = read_wanted(["accuracy=0", "answered_right=0"], [])
    report = check_model(home, CheckRequest(str(bundles[1]), floors, None, learned))
    assert [one.state for one in report.checks] == ["failed", "failed"]
    assert {one.found for one in report.checks} == {"not judged: no test text tells it"}
    words = "nothing: there is no test text of tests.csv that it has not learned"
    assert report.judged_on == words
