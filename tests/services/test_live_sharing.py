"""What answers and what is drawn on the map are one model in memory."""

from app.services.spaces import find_space, open_space
from app.services.studio import Studio
from app.services.workbench import open_workbench


def test_a_model_is_loaded_once_for_its_answers_and_its_map(home: Studio) -> None:
    with home.database.read() as connection:
        space = find_space(connection, "p", None)
    live = open_workbench(home).models.get(space.project.id)
    assert live is not None
    assert live.pipeline.encoder is open_space(home, space).encoder
    assert live.pipeline.model_version == space.name
