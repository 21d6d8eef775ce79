"""Uniformity and alignment of versions on the command line."""

import json
from pathlib import Path

import pytest

from app.bootstrap import open_studio
from app.settings import Settings
from tests.builders.slotted_project import with_values
from tests.builders.trained_home import opened, train
from tests.terminal.test_conversations import run


def test_versions_are_listed_with_the_shapes_of_their_spaces(
    tmp_path: Path, tiny_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    studio = opened(home)
    with_values(studio)
    train(studio, tiny_path, {"kind": "instant"})
    studio.database.close()
    capsys.readouterr()
    assert run(home, "versions", "p", "--shapes", "--json") == 0
    untuned, first = json.loads(capsys.readouterr().out)["shapes"]
    assert (untuned["number"], first["number"], first["recipe"]) == (0, 1, "instant")
    assert first["uniformity"] < 0 < first["alignment"]
    assert run(home, "versions", "p", "--shapes") == 0
    assert f"{first['alignment']:.3f}" in capsys.readouterr().out
    assert run(home, "versions", "p", "--json") == 0
    assert "shapes" not in json.loads(capsys.readouterr().out)


def test_without_marked_values_a_training_on_templates_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    open_studio(Settings(home=tmp_path / "home")).database.close()
    assert run(tmp_path / "home", "new", "p") == 0
    assert run(tmp_path / "home", "train", "p", "--recipe", "templates") == 2
    assert "Mark values in texts on the page Slots" in capsys.readouterr().err
