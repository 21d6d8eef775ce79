import os
from pathlib import Path
from typing import Any

import pytest

from app.services.data.projects import create_project
from app.services.studio import Studio
from app.services.versions.registry import (
    delete_model,
    deletion_preview,
    discard,
    lineage,
    model_states,
    promote,
    roll_back,
    sides_of,
)
from app.services.versions.timeline import list_versions, timeline
from app.services.versions.verdict import Sides
from core.encoders.bundled import BUNDLED_SHA256
from core.errors import Conflict, NotFound
from storage import jobs, models, projects
from storage.artifacts import record_tree
from storage.log import edits, events, versions
from storage.log.events import Action
from storage.queries import dataset
from storage.records import Change, ModelVersionRecord


@pytest.fixture
def project(studio: Studio) -> int:
    return create_project(studio, "p").id


def add(studio: Studio, files: dict[str, str], **lineage: Any) -> ModelVersionRecord:
    """Add a model version of text files, with old files as of yesterday."""
    source = studio.places.home / "source"
    for name, content in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(content)
    found = studio.artifacts.put_files(source)
    for name in files:
        (source / name).unlink()
    values = {"job_id": None, "dataset_version_id": None, "metrics": {}, "pins": {}, **lineage}
    facts = {
        k: values.pop(k)
        for k in list(values)
        if k in ("base", "recipe", "code_version", "precision", "imported")
    }
    with studio.database.write() as connection:
        project = projects.find(connection, "p").id
        tree = record_tree(connection, studio.artifacts, found)
        row = {**values, "project_id": project, "tree_sha256": tree, "lineage": facts}
        return models.add(connection, row)


def three(studio: Studio) -> None:
    """Versions 1 to 3, each with a file of its own and one that all share."""
    for number in (1, 2, 3):
        add(studio, {"own.txt": f"own {number}", "shared.txt": "shared"})


def make_old(studio: Studio) -> None:
    for file in blobs(studio):
        os.utime(file, (1, 1))


def blobs(studio: Studio) -> list[Path]:
    return sorted(file for file in studio.artifacts.folder.rglob("*") if file.is_file())


def champion(studio: Studio) -> int | None:
    with studio.database.read() as connection:
        found = models.champion(connection, projects.find(connection, "p").id)
    return None if found is None else found.number


def test_what_earlier_releases_stored_of_a_test_set_has_the_thousands_mark(
    studio: Studio, project
) -> None:
    """Versions said "1000 texts" of an old version, and "1,000 texts" of the next."""
    for basis in ("test set of 1000 texts", "test set of 1,000 texts; 12 left out"):
        add(studio, {"own.txt": basis}, metrics={"accuracy": 0.9, "judged_on": basis})
    said = [model.metrics["judged_on"] for model in list_versions(studio, "p")[1]]
    assert said == ["test set of 1,000 texts", "test set of 1,000 texts; 12 left out"]


def test_rolling_back_goes_through_earlier_champions_one_by_one(studio: Studio, project) -> None:
    three(studio)
    changes = [promote(studio, "p", number, "ann") for number in (1, 2, 3, 3)]
    assert [(c.before, c.after) for c in changes] == [(None, 1), (1, 2), (2, 3), (3, 3)]
    assert (roll_back(studio, "p").after, roll_back(studio, "p").after) == (2, 1)
    with pytest.raises(Conflict, match="no other live version"):
        roll_back(studio, "p")
    promote(studio, "p", 3)
    assert (roll_back(studio, "p").after, champion(studio)) == (1, 1)


def test_promoting_an_earlier_one_again_can_be_rolled_back_too(studio: Studio, project) -> None:
    three(studio)
    for number in (1, 2, 1):
        promote(studio, "p", number)
    assert [roll_back(studio, "p").after for _ in range(2)] == [2, 1]


