"""Where no test text tells how good a model is, each page says so and leads to what brings some."""

from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

from tests.builders.held_answers import hold, reroute
from tests.builders.served_studio import Served

_TESTS = "/projects/sample/utterances?size=1&split=test&state="
_PLAIN = """async measured => {
  const {plainBasis} = await import('/studio/js/shared/accuracy.js');
  return measured.map(plainBasis);
}"""
"""What pages say of the texts that a figure stands on."""


def counted(studio: Served, state: str) -> int:
    return int(studio.ask(_TESTS + state)["total"])


def test_texts_drawn_at_random_become_test_texts_once_a_person_agrees(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“Import test texts” was all that the pages said, and there was no file to import."""
    before, labelled = counted(studio, "unlabelled"), counted(studio, "labelled")
    page = visit(studio, "/label?project=sample&tests=5")
    asked = page.get_by_role("dialog")
    expect(asked).to_contain_text("Label 5 texts at random as test texts?")
    assert counted(studio, "unlabelled") == before
    asked.get_by_role("button", name="Draw 5 texts").click()
    expect(page.locator(".toast").first).to_contain_text("5 texts are test texts now.")
    expect(page.locator("[data-role=few]")).to_have_text("0 of these 5")
    assert counted(studio, "unlabelled") == before + 5
    for done in range(1, 6):
        expect(page.locator(".option .chip").first).to_be_visible()
        page.keyboard.press("1")
        few = f"{done} of these 5" if done < 5 else "5 done. See how good the model is, or go on."
        expect(page.locator("[data-role=few]")).to_have_text(few)
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")
    assert counted(studio, "labelled") == labelled + 5
    assert counted(studio, "unlabelled") == before


def test_whether_the_version_in_use_has_learned_the_drawn_texts_is_said_where_it_is_so(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“A version that has learned from them, unlabelled, …” stood there of every version."""
    page = visit(studio, "/label?project=sample&tests=5")
    asked, told = page.get_by_role("dialog"), "these test only the next version"
    expect(asked).to_contain_text("so they tell how often the model is right.")
    expect(asked).not_to_contain_text(told)

    def learned(route: Route) -> None:
        found = route.fetch().json()
        for one in found["models"]:
            one["metrics"]["pool"] = {"n": 600}
        route.fulfill(json=found)

    reroute(page, "**/projects/sample/versions", learned)
    page.goto(f"{studio.base}/label?project=sample&tests=5")
    known = "Version 1 has learned from unlabelled texts, too."
    expect(asked).to_contain_text(f"{known} As test texts, {told}")
    page.unroute_all(behavior="wait")


def test_a_text_that_somebody_labelled_before_it_was_drawn_stays_an_example(
    visit: Callable[..., Page], studio: Served
) -> None:
    """It became a test text, and the model forgot what it had just learned from it."""
    page = visit(studio, "/label?project=sample&tests=4")
    draws = hold(page, "**/projects/sample/edits", "POST")
    page.get_by_role("dialog").get_by_role("button", name="Draw 4 texts").click()
    draws.arrived()
    first = draws.routes[0].request.post_data_json["filter"]["ids"][0]
    label = {"filter": {"ids": [first]}, "kind": "out-of-scope", "value": "", "expected": 1}
    studio.ask("/projects/sample/edits", label)
    draws.release()
    told = page.locator(".toast.bad")
    expect(told).to_contain_text("Meanwhile this would change 3 texts, not 4.")
    [row] = studio.ask("/projects/sample/utterances/by-ids", {"ids": [first]})
    assert (row["split"], row["labels"]) == ("train", [])


def test_a_file_that_a_link_asks_for_becomes_test_texts(
    visit: Callable[..., Page], studio: Served
) -> None:
    page = visit(studio, "/data?project=sample&import=test")
    box = page.get_by_role("region", name="Import", exact=True)
    expect(box.get_by_role("heading")).to_have_text("Import test texts")
    file = {"name": "more.csv", "mimeType": "text/csv", "buffer": b"text,intent\nwhat now,other\n"}
    page.get_by_label("File to import").set_input_files(file)
    expect(page.locator("[data-role=destination]")).to_contain_text("They become test texts")


def test_undo_gives_back_the_texts_that_were_drawn(
    visit: Callable[..., Page], studio: Served
) -> None:
    """After “Taken back.” came an error, and the page went on to count “0 of these 4”."""
    before = counted(studio, "unlabelled")
    page = visit(studio, "/label?project=sample&tests=4")
    page.get_by_role("dialog").get_by_role("button", name="Draw 4 texts").click()
    few, note = page.locator("[data-role=few]"), page.locator(".order-note")
    expect(few).to_have_text("0 of these 4")
    expect(note).to_contain_text("4 test texts to label, drawn at random.")
    told = page.locator(".toast", has_text="4 texts are test texts now.")
    told.get_by_role("button", name="Undo").click()
    taken_back = page.locator(".toast", has_text="Taken back: 4 texts are test texts now.")
    expect(taken_back).to_be_visible()
    expect(few).to_be_hidden()
    expect(note).not_to_contain_text("drawn at random")
    expect(page.locator("[data-role=utterance]:not(:empty)")).to_be_visible()
    expect(page.locator(".toast.bad")).to_have_count(0)
    assert counted(studio, "unlabelled") == before


def test_pages_call_the_texts_that_a_training_checks_itself_on_as_reports_do(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Pages said “its own labels” and “labels that it has learned”, reports “its own examples”."""
    page = visit(studio, "/train?project=sample")
    held_out = "on held-out labels when trained (5-fold cross-validation over 20 texts)"
    learned = "on labels that it has learned, when trained (leave-one-out over 20 texts)"
    assert page.evaluate(_PLAIN, [held_out, learned]) == [
        "on its own examples, checked when trained",
        "on its own examples, which it has learned, when trained",
    ]
