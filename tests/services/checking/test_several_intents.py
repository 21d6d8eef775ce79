"""A project of several intents a text is checked by exact sets of intents."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.services.checking.checks import CheckRequest, check_model
from app.services.checking.wanted import read_wanted
from app.services.studio import Studio
from storage import pinned_texts
from storage.queries import dataset
from tests.builders.multi_label_project import started, train


@pytest.fixture
def several(tmp_path: Path, tiny_path: Path) -> Iterator[Studio]:
    studio = started(tmp_path / "home", tmp_path)
    train(studio, tiny_path, {"kind": "instant"})
    yield studio
    studio.database.close()


def test_pins_and_floors_of_several_intents(several: Studio) -> None:
    with several.database.write() as connection:
        ids = {one.name: one.id for one in dataset.intents(connection, 1)}
        pinned_texts.add(
            connection, 1, "cancel my card please", [ids["cancel"], ids["card"]], "local"
        )
        pinned_texts.add(connection, 1, "Cancel my card, please", [ids["cancel"]], "local")
        pinned_texts.add(connection, 1, "cancel it", [ids["cancel"], ids["thanks"]], "local")
        pinned_texts.add(connection, 1, "many thanks", [ids["card"]], "local")
        pinned_texts.add(connection, 1, "thank you", [], "local")
    floors = ["micro_f1=0", "no_intent=0", "recall:cancel=0", "f1:thanks=0"]
    report = check_model(several, CheckRequest("p@1", read_wanted(floors, []), "p"))
    pins = {one.name: one for one in report.checks if one.kind == "pin"}
    kept = pins.pop("“cancel my card please” must get cancel and card")
    assert kept.state == "passed"
    assert [one.state for one in pins.values()] == ["failed"] * 4
    twin = pins["“cancel it” must get cancel and thanks"]
    assert [one.text for one in twin.examples] == ["cancel it"]
    assert pins["“many thanks” must get card"].examples
    others = [one for one in report.checks if one.kind != "pin"]
    assert [one.kind for one in others] == ["floor"] * 4 + ["champion"]
    assert [one.state for one in others] == ["passed"] * 5
    assert others[1].found.endswith(" of 1 text")
    assert report.judged_on == "3 test texts of p"
