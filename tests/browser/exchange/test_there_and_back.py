"""A designer drops an agent, mends its labels in Review, and takes it back with these changed."""

import csv
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.exchange.agent_steps import take_all, take_back
from tests.builders.served_studio import Served, run
from tests.core.platforms.exports import read_export

_TWICE = "my wifi does not reach the bedroom at all"
_SAMPLE = Path(__file__).parents[3] / "assets" / "sample" / "labelled.csv"
_MADE = "[data-role=newest]:has(.good)"


def agent(folder: Path) -> Path:
    """An agent of Dialogflow ES with the sample's texts, and one text under two intents."""
    with _SAMPLE.open(encoding="utf-8", newline="") as stream:
        rows = [(row["text"], row["intent"]) for row in csv.DictReader(stream)]
    rows += [(_TWICE, "wifi_coverage"), (f"{_TWICE}!", "cancel_contract")]
    path = folder / "agent.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr(
            "agent.json", '{"language": "en", "webhook": {"url": "https://a.example"}}'
        )
        package.writestr("package.json", '{"version": "1.0.0"}')
        for intent in sorted({name for _, name in rows}):
            head = {"id": f"id of {intent}", "name": intent, "responses": [{"action": intent}]}
            package.writestr(f"intents/{intent}.json", json.dumps(head, indent=4))
            said = [
                {
                    "id": f"{intent} {at}",
                    "data": [{"text": text, "userDefined": False}],
                    "isTemplate": False,
                    "count": at % 3,
                    "updated": 1_600_000_000 + at,
                }
                for at, (text, of) in enumerate(rows)
                if of == intent
            ]
            name = f"intents/{intent}_usersays_en.json"
            package.writestr(name, json.dumps(said, indent=2))
    return path


def test_labels_that_are_mended_in_review_go_back_alone(
    visit: Callable[..., Page], serve: Callable[..., Served], tmp_path: Path
) -> None:
    studio = serve()
    run(studio.home, "new", "shop")
    package = agent(tmp_path)
    page = visit(studio, "/data?project=shop")
    page.get_by_label("File to import").set_input_files(package)
    expect(page.locator("[data-role=preview]")).to_contain_text("Dialogflow ES: phrases in")
    take_all(page)
    expect(page.locator("[data-role=imported]")).to_contain_text("new texts")
    run(studio.home, "train", "shop", "--recipe", "instant")

    page = visit(studio, "/review?project=shop")
    first = page.locator("[data-role=findings] button").first
    expect(first).to_contain_text("conflicting labels")
    both = page.locator(".remedy", has_text="Both “wifi_coverage”")
    page.keyboard.press(both.locator("kbd").inner_text())
    expect(page.locator(_MADE)).to_contain_text("as “wifi_coverage”")

    page = visit(studio, "/data?project=shop")
    out = tmp_path / "back.zip"
    take_back(page, package, out)
    before, after = read_export(package), read_export(out)
    assert list(after) == list(before)
    left, got = (
        f"intents/{intent}_usersays_en.json" for intent in ("cancel_contract", "wifi_coverage")
    )
    assert {name for name in before if before[name] != after[name]} == {left, got}
    moved = [one for one in json.loads(before[left]) if one not in json.loads(after[left])]
    assert [one["data"][0]["text"] for one in moved] == [f"{_TWICE}!"]
    assert json.loads(after[got]) == [*json.loads(before[got]), *moved]


def test_the_whole_project_is_taken_to_another_platform(
    visit: Callable[..., Page], serve: Callable[..., Served], tmp_path: Path
) -> None:
    studio = serve()
    page = visit(studio, "/data?project=sample")
    page.locator("summary", has_text="Export").click()
    page.get_by_role("button", name="For a platform").click()
    sheet = page.get_by_role("region", name="For a platform")
    expect(sheet).to_contain_text("A new agent of intents and phrases alone: it has no responses")
    sheet.get_by_label("Platform or tool").select_option(label="Prodigy")
    expect(sheet).to_contain_text("Prodigy:")
    expect(sheet).not_to_contain_text("A new agent")
    sheet.get_by_label("Platform or tool").select_option(label="Amazon Lex test set")
    expect(sheet.get_by_role("alert")).to_contain_text("There are no pins")
    expect(sheet.get_by_role("alert")).to_contain_text("Pin a text on the page Try")
    expect(page.locator(".toast")).to_have_count(0)
    sheet.get_by_label("Platform or tool").select_option(label="Amazon Lex V2")
    expect(sheet).to_contain_text("Amazon Lex V2:")
    expect(sheet).not_to_contain_text("There are no pins")
    expect(sheet).to_contain_text("Left out: texts without a label")
    with page.expect_download() as downloading:
        sheet.get_by_role("link", name="Download").click()
    out = tmp_path / "lex.zip"
    downloading.value.save_as(out)
    assert downloading.value.suggested_filename == "sample-lex.zip"
    names = list(read_export(out))
    assert any(name.endswith("/Intents/wifi_coverage/Intent.json") for name in names)
    sheet.get_by_role("button", name="Back into an agent").click()
    expect(sheet).to_be_hidden()
    expect(page.get_by_role("region", name="Back into an agent")).to_be_visible()


def test_a_download_that_the_platform_would_refuse_says_why(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    """Download was grey, and its reason lay folded in another line."""
    refusal = {"what": "names", "count": 3, "examples": ["a long name"], "more": 2}
    studio = serve()
    page = visit(studio)
    page.route(
        "**/projects/sample/handovers/*",
        lambda route: route.fulfill(json={**route.fetch().json(), "refusals": [refusal]}),
    )
    page.goto(f"{studio.base}/data?project=sample")
    page.locator("summary", has_text="Export").click()
    page.get_by_role("button", name="For a platform").click()
    sheet = page.get_by_role("region", name="For a platform")
    expect(sheet.get_by_role("button", name="Download")).to_be_disabled()
    expect(sheet.locator("[data-role=refused]")).to_contain_text("The platform would refuse it")
    expect(sheet.get_by_text("a long name", exact=True)).to_be_visible()
    page.unroute_all(behavior="wait")
