"""A studio that is served in memory, with the project that a test asks for."""

import pytest

from app.services.studio import Studio


@pytest.fixture
def studio(prepared_studio: Studio) -> Studio:
    return prepared_studio
