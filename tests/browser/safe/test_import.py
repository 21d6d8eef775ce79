"""An import counts every case before it writes, asks about doubtful labels, and is undone whole."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
from playwright.sync_api import Locator, Page, expect

from tests.builders.held_answers import hold, settle
from tests.builders.served_studio import Served

BIG = """() => {
    const data = new DataTransfer();
    data.setData('text/plain', Array.from({length: 100000}, (_, n) =>
        `please tell me where parcel ${n} of my ${'long '.repeat(12)}order is now`).join('\\n'));
    const box = document.querySelector('textarea[aria-label="Texts to import"]');
    const began = performance.now();
    box.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true,
        cancelable: true}));
    return [data.getData('text/plain').length, box.value.length, performance.now() - began];
}"""


def every_text(studio: Served) -> dict[str, tuple[Any, str]]:
    """Text and split -> label; the sample fits on a few pages."""
    found: dict[str, tuple[Any, str]] = {}
    for page in range(5):
        rows = studio.ask(f"/projects/sample/utterances?size=500&page={page}")["rows"]
        found |= {row["id"]: (row["text"], row["labels"], row["split"]) for row in rows}
    return found


def texts(studio: Served, query: str) -> list[str]:
    rows = studio.ask(f"/projects/sample/utterances?{query}&size=3")["rows"]
    return [row["text"] for row in rows]


def choose(page: Page, path: Path) -> Any:
    page.get_by_label("File to import").set_input_files(path)
    preview = page.locator("[data-role=preview]")
    expect(preview.get_by_role("heading", name=path.name)).to_be_visible()
    return preview


def lead(page: Page) -> None:
    """Press the button that leads to the next question, if it has not gone: what is seen counts."""
    page.locator("[data-key=questions]").evaluate_all("all => all.forEach(one => one.click())")
    settle(page)


def write_labels(studio: Served, path: Path) -> tuple[str, str]:
    """Write a workbook with a row of each case; return a text of mine and one without a label."""
    names = {i["name"]: i["id"] for i in studio.ask("/projects/sample/overview")["intents"]}
    mine = texts(studio, f"split=train&intent={names['cancel_contract']}")
    judged, waiting = texts(studio, "split=test")[0], texts(studio, "state=unlabelled")[0]
    lines = [("text", "intent"), *((text, "data_usage") for text in mine), (judged, "data_usage")]
    lines += [(waiting, "data_usage"), ("a joke please", "OOS"), ("hm", "None"), ("er", "None")]
    lines += [("bring me coffee", "coffee"), ("bring me coffee", "data_usage"), ("blank", "")]
    book = openpyxl.Workbook()
    book.active.append(["nothing to see here"])
    sheet = book.create_sheet("Labels")
    for line in lines:
        sheet.append(line)
    book.save(path)
    return mine[0], waiting


def check_doubts(doubts: Locator) -> None:
    """See what is asked about names that may mean no intent, and answer one."""
    expect(doubts.get_by_label("“OOS” (1 row)")).to_have_value("out-of-scope")
    expect(doubts.get_by_label("No label (1 row)")).to_have_value("unlabelled")
    expect(doubts).to_contain_text("Chosen for you. Change what is wrong.")
    rows = doubts.locator(".asked").filter(has_text="“None” (2 rows)").get_by_role("listitem")
    expect(rows).to_have_text(["hm", "er"])  # the name alone told nothing
    doubts.get_by_label("“None” (2 rows)").select_option("out-of-scope")


def test_an_import_shows_each_case_and_changes_only_what_is_chosen(
    visit: Callable[..., Page], studio: Served, tmp_path: Path
) -> None:
    """A file had overwritten nothing, but added texts of the test set to the training set."""
    before = every_text(studio)
    mine, waiting = write_labels(studio, tmp_path / "new labels.xlsx")
    page = visit(studio, "/data?project=sample")
    preview = choose(page, tmp_path / "new labels.xlsx")
    preview.get_by_label("Sheet").select_option("Labels")
    expect(preview.locator("th")).to_have_text(["text", "intent"])
    cases = preview.locator("[data-case]")
    expect(cases).to_have_count(4)
    expect(cases.nth(0)).to_contain_text("gets the file's label.")  # “gets the file's” of what?
    expect(cases.nth(1)).to_contain_text("3 texts have another label here.")
    expect(cases.nth(2)).to_contain_text("1 text is here as a test text.")
    expect(cases.nth(2).get_by_role("combobox")).to_have_value("skip")
    check_doubts(preview.locator("[data-role=doubts]"))
    # "5 would be labelled (4 of these, and 1 that is here …)" had to be worked out.
    what = "5 new texts, 4 of them labelled. 1 text that is here already gets a label."
    expect(preview.locator(".note")).to_contain_text(what)
    expect(preview.locator(".note")).to_contain_text("1 new intent: coffee")
    cases.nth(1).get_by_text("Show them").click()
    cases.nth(1).get_by_label(f"Take the file's label for “{mine[:60]}”").check()
    while preview.locator("[data-key=questions]").count():  # until each choice was in sight
        lead(page)
    preview.get_by_role("button", name="Import 7 texts").click()
    done = page.locator("[data-role=imported]")
    expect(done).to_contain_text(
        "1 text that was here got a label. 1 text that was here got another label."
    )
    after = every_text(studio)
    changed = {after[key][0] for key in before if after[key] != before[key]}
    assert changed == {mine, waiting}
    new = {text: labels for key, (text, labels, _) in after.items() if key not in before}
    assert [new[text] for text in ("a joke please", "hm", "er", "blank")] == [[], [], [], None]
    done.get_by_role("button", name="Undo").click()
    expect(page.locator(".toast", has_text="Taken back.")).to_be_visible()
    assert every_text(studio) == before


def test_the_acts_of_an_import_are_in_sight_however_long_its_preview_is(
    visit: Callable[..., Page], studio: Served, tmp_path: Path
) -> None:
    """Sixty intents, or a phone, pushed Import below the fold."""
    rows = [f"how about wish {n} of mine,data_usage {n}" for n in range(60)]
    path = tmp_path / "sixty.csv"
    path.write_text("\n".join(["text,intent", *rows]), encoding="utf-8")
    for width, height in ((1280, 800), (390, 844)):
        page = visit(studio, "/data?project=sample", viewport={"width": width, "height": height})
        page.wait_for_selector("[data-role=utterances] tbody td")
        preview = choose(page, path)
        for name in ("Import", "Cancel"):
            expect(preview.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
        expect(preview.get_by_role("heading", name=path.name)).to_be_in_viewport()
        expect(preview.locator("[data-role='rows shown']")).to_have_text("5 of 60 rows shown")
        expect(preview.locator(".note")).to_contain_text("data_usage 7 and 52 more.")
        preview.get_by_role("button", name="Cancel").click()


def test_each_question_is_in_sight_before_import_is_offered(
    visit: Callable[..., Page], studio: Served, tmp_path: Path
) -> None:
    """The bar with Import lay over the questions, and nobody had to see them.

    Then "Check 6 choices" on a phone, 4 on a desk, stood alone: did it import, or scroll?
    """
    names = ["billing", "wifi password", "second router", "oos", ""]
    rows = [f"a wish like no other {place},{name}" for place, name in enumerate(names)]
    path = tmp_path / "asks.csv"
    path.write_text("\n".join(["text,intent", *rows]), encoding="utf-8")
    for width, height in ((1280, 700), (390, 844)):
        page = visit(studio, "/data?project=sample", viewport={"width": width, "height": height})
        page.wait_for_selector("[data-role=utterances] tbody td")
        preview = choose(page, path)
        take = preview.get_by_role("button", name="Import")
        n = preview.locator("[data-role=cases] select").count()
        words = f"Go to {n} choices made for you"
        see = preview.get_by_role("button", name=words, exact=True)
        expect(see).to_be_in_viewport(ratio=1)
        expect(preview.locator(".primary")).to_have_text([words])
        choices = preview.locator("[data-role=choices]")  # two of the six were in sight
        choices.get_by_text(f"All {n} choices made for you").click()
        expect(choices.locator("li")).to_have_count(n)
        expect(choices.locator("li", has_text="“oos” (1 row): Out of scope")).to_be_visible()
        choices.locator("summary").click()
        expect(take).to_be_in_viewport(ratio=1)
        expect(take).to_be_disabled()
        # “Look at them first” stood beside a grey “Import”: at what?
        why_not = f"Import is possible after you have seen the {n} choices."
        expect(preview.locator("[data-role=why-not]")).to_contain_text(why_not)
        while preview.locator("[data-key=questions]").count():
            lead(page)
            focused = page.locator("[data-role=cases] select:focus")
            expect(focused).to_be_in_viewport(ratio=1)
            focused.click(trial=True)  # no bar lies over it
        expect(take).to_be_in_viewport(ratio=1)
        expect(take).to_be_enabled()
        preview.get_by_label("“oos” (1 row)").select_option("unlabelled")
        expect(preview.locator(".note")).to_contain_text("5 new texts, 3 of them labelled.")
        expect(take).to_be_enabled()  # what was seen is not asked for again
        preview.get_by_role("button", name="Cancel").click()


def test_a_file_without_rows_says_so(
    visit: Callable[..., Page], studio: Served, tmp_path: Path
) -> None:
    """“Nothing new” sounded as if its texts were here already."""
    path = tmp_path / "empty.csv"
    path.write_text("text,intent\n", encoding="utf-8")
    page = visit(studio, "/data?project=sample")
    preview = choose(page, path)
    expect(preview.locator(".note")).to_contain_text("This file has no row with a text.")
    expect(preview.locator("[data-role=destination]")).to_have_count(0)
    expect(preview.get_by_role("button", name="Nothing new to import")).to_be_disabled()


def test_no_column_reads_unlabelled_texts_and_a_paste_needs_no_file(
    visit: Callable[..., Page], studio: Served, tmp_path: Path
) -> None:
    page = visit(studio, "/data?project=sample")
    (tmp_path / "two.csv").write_text("text,intent\nfirst new text,fresh_a\nsecond,fresh_b\n")
    preview = choose(page, tmp_path / "two.csv")
    expect(preview.locator(".note")).to_contain_text("2 new intents")
    preview.get_by_label("Intent is in").select_option("no column")
    expect(preview.locator(".note")).to_have_text("2 new texts, without a label.")
    expect(preview.get_by_label("Intent is in")).to_have_value("")
    preview.get_by_role("button", name="Cancel").click()
    page.get_by_text("Paste texts").click()
    page.get_by_label("Texts to import").fill("yes, please\twhere is it\nno\tparcel")
    page.get_by_role("button", name="Preview").click()
    expect(preview.locator("tbody tr")).to_have_count(2)
    preview.get_by_label("Read as").select_option("text")
    expect(preview.locator(".note")).to_have_text("2 new texts, without a label.")
    assert preview.locator("tbody td").first.inner_text().startswith("yes, please")
    preview.get_by_role("button", name="Cancel").click()
    length, shown, blocked = page.evaluate(BIG)
    assert (length > 10_000_000, shown) == (True, 0)
    assert blocked < 2_000
    expect(preview.locator(".note")).to_contain_text("100,000 new texts")
    preview.get_by_role("button", name="Cancel").click()


def test_a_file_of_test_texts_goes_to_the_test_set_and_the_page_says_so(
    visit: Callable[..., Page], serve: Callable[..., Served], tmp_path: Path
) -> None:
    """`test.csv` went into the training unless somebody changed a list, and no sentence said so."""
    studio = serve()
    page = visit(studio, "/data?project=sample")
    for name, says, split in (
        ("support_test.csv", "They become test texts", "test"),
        ("latest.csv", "The model learns from them", "train"),
    ):
        text = f"a text that only {name} has"
        (tmp_path / name).write_text(f"text,intent\n{text},data_usage\n", encoding="utf-8")
        preview = choose(page, tmp_path / name)
        expect(preview.locator("[data-role=destination]")).to_contain_text(says)
        preview.get_by_role("button", name="Import 1 text").click()
        expect(page.locator("[data-role=imported]")).to_contain_text(says)
        rows = studio.ask("/projects/sample/utterances?size=500&order=newest")["rows"]
        assert next(row["split"] for row in rows if row["text"] == text) == split
    here = next(row["text"] for row in rows if row["split"] == "pool")
    lines = f"text,intent\n{here},data_usage\na text that nobody labelled,\n"
    (tmp_path / "mixed.csv").write_text(lines, encoding="utf-8")
    preview = choose(page, tmp_path / "mixed.csv")  # "The model learns from them" was said of both
    said = "The model learns from labelled rows; the others wait for a label."
    expect(preview.locator("[data-role=destination]")).to_have_text(said)


def test_a_workbook_with_headings_of_its_own_is_ready_at_once_and_keeps_chosen_columns(
    visit: Callable[..., Page], studio: Served, tmp_path: Path
) -> None:
    """Its first row became a text with an intent; the box for the first row forgot the columns."""
    book = openpyxl.Workbook()
    for row in (
        ("No", "Customer said", "Topic", "Agent"),
        (1, "where is my parcel now", "Parcel", "Ana"),
        (2, "my bill is too high again", "Bill", "Ben"),
        (3, "what about a second parcel", "Parcel", "Ana"),
    ):
        book.active.append(row)
    book.save(tmp_path / "topics.xlsx")
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    page = visit(studio, "/data?project=sample", **phone)
    page.get_by_role("button", name="Import", exact=True).tap()
    expect(page.get_by_role("button", name="Choose a file")).to_be_in_viewport(ratio=1)
    preview = choose(page, tmp_path / "topics.xlsx")
    text, intent = preview.get_by_label("Text is in"), preview.get_by_label("Intent is in")
    expect(text).to_have_value("Customer said")
    expect(intent).to_have_value("Topic")
    expect(preview).to_contain_text("3 new texts, all labelled")
    text.select_option("Agent")
    expect(text).to_have_value("Agent")
    preview.get_by_label("The first row names the columns").uncheck()
    expect(text).to_have_value("4")
    expect(intent).to_have_value("3")
    preview.get_by_label("The first row names the columns").check()
    expect(text).to_have_value("Agent")
    expect(intent).to_have_value("Topic")
    expect(preview.locator("[data-role=no-labels]")).to_have_count(0)


def test_texts_that_come_late_do_not_push_the_box_out_of_a_phones_sight(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Import was tapped before the texts had come; they pushed its box below the screen."""
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    page = visit(studio, "/data?project=sample", **phone)
    texts_shown = page.locator("[data-role=utterances] tbody tr").nth(5)
    expect(texts_shown).to_be_attached()
    late = hold(page, "**/projects/sample/utterances?*")
    page.reload(wait_until="commit")
    late.arrived()
    page.get_by_role("button", name="Import", exact=True).tap()
    choose_file = page.get_by_role("button", name="Choose a file")
    expect(choose_file).to_be_in_viewport(ratio=1)
    late.release()
    expect(texts_shown).to_be_attached()
    expect(choose_file).to_be_in_viewport(ratio=1)
    expect(choose_file).to_be_focused()
    page.unroute_all(behavior="wait")


