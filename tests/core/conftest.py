"""What several tests of the core need."""

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture
def two_threads() -> Iterator[None]:
    """Let torch compute on two threads, as on a machine with as many cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)
