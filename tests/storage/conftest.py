"""An empty database."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from storage.database import Database, open_database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(tmp_path / "studio.db")
    yield opened
    opened.close()
