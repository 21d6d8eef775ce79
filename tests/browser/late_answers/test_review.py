"""The Review page while answers are late: nothing goes over what somebody has done since."""

import re
import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from playwright.sync_api import Locator, Page, expect

from tests.builders.held_answers import hold, reroute, settle
from tests.builders.served_studio import Served, add_intent_elsewhere

MADE = "[data-role=newest]:has(.good)"  # the newest act, once it is saved

_LIST = "**/api/projects/sample/review?kind={}&*"


def test_a_finding_is_kept_as_it_is_and_taken_back(
    visit: Callable[..., Page], studio: Served
) -> None:
    """What has no repair did nothing, like a question that somebody thought better of."""
    page = reviewed(visit, studio, "label")
    kept = shown(page)
    page.locator(".remedy", has_text="Keep as it is").click()
    expect(page.locator(MADE, has_text="Kept as it is")).to_be_visible()
    expect(row(page, kept)).to_have_count(0)
    page.keyboard.press("u")
    expect(page.locator("[data-role=newest]", has_text="Taken back: Kept as it is")).to_be_visible()
    expect(row(page, kept)).to_have_attribute("aria-pressed", "true")


def test_a_finding_goes_at_once_and_the_message_names_the_text_that_went(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“Delete the second” named the first, and the finding stood in the list until it was saved."""
    add_twins(studio)
    page = reviewed(visit, studio, "duplicate")
    gone, count = shown(page), page.locator("[data-key='kind duplicate']")
    before = int(re.sub(r"\D", "", count.inner_text()))
    second = page.locator("[data-role=finding] .told li [dir]").nth(1).inner_text()
    late = hold(page, "**/review/act", "POST")
    page.locator(".remedy", has_text="Delete the second").dblclick()
    late.arrived()
    expect(row(page, gone)).to_have_count(0)
    expect(count).to_have_text(re.compile(rf"Duplicates\s*{before - 1}$"))
    late.routes.pop().fulfill(status=409, json={"message": "It was refused.", "hint": ""})
    expect(row(page, gone)).to_have_count(1)
    expect(count).to_have_text(re.compile(rf"Duplicates\s*{before}$"))
    assert late.routes == []  # the second click did not meet the next finding
    row(page, gone).click()
    page.locator(".remedy", has_text="Delete the second").click()
    late.arrived()
    late.release()
    told = page.locator(MADE, has_text=f"Deleted the second: “{second}”")
    expect(told).to_be_visible()
    rows = studio.ask("/projects/sample/utterances?text=gone+for+good")["rows"]
    assert second not in [one["text"] for one in rows]


def test_a_click_is_not_lost_when_an_answer_comes_while_the_button_is_pressed(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The list was drawn anew between press and release, and the click met no button at all."""
    page = reviewed(visit, studio, "label")
    kept, late = shown(page), hold(page, _LIST.format("label"))
    add_intent_elsewhere(studio)
    late.arrived()
    answer = late.routes[0].fetch()
    remedy = page.locator(".remedy", has_text="Keep as it is")
    remedy.hover()
    drawn = remedy.element_handle()
    page.mouse.down()
    late.routes.pop(0).fulfill(response=answer)
    settle(page)
    assert drawn.evaluate("one => one.isConnected")
    page.mouse.up()
    expect(page.locator(MADE, has_text="Kept as it is")).to_be_visible()
    expect(row(page, kept)).to_have_count(0)


def test_a_finding_whose_text_was_just_changed_waits_until_it_is_counted_again(
    visit: Callable[..., Page], studio: Served
) -> None:
    """It came into the place of the one that went, and its first key undid what was just done."""
    intents = studio.ask("/projects/sample/overview")["intents"]
    first, *_, last = sorted(intents, key=lambda intent: intent["name"])
    # The encoder ignores case: each pair of the three is found, whatever order their ids give.
    for words, intent in (("my", first), ("My", last), ("MY", first)):
        add(studio, f"{words} tablet is gone for good", intent["id"])
    for words, intent in (("our", first), ("Our", last)):
        add(studio, f"{words} router is on fire again", intent["id"])
    limit = time.monotonic() + 60
    while len(about(studio, "conflict", " tablet is gone")) < 2 or not about(
        studio, "conflict", " router is on fire"
    ):  # the labels join a moment later
        assert time.monotonic() < limit
        time.sleep(0.1)
    page = reviewed(visit, studio, "conflict")
    row(page, about(studio, "conflict", " tablet is gone")[0]).click()
    gone, late = shown(page), hold(page, "**/review/act", "POST")
    texts = page.locator("[data-role=finding] .told li [dir]").all_inner_texts()
    which = "first" if texts[0].startswith("My ") else "second"
    page.locator(".remedy", has_text=f"Delete the {which}").click()
    late.arrived()
    expect(row(page, gone)).to_have_count(0)
    waits = page.locator("[data-role=findings] button.waits")
    expect(waits).to_have_count(1)
    expect(waits).to_contain_text("counting again")
    assert "tablet is gone" not in page.locator("[data-role=finding]").inner_text()  # not offered
    waits.click()
    page.keyboard.press("1")
    expect(page.locator(".toast", has_text="is being counted again")).to_be_visible()
    assert len(late.routes) == 1
    late.release()
    expect(page.locator("[data-role=findings]")).not_to_contain_text("counting again")
    expect(page.locator("[data-role=findings]")).not_to_contain_text("tablet is gone")


def test_typing_another_label_outlives_findings_drawn_anew(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The field went when the list came anew, and the letters to come were taken as commands."""
    page = reviewed(visit, studio, "label")
    page.locator(".remedy", has_text="Another label").click()
    late = hold(page, _LIST.format("label"))
    page.keyboard.type("data")
    add_intent_elsewhere(studio)
    late.arrived()
    page.keyboard.type("_u")
    late.release()
    field = page.get_by_role("combobox", name="Find the right label")
    expect(field).to_be_focused()
    page.keyboard.type("sage")
    expect(field).to_have_value("data_usage")
    page.keyboard.press("Enter")
    picked = page.locator(".remedy", has_text="Label it “data_usage”").last
    expect(picked).to_be_focused()
    add_intent_elsewhere(studio)
    late.arrived()
    late.release()
    expect(picked).to_be_focused()


def test_what_is_taken_back_is_the_newest_though_its_answer_is_late(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Before the answer had come, U took back the repair before the one just made."""
    page = reviewed(visit, studio, "label")
    first = shown(page)
    page.keyboard.press("n")
    expect(row(page, first)).to_have_count(0)
    second = shown(page)
    late = hold(page, "**/review/act", "POST")
    page.keyboard.press("n")
    late.arrived()
    page.keyboard.press("u")
    late.release()
    expect(page.locator("[data-role=newest]", has_text="Taken back")).to_be_visible()
    expect(row(page, second)).to_have_attribute("aria-pressed", "true")
    expect(row(page, first)).to_have_count(0)
    page.keyboard.press("u")
    expect(row(page, first)).to_have_attribute("aria-pressed", "true")


def test_a_repair_that_is_refused_does_not_hold_up_the_next(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Repairs go to the server in turn, and nothing of one that fails is left to be taken back."""
    page = reviewed(visit, studio, "label")
    first = shown(page)
    late = hold(page, "**/review/act", "POST")
    page.keyboard.press("n")
    late.arrived()
    expect(row(page, first)).to_have_count(0)
    second = shown(page)
    page.keyboard.press("n")
    late.routes.pop().fulfill(status=409, json={"message": "It was refused.", "hint": ""})
    late.arrived()
    late.release()
    expect(page.locator(".toast", has_text="It was refused.")).to_be_visible()
    expect(row(page, second)).to_have_count(0)
    expect(row(page, first)).to_have_count(1)
    page.keyboard.press("u")
    expect(row(page, second)).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("u")
    expect(page.locator(".toast", has_text="Nothing was changed here")).to_be_visible()


def test_findings_are_renewed_when_a_dialog_closes(
    visit: Callable[..., Page], studio: Served
) -> None:
    """A change that came while a dialog was open was passed over for good."""
    page = reviewed(visit, studio, "confusion")
    page.keyboard.press("Control+k")
    expect(page.locator("dialog")).to_be_visible()
    state = hold(page, "**/status", most=1)
    state.arrived()
    add_intent_elsewhere(studio)
    findings = hold(page, _LIST.format("confusion"))
    state.release()
    assert findings.routes == []
    page.keyboard.press("Escape")
    findings.arrived()
    findings.release()


def test_a_late_answer_does_not_go_over_what_is_pointed_at_since(
    visit: Callable[..., Page], studio: Served
) -> None:
    """What one text's label would change was shown under a remedy that was pointed at later."""
    page = reviewed(visit, studio, "confusion")
    for _ in range(20):  # to a confusion with an example whose label the neighbours propose
        expect(page.locator(".remedy [data-role=radius]")).to_have_count(2)
        if page.locator("[data-key^='fix ']").count():
            break
        page.keyboard.press("j")
    late = hold(page, "**/review/what-if", "POST")
    page.locator("[data-key^='fix ']").first.hover()
    late.arrived()
    remedy = page.locator(".remedy", has=page.locator("[data-role=radius]")).first
    remedy.hover()
    told = page.locator("[data-role=finding] h3")
    words = remedy.locator(".words").inner_text().replace(" …", "")
    inner = words.replace("“", "\u2018").replace("”", "\u2019")
    expect(told).to_have_text(f"If you choose “{inner}”")
    before = told.inner_text()
    late.release()
    expect(told).to_have_text(before)


def test_the_border_of_the_newest_pair_is_shown(visit: Callable[..., Page], studio: Served) -> None:
    """The steps between an earlier pair came late, and went over those of the present one."""
    page = visit(studio, "/review?project=sample&tab=border")
    page.wait_for_selector(".walk li")
    page.get_by_label("Mixed up most").select_option("any")
    choice = page.get_by_label("Between")
    choice.wait_for()
    late = hold(page, "**/review/border?*")
    for place, name in enumerate(("roaming", "lost_sim")):
        choice.select_option(label=name)
        late.arrived(place + 1)
    late.routes.pop().fulfill(json={"steps": []})
    walk = page.locator("[data-role=walk]")
    expect(walk).to_have_text("No text lies between these two.")
    late.release()
    expect(walk).to_have_text("No text lies between these two.")


def test_the_fence_is_saved_where_it_is_shown(visit: Callable[..., Page], studio: Served) -> None:
    """While the preview was late, the limit before the last move was saved."""
    page = fenced(visit, studio)
    slider = page.get_by_label("Limit", exact=True)
    slider.press("ArrowRight")
    save = page.get_by_role("button", name="Save", exact=True)
    expect(save).to_be_enabled()
    late = hold(page, "**/fence/what-if", "POST")
    for _ in range(3):
        slider.press("ArrowRight")
    late.arrived()
    there = limit(page)
    reroute(page, "**/fence", lambda route: route.fulfill(status=204))
    with page.expect_request("**/fence") as asked:
        save.click()
    saved = asked.value.post_data_json or {}
    assert f"{100 * saved['limit']:.1f}" == there  # in points


def test_the_limit_of_an_archived_intent_is_not_shown_as_that_of_all(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Its limit stayed under "all intents", and a move of the slider went on to change it."""
    key = add_intent_elsewhere(studio)
    page = fenced(visit, studio)
    of_all = limit(page)
    page.get_by_text("Another measure").click()
    whose = page.get_by_label("Whose limit")
    whose.select_option(key)
    page.get_by_label("Limit", exact=True).press("ArrowRight")
    expect(whose.locator(":checked")).to_contain_text("(own)")
    assert limit(page) != of_all
    answer = page.request.patch(
        f"{studio.base}/api/projects/sample/intents/{key}",
        data={"archived": True},
        headers={"Authorization": f"Bearer {studio.token}"},
    )
    assert answer.ok
    expect(whose.locator(f"option[value='{key}']")).to_have_count(0)
    expect(whose).to_have_value("")
    assert limit(page) == of_all


def add_twins(studio: Served) -> None:
    """Label two pairs of texts that say the same but for a sign."""
    key = studio.ask("/projects/sample/overview")["intents"][0]["id"]
    for text in ("my card is gone for good", "my phone is gone for good"):
        for sign in (".", "!"):
            add(studio, text + sign, key)


def add(studio: Served, text: str, intent: str) -> None:
    repair = {"kind": "add", "value": text, "intents": [intent]}
    act = {"key": uuid4().hex, "finding": "", "repair": repair}
    studio.ask("/projects/sample/review/act", act)


def reviewed(visit: Callable[..., Page], studio: Served, kind: str) -> Page:
    """Open the findings of one kind when the effects of their remedies are known.

    Before that the first remedy may be one that does harm, and its key asks instead of doing it.
    """
    limit = time.monotonic() + 60
    while not foretold(studio.ask(f"/projects/sample/review?kind={kind}&limit=12")["findings"]):
        assert time.monotonic() < limit
        time.sleep(0.1)
    page = visit(studio, f"/review?project=sample&kind={kind}")
    page.wait_for_selector(".remedy")
    return page


def about(studio: Served, kind: str, words: str) -> list[str]:
    """Return the ids of the findings of a kind that have a text with these words."""
    found = studio.ask(f"/projects/sample/review?kind={kind}&limit=50")["findings"]
    return [one["id"] for one in found if any(words in text["text"] for text in one["texts"])]


def foretold(findings: list[dict[str, Any]]) -> bool:
    remedies = [remedy for finding in findings for remedy in finding["remedies"]]
    return all(one["effect"] for one in remedies if one["repair"] and not one["asks"])


def shown(page: Page) -> str:
    """The finding that is looked at, by its id."""
    pressed = page.locator("[data-role=findings] [aria-pressed=true]")
    return str(pressed.get_attribute("data-key"))


def row(page: Page, finding: str) -> Locator:
    return page.locator(f"[data-role=findings] [data-key='{finding}']")


def fenced(visit: Callable[..., Page], studio: Served) -> Page:
    page = visit(studio, "/review?project=sample&tab=fence")
    page.wait_for_selector(".figure")
    return page


def limit(page: Page) -> str:
    """The limit that the fence's tab shows."""
    return page.locator(".fence b.tabular").inner_text()
