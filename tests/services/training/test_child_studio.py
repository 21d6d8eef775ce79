"""The studio of a job: the one that its home was opened with, whatever starts the process."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from app.bootstrap import open_studio, open_workplace
from app.jobs import local
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.studio import Studio
from app.services.training.runs import TrainingRequest
from app.settings import Settings
from storage import models
from storage.people import acts
from tests.builders.trained_home import Idle, train_here

SHOWN = (
    "import json\n"
    "from app.bootstrap import open_workplace\n"
    "from app.settings import Settings\n"
    "studio = open_workplace(Settings()).kinds['train'].args[0]\n"
    "url = str(studio.database.engine.url)\n"
    "print(json.dumps([studio.settings.model_dump(mode='json'), url]))\n"
)


def settings_at(folder: Path) -> Settings:
    url = f"sqlite:///{folder / 'elsewhere.db'}"
    return Settings(home=folder / "home", database_url=url, device="cuda:1", actor="mira")


def test_every_kind_of_job_gets_the_studio_of_the_settings(tmp_path: Path) -> None:
    settings = settings_at(tmp_path)
    workplace = open_workplace(settings)
    studios = [kind.args[0] for kind in workplace.kinds.values()]
    assert all(isinstance(studio, Studio) for studio in studios)
    assert all(studio is studios[0] for studio in studios)
    assert studios[0].settings == settings
    assert studios[0].database is workplace.database
    assert studios[0].executor.settings == settings
    workplace.database.close()


def test_a_job_sees_the_database_the_device_and_the_actor_of_the_studio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_at(tmp_path)
    studio = open_studio(settings)
    commands: list[dict[str, str]] = []
    monkeypatch.setenv("STUDIO_ACTOR", "somebody else")
    monkeypatch.setenv("STUDIO_CHROMIUM", "/not/of/this/studio")
    with monkeypatch.context() as patch:
        patch.setattr(local.subprocess, "run", lambda *_, env, **__: commands.append(env))
        studio.executor.ensure_running()
    shown = subprocess.run(
        [sys.executable, "-c", SHOWN], env=commands[0], check=True, capture_output=True
    )
    values, url = json.loads(shown.stdout)
    assert values == settings.model_dump(mode="json")
    assert url == settings.database_url
    studio.database.close()


def test_a_version_that_the_gate_promotes_is_put_into_use_by_who_trains(
    tmp_path: Path, labelled_csv: Path, tiny_path: Path
) -> None:
    """With another name than "local", the training was hers, and its promotion was "local"'s."""
    settings = Settings(home=tmp_path / "home", device="cpu", actor="mira")
    studio = replace(open_studio(settings), executor=Idle())
    create_project(studio, "p")
    import_file(studio, ImportRequest("p", labelled_csv))
    train_here(studio, TrainingRequest("p", "instant", {}, str(tiny_path)))
    with studio.database.read() as connection:
        assert [one.actor for one in models.moves(connection, 1)] == ["mira"]
        used = acts.read_page(connection, 1, acts.ActFilter(verb="use version")).acts
    assert [one.actor for one in used] == ["mira"]
    studio.database.close()