def test_rolling_back_passes_over_what_was_discarded_or_deleted(studio: Studio, project) -> None:
    three(studio)
    add(studio, {"own.txt": "own 4"})
    for number in (1, 2, 3, 4):
        promote(studio, "p", number)
    discard(studio, "p", 3)
    delete_model(studio, "p", 2, even_so=True)
    change = roll_back(studio, "p")
    assert (change.before, change.after) == (4, 1)


def test_a_version_is_candidate_champion_former_champion_or_discarded(
    studio: Studio, project
) -> None:
    three(studio)
    assert set(model_states(studio, "p").values()) == {"candidate"}
    promote(studio, "p", 1)
    promote(studio, "p", 2)
    discard(studio, "p", 3)
    expected = {1: "former champion", 2: "champion", 3: "discarded"}
    assert model_states(studio, "p") == expected
    with pytest.raises(Conflict, match=r"^Version 2 answers now\.$"):
        discard(studio, "p", 2)
    promote(studio, "p", 3)
    assert model_states(studio, "p")[3] == "champion"
    roll_back(studio, "p")
    assert model_states(studio, "p")[3] == "former champion"


def test_deleting_frees_only_what_no_other_version_uses(studio: Studio, project) -> None:
    three(studio)
    make_old(studio)
    before = deletion_preview(studio, "p", 2)
    assert (before.bytes_freed, before.blobs, before.bytes_later) == (len("own 2"), 1, 0)
    assert (before.reasons_against, before.forbidden) == ((), False)
    assert delete_model(studio, "p", 2) == before
    assert len(blobs(studio)) == 3
    assert sorted(model_states(studio, "p")) == [1, 3]
    with pytest.raises(NotFound, match="no model version 2 any more: it was deleted"):
        deletion_preview(studio, "p", 2)
    with studio.database.read() as connection:
        assert studio.artifacts.damaged(connection) == {}
    with studio.database.write() as connection:
        assert studio.artifacts.sweep(connection) == 0
    assert add(studio, {"own.txt": "own 5"}).number == 4


def test_a_version_has_learned_newer_labels_only_where_some_were_given(
    studio: Studio, project
) -> None:
    """It was said of a version before whose training nothing but unlabelled texts came in."""
    with studio.database.write() as connection:

        def frozen(*changes: Change) -> int:
            if changes:
                events.record(connection, project, Action("x", "local"), changes)
            return versions.cut(connection, projects.get(connection, project), "").id

        intent = edits.create_intent("a")
        texts = [
            edits.create_utterance(name, name, split, "", None)
            for name, split in (("one", "pool"), ("two", "pool"), ("test", "test"))
        ]
        snapshots = [frozen(intent), frozen(*texts)]
        for name in ("test", "one"):
            record = dataset.utterance_by_id(connection, project, name)
            snapshots.append(frozen(*edits.decide(record, (intent.subject_id,))))
    for snapshot in snapshots:
        add(studio, {"a": "a"}, dataset_version_id=snapshot)
    promote(studio, "p", 1)
    pairs = [(2, 1), (3, 1), (4, 1), (4, 3), (3, 4), (4, 4)]
    assert [sides_of(studio, "p", *pair).learned_more for pair in pairs] == [
        *(False, False, True, True, False, False)
    ]
    assert sides_of(studio, "p", 4, 1) == Sides(4, 1, live=1, learned_more=True)


def test_a_version_is_told_from_the_one_before_it_that_learned_here(
    studio: Studio, project
) -> None:
    """“Nothing changed in the data since version 3” was said of a version that was imported."""
    with studio.database.write() as connection:
        snapshots = []
        for name in ("a", "b"):
            events.record(connection, project, Action("x", "local"), [edits.create_intent(name)])
            snapshots.append(versions.cut(connection, projects.get(connection, project), "").id)
    for snapshot in (None, snapshots[0], None, snapshots[1]):
        add(studio, {"a": "a"}, dataset_version_id=snapshot, imported=snapshot is None)
    told = [(m.imported, m.changes_since, m.changes) for m in list_versions(studio, "p")[1]]
    assert told == [
        (True, None, ()),
        (False, None, ()),
        (True, None, ()),
        (False, 2, ("intent 'b' created",)),
    ]


