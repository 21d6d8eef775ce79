"""Folders called `app` or `core` of other projects do not stand in for the studio's own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.home import Places
from app.jobs.local import LocalExecutor
from app.jobs.lock import is_free
from app.settings import Settings
from tests.waiting import wait_until

_REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A folder with packages of the studio's names that cannot be imported."""
    folder = tmp_path / "other project"
    for name in ("app", "core", "storage"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text("raise ImportError('foreign')\n", "utf-8")
    return folder


def test_a_foreign_app_on_the_path_does_not_break_the_command(
    foreign: Path, tmp_path: Path
) -> None:
    """`No module named 'app.cli'` was all that the command said."""
    paths = os.pathsep.join([str(foreign), str(_REPOSITORY)])
    environment = {**os.environ, "PYTHONPATH": paths}
    command = [sys.executable, "-m", "intent_studio", "--home", str(tmp_path / "home"), "new", "p"]
    done = subprocess.run(
        [*command, "--json"], cwd=foreign, env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr.splitlines()[1:]) == (0, [])
    assert done.stdout == '{"project": "p", "task": "single-label"}\n'


def test_jobs_begin_where_a_foreign_app_lies(
    foreign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(foreign)
    monkeypatch.setenv("PYTHONPATH", str(foreign))
    home = tmp_path / "home"
    subprocess.run(
        [sys.executable, str(_REPOSITORY / "intent_studio.py"), "--home", str(home), "new", "p"],
        check=True,
        capture_output=True,
    )
    LocalExecutor(Settings(home=home)).ensure_running()
    places = Places(home)
    # It ends, for there is no job.
    wait_until(lambda: is_free(places.supervisor_lock), "the supervisor ends")
    assert places.log("supervisor").read_text(encoding="utf-8") == ""
