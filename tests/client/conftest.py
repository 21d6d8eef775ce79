"""A studio that listens, in a process of its own."""

from collections.abc import Iterator

import pytest

from intent_studio_client.studio import Studio
from tests.builders.served_studio import Served


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    found = Served(tmp_path_factory.mktemp("client") / "home", forked=True).start()
    yield found
    found.stop()
    assert found.strangers() == []


@pytest.fixture
def studio(served: Served) -> Studio:
    return Studio(served.base, served.token)
