"""Which project takes in a bundle whose model gives a text several intents."""

from pathlib import Path

import pytest

from app.services.data.projects import create_project
from app.services.studio import Studio
from app.services.versions.bundles import export_model, import_bundle, take_in_bundle
from core.errors import InvalidInput
from storage import models, projects
from storage.people.request_keys import keep_nothing
from tests.builders.multi_label_project import started, train


@pytest.fixture
def bundle(tmp_path: Path, tiny_path: Path) -> Path:
    there = started(tmp_path / "there", tmp_path)
    train(there, tiny_path, {"kind": "instant"})
    path = tmp_path / "p.zip"
    export_model(there, "p@1", path)
    there.database.close()
    return path


def test_its_project_has_several_intents_a_text(studio: Studio, bundle: Path) -> None:
    """One of one intent a text was made: comparisons and the next training went by that."""
    assert import_bundle(studio, bundle) == "p@1"
    with studio.database.read() as connection:
        assert projects.find(connection, "p").task == "multi-label"


def test_a_project_of_one_intent_a_text_refuses_it(studio: Studio, bundle: Path) -> None:
    record = create_project(studio, "q")
    said = "gives a text several of its intents, and in 'q' a text has one"
    with pytest.raises(InvalidInput, match=said):
        import_bundle(studio, bundle, "q")
    with pytest.raises(InvalidInput, match=said):
        take_in_bundle(studio, "q", bundle, "p.zip", keep_nothing)
    with studio.database.read() as connection:
        assert models.list_all(connection, record.id) == []
