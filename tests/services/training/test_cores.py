"""Labels that came with groups are known to a training, with the texts that were left of these."""

from functools import partial
from pathlib import Path

import pytest

from app.services.answering.as_project import exemplar_signals, own_threshold
from app.services.answering.opened import find_space
from app.services.answering.stored import load_model
from app.services.data.history import undo_action
from app.services.discover.acts import Taking, take_group
from app.services.discover.runs import start_grouping
from app.services.discover.stored import list_groups, open_group
from app.services.studio import Studio
from app.services.training import runs
from app.services.training.cores import core_labels, pool_of
from app.services.training.estimate import size_now
from app.services.training.runs import TrainingRequest
from app.services.training.unlabelled import unlabelled_texts
from core.training.from_labels.inputs import CoreLabels
from storage import projects
from storage.computed import taken_groups
from storage.log import versions
from storage.log.replay import State
from tests.builders.trained_home import change, do, raw_project, train_here

CARDS = [f"my card is lost number {n}" for n in range(20)]
BILLS = [f"why is the bill so high in month {n}" for n in range(20)]


@pytest.fixture
def raw(studio: Studio, tmp_path: Path) -> Studio:
    """Two groups of 20 texts, of which the sure cores of 12 are taken."""
    idle = raw_project(studio, tmp_path, [*CARDS, *BILLS])
    assert do(idle, start_grouping(idle, "raw", 2).id).state == "succeeded"
    for card in list_groups(idle, "raw").groups:
        group = open_group(idle, "raw", card.id)
        assert (card.size, group.core) == (20, 12)
        name = "lost_card" if group.typical[0].text in CARDS else "high_bill"
        taking = Taking("", name, "core", frozenset(), 12, group.revision, f"key-of-{name}")
        assert take_group(idle, "raw", card.id, taking).changed == 12
    return idle


def found(studio: Studio) -> CoreLabels | None:
    """Return the labels that came with groups; texts without a label are looked for only then."""
    looks = list[State]()

    def unlabelled() -> dict[str, str]:
        looks.append(state)
        return unlabelled_texts(state)

    with studio.database.write() as connection:
        project = projects.find(connection, "raw")
        frozen = versions.cut(connection, project, "to look")
        state = versions.state_at(connection, project.id, frozen.revision)
        cores = core_labels(connection, project, state, frozen.revision, unlabelled)
    assert len(looks) == (cores is not None)
    return cores


def test_the_texts_left_of_taken_groups_are_doubtful_until_somebody_labels_them(
    raw: Studio,
) -> None:
    cores = found(raw)
    assert cores is not None
    assert (len(cores.ids), len(cores.doubtful), cores.waiting) == (24, 16, 0.4)
    assert set(cores.doubtful) < {*CARDS, *BILLS}
    change(raw, cores.doubtful[0], "labels", [], project="raw")
    after = found(raw)
    assert after is not None
    assert set(cores.doubtful) - set(after.doubtful) == {cores.doubtful[0]}
    assert len(after.ids) == 24


def test_undo_frees_a_group_and_without_any_nothing_is_corrected(raw: Studio) -> None:
    undo_action(raw, "raw", "key-of-lost_card")
    cores = found(raw)
    assert cores is not None
    assert len(cores.ids) == 12
    assert len(cores.doubtful) == 8
    assert set(cores.doubtful) < set(BILLS)
    undo_action(raw, "raw", "key-of-high_bill")
    assert found(raw) is None


def test_what_a_training_is_said_to_learn_from_has_no_doubtful_text(raw: Studio) -> None:
    """Train counted them, and the version then said that it had learned from fewer."""
    cores = found(raw)
    assert cores is not None
    with raw.database.read() as connection:
        size = size_now(connection, projects.find(connection, "raw"))
    assert (size.rows, size.unlabelled) == (24, 16 - len(cores.doubtful))


def test_no_training_learns_from_a_doubtful_text() -> None:
    waiting = {"1": "one", "2": "two", "3": "three", "again": "one"}
    assert pool_of(waiting, ("two",)) == ("one", "three")
    assert pool_of(waiting, ()) == ("one", "three", "two")


def test_a_training_refuses_less_than_by_the_cores_alone(
    raw: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    train_here(raw, TrainingRequest("raw", "instant", {}))
    monkeypatch.setattr(runs, "core_labels", lambda *_: None)
    train_here(raw, TrainingRequest("raw", "instant", {}))
    beside, alone = (load_model(raw, f"raw@{n}").calibration for n in (1, 2))
    assert beside.threshold < alone.threshold
    # So does each other measure, whose line was set by the cores alone.
    with raw.database.read() as connection:
        spaces = [find_space(connection, "raw", number) for number in (1, 2)]
    for method in ("nearest", "mahalanobis", "mixture"):
        lines = [
            own_threshold(calibration, method, partial(exemplar_signals, raw, space))
            for calibration, space in zip((beside, alone), spaces, strict=True)
        ]
        assert lines[0] < lines[1]


def test_grouping_anew_keeps_in_mind_what_was_left_of_taken_groups(raw: Studio) -> None:
    """The next training went by the cores alone, and refused a third of what it should answer."""
    before = found(raw)
    assert before is not None
    for _ in range(2):  # and once more
        assert do(raw, start_grouping(raw, "raw", 2, anew=True).id).state == "succeeded"
        assert found(raw) == before
    assert do(raw, start_grouping(raw, "raw").id).state == "succeeded"
    assert found(raw) == before
    undo_action(raw, "raw", "key-of-lost_card")
    after = found(raw)
    assert after is not None
    assert set(after.doubtful) == set(before.doubtful) & set(BILLS)


def test_of_many_texts_that_were_left_a_sample_is_remembered(
    raw: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taken_groups, "_MOST_LEFT", 4)
    before = found(raw)
    assert do(raw, start_grouping(raw, "raw", 2, anew=True).id).state == "succeeded"
    after = found(raw)
    assert before is not None
    assert after is not None
    assert len(after.doubtful) == 4
    assert set(after.doubtful) < set(before.doubtful)
    assert len(set(after.doubtful) & set(CARDS)) == 2
