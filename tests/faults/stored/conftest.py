"""A served studio beside damaged files, as the tests of REST have it."""

import pytest

from app.services.studio import Studio


@pytest.fixture
def studio(prepared_studio: Studio) -> Studio:
    return prepared_studio