def test_a_table_without_labels_says_so_before_it_is_imported(
    visit: Callable[..., Page], studio: Served, tmp_path: Path
) -> None:
    """810 test texts would have come without their labels, in calm blue."""
    file = tmp_path / "checked.csv"
    file.write_text("message;what it is about\nwhere is my parcel;Parcel\n", encoding="utf-8")
    page = visit(studio, "/data?project=sample")
    preview = choose(page, file)
    expect(preview.locator("[data-role=no-labels]")).to_contain_text("come without labels")
    preview.get_by_label("Intent is in").select_option("what it is about")
    expect(preview.locator("[data-role=no-labels]")).to_have_count(0)
    expect(preview).to_contain_text("1 new intent: Parcel")


def test_a_column_of_times_is_told_and_leads_to_the_page_that_reads_it(
    visit: Callable[..., Page], studio: Served, tmp_path: Path
) -> None:
    """A month later the page of the traffic said that nothing had been sent before."""
    file = tmp_path / "chats.csv"
    rows = "".join(f"2026-11-{day:02},whatsapp,where is parcel {day}\n" for day in range(1, 9))
    file.write_text(f"date,channel,message\n{rows}", encoding="utf-8")
    page = visit(studio, "/data?project=sample")
    preview = choose(page, file)
    times = preview.locator("[data-role=times]")
    expect(times).to_contain_text("Without that “date” is not kept.")
    expect(times.get_by_role("link")).to_have_attribute("href", re.compile("tab=traffic"))
    day = preview.get_by_role("cell", name="2026-11-01").locator("span")
    assert day.evaluate("cell => cell.getClientRects().length") == 1  # it stood on two lines
    preview.get_by_role("button", name="Cancel").click()


