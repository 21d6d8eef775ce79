"""A served studio beside damaged files, as the tests of REST have it."""

from tests.api.conftest import (  # noqa: F401 - fixtures
    built_pages,
    client,
    labelled,
    live_studio,
    own_folder,
    portal,
    prepared,
    serve,
    studio,
    trained,
)
