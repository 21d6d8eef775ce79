"""A trained home, made once, and copies of it to change at will."""

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.live import pool
from app.services.live.pool import Pool, judged
from app.services.studio import Studio
from tests.builders.slotted_project import with_values
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
def held_evaluation(
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[], AbstractContextManager[None]]:
    """Hold each evaluation of unlabelled texts; five are evaluated before anybody sees it begin."""

    @contextmanager
    def hold() -> Iterator[None]:
        released = threading.Event()

        def held(*given: Any) -> Pool:
            assert released.wait(60)
            return judged(*given)

        with monkeypatch.context() as patch:
            patch.setattr(pool, "judged", held)
            try:
                yield
            finally:
                released.set()

    return hold


@pytest.fixture
def home(trained_home: Path, tmp_path: Path) -> Iterator[Studio]:
    """A copy of that home, to change at will."""
    studio = opened(Path(shutil.copytree(trained_home, tmp_path / "home")))
    yield studio
    studio.database.close()


@pytest.fixture
def valued(tmp_path: Path) -> Iterator[Studio]:
    """A project whose texts have marked values."""
    studio = opened(tmp_path / "home")
    with_values(studio)
    yield studio
    studio.database.close()
