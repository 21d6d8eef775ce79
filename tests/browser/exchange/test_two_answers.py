"""Two people answered a text differently, one here and one in the folder: Review asks."""

import json
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.builders.served_studio import Served, run

_MADE = "[data-role=newest]:has(.good)"


def _rows(folder: Path) -> list[dict[str, object]]:
    text = (folder / "utterances.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _label(folder: Path, text: str) -> object:
    return next(row["labels"] for row in _rows(folder) if row["text"] == text)


def test_a_conflict_of_a_sync_is_decided_in_review_and_goes_to_the_folder(
    visit: Callable[..., Page], serve: Callable[..., Served], tmp_path: Path
) -> None:
    studio, folder = serve(), tmp_path / "folder"
    run(studio.home, "sync", "sample", str(folder))
    intents = {
        row["name"]: row["id"]
        for row in map(json.loads, (folder / "intents.jsonl").read_text("utf-8").splitlines())
    }
    text = "why is my internet so slow in the evening"
    rows = _rows(folder)
    for row in rows:
        if row["text"] == text:
            row["labels"] = [intents["no_internet"]]
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / "utterances.jsonl").write_text(lines, encoding="utf-8")
    mine = tmp_path / "mine.csv"
    mine.write_text(f"text,intent\n{text},wifi_coverage\n", encoding="utf-8")
    run(studio.home, "import", "sample", str(mine), "--conflicts", "file")
    assert "1 conflict" in run(studio.home, "sync", "sample", str(folder), "--author", "Ben")

    page = visit(studio, "/review?project=sample")
    first = page.locator("[data-role=findings] button").first
    expect(first).to_contain_text(text)
    expect(first).to_contain_text("two people’s labels")  # an answer is what the model gives
    first.click()
    finding = page.locator("[data-role=finding]")
    expect(finding).to_contain_text("Two people decided differently")
    expect(finding).to_contain_text("Ben in the folder has “no_internet”")
    # “Nothing changes” stood below what replaces the label of somebody else.
    kept = finding.locator(".remedy", has_text="Keep the project’s: ")
    expect(kept).to_contain_text("The next sync puts it in the place of the folder’s.")
    taken = finding.locator(".remedy", has_text="Take the folder’s: no_internet")
    page.keyboard.press(taken.locator("kbd").inner_text())
    expect(page.locator(_MADE)).to_contain_text("no_internet")
    printed = run(studio.home, "sync", "sample", str(folder))
    assert "conflict" not in printed
    assert _label(folder, text) == [intents["no_internet"]]
    rows_here = studio.ask("/projects/sample/utterances?text=slow+in+the+evening")["rows"]
    assert [row["labels"] for row in rows_here if row["text"] == text] == [[intents["no_internet"]]]
