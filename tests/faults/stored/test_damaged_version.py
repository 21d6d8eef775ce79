"""A damaged version is not made live, and the Versions page knows it."""

import json
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from app.cli import main
from app.services.studio import Studio
from app.services.training.runs import TrainingRequest
from app.services.versions.registry import live_number, promote, roll_back
from core.errors import Conflict
from storage import models
from storage.artifacts import tree_files
from tests.builders.trained_home import train_here
from tests.faults.table import Fault

FAULTS = (
    Fault(
        10.6,
        "A damaged version is to be made live",
        "A file of a version is changed or deleted; the version is promoted by REST and by a "
        "command, and rolled back to",
        "Refused in words by 409 and exit code 2 after all its files are read; what answers goes "
        "on, and the list of versions marks the damaged one",
    ),
)


@pytest.fixture
def two(studio: Studio, trained: str, tiny_path: Path) -> str:
    """A project whose second version is live and learned with another seed than the first."""
    settings: dict[str, object] = {"seed": 7}
    train_here(studio, TrainingRequest(trained, "instant", settings, str(tiny_path), gate=False))
    promote(studio, trained, 2)
    return trained


def own_file(studio: Studio, number: int) -> Path:
    """Return the file of a version that no other one has."""
    with studio.database.read() as connection:
        made = {one.number: one.tree_sha256 for one in models.list_all(connection, 1)}
        files = {n: set(tree_files(connection, tree).values()) for n, tree in made.items()}
    own = files.pop(number) - set().union(*files.values())
    return studio.artifacts.path(min(own))


def change(file: Path) -> None:
    content = file.read_bytes()
    file.unlink()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


def test_a_changed_version_is_not_made_live(
    client: TestClient,
    studio: Studio,
    two: str,
) -> None:
    """It was, and nothing was answered any more."""
    file = own_file(studio, 1)
    whole = file.read_bytes()
    change(file)
    here = f"/api/projects/{two}"
    for path in ("models/1/promote", "rollback"):
        refused = client.post(f"{here}/{path}")
        assert refused.status_code == 409, refused.text
        assert "Version 1 of 'p' is damaged" in refused.json()["message"]
        assert "another version" in refused.json()["hint"]
    assert live_number(studio, two) == 2
    assert client.get(f"{here}/versions").json()["damaged"] == [1]
    file.unlink()
    file.write_bytes(whole)
    assert client.get(f"{here}/versions").json()["damaged"] == []
    assert client.post(f"{here}/models/1/promote").status_code == 200


def test_the_command_marks_a_damaged_version(
    studio: Studio, two: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The list on the terminal said nothing of it."""
    command = ["--home", str(studio.settings.home), "versions", two]
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["damaged"] == []
    own_file(studio, 1).unlink()
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["damaged"] == [1]
    assert main(command) == 0
    assert "DAMAGED: p@1 cannot be used." in capsys.readouterr().out


def test_a_version_without_a_file_is_known_at_once(
    client: TestClient,
    studio: Studio,
    two: str,
) -> None:
    own_file(studio, 1).unlink()
    assert client.get(f"/api/projects/{two}/versions").json()["damaged"] == [1]
    with pytest.raises(Conflict, match="missing or was changed"):
        promote(studio, two, 1)
    with pytest.raises(Conflict, match="missing or was changed"):
        roll_back(studio, two)


def test_the_command_refuses_a_damaged_version(
    studio: Studio,
    two: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    change(own_file(studio, 1))
    studio.database.close()
    assert main(["--home", str(studio.places.home), "promote", f"{two}@1"]) == 2
    assert f"Version 1 of '{two}' is damaged" in capsys.readouterr().err
