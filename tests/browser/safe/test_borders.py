"""All texts that a border counts can be reached, and a right label is kept."""

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from tests.builders.held_answers import hold, reroute
from tests.builders.served_studio import Served
from tests.waiting import wait_until

_REVIEW = "/projects/sample/review"
MADE = "[data-role=newest]:has(.good)"  # the newest act, once it is saved


def mixed_up(studio: Served, limit: int = 5) -> list[dict[str, Any]]:
    found = studio.ask(f"{_REVIEW}?kind=confusion&limit={limit}")["findings"]
    return list(found)


def walk(studio: Served, pair: list[str]) -> list[dict[str, Any]]:
    first, second = pair
    border = f"{_REVIEW}/border?first={first}&second={second}"
    # More texts may follow until then.
    wait_until(lambda: not studio.ask(border)["counting"], "the border is counted")
    return list(studio.ask(border)["steps"])


def test_a_border_lists_every_text_by_which_the_two_are_mixed_up(
    visit: Callable[..., Page], studio: Served
) -> None:
    """It counted four texts and showed one; those nearer to a third intent were nowhere."""
    pairs = mixed_up(studio, 100)
    for one in pairs:
        assert sum(bool(step["answer"]) for step in walk(studio, one["intents"])) == one["figure"]
    page = visit(studio, "/review?project=sample&tab=border")
    choice = page.get_by_label("Mixed up most")
    for one in pairs[:3]:
        choice.select_option(" ".join(one["intents"]))
        expect(choice.locator("option:checked")).to_contain_text(f"({one['measure']})")
        between = page.locator("[data-role=between]")
        expect(between).to_contain_text(f"Mixed up: {one['measure']}.")
        n = len(walk(studio, one["intents"]))
        expect(between).to_contain_text(f"{n} texts between the two.")
        expect(page.locator(".walk li")).to_have_count(n)
        told = page.locator(".walk li .badge.warn", has_text="answered ")
        expect(told).to_have_count(int(one["figure"]))
        for row in told.all():  # none is folded away with the clear ones
            expect(row).to_be_visible()


def test_the_bars_of_a_border_fill_the_lane_and_say_what_they_mean(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The difference of a clear answer was a full bar, so those of unclear ones were specks."""
    page = visit(studio, "/review?project=sample&tab=border")
    bars = page.locator(".walk").first.locator(".lane i")
    expect(bars.first).to_be_attached()
    wide = [bar.evaluate("bar => parseFloat(bar.style.width)") for bar in bars.all()]
    assert max(wide) == 50  # the half of the lane that is the nearer intent's
    said = page.locator("[data-role=bars]").inner_text()
    longest = re.search(r"the longer, the clearer\. A full bar has ([\d.]+) points or more", said)
    amounts = page.locator(".walk").first.locator(".amount").all_inner_texts()
    leads = [float(lead[1]) for words in amounts if (lead := re.search(r"([\d.]+) points", words))]
    assert longest
    assert float(longest[1]) == max(leads)


def test_a_border_shows_its_shape_while_it_loads_and_says_what_failed(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The page was empty for seconds, without a sign that anything would come."""
    page = visit(studio, "/review?project=sample")
    expect(page.locator("[data-role=findings] button").first).to_be_visible()
    late = hold(page, "**/review?kind=confusion*")
    page.get_by_role("button", name="Borders").click()
    late.arrived()
    shape = page.locator("[data-role=walk] [data-role=skeleton]")
    expect(shape).to_be_visible()
    expect(shape).to_contain_text("Looking for the texts between the two …")
    late.routes.pop().fulfill(status=500, json={"message": "The disk is full.", "hint": ""})
    walk = page.locator("[data-role=walk]")
    expect(walk).to_contain_text("The disk is full.")
    walk.get_by_role("button", name="Try again").click()
    late.arrived()
    late.release()
    expect(page.locator(".walk li").first).to_be_visible()
    expect(shape).to_have_count(0)


def test_a_right_label_of_a_third_intent_is_kept_and_comes_back(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Two labels were offered for it, both wrong, and nothing said that its own is right."""
    names = {i["id"]: i["name"] for i in studio.ask("/projects/sample/overview")["intents"]}
    pair, step = next(
        (one["intents"], step)
        for one in mixed_up(studio, 100)
        for step in walk(studio, one["intents"])
        if step["text"]["intents"] and not set(step["text"]["intents"]) & set(one["intents"])
    )
    text, n = step["text"]["text"], len(walk(studio, pair))
    page = visit(studio, f"/review?project=sample&tab=border&first={pair[0]}&second={pair[1]}")
    expect(page.locator(".walk li")).to_have_count(n)
    row = page.locator(".walk li", has_text=text).first
    keep = row.get_by_role("button", name=f"Keep {names[step['text']['intents'][0]]}")
    folded = page.locator("details[data-key=clear]")
    if folded.count() and not keep.is_visible():
        folded.locator("> summary").click()
    # It stood between two others without a word.
    third = f"Labelled {names[step['text']['intents'][0]]}, but most like the two intents above."
    expect(row.locator("[data-role=third]")).to_contain_text(third)
    keep.click()
    made = page.locator(MADE, has_text="Kept “")
    expect(made).to_be_visible()
    kept = page.locator("details[data-key=kept]")
    expect(kept.locator("> summary")).to_have_text("1 text that you kept")
    expect(kept.locator("li", has_text=text)).to_have_count(1)
    expect(page.locator(".walk li")).to_have_count(n)  # it is counted where it lies now
    expect(kept.get_by_role("button", name=re.compile("^Keep"))).to_have_count(0)
    made.get_by_role("button", name="Undo").click()
    expect(kept).to_have_count(0)


def test_a_label_that_somebody_gave_meanwhile_is_not_overwritten_at_a_border(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The page showed an older label, and its button replaced the newer one without a word."""
    [first, second], text = next(
        (one["intents"], step["text"])
        for one in mixed_up(studio, 100)
        for step in walk(studio, one["intents"])
        if step["answer"] and step["text"]["place"] != "test"
    )
    page = visit(studio, f"/review?project=sample&tab=border&first={first}&second={second}")
    untold = {"status": 503, "json": {"message": "Not counted.", "hint": ""}}  # so nothing is asked
    reroute(page, "**/review/what-if", lambda route: route.fulfill(**untold))
    page.reload()
    [mine] = {first, second} - set(text["intents"])
    button = page.locator(f"[data-key='{mine} {text['id']}']")
    expect(button).to_be_visible()
    hold(page, "**/sample/status")  # else the page would show the newer label
    overview = studio.ask("/projects/sample/overview")["intents"]
    theirs = next(one["id"] for one in overview if one["id"] not in (first, second))
    repair = {"kind": "relabel", "ids": [text["id"]], "intents": [theirs]}
    studio.ask(f"{_REVIEW}/act", {"key": "somebody else", "repair": repair})
    button.click()
    told = page.locator(".toast.bad", has_text="A text was changed meanwhile.")
    expect(told).to_contain_text("Nothing was overwritten.")
    [row] = studio.ask("/projects/sample/utterances/by-ids", {"ids": [text["id"]]})
    assert row["labels"] == [theirs]
    studio.ask(f"{_REVIEW}/undo", {"key": "somebody else"})