def test_texts_with_times_count_as_traffic_too_where_the_box_is_ticked_and_undo_takes_both(
    visit: Callable[..., Page], studio: Served, tmp_path: Path
) -> None:
    """The page only told that another one reads the times; the same file had to go there, too."""
    file = tmp_path / "calls.csv"
    rows = "".join(f"2026-11-{day:02},phone,is van {day} late\n" for day in range(1, 8))
    rows += "2026-11-08,,is van 8 late? write anna@example.org\n"
    file.write_text(f"date,channel,message\n{rows}", encoding="utf-8")
    page = visit(studio, "/data?project=sample")
    preview = choose(page, file)
    box = preview.get_by_label("Also count these texts as traffic, by the column “date”")
    expect(box).not_to_be_checked()
    box.check()
    counts = preview.locator("[data-role=log-counts]")
    expect(counts).to_contain_text("8 texts with a time, said from 2026-11-01 to 2026-11-08.")
    preview.get_by_label("Source of rows without one").fill("hotline")
    page.keyboard.press("Tab")
    expect(counts).to_contain_text("By source: phone 7, hotline 1.")
    bare = preview.locator("[data-role=unmasked]")
    expect(bare).to_contain_text("personal data (1 e-mail) is stored as it is in the file")
    preview.get_by_role("button", name="Import 8 texts, count 8 as traffic").click()
    done = page.locator("[data-role=imported]")
    expect(done).to_contain_text("8 new texts, without a label. 8 texts count as traffic: ")
    # That with the address stood there a second time, masked.
    assert texts(studio, "text=is+van+8") == ["is van 8 late? write anna@example.org"]
    said = studio.ask("/projects/sample/acts?verb=import+log")["acts"]
    assert said[0]["about"] == "calls.csv: 8 rows read, 8 stored, 0 texts new"
    done.get_by_role("button", name="Undo").click()
    expect(page.locator(".toast", has_text="Taken back")).to_be_visible()
    assert texts(studio, "text=is+van") == []
    [undone] = studio.ask("/projects/sample/acts?verb=undo+log")["acts"]
    assert undone["about"] == "calls.csv: 8 rows, 0 texts gone"


