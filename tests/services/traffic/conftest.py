"""A project without a text, which traffic comes to."""

import pytest

from app.services.data.projects import create_project
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.studio import Studio


@pytest.fixture
def live(studio: Studio) -> LiveStudio:
    create_project(studio, "p")
    return open_live_studio(studio)
