"""A second press while the first is on its way: no second dialog, and nothing is done twice."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Request, expect

from tests.builders.held_answers import hold, settle
from tests.builders.served_studio import Served, probe

DATA = "/data?project=sample"


@pytest.mark.parametrize(
    ("act", "question"),
    [("flag", "**/projects/sample/edits/count"), ("erase", "**/projects/sample/erase")],
)
def test_a_bulk_act_asks_once(
    visit: Callable[..., Page], studio: Served, act: str, question: str
) -> None:
    """Each press asked for its own count, and one dialog lay under the other."""
    page = visit(studio, DATA)
    page.locator("[data-role=utterances] tr[data-id] [type=checkbox]").first.check()
    page.get_by_label("What to do").select_option(act)
    counts = hold(page, question, "POST")
    press_twice(page, "Apply")
    counts.arrived()
    settle(page)
    assert len(counts.routes) == 1
    counts.release()
    expect(page.locator("dialog")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    press_twice(page, "Apply")  # it can be begun anew
    counts.arrived()


def test_no_other_dialog_opens_while_what_leaves_an_intent_is_counted(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The second press met the intent under the dialog that had closed, and opened it again."""
    page = visit(studio, DATA)
    page.get_by_role("region", name="Intents").locator(".intents button").first.click()
    counts = hold(page, "**/projects/sample/edits/count", "POST")
    press_twice(page, "Turn into out of scope …")
    counts.arrived()
    settle(page)
    assert len(counts.routes) == 1
    counts.release()
    expect(page.locator("dialog")).to_have_count(1)
    expect(page.locator("dialog")).to_contain_text("to out of scope")


def test_a_double_click_deletes_one_text(visit: Callable[..., Page], studio: Served) -> None:
    """The second click met the next row, whose text went, too."""
    page = visit(studio, "/data?project=sample")
    total = studio.ask("/projects/sample/utterances?size=1")["total"]
    rows = page.locator("[data-role=utterances] tr[data-id]")
    bins = rows.get_by_role("button", name="Delete this text")
    expect(bins.nth(1)).to_be_visible()
    first, second = (str(rows.nth(place).get_attribute("data-id")) for place in (0, 1))
    # Slowly, as a hand does: the row has gone when the second click comes.
    box = bins.first.bounding_box()
    assert box is not None
    place = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.click(*place)
    expect(page.locator(f"tr[data-id='{first}']")).to_have_count(0)
    page.mouse.move(*place)
    page.mouse.down(click_count=2)
    page.mouse.up(click_count=2)
    settle(page)
    expect(page.locator(f"tr[data-id='{second}']")).to_have_count(1)
    deleted = page.locator(".toast", has_text="is deleted.")
    expect(deleted).to_have_count(1)
    deleted.get_by_role("button", name="Undo").click()
    expect(page.locator("[data-role=total]")).to_contain_text(f"{total} texts")


def test_undo_pressed_twice_takes_two_acts_back(visit: Callable[..., Page], studio: Served) -> None:
    """The second was refused: “Something else was done meanwhile”, by the first."""
    names = [f"made for undo {place}" for place in range(2)]
    for name in names:
        studio.ask("/projects/sample/intents", {"name": name})
    page = visit(studio, DATA)
    expect(page.locator("[data-key=undo]")).to_have_text(f"Undo: create intent {names[1]}")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    taken_back = page.locator(".toast", has_text="Taken back: create intent")
    expect(taken_back.filter(has_text=names[0])).to_be_visible()
    expect(page.locator(".toast.bad")).to_have_count(0)
    left = [one["name"] for one in studio.ask("/projects/sample/overview")["intents"]]
    assert not set(left) & set(names)


def test_undo_held_down_takes_back_one_act(visit: Callable[..., Page], studio: Served) -> None:
    """Each repetition of the key took back another act."""
    names = [f"made to be held {place}" for place in range(2)]
    for name in names:
        studio.ask("/projects/sample/intents", {"name": name})
    page = visit(studio, DATA)
    undo = page.locator("[data-key=undo]")
    expect(undo).to_have_text(f"Undo: create intent {names[1]}")
    page.keyboard.down("Control")
    for _ in range(3):
        page.keyboard.down("z")
    page.keyboard.up("z")
    page.keyboard.up("Control")
    expect(undo).to_have_text(f"Undo: create intent {names[0]}")
    settle(page)
    left = [one["name"] for one in studio.ask("/projects/sample/overview")["intents"]]
    assert set(left) & set(names) == {names[0]}


