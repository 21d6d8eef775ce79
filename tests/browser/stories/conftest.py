"""What several stories need: the running sample with a version that waits."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders.served_studio import Served, StudioPool, copy_home


@pytest.fixture(scope="module")
def twice(
    twice_home: Path, tmp_path_factory: pytest.TempPathFactory, studios: StudioPool
) -> Iterator[Served]:
    """The sample with a second version that waits."""
    home = copy_home(twice_home, tmp_path_factory.mktemp("twice-served") / "home")
    with studios.serving(home) as served:
        yield served