def test_a_number_is_not_given_twice(studio: Studio, project) -> None:
    three(studio)
    delete_model(studio, "p", 3)
    made = add(studio, {"own.txt": "own 3", "shared.txt": "shared"})
    assert made.number == 4  # the same files are welcome again, under another number
    with studio.database.read() as connection:
        studio.artifacts.check_out(connection, made.tree_sha256, studio.places.home / "out")


def test_files_that_two_versions_share_wholly_stay(studio: Studio, project) -> None:
    add(studio, {"a.txt": "same"})
    add(studio, {"a.txt": "same"})
    make_old(studio)
    assert deletion_preview(studio, "p", 1).blobs == 0
    delete_model(studio, "p", 1)
    assert len(blobs(studio)) == 1
    assert deletion_preview(studio, "p", 2).blobs == 1
    delete_model(studio, "p", 2)
    assert blobs(studio) == []


def test_young_files_are_left_to_the_sweep(studio: Studio, project) -> None:
    three(studio)
    view = delete_model(studio, "p", 1)
    assert (view.bytes_freed, view.bytes_later) == (5, 5)
    assert len(blobs(studio)) == 4
    with studio.database.write() as connection:
        assert studio.artifacts.sweep(connection) == 0
        assert studio.artifacts.sweep(connection, grace_seconds=-1) == 1


def test_the_champion_cannot_be_deleted_whatever_is_said(studio: Studio, project) -> None:
    three(studio)
    promote(studio, "p", 1)
    assert deletion_preview(studio, "p", 1).forbidden
    with pytest.raises(Conflict, match="p@1 is live"):
        delete_model(studio, "p", 1, even_so=True)
    assert champion(studio) == 1


def test_a_base_or_the_target_of_a_roll_back_needs_a_second_word(studio: Studio, project) -> None:
    add(studio, {"a.txt": "1"}, base="bundled")
    add(studio, {"a.txt": "2"}, base="p@1")
    promote(studio, "p", 1)
    promote(studio, "p", 2)
    view = deletion_preview(studio, "p", 1)
    assert not view.forbidden
    assert view.reasons_against == (
        "Trained from p@1, and not to be trained again without it: p@2.",
        "Rolling back would return to p@1.",
    )
    with pytest.raises(Conflict, match="Trained from p@1") as caught:
        delete_model(studio, "p", 1)
    assert "even so" in caught.value.hint
    delete_model(studio, "p", 1, even_so=True)
    assert list(model_states(studio, "p")) == [2]


def test_a_version_that_a_job_is_about_to_train_from_stays(studio: Studio, project) -> None:
    three(studio)
    with studio.database.write() as connection:
        job = jobs.enqueue(connection, "train", {"base": "p@2"}, project)
    with pytest.raises(Conflict, match="about to train from p@2"):
        delete_model(studio, "p", 2, even_so=True)
    with studio.database.write() as connection:
        jobs.request_cancel(connection, job.id)
    delete_model(studio, "p", 2)


def test_a_file_that_a_job_puts_in_again_while_it_is_deleted_stays(
    studio: Studio, project, monkeypatch
) -> None:
    """A job touches the file after its age was read, at the last moment before it goes."""
    three(studio)
    make_old(studio)
    source = studio.places.home / "job"
    source.mkdir()
    (source / "own.txt").write_text("own 1")
    rename = Path.rename

    def late(file: Path, target: Path) -> Path:
        monkeypatch.undo()
        studio.artifacts.put_files(source)
        return rename(file, target)

    monkeypatch.setattr(Path, "rename", late)
    delete_model(studio, "p", 1)
    assert len(blobs(studio)) == 4
    with studio.database.write() as connection:
        record_tree(connection, studio.artifacts, studio.artifacts.put_files(source))
        assert studio.artifacts.damaged(connection) == {}


