"""The whole story of the sample project, as somebody lives it who opens the studio newly."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Request, expect

from tests.builders.held_answers import reroute, settle
from tests.builders.served_studio import Served, probe, run

_NEW = (
    "question;kind\n"
    "the box under the tv blinks red and nothing works;no_internet\n"
    "can i keep my old number when i come to you;keep_number\n"
    "nothing loads on any device since this morning;\n"
    "my bill is twelve euros higher than last month;\n"
)


def test_the_whole_story(
    visit: Callable[..., Page], serve: Callable[..., Served], tmp_path: Path
) -> None:
    studio = serve(empty=True, sample=True)
    page = visit(studio)
    opens_the_sample(page)
    imports_a_file(page, studio, tmp_path)
    labels_twenty_with_keys(page, studio)
    lassos_five(page, studio)
    retrains_and_changes_its_mind(page, studio)
    retrains_and_promotes(page, studio)
    tries_and_pins(page, studio)
    size = hands_over(page, studio, 2, tmp_path)
    tunes_an_adapter(page, studio)
    assert hands_over(page, studio, 3, tmp_path) == pytest.approx(size, rel=0.1)  # with its base


def go(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Pages").get_by_role("link", name=name).click()
    page.wait_for_selector(f"h1:has-text('{name}')")


def opens_the_sample(page: Page) -> None:
    page.get_by_role("link", name="sample").click()
    page.wait_for_selector("h1:has-text('Label')")
    page.wait_for_selector("[data-role=champion]:has-text('v1')")
    page.wait_for_selector(".option")


def imports_a_file(page: Page, studio: Served, tmp_path: Path) -> None:
    go(page, "Data")
    file = tmp_path / "new.csv"
    file.write_text(_NEW, encoding="utf-8")
    before = counts(studio)
    page.get_by_label("File to import").set_input_files(file)
    preview = page.locator("[data-role=preview]")
    expect(preview.locator("th")).to_have_text(["question", "kind"])
    preview.get_by_label("Intent is in").select_option("kind")
    expect(preview.get_by_role("checkbox")).to_be_checked()
    expect(preview.get_by_text("new intent: keep_number")).to_be_visible()
    preview.get_by_text("4 new texts, 2 of them labelled.").wait_for()
    preview.get_by_role("button", name=re.compile("made for you")).click()
    preview.get_by_role("button", name="Import").click()
    page.locator("[data-role=imported]", has_text="4 new texts").wait_for()
    after = counts(studio)
    assert after["total"] - before["total"] == 4
    assert after["labelled"] - before["labelled"] == 2
    page.get_by_label("Search in texts").fill("TWELVE euros")
    page.wait_for_selector("[data-role=total]:has-text('1 text')")
    assert "text=TWELVE" in page.url


def labels_twenty_with_keys(page: Page, studio: Served) -> None:
    go(page, "Label")
    before = counts(studio)["unlabelled"]
    decided = []
    for turn in range(20):
        page.wait_for_selector(".option >> nth=0")
        decided.append(shown(page))
        if turn % 5 == 4:
            page.keyboard.press("o")
        elif turn % 5 == 3:
            page.keyboard.press("/")
            page.keyboard.type("no internet")
            page.keyboard.press("Enter")
        else:
            page.keyboard.press("Enter")
        page.wait_for_function(
            "id => document.querySelector('[data-role=utterance]').dataset.id !== id",
            arg=decided[-1],
        )
    all_saved(page)
    assert len(set(decided)) == 20
    assert counts(studio)["unlabelled"] == before - 20
    page.keyboard.press("u")
    assert shown(page) == decided[-1]
    all_saved(page)
    page.wait_for_function(
        "() => document.querySelector('[data-role=saved]').textContent === 'all saved'"
    )
    assert counts(studio)["unlabelled"] == before - 19
    page.wait_for_selector(".state .badge:has-text('since version')")


def lassos_five(page: Page, studio: Served) -> None:
    reroute(page, "**/map/layout", lambda route: route.fulfill(status=202, json={"job": ""}))
    go(page, "Map")
    page.wait_for_selector(".map[data-ready=true]")
    circle = page.evaluate(probe("five_points"))
    turns = [2 * math.pi * step / 24 for step in range(26)]
    path = [
        (
            circle["x"] + circle["radius"] * math.cos(turn),
            circle["y"] + circle["radius"] * math.sin(turn),
        )
        for turn in turns
    ]
    page.mouse.move(*path[0])
    page.mouse.down()
    for x, y in path[1:]:
        page.mouse.move(x, y)
    page.mouse.up()
    page.wait_for_selector("[data-role=picked]:has-text('5 texts selected')")
    page.get_by_role("combobox", name="Choose the label").fill("cancel")
    page.wait_for_selector("li[role=option]:has-text('cancel')")
    with page.expect_response(lambda one: counts_a_label(one.request)):
        page.keyboard.press("Enter")
    settle(page)  # the boxes are those of this label
    expect(page.locator("[data-role=chosen-label]")).to_contain_text("cancel_contract")
    expect(page.locator("[data-role=reach]")).to_contain_text("unlabelled")
    for box in page.locator("[data-role=reach] input").all():
        box.check()
    # Those of the five that have this label already are not counted.
    page.get_by_role("button", name=re.compile(r"^Label \d texts?$")).click()
    page.wait_for_selector("[data-role=newest]:has(.good):has-text('labelled')")
    chips = page.locator("[data-role=selection] li .chip")
    expect(chips).to_have_text(["cancel_contract"] * 5)
    assert studio.ask("/projects/sample/history")[0]["verb"] == "label"


def counts_a_label(request: Request) -> bool:
    """Whether the page asks how many texts the label would change that was just chosen."""
    if not request.url.endswith("/edits/count"):
        return False
    return bool(request.post_data_json.get("value"))


def retrains_and_changes_its_mind(page: Page, studio: Served) -> None:
    go(page, "Train")
    page.get_by_role("radio", name="Best").click()
    expect(page.locator("[data-role=estimate]")).to_have_text("Your labels stay as they are.")
    page.get_by_role("button", name="Retrain").click()
    page.wait_for_selector("[data-role=job-state]:has-text('running')")
    page.wait_for_selector("summary:has-text('How the training went')", timeout=600_000)
    page.reload()
    page.wait_for_selector("[data-role=job-state]:has-text('running')")
    page.wait_for_selector("summary:has-text('How the training went')")
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_selector("[data-role=job-state]:has-text('cancelled')")
    assert [model["number"] for model in models(studio)] == [1]


def retrains_and_promotes(page: Page, studio: Served) -> None:
    form = page.locator("#settings-convfit")
    form.get_by_text("Settings of the training", exact=True).click()
    before = page.locator("[data-role=estimate]").inner_text()
    form.get_by_label("Rounds over your examples").fill("1")
    expect(page.locator("[data-role=estimate]")).not_to_have_text(before)
    page.get_by_role("button", name="Retrain").click()
    page.wait_for_selector("[data-role=job-state]:has-text('done')", timeout=600_000)
    page.wait_for_selector("[data-role=verdict]")
    assert "test texts" in page.get_by_role("region", name="Result").inner_text()
    page.get_by_role("button", name="Use version 2").click()
    page.wait_for_selector("[data-role=champion]:has-text('v2')")
    assert {model["number"]: model["champion"] for model in models(studio)} == {1: False, 2: True}


def tries_and_pins(page: Page, studio: Served) -> None:
    go(page, "Try")
    page.get_by_label("Text to try").fill("my wifi does not reach the bedroom")
    answer = page.locator("[data-role=answer]")
    answer.get_by_text("What votes for").wait_for(timeout=60_000)
    assert "wifi_coverage" in answer.inner_text()
    page.get_by_label("Expected intent").select_option(label="wifi_coverage")
    page.get_by_role("button", name="Pin").click()
    page.wait_for_selector("[data-role=pins] .badge:has-text('kept')")
    [pin] = studio.ask("/projects/sample/pins")
    assert (pin["text"], pin["expected"], pin["kept"]) == (
        "my wifi does not reach the bedroom",
        "wifi_coverage",
        True,
    )


def hands_over(page: Page, studio: Served, number: int, tmp_path: Path) -> int:
    """Download a version's bundle, have it verified by the command line, and return its size."""
    go(page, "Versions")
    row = page.locator(f"[data-role=models] > li[data-version='{number}']")
    with page.expect_download() as coming:
        row.get_by_role("button", name="Hand over").click()
        page.get_by_role("link", name="Download", exact=True).click()
    bundle = tmp_path / f"handed-over-{number}.zip"
    coming.value.save_as(bundle)
    verdict = json.loads(run(studio.home, "bundle", "verify", str(bundle), "--json"))
    assert verdict["files"] > 5
    return bundle.stat().st_size


