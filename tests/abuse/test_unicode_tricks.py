"""Names that look like others, and signs that turn the letters after them round."""

import json
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from app.services.data.importing import ImportReport, ImportRequest, import_file
from app.services.data.intents import add_intent, change_intent, load_overview
from app.services.data.projects import create_project
from app.services.labelling.decisions import Operation, decide
from app.services.studio import Studio
from app.services.what_if.repairs import Repair, apply_repair
from core.errors import Conflict
from core.lookalikes import lookalike
from storage import projects
from storage.queries import utterances
from tests.abuse.table import Abuse
from tests.builders.hostile.mixed_scripts import CYRILLIC, TURNED, TURNS

ABUSES = (
    Abuse(
        27,
        "Intents whose names look the same, and texts with signs of direction",
        "Cyrillic, Greek, Armenian and full-width letters for Latin ones, in names that are "
        "created, given anew, made while labelling and imported; each of the nine signs of "
        "direction in texts on pages, in receipts and in reports",
        "a name that looks like another is refused with the sign that differs, and told in an "
        "import's preview; the signs are shown by their names, such as [RLO], and turn nothing",
        ("tests/browser/test_hostile_texts.py",),
    ),
)


@pytest.fixture
def refunds(studio: Studio) -> str:
    create_project(studio, "p")
    add_intent(studio, "p", "refund")
    add_intent(studio, "p", "parcel")
    return "p"


def test_a_name_that_looks_like_another_is_not_created(studio: Studio, refunds: str) -> None:
    """Two intents 'refund' stood in every list, one with a Cyrillic letter: labels went to both."""
    with pytest.raises(Conflict, match=r"looks like the intent 'refund'.*Cyrillic.*U\+0435"):
        add_intent(studio, refunds, CYRILLIC)
    names = {intent.name: intent.id for intent in load_overview(studio, refunds)[1]}
    with pytest.raises(Conflict, match="looks like the intent 'refund'"):
        change_intent(studio, refunds, names["parcel"], {"name": CYRILLIC})
    assert set(names) == {"refund", "parcel"}


def test_a_name_may_be_mended_into_the_letters_it_looks_like(studio: Studio, refunds: str) -> None:
    names = {intent.name: intent.id for intent in load_overview(studio, refunds)[1]}
    change_intent(studio, refunds, names["refund"], {"name": "money back"})
    key = add_intent(studio, refunds, CYRILLIC)
    change_intent(studio, refunds, key, {"name": "refund"})
    assert {intent.name for intent in load_overview(studio, refunds)[1]} >= {"refund", "money back"}


def test_labelling_and_repairs_make_no_lookalike(
    studio: Studio, refunds: str, tmp_path: Path
) -> None:
    imported(studio, tmp_path, [{"text": "give it back", "intents": ["refund"]}], dry=False)
    with studio.database.read() as connection:
        found = utterances.by_text(
            connection, projects.find(connection, refunds).id, "give it back"
        )
    intents = load_overview(studio, refunds)[1]
    operation = Operation("0" * 32, "label", found[0].id, create=(CYRILLIC,), seen=found[0].labels)
    outcome = decide(studio, refunds, [operation])[0]
    assert outcome.state == "conflict"
    assert "looks like the intent 'refund'" in outcome.message
    for repair in (
        Repair("split", (found[0].id,), intent=intents[0].id, value=CYRILLIC),
        Repair("rename", intent=intents[1].id, value=CYRILLIC),
    ):
        with pytest.raises(Conflict, match="looks like the intent 'refund'"):
            apply_repair(studio, refunds, repair, "1" * 32)
    assert len(load_overview(studio, refunds)[1]) == 2


def imported(
    studio: Studio, tmp_path: Path, rows: list[dict[str, object]], *, dry: bool
) -> ImportReport:
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return import_file(studio, ImportRequest("p", file, dry_run=dry))


def test_an_import_tells_of_lookalikes_before_it_writes(
    studio: Studio, refunds: str, tmp_path: Path
) -> None:
    rows = [
        {"text": "my money", "intents": [CYRILLIC]},
        {"text": "my train", "intents": ["train"]},
        {"text": "my other train", "intents": ["tr\uff41in"]},
    ]
    report = imported(studio, tmp_path, rows, dry=True)
    assert len(report.examples) == 2
    assert report.examples[0].startswith(f"The new intent '{CYRILLIC}' looks like 'refund'")
    assert "looks like 'train'" in report.examples[1]
    assert imported(studio, tmp_path, rows, dry=False).examples == report.examples
    assert imported(studio, tmp_path, rows, dry=True).examples == ()


def test_a_receipt_shows_the_signs_that_turn_letters(client: TestClient, trained: str) -> None:
    """A text with an override was read backwards, with all that stood behind it."""
    made = client.post(f"/api/projects/{trained}/receipts", json={"text": TURNED})
    page = client.get(f"/receipts/{made.json()['id']}").text
    assert not TURNS & set(page)
    assert "invoice [RLO]fdp.exe" in page


def test_no_name_of_another_script_is_refused_by_itself() -> None:
    words = [
        "\u0437\u0430\u043a\u0430\u0437",
        "\u6ce8\u6587",
        "\u0637\u0644\u0628",
        "order",
        "Order",
    ]
    assert [lookalike(word, words) for word in words] == [None] * len(words)
