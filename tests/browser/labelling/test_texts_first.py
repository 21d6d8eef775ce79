"""What the Label page says of texts that come before its order."""

from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

from tests.builders.served_studio import Served


def test_texts_that_another_page_chose_are_counted_down_and_then_the_order_is_told_again(
    visit: Callable[..., Page], studio: Served
) -> None:
    """ "8 texts that another page chose come first" stood there long after the eighth."""
    rows = studio.ask("/projects/sample/utterances?state=unlabelled&split=pool&size=2")["rows"]
    page = visit(studio, f"/label?project=sample&texts={','.join(row['id'] for row in rows)}")
    text = page.locator("[data-role=utterance]")
    expect(page.get_by_text("2 texts that another page chose come first.")).to_be_visible()
    for row, left in zip(rows, ("1 text that another page chose comes first.", None), strict=True):
        expect(text).to_have_text(row["text"])
        page.keyboard.press("s")
        if left:
            expect(page.get_by_text(left)).to_be_visible()
    expect(page.get_by_text("that another page chose")).to_have_count(0)
    for row in reversed(rows):
        page.keyboard.press("u")
        expect(text).to_have_text(row["text"])


def test_after_the_texts_that_review_chose_a_link_leads_back_to_it(
    visit: Callable[..., Page], studio: Served
) -> None:
    """After the last of them nothing led back to the finding that one came from."""

    def chosen(route: Route) -> None:
        found = route.fetch().json()
        rows = studio.ask("/projects/sample/utterances?state=unlabelled&split=pool&size=2")["rows"]
        ids = [row["id"] for row in rows]
        for finding in found["findings"]:
            for remedy in finding["remedies"]:
                remedy.update(label_ids=ids, words="Label these 2")
        route.fulfill(json=found)

    page = visit(studio, "/")
    page.route("**/projects/sample/review?*", chosen)
    page.goto(f"{studio.base}/review?project=sample&kind=confusion")
    page.get_by_role("button", name="Label these 2").first.click()
    expect(page.get_by_text("2 texts that another page chose come first.")).to_be_visible()
    back = page.get_by_role("link", name="Back to Review")
    for _ in range(2):
        expect(back).to_have_count(0)
        page.keyboard.press("s")
    expect(back).to_be_visible()
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")
    page.reload()
    back.click()
    expect(page.locator(".kind[data-key='kind confusion']")).to_have_attribute(
        "aria-pressed", "true"
    )
    page.unroute_all(behavior="wait")
