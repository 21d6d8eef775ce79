"""What a sync left undecided is a finding in Review; what is decided goes to the folder."""

import json
from pathlib import Path

import pytest

from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.review import review
from app.services.review.findings import Finding
from app.services.studio import Studio
from app.services.sync.report import answers_of
from app.services.sync.syncing import SyncRequest, sync_folder
from app.services.what_if import repairs
from app.services.what_if.repairs import Repair
from storage.queries import dataset
from tests.builders.trained_home import intent_ids


@pytest.fixture
def live_studio(home: Studio) -> LiveStudio:
    return open_live_studio(home)


def sync(live_studio: LiveStudio, folder: Path) -> None:
    sync_folder(live_studio.studio, SyncRequest("p", folder, author="Ben"))


def lines(folder: Path) -> dict[str, dict[str, object]]:
    text = (folder / "utterances.jsonl").read_text(encoding="utf-8")
    return {row["text"]: row for row in map(json.loads, text.splitlines())}


def write(folder: Path, rows: dict[str, dict[str, object]]) -> None:
    text = "".join(json.dumps(row) + "\n" for row in rows.values())
    (folder / "utterances.jsonl").write_text(text, encoding="utf-8")


def found(live_studio: LiveStudio) -> list[Finding]:
    return [f for f in review.review(live_studio, "p").findings if f.kind == "people"]


def test_two_answers_are_shown_first_and_what_is_decided_goes_to_the_folder(
    live_studio: LiveStudio, tmp_path: Path
) -> None:
    studio, folder, keys = live_studio.studio, tmp_path / "folder", intent_ids(live_studio.studio)
    sync(live_studio, folder)
    with studio.database.read() as connection:
        ids = {r.text: r.id for r in dataset.utterances(connection, 1)}
    rows, mine, theirs = lines(folder), keys["parcel"], keys["refund"]
    labelled = (text for text, row in sorted(rows.items()) if row["labels"])
    first, second, third = [
        text for text in labelled if rows[text]["labels"] not in ([mine], [theirs])
    ][:3]
    for text in (first, second):
        repair = Repair("relabel", (ids[text],), (mine,))
        repairs.apply_repair(studio, "p", repair, f"mine {text}")
        rows[text]["labels"] = [theirs]
    repairs.apply_repair(studio, "p", Repair("delete", (ids[third],)), "gone")
    rows[third]["labels"] = [mine]
    write(folder, rows)
    sync(live_studio, folder)
    listed = {finding.texts[0].text: finding for finding in found(live_studio)}
    assert listed.keys() == {first, second, third}
    assert review.review(live_studio, "p").findings[0].kind == "people"
    assert "Ben in the folder has “refund”" in listed[first].why
    kept, taken, gone = (listed[text] for text in (first, second, third))
    assert (kept.texts[0].intents, kept.texts[0].suggested) == ((mine,), (theirs,))
    repairs.keep_finding(studio, "p", kept.id, "keep")
    for number, finding in enumerate((taken, gone)):
        [repair] = [r.repair for r in finding.remedies if r.words.startswith("Take")]
        assert repair is not None
        repairs.apply_repair(studio, "p", repair, f"take {number}", finding.id)
    assert found(live_studio) == []
    sync(live_studio, folder)
    after = lines(folder)
    assert [after[text]["labels"] for text in (first, second, third)] == [[mine], [theirs], [mine]]
    before = (folder / "utterances.jsonl").read_bytes()
    sync(live_studio, folder)
    assert (folder / "utterances.jsonl").read_bytes() == before


def test_what_differs_beside_the_label_is_told_in_words() -> None:
    """A designer read “beside '{"rasa": {"id": "p7"}}'” and “slots [[5, 12, 'when']]” in Review."""
    row = {
        "text": "good morning",
        "labels": ["g"],
        "split": "train",
        "slots": [],
        "flagged": "",
        "skipped": 0,
        "source": "a.csv",
        "synthetic": "",
        "beside": "",
    }
    other = row | {
        "split": "test",
        "slots": [[5, 12, "when"]],
        "flagged": "twice",
        "skipped": 1,
        "beside": '{"language": "de", "rasa": {"id": "p7", "more": {"a": [1]}}}',
    }
    mine, theirs = answers_of(row, other, {"g": "greeting"}, "single-label")
    assert mine == (
        "nothing beside the text, not flagged, not skipped, no marked values, an example"
    )
    assert theirs == (
        "language de, id p7, flagged: twice, skipped, values: when “morning”, a test text"
    )
    assert not any(sign in mine + theirs for sign in "{}[]'")