def test_a_selection_of_the_map_is_flagged_once(visit: Callable[..., Page], studio: Served) -> None:
    """The second act changed nothing, stood there as the newest one, and its Undo failed."""
    page = visit(studio, "/map?project=sample")
    page.wait_for_selector(".map[data-ready=true]")
    page.evaluate(probe("lasso"), [0, 1])
    edits = hold(page, "**/projects/sample/edits", "POST")
    page.locator("[data-key=flag]").focus()
    for _ in range(2):
        page.keyboard.press("Enter")
    edits.arrived()
    settle(page)
    assert len(edits.routes) == 1
    left = {"labelled": 0, "test": 0, "meanwhile": 2}
    edits.routes.pop().fulfill(json={"changed": 0, "left": left})
    told = page.locator(".toast", has_text="0 texts flagged")
    expect(told).to_contain_text("Left as they were: 2 texts that changed meanwhile.")
    expect(page.locator("[data-role=newest]")).to_be_hidden()


def test_how_to_group_anew_is_asked_once(visit: Callable[..., Page], studio: Served) -> None:
    """Two dialogs lay over each other."""
    page = visit(studio, "/discover?project=sample")
    expect(page.get_by_role("button", name="Group anew…")).to_be_visible()
    groups = hold(page, "**/projects/sample/groups")
    press_twice(page, "Group anew…")
    groups.arrived()
    settle(page)
    assert len(groups.routes) == 1
    groups.release()
    expect(page.get_by_role("dialog")).to_have_count(1)


def test_a_second_click_on_out_of_scope_is_no_failure(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The request of the first click was given up for that of the second, as if it had failed."""
    page = visit(studio, "/review?project=sample&tab=pins")
    looks = hold(page, "**/fence/what-if", "POST")
    for asked in (1, 2):
        page.locator("button[data-key=fence]").click()
        looks.arrived(asked)
    settle(page)
    expect(page.locator("[data-role=failed]")).to_have_count(0)
    looks.release(1)
    expect(page.locator(".figure").first).to_be_visible()


def test_the_sample_is_made_once(visit: Callable[..., Page], serve: Callable[..., Served]) -> None:
    """A second press made “sample 3” beside “sample 2”."""
    page = visit(serve(empty=True))
    names = hold(page, "**/api/project-names")
    press_twice(page, "Create the sample project")
    names.arrived()
    settle(page)
    assert len(names.routes) == 1
    names.routes.pop().fulfill(status=503, json={"message": "Not now.", "hint": ""})
    expect(page.locator(".toast.bad", has_text="Not now.")).to_have_count(1)


def test_a_project_is_made_once(visit: Callable[..., Page], studio: Served) -> None:
    """The second press was answered with “There is a project of this name already”."""
    page = visit(studio)
    page.get_by_label("Name", exact=True).fill("desk of one press")
    made = hold(page, "**/api/projects", "POST")
    press_twice(page, "Create project")
    made.arrived()
    settle(page)
    assert len(made.routes) == 1
    made.routes.pop().fulfill(status=409, json={"message": "Not now.", "hint": ""})
    expect(page.locator(".toast.bad", has_text="Not now.")).to_have_count(1)
    press_twice(page, "Create project")
    made.arrived()
    # Let through when the test ends, it would lead to another page while this one is closed.
    made.routes.pop().fulfill(status=409, json={"message": "Not now.", "hint": ""})
    expect(page.get_by_role("button", name="Create project", exact=True)).to_be_enabled()


def test_a_line_for_out_of_scope_is_saved_once(visit: Callable[..., Page], studio: Served) -> None:
    page = visit(studio, "/review?project=sample&tab=fence")
    page.wait_for_selector(".figure")
    page.get_by_label("Limit", exact=True).press("ArrowRight")
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_enabled()
    saved = hold(page, "**/projects/sample/fence", "PUT")
    press_twice(page, "Save")
    saved.arrived()
    settle(page)
    assert len(saved.routes) == 1
    saved.routes.pop().fulfill(status=204)
    expect(page.locator(".toast", has_text="The new limit decides now.")).to_have_count(1)


def test_a_label_between_two_intents_is_kept_once(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Two acts were made of it, and after one Undo the text was still kept."""
    page = visit(studio, "/review?project=sample&tab=border")
    keep = page.locator("[data-key^='keep ']").first
    keep.wait_for()
    acts: list[Request] = []
    page.on("request", lambda one: one.url.endswith("/review/act") and acts.append(one))
    late = hold(page, "**/review/act", "POST")
    keep.focus()
    for _ in range(2):
        page.keyboard.press("Enter")
    late.arrived()
    late.release()
    expect(page.locator("[data-role=newest]:has(.good)")).to_contain_text("Kept “")
    settle(page)
    assert len(acts) == 1
    page.keyboard.press("u")
    expect(page.locator("[data-role=newest]", has_text="Taken back: Kept")).to_be_visible()


def press_twice(page: Page, name: str) -> None:
    """Press a button by the keyboard, and once more before anything is answered."""
    page.get_by_role("button", name=name, exact=True).focus()
    for _ in range(2):
        page.keyboard.press("Enter")
