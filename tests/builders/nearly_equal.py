"""Decisions that two ways of computing them agree on."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from core.types import Decision


def agreed(decisions: Iterable[Decision]) -> list[Decision]:
    """The decisions, with figures that may differ in how the last digits were rounded.

    A sum depends in its last digit on where its terms lie in memory, which differs by run.
    """
    return [
        replace(
            one,
            score=pytest.approx(one.score, abs=1e-9),
            familiarity=pytest.approx(one.familiarity, abs=1e-9),
        )
        for one in decisions
    ]
