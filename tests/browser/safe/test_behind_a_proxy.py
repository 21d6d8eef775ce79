"""Every page works where a proxy puts a path before the studio, and keeps apart what it keeps."""

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID

import pytest
from playwright.sync_api import Page, expect

from app.ui.navigation import PAGES
from tests.builders.proxied.proxy import Proxy
from tests.builders.proxied.studio import behind
from tests.builders.served_studio import Served, copy_home

ASKED = "the wifi does not reach my bedroom"
_GRADIO_S_OWN = {"/manifest.json"}
"""Gradio's page names it by a path without the prefix; no page needs it."""


@pytest.fixture(scope="module")
def studio(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = copy_home(sample_home, tmp_path_factory.mktemp("proxied") / "home")
    with behind(Proxy("/nlu/intents", passes_host=False), home) as (served, proxy):
        yield served
    assert set(proxy.outside) <= _GRADIO_S_OWN


def test_every_page_opens_and_leads_to_the_others(
    visit: Callable[..., Page], studio: Served
) -> None:
    page = visit(studio, "/?project=sample")
    for _, path, _ in PAGES:
        page.goto(f"{studio.base}/{path}?project=sample")
        page.wait_for_selector(".studio h1")
        links = page.locator(".studio a[href]").evaluate_all("all => all.map(at => at.href)")
        assert links
        assert [link for link in links if not link.startswith(f"{studio.base}/")] == []
        expect(page.locator("main .note.bad")).to_have_count(0)


def test_a_label_is_saved_and_what_the_browser_keeps_bears_the_prefix(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Studios behind one proxy share the browser's storage: labels would go to another studio."""
    page = visit(studio, "/label?project=sample")
    page.wait_for_function("document.querySelector('[data-role=utterance]')?.dataset.id")
    before = studio.ask("/projects/sample/status")["revision"]
    page.keyboard.press("1")
    page.wait_for_function(
        """async before => (await (await fetch('/nlu/intents/api/projects/sample/status')).json())
        .revision > before""",
        arg=before,
    )
    kept = page.evaluate("Object.keys(localStorage)")
    assert "/nlu/intents project" in kept
    own = [name for name in kept if name.startswith(("project", "outbox", "set aside"))]
    assert own == []


def test_pages_work_where_browsers_offer_neither_keys_nor_a_clipboard(
    visit: Callable[..., Page], studio: Served
) -> None:
    """By http under another name than localhost every page of a project ended with an error."""
    page = visit(studio)
    page.add_init_script(
        "delete Crypto.prototype.randomUUID; delete Navigator.prototype.clipboard;"
    )
    page.goto(f"{studio.base}/label?project=sample")
    page.wait_for_function("document.querySelector('[data-role=utterance]')?.dataset.id")
    page.keyboard.press("s")
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")
    keys = page.evaluate(
        """import('/nlu/intents/studio/js/shared/new_key.js')
        .then(({newKey}) => [newKey(), newKey()])"""
    )
    assert [UUID(key).version for key in keys] == [4, 4]
    assert len(set(keys)) == 2
    page.goto(f"{studio.base}/versions?project=sample")
    page.get_by_role("button", name="Report").click()
    page.get_by_text("A link that works only on this computer").click()
    page.get_by_role("button", name="Make a link").click()
    expect(page.get_by_label("Link to the report")).to_be_visible()
    expect(page.get_by_role("button", name="Copy", exact=True)).to_have_count(0)


def test_a_receipt_is_opened_downloaded_and_shared(
    visit: Callable[..., Page], studio: Served, tmp_path: Path
) -> None:
    page = visit(studio, f"/try?project=sample&text={ASKED.replace(' ', '+')}")
    why = page.get_by_role("region", name="Why")
    why.locator("summary").click()
    with page.context.expect_page() as opened:
        why.get_by_role("button", name="Open the receipt").click()
    expect(opened.value.locator("h1")).to_have_text(f"“{ASKED}”")
    assert opened.value.url.startswith(f"{studio.base}/receipts/")
    with opened.value.expect_download() as saved:
        opened.value.get_by_role("link", name="Download HTML").click()
    saved.value.save_as(tmp_path / "receipt.html")
    assert ASKED in (tmp_path / "receipt.html").read_text(encoding="utf-8")
    why.get_by_text("A link that works only on this computer").click()
    why.get_by_role("button", name="Make a link").click()
    link = why.get_by_label("Link to the receipt").input_value()
    assert link.startswith(f"{studio.base}/receipts/")


def test_files_are_downloaded_through_the_proxy(visit: Callable[..., Page], studio: Served) -> None:
    page = visit(studio, "/data?project=sample")
    page.locator("summary", has_text="Export").click()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Export CSV").click()
    assert saved.value.url.startswith(f"{studio.base}/api/")
    assert Path(saved.value.path()).read_text(encoding="utf-8").startswith("id,text,intent")
