"""Pauses in long computations, for whoever computes beside others that come first."""

from collections.abc import Callable

Pause = Callable[[], None]
"""Called between steps of some hundredth of a second."""


def no_pause() -> None:
    """Go on at once."""