def tunes_an_adapter(page: Page, studio: Served) -> None:
    """One intent an utterance, small layers only: the studio keeps a few MB more, not 90."""
    kept = bytes_kept(studio)
    go(page, "Train")
    page.get_by_text("More ways", exact=True).click()
    page.get_by_role("radio", name="Small").click()
    expect(page.get_by_role("radio", name="Small")).to_have_attribute("aria-checked", "true")
    form = page.locator("#settings-adapter")
    form.get_by_text("Settings of the training", exact=True).click()
    form.get_by_label("Rounds over your examples").fill("1")
    page.get_by_role("button", name="Retrain").click()
    page.wait_for_selector("[data-role=job-state]:has-text('running')")
    page.wait_for_selector("[data-role=job-state]:has-text('done')", timeout=600_000)
    page.wait_for_selector("[data-role=verdict]")
    assert models(studio)[-1]["recipe"] == "adapter"
    assert bytes_kept(studio) - kept < 8_000_000


def bytes_kept(studio: Served) -> int:
    """What the files of all model versions take on the disk."""
    return sum(path.stat().st_size for path in (studio.home / "artifacts").rglob("*"))


def shown(page: Page) -> str:
    return str(page.locator("[data-role=utterance]").get_attribute("data-id"))


def all_saved(page: Page) -> None:
    page.wait_for_selector("[data-role=saved]:has-text('all saved')")


def counts(studio: Served) -> dict[str, int]:
    return dict(studio.ask("/projects/sample/overview")["counts"])


def models(studio: Served) -> list[dict[str, Any]]:
    return list(studio.ask("/projects/sample/versions")["models"])
