"""Projects are renamed, deleted and restored; nothing of them is lost on the way."""

import pytest

from app.services.data.projects import (
    create_project,
    delete_project,
    list_deleted,
    project_names,
    rename_project,
    restore_project,
)
from app.services.studio import Studio
from core.errors import Conflict, InvalidInput, NotFound
from storage import jobs, models, projects
from storage.database import Transaction


def add_version(connection: Transaction, name: str, base: str) -> None:
    values = {
        "project_id": projects.find(connection, name).id,
        "tree_sha256": "0" * 64,
        "dataset_version_id": None,
        "job_id": None,
        "lineage": {"base": base, "recipe": {"kind": "instant"}},
        "metrics": {},
        "pins": {},
    }
    models.add(connection, values)


def base_of(studio: Studio, name: str) -> str:
    with studio.database.read() as connection:
        record = models.find(connection, projects.find(connection, name).id, 1)
    return str(record.lineage["base"])


def test_a_renamed_project_keeps_its_data_and_what_starts_from_its_versions(studio: Studio) -> None:
    key = create_project(studio, "old").id
    create_project(studio, "other")
    with studio.database.write() as connection:
        add_version(connection, "other", "old@1")
        done = jobs.enqueue(connection, "train", {"base": "older@1"}, None)
    rename_project(studio, "old", "new")
    assert project_names(studio) == ["new", "other"]
    assert base_of(studio, "other") == "new@1"
    with studio.database.read() as connection:
        assert projects.find(connection, "new").id == key
        assert jobs.get(connection, done.id).payload == {"base": "older@1"}
    with pytest.raises(Conflict):
        rename_project(studio, "new", "other")
    with pytest.raises(InvalidInput):
        rename_project(studio, "new", "a/b")
    rename_project(studio, "new", "new")
    rename_project(studio, "new", "old")
    assert base_of(studio, "other") == "old@1"


def test_a_deleted_project_is_on_no_list_and_its_name_is_free(studio: Studio) -> None:
    key = create_project(studio, "p").id
    create_project(studio, "other")
    with studio.database.write() as connection:
        add_version(connection, "other", "p@1")
    deleted = delete_project(studio, "p")
    assert (deleted.id, deleted.name) == (key, "p")
    assert project_names(studio) == ["other"]
    assert list_deleted(studio) == [deleted]
    assert base_of(studio, "other") == f"p (deleted {key})@1"
    for name in ("p", f"p (deleted {key})"):
        with studio.database.read() as connection, pytest.raises(NotFound):
            projects.find(connection, name)
    assert restore_project(studio, key).name == "p"
    assert (project_names(studio), list_deleted(studio)) == (["other", "p"], [])
    assert base_of(studio, "other") == "p@1"
    assert restore_project(studio, key).name == "p"


def test_a_project_comes_back_beside_one_that_took_its_name(studio: Studio) -> None:
    key = delete_project(studio, create_project(studio, "p").name).id
    create_project(studio, "p")
    create_project(studio, "p 2")
    assert restore_project(studio, key).name == "p 3"
    assert project_names(studio) == ["p", "p 2", "p 3"]


def test_a_project_at_work_is_left_alone(studio: Studio) -> None:
    first, second = create_project(studio, "p"), create_project(studio, "q")
    with studio.database.write() as connection:
        job = jobs.enqueue(connection, "train", {"base": "q@1"}, first.id)
    for name in (first.name, second.name):
        # “A job of 'p' is under way”: nobody knew which, nor where to cancel it.
        with pytest.raises(Conflict, match=f"^A training, a map or groups of '{name}' are"):
            delete_project(studio, name)
        with pytest.raises(Conflict, match="under way"):
            rename_project(studio, name, "else")
    with studio.database.write() as connection:
        jobs.request_cancel(connection, job.id)
    assert delete_project(studio, "q").name == "q"
