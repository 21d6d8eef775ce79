"""Reshaping starts empty, shows what it touches, takes the test set along, and is undone."""

import re
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from tests.builders.served_studio import Served

MADE = "[data-role=newest]:has(.good)"  # the newest act, once it is saved


def carriers(studio: Served, intent: str, split: str) -> int:
    by_name = {i["name"]: i["id"] for i in studio.ask("/projects/sample/overview")["intents"]}
    if intent not in by_name:
        return 0
    query = f"/projects/sample/utterances?intent={by_name[intent]}&split={split}&size=1"
    return int(studio.ask(query)["total"])


def splitting(page: Page, intent: str) -> Locator:
    """Choose an intent, and to split it; return the form."""
    form = page.get_by_role("region", name="Reshape intents")
    form.locator("select[data-key=intent]").select_option(label=intent)
    form.locator("select[data-key=how]").select_option("split")
    return form


def test_a_merge_is_not_recommended_and_its_bar_is_low_on_a_phone(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Blue beside “281 → 282 right” looked like advice; three lines lay over what changes."""
    page = visit(studio, "/review?project=sample&tab=reshape")
    form = page.get_by_role("region", name="Reshape intents")
    form.locator("select[data-key=intent]").select_option(label="no_internet")
    form.locator("select[data-key=how]").select_option("merge")
    form.locator("select[data-key=target]").select_option(label="slow_internet")
    button = form.locator("button[data-key=do]")
    expect(button).to_be_enabled()
    expect(button).not_to_have_class(re.compile("primary"))
    page.set_viewport_size({"width": 390, "height": 844})
    bar = form.locator(".decision").bounding_box()
    assert bar
    assert bar["height"] < 110
    # “55 answers change” stood above 11 lines, and the button for the rest under the bar.
    rows = form.locator("[data-role=turns] tbody tr")
    head = form.locator("[data-role='turns shown']")
    [total] = re.findall(r"(\d+) answers? changes?", form.inner_text()) or ["0"]
    assert int(total) > rows.count() == 12
    expect(head).to_contain_text(f"12 of {total} answers shown")
    head.get_by_role("button", name=f"Show all {total}").click()
    expect(rows).to_have_count(int(total))
    expect(head).to_have_text("")


def test_nothing_is_chosen_or_armed_before_and_after_a_merge(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The form had chosen two intents and a merge by itself; one click joined them."""
    page = visit(studio, "/review?project=sample&tab=reshape")
    form = page.get_by_role("region", name="Reshape intents")
    button = form.locator("button[data-key=do]")
    expect(button).to_be_disabled()
    expect(form.locator("select[data-key=intent]")).to_have_value("")
    form.locator("select[data-key=intent]").select_option(label="no_internet")
    form.locator("select[data-key=how]").select_option("merge")
    expect(form.get_by_text("Choose the other intent.")).to_be_visible()
    expect(button).to_be_disabled()
    form.locator("select[data-key=target]").select_option(label="slow_internet")
    n, n_test = (carriers(studio, "no_internet", split) for split in ("train", "test"))
    words = f"Changes the label of {n + n_test} texts, {n_test} of them test texts."
    words += " no_internet becomes slow_internet: what told the two apart is gone."
    words += " Undo brings it back. See its texts."
    expect(form.locator("[data-role=touched]")).to_have_text(words)
    # Rows of the test set said “test”; how many stay right lay below them all, under the bar.
    changes = form.locator("[data-role=answers]")
    # “stays right” stood beside an answer that changes.
    expect(changes.get_by_text("right under the merged label").first).to_be_visible()
    judged = changes.locator(".turns p").first
    expect(judged).to_contain_text(re.compile(r"test texts.* are right, "))
    expect(judged).to_be_in_viewport(ratio=1)
    button.click()
    made = page.locator(MADE, has_text=f"Merge no_internet ({n + n_test} texts) into slow_internet")
    # What was gained, and Undo, were out of sight for somebody at the end of the list.
    expect(made.get_by_role("button", name="Undo")).to_be_in_viewport(ratio=1)
    expect(made).to_contain_text(re.compile(r"\d+ → \d+ of \d+ right"))
    expect(made).to_contain_text("Labels count at once, and in the next training.")
    expect(button).to_be_disabled()
    expect(form.locator("select[data-key=intent]")).to_have_value("")
    assert carriers(studio, "no_internet", "test") == 0
    made.get_by_role("button", name="Undo").click()
    expect(page.locator("[data-role=newest]", has_text="Taken back")).to_be_visible()
    assert carriers(studio, "no_internet", "test") == n_test


def test_on_a_phone_the_bar_of_a_merge_has_its_result_and_all_changes_can_be_seen(
    visit: Callable[..., Page], studio: Served
) -> None:
    """It took four lines and lay over the texts; twelve of 36 answers were shown, the rest not."""
    phone = {"width": 390, "height": 844}
    page = visit(studio, "/review?project=sample&tab=reshape", viewport=phone)
    form = page.get_by_role("region", name="Reshape intents")
    for key, choice in (("intent", "no_internet"), ("how", "merge"), ("target", "slow_internet")):
        chosen = {"value": choice} if key == "how" else {"label": choice}
        form.locator(f"select[data-key={key}]").select_option(**chosen)
    bar = form.locator(".decision")
    result = re.compile(r"^\d+ (→ \d+ )?of \d+ test texts right(, before and after)?(, |$)")
    expect(bar.locator("[data-role=result]")).to_have_text(result)
    around = bar.bounding_box()
    assert around
    assert around["height"] < 120  # it took 190
    rows = form.locator("[data-role=turns] tbody tr")
    expect(rows).to_have_count(12)
    all_of_them = form.get_by_role("button", name="Show all ")
    n = int(all_of_them.inner_text().split()[-1])
    all_of_them.click()
    expect(rows).to_have_count(n)
    expect(all_of_them).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_split_shows_groups_and_moves_the_test_texts_of_the_chosen_one(
    visit: Callable[..., Page], studio: Served
) -> None:
    page = visit(studio, "/review?project=sample&tab=reshape")
    form = splitting(page, "roaming")
    groups = form.locator("[data-role=groups] .groups > li")
    expect(groups.nth(1)).to_contain_text("texts")
    button = form.locator("button[data-key=do]")
    expect(button).to_be_disabled()
    form.get_by_label("Name of group 1").fill("roaming_price")
    form.get_by_label("Split group 1 off as").check()
    expect(button).to_be_enabled()
    # “22 answers change” stood beside “4 fixed” and “17 unlabelled”: one more test text changed.
    effect = form.locator("[data-role=radius]")
    expect(effect).to_contain_text(re.compile(r"answers? changes?: "))
    counts = re.match(
        r"(\d+) answers? changes?: (?:(\d+) test texts?)?(?:, )?(?:(\d+) unl)?",
        effect.inner_text(),
    )
    assert counts
    total, *parts = (int(count or 0) for count in counts.groups())
    assert total == sum(parts) > 0
    button.click()
    made = page.locator(MADE, has_text="roaming: split")
    expect(made).to_be_visible()
    moved = carriers(studio, "roaming_price", "train"), carriers(studio, "roaming_price", "test")
    assert moved[0] > 1
    assert moved[1] > 0
    made.get_by_role("button", name="Undo").click()
    expect(page.locator("[data-role=newest]", has_text="Taken back")).to_be_visible()
    assert carriers(studio, "roaming_price", "train") == 0


def test_groups_and_their_texts_are_ticked_together_and_the_act_follows_the_choice(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The button stood above the groups; a group without a tick showed all its texts with one."""
    page = visit(studio, "/review?project=sample&tab=reshape")
    form = splitting(page, "roaming")
    group = form.locator("[data-key='group 0']")
    own = form.get_by_label("Split group 1 off as")
    texts = group.locator("li input[type=checkbox]")
    ticked = group.locator("li input[type=checkbox]:checked")
    expect(texts.first).to_be_visible()
    expect(ticked).to_have_count(0)
    own.check()
    expect(ticked).to_have_count(texts.count())
    texts.first.uncheck()
    expect(own).to_have_js_property("indeterminate", value=True)
    button = form.locator("button[data-key=do]")
    moved = texts.count() - 1
    expect(button).to_have_text(f"Split {moved} texts off" if moved > 1 else "Split 1 text off")
    own.check()
    own.uncheck()
    expect(ticked).to_have_count(0)
    expect(button).to_be_disabled()
    texts.first.check()  # a text brings its group along
    expect(button).to_have_text("Split 1 text off")
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        last = form.locator(".groups > li").last
        last.scroll_into_view_if_needed()
        expect(button).to_be_in_viewport(ratio=1)
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        below, above = button.bounding_box(), last.bounding_box()
        assert below
        assert above
        assert below["y"] >= above["y"] + above["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_on_a_phone_the_groups_of_a_split_come_into_sight(
    visit: Callable[..., Page], studio: Served
) -> None:
    """They lay under the act, which was all that stood below the choice."""
    phone = {"width": 390, "height": 844}
    page = visit(studio, "/review?project=sample&tab=reshape", viewport=phone)
    form = splitting(page, "roaming")
    name = form.get_by_label("Name of group 1")
    expect(name).to_be_in_viewport(ratio=1)
    expect(form.locator(".decision")).to_contain_text("Tick the groups")
    page.wait_for_function("scrollY > 0")
    group, act = name.bounding_box(), form.locator(".decision").bounding_box()
    assert group
    assert act
    assert group["y"] + group["height"] < act["y"]
