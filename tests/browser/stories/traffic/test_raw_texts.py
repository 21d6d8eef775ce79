"""From raw texts to intents by keys, and what the traffic of the week after says."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.builders.served_studio import Served
from tests.builders.traffic.printed_letters import printed_letters
from tests.builders.traffic.thirty_subjects import NEW, Asked, log_of, thirty_subjects, week_after

SIZES = (
    pytest.param(1_200, 300, id="1200", marks=pytest.mark.quick),
    pytest.param(5_000, 500, id="5000", marks=pytest.mark.fire),
)
N_INTENTS, MOST_KEYS = 30, 80
MOST_NEW = 4
_SURE = 0.8
"""Share of a group's shown texts that must be about one subject before it is taken."""


class Designer:
    """Somebody who reads the groups, presses one key for each, and knows what a text is about."""

    def __init__(self, page: Page, subjects: dict[str, str]) -> None:
        self.page = page
        self.subjects = subjects
        self.keys = 0
        self.intents: dict[str, str] = {}
        """Name of the intent by its subject."""

    def press(self, key: str) -> None:
        """Press a key, and wait until the act is saved and the next group is there."""
        self.page.keyboard.press(key)
        self.keys += 1
        expect(self.page.locator(".review")).not_to_have_attribute("aria-busy", "true")

    def sees_what_is_marked(self) -> None:
        """Wait until the group that the list marks is there; its name is written as intents are."""
        marked = self.page.locator("[data-role=groups] button[aria-pressed=true] .what")
        named = re.escape(marked.inner_text()).replace(r"\ ", "[ _]")
        name = self.page.get_by_role("textbox", name="Name of the group")
        expect(name).to_have_value(re.compile(f"^{named}$"))

    def takes_the_open_group(self) -> str:
        """Do with the group that is open what its texts ask for; return its subject, or ""."""
        group = self.page.locator("[data-role=group]")
        self.sees_what_is_marked()
        expect(group.locator("[data-key='act I']")).to_be_enabled()
        shown = group.locator("[data-role=typical] .wording").all_inner_texts()
        subject, n = Counter(self.subjects[text] for text in shown).most_common(1)[0]
        if n < _SURE * len(shown):
            self.press("d" if len(shown) > 6 else "l")
            return ""
        known = self.intents.get(subject)
        if known is None:
            self.intents[subject] = group.get_by_role("textbox").first.input_value()
            self.press("i")
            return subject
        near = [group.locator(f"[data-key='act {key}']") for key in (1, 2)]
        at = [n for n, one in enumerate(near, 1) if one.count() and known in one.inner_text()]
        self.press(str(at[0]) if at else "l")
        return subject


@pytest.mark.parametrize(("first", "second"), SIZES)
def test_raw_texts_become_intents_and_the_week_after_is_told(
    visit: Callable[..., Page],
    serve: Callable[..., Served],
    tmp_path: Path,
    first: int,
    second: int,
) -> None:
    before = thirty_subjects(first)
    after = week_after(second, before)
    studio = serve(empty=True)
    page = visit(studio)
    subjects = {one.text: one.subject for one in (*before, *after)}
    designer = Designer(page, subjects)
    drops_raw_texts(page, tmp_path, before)
    groups_them(page, first)
    fills_intents(designer, studio)
    trains(page)
    imports_the_week_after(page, tmp_path, after)
    finds_the_new_group(designer)
    opens_the_report(page)
    prints_the_report(page, tmp_path, second)


def drops_raw_texts(page: Page, folder: Path, texts: Sequence[Asked]) -> None:
    page.get_by_label("Name").fill("shop")
    page.get_by_role("button", name="Create project").click()
    file = folder / "raw.txt"
    file.write_text("\n".join(one.text for one in texts) + "\n", encoding="utf-8")
    page.get_by_label("File to import").set_input_files(file)
    preview = page.locator("[data-role=preview]")
    preview.get_by_role("button", name="Import").click()
    imported = page.locator("[data-role=imported]")
    expect(imported).to_contain_text(f"{len(texts):,} new texts, without a label.")
    imported.get_by_role("link", name="See what they are about").click()


