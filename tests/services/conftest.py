"""A trained home, made once, and copies of it to change at will."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.studio import Studio
from tests.builders.trained_home import POOL, opened, train


@pytest.fixture(scope="session")
def trained_home(
    tmp_path_factory: pytest.TempPathFactory, labelled_csv: Path, tiny_path: Path
) -> Path:
    """A project of 20 labelled and 5 unlabelled texts with two model versions."""
    folder = tmp_path_factory.mktemp("maps")
    pool = folder / "pool.csv"
    pool.write_text("text\n" + "\n".join(POOL) + "\n", encoding="utf-8")
    studio = opened(folder / "home")
    create_project(studio, "p")
    import_file(studio, ImportRequest("p", labelled_csv))
    import_file(studio, ImportRequest("p", pool))
    train(studio, tiny_path, {"kind": "instant"})
    train(studio, tiny_path, {"kind": "convfit", "epochs": 3, "learning_rate": 1e-3})
    studio.database.close()
    return folder / "home"


@pytest.fixture
def home(trained_home: Path, tmp_path: Path) -> Iterator[Studio]:
    """A copy of that home, to change at will."""
    studio = opened(Path(shutil.copytree(trained_home, tmp_path / "home")))
    yield studio
    studio.database.close()