def test_lineage_names_everything_that_makes_a_version_again(studio: Studio, project) -> None:
    with studio.database.write() as connection:
        made = edits.create_intent("a")
        events.record(connection, project, Action("x", "local"), [made])
        data = versions.cut(connection, projects.get(connection, project), "first")
    weights = {"encoder/model.safetensors": "weights of 1"}
    first = add(
        studio,
        weights,
        base="bundled",
        recipe={"kind": "convfit", "seed": 7},
        code_version="0.1.0",
        precision="bfloat16",
        dataset_version_id=data.id,
        job_id="abc",
    )
    add(studio, {"a.txt": "2"}, base="p@1", recipe={"kind": "instant", "seed": 3})
    add(studio, {"a.txt": "3"}, base="p@2")
    found = lineage(studio, "p", 1)
    assert (found.name, found.state, found.job) == ("p@1", "candidate", "abc")
    assert (found.dataset_version, found.dataset_sha256) == (1, data.sha256)
    assert (found.base, found.base_fingerprint) == ("bundled", BUNDLED_SHA256)
    assert (found.precision, lineage(studio, "p", 2).precision) == ("bfloat16", "")
    assert (found.recipe["kind"], found.seed, found.code_version) == ("convfit", 7, "0.1.0")
    assert (found.parents, found.children) == ((), ("p@2",))
    assert found.tree_sha256 == first.tree_sha256
    second = lineage(studio, "p", 2)
    assert studio.artifacts.path(second.base_fingerprint or "").read_text() == "weights of 1"
    third = lineage(studio, "p", 3)
    assert [(a.name, a.recipe, a.dataset_version) for a in third.parents] == [
        ("p@2", "instant", None),
        ("p@1", "convfit", 1),
    ]
    delete_model(studio, "p", 1, even_so=True)
    later = lineage(studio, "p", 3).parents[1]
    assert (later.name, later.recipe, later.deleted) == ("p@1", "convfit", True)
    assert lineage(studio, "p", 2).base_fingerprint is None


def test_a_base_that_is_no_version_has_no_parents(studio: Studio, project) -> None:
    add(studio, {"a.txt": "1"}, base="somebody@home")
    add(studio, {"a.txt": "2"}, base="gone@4")
    assert lineage(studio, "p", 1).parents == lineage(studio, "p", 2).parents == ()


def test_the_timeline_tells_data_models_and_champions_in_their_order(
    studio: Studio, project
) -> None:
    with studio.database.write() as connection:
        events.record(connection, project, Action("x", "local"), [edits.create_intent("a")])
        versions.cut(connection, projects.get(connection, project), "before training")
    metrics = {"accuracy": 0.925, "judged_on": "test set of 40 texts"}
    add(studio, {"a.txt": "1"}, recipe={"kind": "instant"}, metrics=metrics)
    promote(studio, "p", 1, "ann")
    add(studio, {"a.txt": "2"}, base="p@1")
    promote(studio, "p", 2)
    roll_back(studio, "p", "bea")
    discard(studio, "p", 2)
    delete_model(studio, "p", 2)
    entries = timeline(studio, "p")
    assert [(e.kind, e.title) for e in entries] == [
        ("data", "Data version 1: before training"),
        ("model", "p@1 trained"),
        ("champion", "p@1 is the champion"),
        ("model", "p@2 trained"),
        ("champion", "p@2 is the champion"),
        ("roll-back", "Back to p@1"),
        ("discarded", "p@2 discarded"),
        ("deleted", "p@2 deleted"),
    ]
    assert entries[0].details == ("intent 'a' created",)
    assert entries[1].details == ("instant", "right answers 92.5 % on 40 test texts when trained")
    assert entries[4].details == ("instead of p@1",)
    assert (entries[2].actor, entries[5].actor) == ("ann", "bea")
    assert [m.name for m in list_versions(studio, "p")[1]] == ["p@1"]
