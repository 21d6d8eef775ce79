"""Thousands of tiny systems: threads that wait for each other take longer than one alone."""

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with threadpool_limits(limits=1, user_api="blas"):
        yield
