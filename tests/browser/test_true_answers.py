"""What pages show is true now: suggestions, answers out of scope, accuracy, times."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

from app.services.versions.verdict import TITLES, Known, level_of
from core.text import points
from tests.builders.held_answers import reroute
from tests.builders.served_studio import Served

OUTSIDE = "xylophone quartz 0 0 0"


def test_every_page_has_the_same_figure_while_nothing_has_changed(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Home said 96.5 % at training and the header 95.3 % now: refusals counted in one alone."""
    page = visit(studio, "/versions?project=sample")
    version = page.locator("[data-role=models] [data-role=accuracy]")
    expect(version).not_to_contain_text("when trained")  # what is true now has been computed
    figure = version.locator("b").inner_text()
    now = studio.ask("/projects/sample/status")["now"]
    told = f"Right answers: {figure} today, {now['right']} of {now['n']} test texts answered right"
    assert version.inner_text() == told
    expect(page.locator("[data-role=champion]")).to_have_text(f"v1 {figure} right answers")
    page.goto(f"{studio.base}/")
    expect(page.locator("[data-role=accuracy] .figure")).to_have_text(
        f"{figure} of 306 test texts answered right today, version 1"
    )
    trained = studio.ask("/projects/sample/status")["answered_right"]
    assert f"{100 * trained:.1f} %" == figure


