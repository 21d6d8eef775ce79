"""A repair of intents overwrites nothing that was changed since it was previewed."""

from pathlib import Path

import pytest

from app.services.data.importing import ImportRequest, import_file
from app.services.data.intents import change_intent, load_overview
from app.services.data.projects import create_project
from app.services.studio import Studio
from app.services.what_if.repairs import Repair, SplitPart, apply_repair
from core.errors import Conflict
from storage import projects
from tests.builders.trained_home import intent_ids, label, rows


@pytest.fixture
def of(studio: Studio, labelled_csv: Path) -> dict[str, str]:
    """A project "p" without a model, and its intents."""
    create_project(studio, "p")
    import_file(studio, ImportRequest("p", labelled_csv))
    return intent_ids(studio)


def revision(studio: Studio) -> int:
    with studio.database.read() as connection:
        return projects.find(connection, "p").head_revision


def words(studio: Studio) -> dict[str, tuple[str, int]]:
    return {one.name: (one.description, one.utterances) for one in load_overview(studio, "p")[1]}


def repairs_of(of: dict[str, str], text: str) -> dict[str, Repair]:
    return {
        "merge": Repair("merge", intent=of["refund"], value=of["parcel"]),
        "rename": Repair("rename", intent=of["refund"], value="money back"),
        "describe": Repair("describe", intent=of["refund"], value="Wants money."),
        "split": Repair("split", intent=of["refund"], parts=(SplitPart("payout", (text,)),)),
    }


@pytest.mark.parametrize("kind", ["merge", "rename", "describe", "split"])
def test_an_intent_that_was_changed_meanwhile_is_looked_at_first(
    studio: Studio, of: dict[str, str], kind: str
) -> None:
    """It was merged, renamed or described over another person's words: only texts were compared."""
    seen = revision(studio)
    change_intent(studio, "p", of["refund"], {"description": "Money goes back."})
    before = words(studio)
    repair = repairs_of(of, rows(studio)["I want my money back"].id)[kind]
    with pytest.raises(Conflict, match="An intent was changed meanwhile"):
        apply_repair(studio, "p", repair, "too late", seen=seen)
    assert words(studio) == before
    apply_repair(studio, "p", repair, "looked again", seen=revision(studio))
    assert words(studio) != before


def test_a_merge_looks_at_its_target_and_at_each_text_that_it_moves(
    studio: Studio, of: dict[str, str]
) -> None:
    merge = repairs_of(of, "")["merge"]
    seen = revision(studio)
    change_intent(studio, "p", of["parcel"], {"name": "delivery"})
    with pytest.raises(Conflict, match="An intent was changed meanwhile"):
        apply_repair(studio, "p", merge, "other name", seen=seen)
    seen = revision(studio)
    label(studio, "the parcel is late", "refund")
    before = words(studio)
    with pytest.raises(Conflict, match="A text was changed meanwhile"):
        apply_repair(studio, "p", merge, "one more text", seen=seen)
    assert words(studio) == before
    seen = revision(studio)
    label(studio, "hello there", "password")  # of neither
    apply_repair(studio, "p", merge, "as it was shown", seen=seen)
    assert words(studio)["delivery"] == ("", 10)


def test_no_text_is_split_off_that_was_changed_meanwhile(
    studio: Studio, of: dict[str, str]
) -> None:
    seen = revision(studio)
    text = rows(studio)["I want my money back"].id
    label(studio, "I want my money back", "parcel")
    label(studio, "I want my money back", "refund")
    with pytest.raises(Conflict, match="A text was changed meanwhile"):
        apply_repair(studio, "p", repairs_of(of, text)["split"], "too late", seen=seen)
    apply_repair(studio, "p", repairs_of(of, text)["split"], "unseen")  # by a program
    assert words(studio)["payout"] == ("", 1)