def groups_them(page: Page, n: int) -> None:
    expect(page.locator("[data-role=place]")).to_contain_text(f"{n:,} texts without a label")
    page.get_by_role("button", name="Find groups").click()
    first = page.locator("[data-role=typical] li").first
    expect(first).to_be_visible(timeout=120_000)  # the aim for 5,000 texts is two minutes


def fills_intents(designer: Designer, studio: Served) -> None:
    """Take group after group until thirty intents are made, in at most 80 keys."""
    while len(designer.intents) < N_INTENTS:
        designer.takes_the_open_group()
        assert designer.keys <= MOST_KEYS, designer.intents
    counts = studio.ask("/projects/shop/overview")["counts"]
    assert counts["labelled"] >= 10 * N_INTENTS
    made = studio.ask("/projects/shop/overview")["intents"]
    assert {one["name"] for one in made} == set(designer.intents.values())


def trains(page: Page) -> None:
    page.get_by_role("link", name="Train").click()
    page.get_by_role("radio", name="Quick").click()
    page.get_by_role("button", name=re.compile("^(Train|Retrain)$")).click()
    expect(page.locator("[data-role=job-state]")).to_have_text("done", timeout=600_000)
    expect(page.locator("[data-role=champion]")).to_contain_text("v1")


def imports_the_week_after(page: Page, folder: Path, texts: Sequence[Asked]) -> None:
    file = folder / "february.csv"
    file.write_text("\n".join(log_of(list(texts))) + "\n", encoding="utf-8")
    page.get_by_role("link", name="Discover").click()
    page.get_by_role("button", name="What people said").click()
    page.get_by_label("Log to import").set_input_files(file)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(f"{len(texts):,} texts with a time, said from 2026-02-0")
    dialog.get_by_role("button", name=f"Store {len(texts):,} texts").click()
    expect(page.locator("[data-role=covered]")).to_contain_text("got an intent")


def finds_the_new_group(designer: Designer) -> None:
    """Group the new texts; what nobody asked for before is among the first, for one key.

    Texts in odd words about something that is known may found a group, too.
    """
    page = designer.page
    page.get_by_role("link", name=re.compile("^(All groups|Sort them)")).click()
    page.get_by_role("button", name="Sort them in").click()
    first = page.locator("[data-role=groups] button[data-key^=group]").first
    expect(first.locator(".badge")).to_have_text("new", timeout=120_000)
    first.click()
    found = [designer.takes_the_open_group()]
    while found[-1] != NEW and first.locator(".badge", has_text=re.compile("^new$")).count():
        found.append(designer.takes_the_open_group())
    assert found[-1] == NEW
    assert len(found) <= MOST_NEW


def opens_the_report(page: Page) -> None:
    page.get_by_role("button", name="What people said").click()
    page.get_by_role("link", name="Report for managers").click()
    expect(page.locator("h1")).to_contain_text("shop: what people said")


def prints_the_report(page: Page, folder: Path, n: int) -> None:
    """The file for the manager says what the page says: nobody had read the one of a real week."""
    lead = page.locator(".lead")
    counted = f"{n:,} texts got an intent"
    expect(lead).to_contain_text(counted, timeout=60_000)  # until then a page asks to wait
    asked = page.locator("table").last.locator("tbody bdi").all_inner_texts()
    assert asked
    with page.expect_download(timeout=90_000) as printed:
        page.get_by_role("link", name="Download PDF").click()
    assert printed.value.suggested_filename == "shop-traffic.pdf"
    printed.value.save_as(folder / "report.pdf")
    said = printed_letters(folder / "report.pdf")
    for words in ("shop: what people said", lead.inner_text(), *asked, "Made by Intent Studio"):
        assert "".join(words.split()) in said, words