def test_a_figure_without_a_test_set_says_what_it_was_counted_on(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“94.0 % right” stood beside “Nobody knows yet whether it is ready”, on a phone without it."""
    known = Known(share=0.94, on_tests=False, broken=0)
    level = level_of(known)
    verdict = {
        "level": level,
        "look": level,
        "title": TITLES[level],
        "meaning": "Nobody knows yet.",
        "reasons": [],
        "gap": "",
        "rule": "",
    }
    untested = {"now": None, "answered_right": 0.94, "checking": False, "verdict": verdict}

    def without_tests(route: Route) -> None:
        answer = route.fetch().json()
        many = isinstance(answer, list)
        route.fulfill(json=[one | untested for one in answer] if many else answer | untested)

    for width in (1280, 390):
        page = visit(studio, viewport={"width": width, "height": 844})
        reroute(page, "**/api/projects", without_tests)
        reroute(page, "**/projects/sample/status", without_tests)
        page.reload()
        card = page.locator("[data-role=accuracy]").first
        expect(card.locator(".figure")).to_have_text("Not tested yet: no test texts, version 1")
        expect(card).to_contain_text("Nobody knows yet.")
        expect(card).to_contain_text("these are often easier than what users write")
        bring = card.get_by_role("link", name="Label 100 at random as test texts")
        expect(bring).to_have_attribute("href", "/label?project=sample&tests=100")
        page.goto(f"{studio.base}/label?project=sample")
        expect(page.locator("[data-role=champion]")).to_have_text("v1 ")
        told = page.locator(".state [data-role=readiness]")
        expect(told).to_have_text("Not tested yet")
        expect(told).to_be_in_viewport(ratio=1)
        page.unroute_all(behavior="wait")


def test_no_figure_of_the_training_stands_for_what_answers_while_it_is_counted(
    visit: Callable[..., Page], studio: Served
) -> None:
    """After another version was used the header told 71.4 %, that of its training, not 82.2 %."""
    page = visit(studio, "/versions?project=sample")

    def counting(route: Route) -> None:
        answer = route.fetch().json()
        late = {"now": None, "checking": True}
        route.fulfill(
            json=[one | late for one in answer] if isinstance(answer, list) else answer | late
        )

    reroute(page, "**/api/projects", counting)
    reroute(page, "**/projects/sample/status", counting)
    page.reload()
    header = page.locator(".state")
    expect(header.locator("[data-role=champion]")).to_have_text("v1 counting …")
    expect(header.locator("[data-role=readiness]")).to_have_count(0)
    expect(page.locator("[data-role=models] [data-role=accuracy] b")).to_have_text("counting …")
    page.goto(f"{studio.base}/")
    figure = page.locator("[data-role=accuracy] .figure")
    expect(figure).to_have_text("counting … how often version 1 is right")
    page.unroute_all(behavior="wait")


def test_an_answer_out_of_scope_has_no_number_beside_it(
    visit: Callable[..., Page], studio: Served
) -> None:
    """96 % stood beside an answer out of scope: it belonged to the intent that had lost."""
    page = visit(studio, f"/try?project=sample&text={OUTSIDE}")
    answer = page.locator("[data-role=answer]")
    expect(answer).to_contain_text("Out of scope. Closest: ")
    [found] = studio.ask("/projects/sample/predict", {"texts": [OUTSIDE]})
    decision = found["prediction"]["decision"]
    missed = f"{points(decision['score'])} points of the {points(decision['threshold'])} needed"
    expect(answer).to_contain_text(f", but too unlike its examples: {missed}.")
    expect(answer).not_to_contain_text("%")
    expect(answer).not_to_contain_text("Next likely")  # nothing was the likeliest
    # “Closest” stood twice: in the sentence, and before a list like that of the most similar ones.
    expect(answer.get_by_text(re.compile("Closest:"))).to_have_count(1)
    page.get_by_label("Text to try").fill(f"{OUTSIDE}\nno signal on my phone")
    rows = page.get_by_role("region", name="Many answers").locator("tbody tr")
    expect(rows.nth(0)).to_contain_text(f"closest: {decision['leading']}, {missed}")
    expect(rows.nth(0)).not_to_contain_text("%")
    expect(rows.nth(1)).to_contain_text("%")


def test_each_of_many_texts_leads_to_its_acts_and_back(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Many answers were a dead end: to correct one, its text had to be typed again."""
    page = visit(studio, "/try?project=sample")
    box = page.get_by_label("Text to try")
    box.fill("I want to pay less\nno signal on my phone")
    many = page.get_by_role("region", name="Many answers")
    many.get_by_role("button", name="no signal on my phone").click()
    expect(page.locator(".acts").get_by_role("button").first).to_be_visible()
    expect(page.locator("[data-role=why]")).to_be_visible()
    expect(box).to_have_value("no signal on my phone")
    expect(many).to_be_hidden()
    back = page.get_by_role("button", name="Back to 2 texts")
    expect(back).to_be_focused()
    back.click()
    expect(many.locator("tbody tr")).to_have_count(2)
    expect(back).to_be_hidden()


def test_numbers_are_the_suggestions_and_the_finder_begins_with_the_likeliest(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The numbers beside the suggestions were those of a list that the card did not show."""
    page = visit(studio, "/label?project=sample")
    options = page.locator(".option")
    expect(options).to_have_count(5)
    expect(options.locator("kbd")).to_have_text(["1 ↵", "2", "3", "4", "5"])
    names = options.locator(".chip").all_inner_texts()
    page.keyboard.press("/")
    listed = page.locator("[role=option] .chip")
    expect(listed).to_have_count(17)
    named = [name for name in names if name != "out of scope"]  # the finder lists intents alone
    assert listed.all_inner_texts()[: len(named)] == named
    page.keyboard.press("Escape")
    page.keyboard.press("4")
    expect(page.get_by_role("list", name="Last decisions").locator("li .chip")).to_have_text(
        [names[3]]
    )


def test_a_card_out_of_scope_offers_that_first_and_shows_no_percents(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Enter gave such a text the closest intent, and the suggestions had percents."""
    page = visit(studio, "/")

    def refused(route: Route) -> None:
        queue = route.fetch().json()
        items = [{**item, "out_of_scope": True} for item in queue["items"]]
        route.fulfill(json={**queue, "items": items})

    page.route("**/queue?*", refused)
    page.goto(f"{studio.base}/label?project=sample")
    card = page.get_by_role("region", name="Text to label")
    options = card.locator(".option")
    first, closest = (options.locator(".chip").nth(place) for place in range(2))
    expect(options).to_have_count(5)
    expect(first).to_have_text("out of scope")
    expect(options.locator("kbd").first).to_have_text("1 ↵")
    expect(card).to_contain_text(f"Out of scope. Closest: {closest.inner_text()}, but too unlike")
    expect(card).not_to_contain_text("%")
    # Right under the line of the last decision it read as if it were about that one.
    lines = [card.locator("[data-role=utterance]"), card.get_by_text("Closest:"), first]
    tops = [(one.bounding_box() or {"y": 0})["y"] for one in lines]
    assert tops == sorted(tops)
    text = card.locator("[data-role=utterance]").inner_text()
    for key in ("Enter", "1"):
        page.keyboard.press(key)
        expect(page.locator("[data-role=decided]")).to_contain_text(f"“{text}” as out of scope")
        page.keyboard.press("u")
        expect(card.locator("[data-role=utterance]")).to_have_text(text)
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")
    page.unroute_all(behavior="wait")


def test_saving_a_fence_tells_what_it_does_and_every_page_then_says_what_is_true(
    visit: Callable[..., Page], studio: Served
) -> None:
    """After a fence was saved the header went on with the accuracy of the training."""
    intents = {i["name"]: i["id"] for i in studio.ask("/projects/sample/overview")["intents"]}
    studio.ask("/projects/sample/pins", {"text": "no signal", "intents": [intents["roaming"]]})
    page = visit(studio, "/review?project=sample&tab=fence")
    header = page.locator("[data-role=champion]")
    page.wait_for_selector(".figure")
    expect(header).to_contain_text("%")
    expect(header.locator("[data-role=counting]")).to_have_count(0)
    before = header.inner_text()
    page.get_by_label("Limit", exact=True).press("End")
    changes = page.locator("[data-role=changes]")
    expect(changes).to_contain_text("more would be refused")
    expect(changes).to_contain_text(
        re.compile(r"worse refuses \d+ of 306 test texts that are right today.*= refuses \d+ texts")
    )
    expect(page.locator("[data-role=fence-pins] li")).to_contain_text("no signal")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(header).to_contain_text("0.0 % right answers now: limit for out of scope moved")
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(header).to_have_text(before)
    assert studio.ask("/projects/sample/fence/what-if", {})["stands"]["limit"] is None
    address = f"{studio.base}/api/projects/sample/fence"
    headers = {"Authorization": f"Bearer {studio.token}"}
    assert page.request.put(address, data={"limit": 9.0}, headers=headers).ok
    other = visit(studio, "/")
    card = other.locator("[data-role=accuracy]")
    expect(card).to_contain_text("0.0 % of ")
    moved = re.compile(
        r"when trained.*; since then:.* limit for out of scope moved \(\d+ fewer right\)"
    )
    expect(card).to_contain_text(moved)
    other.goto(f"{studio.base}/versions?project=sample")
    figure = other.locator("[data-role=models] [data-role=accuracy]")
    expect(figure).to_contain_text("0.0 % today, 0 of 306 test texts answered right.")
    expect(figure).to_contain_text(moved)
    assert page.request.put(address, data={}, headers=headers).ok


def test_a_line_is_chosen_by_what_it_costs_and_what_it_gains(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“0 lost, 7 won” was said of a line by which 26 texts of no intent were no longer refused."""
    rows = studio.ask("/projects/sample/utterances?state=unlabelled&size=5")["rows"]
    foreign = {"ids": [row["id"] for row in rows]}
    edit = {"filter": foreign, "kind": "out-of-scope", "expected": 5}
    studio.ask("/projects/sample/edits", edit)
    page = visit(studio, "/review?project=sample&tab=fence")
    page.wait_for_selector(".figure")
    page.get_by_label("Limit", exact=True).press("End")
    changes = page.locator("[data-role=changes]")
    judged = changes.locator("[data-role=judged]")
    gain = re.compile(r"better refuses \d more of 5 labelled out of scope")
    expect(judged).to_contain_text(gain)
    wishes = page.locator("[data-role=wishes]")
    strict = wishes.locator("[data-key^=lose]").last
    now = wishes.get_by_role("button", name="As it is now")
    # The one line that was called suggested cost 16 of 100 right answers; 5 texts cannot tell it.
    expect(wishes).not_to_contain_text(re.compile("Suggested|Balanced"))
    expect(page.locator("[data-role=fence]")).to_contain_text("you labelled out of scope, none a")
    expect(judged).to_contain_text(re.compile(r"look refuses \d+ unlabelled texts, listed below"))
    strict.click()
    expect(strict).to_have_attribute("aria-pressed", "true")
    expect(now).to_have_attribute("aria-pressed", "false")
    expect(judged).to_contain_text("that are right today")
    save = page.get_by_role("button", name="Save", exact=True)
    expect(save).to_be_enabled()
    now.click()
    expect(now).to_have_attribute("aria-pressed", "true")
    # No Save was in sight before something was moved.
    expect(save).to_be_disabled()
    expect(changes).to_have_text("Nothing to save yet: choose a limit, or move the slider.")


def test_out_of_scope_says_what_the_line_refuses_in_all_and_where_it_is_now(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“Out of scope then: 312” counted only newly refused texts, above a list of 50."""
    page = visit(studio, "/review?project=sample&tab=fence", viewport={"width": 390, "height": 844})
    page.wait_for_selector(".figure")
    few = page.locator("[data-role=few]")
    expect(few).to_contain_text("labelled out of scope")
    expect(few.get_by_role("link")).to_have_attribute("href", re.compile(r"/label\?.*order=unlike"))
    marked = page.locator("[data-role='in force']")
    expect(marked).to_contain_text("decides now: ")
    there = marked.inner_text()
    page.get_by_label("Limit", exact=True).press("End")
    leaving = page.locator("details[data-key=leaving]")
    expect(leaving).to_be_visible()
    expect(marked).to_have_text(there)  # what is asked moves, what is in force does not
    stands = studio.ask("/projects/sample/fence/what-if", {})
    limit = float(page.get_by_label("Limit", exact=True).input_value())
    found = studio.ask("/projects/sample/fence/what-if", {**stands["asked"], "limit": limit})
    n, in_all, total = found["n_leaving"], found["refused"][1], found["total"]
    assert in_all >= n > 50
    assert len(found["leaving"]) == min(n, 300)
    words = f"{n:,} more texts would be refused ({in_all:,} of {total:,} in all)"
    expect(leaving.locator("summary")).to_have_text(words)
    # The list ended there, and nothing led to the others.
    head, listed = leaving.locator("[data-role='leaving shown']"), leaving.locator("li")
    expect(head).to_contain_text(f"50 of {n:,} texts shown")
    expect(listed).to_have_count(50)
    head.get_by_role("button").click()
    expect(listed).to_have_count(min(n, 300))
    expect(head.get_by_role("button")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_text_below_the_line_has_a_lower_figure_than_the_line(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“Refused below 37.0” listed a text of 37.0."""
    page = visit(studio, "/review?project=sample&tab=fence")
    page.wait_for_selector(".figure")
    slider = page.get_by_label("Limit", exact=True)
    closest = 0.0
    for _ in range(60):
        limit = float(slider.input_value()) + 0.005
        slider.press("ArrowRight")
        found = studio.ask("/projects/sample/fence/what-if", {"limit": limit, "limits": {}})
        closest = max((one["score"] for one in found["leaving"]), default=0.0)
        if f"{100 * closest:.1f}" == f"{100 * limit:.1f}":
            break
    else:
        raise AssertionError("no text lies so near to a line")
    shown = page.locator("details[data-key=leaving] li .tabular").first
    expect(shown).to_have_text(f"just under {100 * limit:.1f}")


def test_save_and_what_it_changes_stay_in_sight_while_the_line_moves(
    visit: Callable[..., Page], studio: Served
) -> None:
    """On a phone both lay below the figures; “each of 11 intents” was said where there are 17."""
    page = visit(studio, "/review?project=sample&tab=fence", viewport={"width": 390, "height": 844})
    page.wait_for_selector(".figure")
    slider = page.get_by_label("Limit", exact=True)
    page.get_by_text("Another measure").click()
    expect(page.locator("[data-role=each]")).to_contain_text(re.compile(r"\d+ of 17 intents"))
    slider.press("End")
    changes = page.locator("[data-role=changes] p").first
    expect(changes).to_have_text(re.compile(r"^[\d,]+ of [\d,]+ answers would change: "))
    save = page.get_by_role("button", name="Save", exact=True)
    texts = page.locator(".told li")
    for width, height in ((390, 844), (1280, 860)):
        page.set_viewport_size({"width": width, "height": height})
        for place in (slider, texts.nth(20)):
            place.scroll_into_view_if_needed()
            for shown in (changes, save):
                expect(shown).to_be_in_viewport(ratio=1)
        # The bar cut the slider in half while it was moved.
        slider.scroll_into_view_if_needed()
        bar, line = page.locator(".decision").bounding_box(), slider.bounding_box()
        assert bar is not None
        assert line is not None
        assert line["y"] + line["height"] <= bar["y"]


def test_a_training_tells_no_time_before_it_measured_and_its_chart_names_its_texts(
    visit: Callable[..., Page], studio: Served
) -> None:
    """A minute was told as 3 s, and the chart said 81 % where the result said 86.0 %."""
    page = visit(studio, "/")
    job = next(job for job in studio.ask("/projects/sample/jobs") if job["kind"] == "train")
    curve = {"loss while tuning": [[1, 2.0], [2, 1.0]], "accuracy while tuning": [[2, 0.81, 64]]}
    words = "While tuning: right answers among a sample of 64 texts of the test set."
    ended = {**job, "curve": curve, "curve_words": words}
    running = {**ended, "state": "running", "progress": 0.04, "stage": "tuning", "result": {}}
    shown = [{**running, "eta_seconds": None}]
    page.route("**/projects/sample/jobs*", lambda route: route.fulfill(json=shown))
    page.goto(f"{studio.base}/train?project=sample")
    expect(page.locator("[data-role=job-state]")).to_have_text("running")
    expect(page.locator("[data-role=curves]")).to_contain_text("a sample of 64 texts")
    expect(page.get_by_text(re.compile(r"\d (s|min) left"))).to_have_count(0)
    # "About a minute" stood there for the six minutes that it took.
    expect(page.locator("[data-role=estimate]")).to_be_hidden()
    expect(page.locator("[data-role=time]").first).to_be_hidden()
    shown[:] = [{**running, "eta_seconds": None, "progress": 0.96}]
    page.reload()
    expect(page.get_by_text("nearly done")).to_be_visible()
    expect(page.get_by_text("not known yet")).to_have_count(0)
    shown[:] = [ended]
    page.reload()
    page.get_by_text("How the training went").click()
    expect(page.locator("[data-role=curve-loss]")).to_contain_text("The line should fall")
    expect(page.locator("[data-role=curve-accuracy] .ytitle")).to_have_text(
        "right (higher is better ↑)"
    )
    result = page.locator("[data-role=curve-result]")
    expect(result).to_contain_text(re.compile("right intent first.*306 test texts when trained"))
    page.unroute_all(behavior="wait")