def test_a_new_name_that_is_like_an_intent_of_the_project_is_asked_about(
    visit: Callable[..., Page], studio: Served, tmp_path: Path
) -> None:
    """ "billing" became an intent beside "bill_question", and the two shared their texts."""
    file = tmp_path / "bills.csv"
    file.write_text("text,intent\nmy invoice of may is odd,billing\n", encoding="utf-8")
    page = visit(studio, "/data?project=sample")
    preview = choose(page, file)
    expect(preview).to_contain_text("1 new intent: billing")
    choice = preview.get_by_label("“billing”")
    expect(choice).to_have_value("")
    choice.select_option("It is bill_question")
    expect(preview).not_to_contain_text("1 new intent")
    expect(choice).to_have_value("bill_question")
    preview.get_by_role("button", name="Import").click()
    expect(preview).to_be_hidden()
    names = {i["id"]: i["name"] for i in studio.ask("/projects/sample/overview")["intents"]}
    assert "billing" not in names.values()
    rows = studio.ask("/projects/sample/utterances?text=invoice+of+may+is+odd")["rows"]
    [labels] = [one["labels"] for one in rows if one["text"] == "my invoice of may is odd"]
    assert [names[key] for key in labels] == ["bill_question"]


def test_a_file_that_cannot_be_imported_says_why(
    visit: Callable[..., Page], studio: Served, tmp_path: Path
) -> None:
    """The button's number of texts came from a report that such a file does not have."""
    path = tmp_path / "many.csv"
    path.write_text("a,b,c\nd,e,f\n", encoding="utf-8")
    page = visit(studio, "/data?project=sample")
    preview = choose(page, path)
    expect(preview.get_by_role("alert")).to_contain_text("row 1")
    expect(preview.get_by_role("button", name="Import")).to_be_disabled()
    expect(preview.get_by_role("button", name="Cancel")).to_be_visible()
