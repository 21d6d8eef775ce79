"""A designer asks why; a stakeholder reads the evidence behind a link, and changes nothing."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.builders.served_studio import Served

ASKED = "the wifi does not reach my bedroom"


def test_a_stakeholder_reads_the_receipt_behind_a_link(
    visit: Callable[..., Page],
    serve: Callable[..., Served],
    chromium: Browser,
    tmp_path: Path,
) -> None:
    studio = serve()
    page = visit(studio, f"/try?project=sample&text={ASKED.replace(' ', '+')}")
    asks_why(page)
    link = keeps_a_receipt(page, tmp_path)
    stakeholder = chromium.new_context(viewport={"width": 390, "height": 844}).new_page()
    reads_it(stakeholder, link)
    changes_nothing(stakeholder, studio)
    stakeholder.context.close()


def asks_why(page: Page) -> None:
    why = page.get_by_role("region", name="Why")
    why.locator("summary").click()
    expect(why.locator("[data-role=words] span")).to_have_count(len(ASKED.split()))
    rival = why.get_by_label("Why not this intent")
    rival.select_option("no_internet")
    # “Words, against no_internet” said nothing of the colours.
    expect(why.locator(".key span")).to_have_text(["wifi_coverage", "no_internet"])
    expect(why.locator("[data-role=why-not]")).to_contain_text(
        "Adding this text to no_internet would make that the answer."
    )
    expect(why.locator("[data-role=heads] tbody tr")).to_have_count(4)


def keeps_a_receipt(page: Page, tmp_path: Path) -> str:
    why = page.get_by_role("region", name="Why")
    with page.context.expect_page() as opened:
        why.get_by_role("button", name="Open the receipt").click()
    expect(opened.value.locator("h1")).to_have_text(f"“{ASKED}”")
    opened.value.get_by_role("link", name="Back to Try").click()  # it was a dead end
    expect(opened.value.get_by_label("Text to try")).to_have_value(ASKED)
    with page.expect_download() as printed:
        why.get_by_role("button", name="Download PDF").click()
    printed.value.save_as(tmp_path / "receipt.pdf")
    assert (tmp_path / "receipt.pdf").read_bytes().startswith(b"%PDF")
    assert b"/Count 3" in (tmp_path / "receipt.pdf").read_bytes()
    why.get_by_text("A link that works only on this computer").click()
    why.get_by_role("button", name="Make a link").click()
    return str(why.get_by_label("Link to the receipt").input_value())


def reads_it(page: Page, link: str) -> None:
    page.goto(link)
    assert "token" not in page.url
    expect(page.locator("h1")).to_have_text(f"“{ASKED}”")
    expect(page.get_by_role("link", name="Back to Try")).to_have_count(0)
    expect(page.locator(".lead")).to_contain_text("The model takes this text for wifi_coverage")
    expect(page.get_by_role("heading", name="Why not no_internet?")).to_be_visible()
    # The score stood on a line of its own below its name.
    lines = page.locator(".sum b").evaluate_all(
        "all => all.map(at => at.getBoundingClientRect().y)"
    )
    assert max(lines) - min(lines) < 8
    # “+39.7” stood beside “8 % of what speaks for it”.
    expect(page.locator(".vote").first).to_contain_text("similarity")
    expect(page.locator(".vote").first).not_to_contain_text("%")
    assert page.evaluate("document.scripts.length") == 0
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def changes_nothing(page: Page, studio: Served) -> None:
    for path in ("/", "/data?project=sample", "/api/projects/sample/utterances"):
        assert page.goto(studio.base + path).status == 403
    asked = page.request.post(f"{studio.base}/api/projects/sample/receipts", data={"text": "x"})
    assert asked.status == 403
