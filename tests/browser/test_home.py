"""The start page says what to do next; projects are renamed, deleted and brought back there."""

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, Route, expect

from tests.builders.held_answers import reroute
from tests.builders.served_studio import Served

COUNTED = "/projects/sample/review?limit=1"
"""Asked once, likely wrong labels are counted: they come first in what to do next."""
_TRAINED_MS = 180_000
EMPTY = ("label", "discover", "data", "review", "map", "train", "try", "versions", "slots")


def test_a_studio_that_nobody_looks_at_sleeps(studio: Served) -> None:
    """Gradio looked for events a thousand times a second: 7 % of a core, and no page has one."""
    limit, spent = time.monotonic() + 90, 1.0
    while spent >= 0.1:  # the first model is loaded soon after the start
        assert time.monotonic() < limit, spent
        before = awake(studio)
        time.sleep(3)
        spent = awake(studio) - before


def awake(studio: Served) -> float:
    """Seconds of processor that the studio has used."""
    line = Path(f"/proc/{studio.process.pid}/stat").read_text(encoding="utf-8")
    user, system = line.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def test_an_empty_home_offers_the_sample_where_it_tells_of_it(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    """The upper box told of the sample, and its button stood in the lower one, the form's."""
    page = visit(serve(empty=True))
    welcome = page.locator("main .empty")
    sample = page.get_by_role("button", name="Create the sample project")
    expect(sample).to_have_count(1)
    expect(welcome.get_by_role("button")).to_have_text(["Create the sample project"])
    expect(page.locator("form")).to_contain_text("This cannot be changed later.")
    # “Each project shows …” stood above none.
    expect(page.locator("header .lead")).to_be_hidden()


def test_the_sample_has_a_model_before_it_is_shown(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    """The button only imported: whoever pressed it read “There is no model yet”."""
    studio = serve(empty=True)
    page = visit(studio)
    page.get_by_role("button", name="Create the sample project").click()
    told = page.locator("[data-role=making]").first
    expect(told).to_have_text(re.compile(r"^Training its first version: .+, \d+ %$"))
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # from another tab
    expect(told).to_be_visible()
    page.wait_for_url("**/label?project=sample", timeout=_TRAINED_MS)
    expect(page.locator(".state [data-role=champion]")).to_contain_text("v1")
    expect(page.locator(".option .share").first).to_contain_text("%")
    assert studio.ask("/projects/sample/status")["model"] == "ready"
    page.go_back()
    sample = page.get_by_role("article", name="sample", exact=True)
    expect(sample.locator("[data-role=accuracy]")).to_contain_text("%")


def test_a_sample_whose_training_fails_is_opened_where_it_says_why(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    studio = serve(empty=True)
    page = visit(studio)
    failed = {"state": "failed", "stage": "reading your texts", "progress": 0.2}
    reroute(page, "**/api/jobs/*", lambda route: route.fulfill(json=failed))
    page.get_by_role("button", name="Create the sample project").click()
    page.wait_for_url("**/train?project=sample")
    expect(page.locator("[data-role=job-state]")).to_be_visible()


def test_a_sample_whose_training_is_refused_stays_and_the_page_says_why(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    page = visit(serve(empty=True))
    refusal = {"message": "Too many trainings wait.", "hint": "Try again later."}
    reroute(page, "**/train", lambda route: route.fulfill(status=429, json=refusal))
    page.get_by_role("button", name="Create the sample project").click()
    expect(page.locator(".toast.bad")).to_contain_text("Too many trainings wait.")
    expect(page.get_by_role("article", name="sample", exact=True)).to_be_visible()


def test_an_empty_project_is_ready_to_label_after_three_clicks(
    visit: Callable[..., Page], serve: Callable[..., Served], tmp_path: Path
) -> None:
    """After an import the page said how much came in, and nothing of what comes next."""
    file = tmp_path / "texts.csv"
    file.write_text("text\nwhere is my parcel\nI lost my card\n", encoding="utf-8")
    page = visit(serve(empty=True))
    page.get_by_label("Name").fill("desk")
    page.get_by_role("button", name="Create project").click()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Import texts").click()
    chooser.value.set_files(file)
    page.get_by_role("button", name="Import 2 texts").click()
    ready = page.locator("[data-role=imported]").get_by_role("link", name="Label a few texts")
    ready.click()
    page.wait_for_url("**/label?project=desk")


def test_each_project_has_one_next_action_and_can_be_renamed_deleted_and_restored(
    visit: Callable[..., Page], studio: Served
) -> None:
    studio.ask("/projects", {"name": "new"})
    studio.ask(COUNTED)
    page = visit(studio)
    new = page.get_by_role("article", name="new", exact=True)
    expect(new.locator("[data-role=next] a")).to_have_text("Import texts")
    expect(new.locator(".steps li")).to_have_text(
        ["Import texts", "Label a few per intent", "Train"]
    )
    sample = page.get_by_role("article", name="sample", exact=True)
    # A project's name looked like words, and a second sample was offered beside the first.
    opens = sample.get_by_role("link", name="sample", exact=True)
    expect(opens).to_have_css("text-decoration-line", "underline")
    expect(page.locator("header .lead")).to_contain_text("Each project shows")
    expect(page.get_by_role("button", name="Create the sample project")).to_have_count(0)
    step = studio.ask("/projects")[1]["next"]
    expect(sample.locator("[data-role=next] a")).to_have_text(step["action"])
    expect(sample.locator("[data-role=share]")).to_contain_text("texts labelled")
    new.get_by_role("button", name="Rename new").click()
    page.get_by_label("Name", exact=True).last.fill("newer")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    newer = page.get_by_role("article", name="newer")
    newer.get_by_role("button", name="Delete newer").click()
    page.get_by_role("button", name="Delete project").click()
    expect(newer).to_have_count(0)
    toast = page.locator(".toast", has_text="newer is deleted")
    toast.get_by_role("button", name="Undo").click()
    expect(newer).to_be_visible()
    page.locator("[data-role=project]").click()
    page.locator(".switcher").get_by_role("link", name="newer").click()
    page.wait_for_url("**/label?project=newer")
    page.set_viewport_size({"width": 390, "height": 844})
    for name in EMPTY:
        page.goto(f"{studio.base}/{name}?project=newer")
        fills = page.locator("[data-role=first-act]")
        expect(fills).to_have_text("Import texts")
        expect(page.locator("[data-role=project]")).to_have_text("newer")
        # Three ways in stood there at once, and a way to train was chosen that cannot be used.
        expect(page.get_by_role("button", name="Import", exact=True)).to_have_count(0)
        expect(page.locator("[role=radio][aria-checked=true]")).to_have_count(0)
        expect(page.get_by_label("Use the new version automatically")).to_be_hidden()


def test_delete_says_in_words_what_goes_and_how_it_comes_back(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Nobody knew whether the bin archives or deletes, or what goes with it."""
    page = visit(studio)
    sample = page.get_by_role("article", name="sample", exact=True)
    for words in ("Rename", "Delete"):
        expect(sample.get_by_role("button", name=f"{words} sample")).to_have_text(words)
    sample.get_by_role("button", name="Delete sample").click()
    held = page.locator("[data-role=held]")
    expect(held).to_contain_text("It holds 946 texts (646 labelled), 17 intents and the model")
    expect(held).to_contain_text("Nothing of it is lost")
    page.keyboard.press("Escape")
    expect(sample).to_be_visible()


def test_of_many_projects_the_last_opened_is_first_and_a_new_one_is_a_press_away(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    """By name the first act could be far below the fold, and the form below all cards."""
    studio = serve()
    long = "Customer care, second line: billing, contracts, returns, repairs - pilot 26"
    for name in (*(f"desk {n}" for n in range(2, 11)), long):
        studio.ask("/projects", {"name": name})

    def with_texts(route: Route) -> None:
        found = route.fetch().json()
        texts = [{**one, "utterances": 5} if one["name"] == "desk 7" else one for one in found]
        route.fulfill(json=texts)

    for width in (1280, 390):
        page = visit(studio, "/label?project=sample", viewport={"width": width, "height": 844})
        reroute(page, "**/api/projects", with_texts)
        page.goto(studio.base)
        cards = page.locator(".tiles article")
        expect(cards).to_have_count(11)
        expect(cards.first).to_have_attribute("aria-label", "sample")
        expect(page.locator(".content .primary")).to_be_in_viewport()
        expect(cards.nth(1)).to_have_attribute("aria-label", "desk 7")  # it has come furthest
        expect(cards.nth(3)).to_have_attribute("aria-label", "desk 2")  # desk 10 stood before it
        expect(cards.last).to_have_attribute("aria-label", "desk 10")
        brief, tall, beside = (at.bounding_box() for at in (cards.last, cards.first, cards.nth(1)))
        assert brief is not None
        assert tall is not None
        assert beside is not None
        assert beside["height"] < tall["height"]  # it was stretched, and empty in its middle
        assert width > 390 or brief["height"] < 200  # eight screens of three steps on a phone
        named = page.get_by_role("article", name=long)
        assert named.evaluate("at => at.scrollWidth - at.clientWidth") <= 0
        page.get_by_role("button", name="New project").click()
        expect(page.get_by_label("Name", exact=True)).to_be_focused()
        expect(page.get_by_role("button", name="Create project")).to_be_in_viewport()
        page.unroute_all(behavior="wait")


def test_a_figure_says_that_newer_labels_are_being_counted(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Two pages told 76.8 % and 76.6 % while labels came: of two moments, and neither said so."""
    page = visit(studio)
    accuracy = page.locator("[data-role=accuracy]", has_text="right today").first  # others are new
    expect(accuracy).to_be_visible()
    expect(accuracy).not_to_contain_text("Newer labels")

    def counting(route: Route) -> None:
        answer = route.fetch().json()
        busy = {"checking": True}
        many = isinstance(answer, list)
        route.fulfill(json=[{**one, **busy} for one in answer] if many else {**answer, **busy})

    reroute(page, "**/api/projects", counting)
    reroute(page, "**/projects/sample/status", counting)
    page.reload()
    expect(accuracy).to_contain_text("Newer labels are being counted.")
    page.goto(f"{studio.base}/data?project=sample")
    header = page.locator("[data-role=champion]")
    expect(header).to_have_attribute("title", re.compile("Newer labels are being counted"))
    # Nobody had said whether an answer is what the bot says, or what the model chooses.
    told = re.compile("^Answer: the intent that the model gives a text")
    expect(header).to_have_attribute("title", told)


def test_no_page_calls_ready_what_nobody_tested(visit: Callable[..., Page], studio: Served) -> None:
    """Green "Ready to use" stood over Data, where "need a dentist" was technician_appointment."""
    title, gap = "Ready, but out of scope is not tested", "Not tested for texts that fit no intent"
    page = visit(studio, "/")
    verdict = page.get_by_role("article", name="sample", exact=True).locator(
        "[data-role=readiness]"
    )
    expect(verdict).to_have_text(title)
    expect(verdict).to_have_class("readiness warn")  # green stood beside “Not tested”
    expect(verdict.locator("xpath=..")).to_contain_text(
        "of 100 texts get a wrong answer, or no answer."
    )
    expect(verdict.locator("xpath=..")).to_contain_text(gap)
    expect(verdict.locator("xpath=..")).to_contain_text("amber, not green: the rest is ready")
    page.goto(f"{studio.base}/versions?project=sample")
    expect(page.locator("[data-role=stands]")).to_contain_text(gap)
    header = page.locator(".state [data-role=readiness]")
    expect(header).to_have_text(title)
    limit = re.compile("at least 85 % of the test texts answered right")
    expect(header).to_have_attribute("title", limit)  # nothing said where the limit is


def test_pages_that_serve_to_look_say_what_to_do_next_as_home_does(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Data and Map led nowhere."""
    studio.ask(COUNTED)
    page = visit(studio, "/")
    card = page.get_by_role("article", name="sample", exact=True)
    action = card.locator("[data-key='next sample']").inner_text()
    reason = card.locator("[data-role=next] p").inner_text()
    for name in ("data", "slots", "map", "history"):
        page.goto(f"{studio.base}/{name}?project=sample")
        line = page.locator(".next-line")
        expect(line.locator("[data-role=next] p")).to_have_text(reason)
        expect(line.get_by_role("link", name=action)).to_be_visible()
    page.goto(f"{studio.base}/try?project=sample")
    expect(page.locator(".state [data-role=champion]")).to_be_visible()
    expect(page.locator(".next-line")).to_have_count(0)


def test_the_reason_of_the_verdict_is_a_tap_away_and_goes_with_its_pin(
    visit: Callable[..., Page], studio: Served
) -> None:
    """ "Not ready yet" stayed for ever after the pin was removed; on a phone nothing said why."""
    pinned = {"text": "my bill is too high", "intents": []}
    studio.ask("/projects/sample/pins", pinned)
    try:
        page = visit(studio, "/label?project=sample", viewport={"width": 390, "height": 844})
        verdict = page.locator(".state [data-role=readiness]")
        expect(verdict).to_have_text("Not ready yet")
        verdict.click()
        stands = page.locator("[data-role=stands]")
        expect(stands).to_contain_text(
            f"It breaks 1 pin: “{pinned['text']}” must get out of scope and gets "
        )
        page.goto(f"{studio.base}/")
        card = page.get_by_role("article", name="sample", exact=True)
        expect(card).to_contain_text("It breaks 1 pin")
    finally:
        studio.ask("/projects/sample/pins", {"text": pinned["text"]})
    page.reload()
    expect(card).not_to_contain_text("pin")
    expect(card.locator("[data-role=readiness]")).not_to_have_text("Not ready yet")
