"""A project of raw texts."""

from pathlib import Path

import pytest

from app.services.studio import Studio
from tests.builders.trained_home import BILLS, CARDS, raw_project


@pytest.fixture
def raw(studio: Studio, tmp_path: Path) -> Studio:
    """A project without an intent: 14 texts about two things."""
    return raw_project(studio, tmp_path, [*CARDS, *BILLS])
