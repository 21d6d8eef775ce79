"""What the Label page says of texts that come before its order."""

from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

from tests.builders.held_answers import hold, reroute
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


def test_drawn_test_texts_stay_first_when_another_version_answers(
    visit: Callable[..., Page], studio: Served
) -> None:
    """All but one of them left the queue as another version went live, and nobody labelled them."""
    page = visit(studio, "/label?project=sample&tests=3")
    page.get_by_role("dialog").get_by_role("button", name="Draw 3 texts").click()
    expect(page.locator("[data-role=few]")).to_have_text("0 of these 3")
    # Nothing on the card said so, and "Labels count at once, and in the next training" stood below.
    expect(page.locator(".card").get_by_text("test text", exact=True)).to_be_visible()
    counting = page.locator("[data-role=counting]")
    expect(counting).to_contain_text("no training learns from it.")
    queue, answers = hold(page, "**/queue?*"), hold(page, "**/suggestions?*")

    def promoted(route: Route) -> None:
        route.fulfill(json={**route.fetch().json(), "champion": 7})

    reroute(page, "**/sample/status", promoted)
    expect(page.get_by_text("Version 7 answers now.")).to_be_visible()
    queue.arrived()
    queue.release()
    note = page.locator(".order-note")
    expect(note).to_have_text("3 test texts to label, drawn at random.")
    answers.arrived()  # of that version, for the two that follow
    answers.release()
    text, seen = page.locator("[data-role=utterance]"), list[str]()
    for left in ("3 test texts", "2 test texts", "1 test text"):
        expect(note).to_have_text(f"{left} to label, drawn at random.")
        seen.append(text.get_attribute("data-id") or "")
        page.keyboard.press("s")
    expect(note).not_to_contain_text("drawn at random")
    # “3 done. See how good the model is” led to a page without one of their labels.
    expect(page.locator("[data-role=few]")).to_have_text("0 labelled, 3 without a label.")
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")
    tests = studio.ask("/projects/sample/utterances?size=9&split=test&state=skipped")["rows"]
    assert {row["id"] for row in tests} == set(seen)
    page.unroute_all(behavior="wait")
