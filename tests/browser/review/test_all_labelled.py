"""A project without test and unlabelled texts, such as an imported agent, on the Review page."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.bootstrap import open_studio
from app.services.data.bulk import BulkAct, Edit
from app.services.data.utterances import change_many
from app.settings import Settings
from storage.queries import dataset
from storage.queries.utterances import Filter
from tests.builders.served_studio import Served, copy_home
from tests.builders.trained_home import EVERY_TEXT


@pytest.fixture(scope="module")
def all_labelled(
    sample_home: Path,
    tmp_path_factory: pytest.TempPathFactory,
    serve_copy: Callable[[Path], Served],
) -> Served:
    """The sample without its test texts and its unlabelled ones."""
    home = copy_home(sample_home, tmp_path_factory.mktemp("all-labelled") / "home")
    studio = open_studio(Settings(home=home, device="cpu"))
    with studio.database.read() as connection:
        rows = list(dataset.utterances(connection, 1))
    ids = tuple(row.id for row in rows if row.split == "test" or row.labels is None)
    act = BulkAct(len(ids), EVERY_TEXT)
    change_many(studio, "sample", Filter(ids=ids), Edit("delete"), act)
    studio.database.close()
    return serve_copy(home)


def test_a_change_that_is_checked_on_no_text_is_not_said_to_change_nothing(
    visit: Callable[..., Page], all_labelled: Served
) -> None:
    """“no answer changes” stood beside “Checked on 0 test and 0 unlabelled texts.”"""
    page = visit(all_labelled, "/review?project=sample&kind=confusion")
    merges = page.locator("[data-role=finding] .remedy", has_text="Merge")
    expect(merges.first.locator("[data-role=radius]")).to_have_text("not checked")
    finding = page.locator("[data-role=finding]")
    expect(finding.locator(".turns").first).to_contain_text("Not checked: there are no test texts")
    expect(finding).not_to_contain_text("no answer")
    expect(merges.first).to_contain_text(re.compile(r"relabels \d+ texts: “.+” is gone"))


def test_where_a_list_ends_it_opens_the_findings_that_still_wait(
    visit: Callable[..., Page], all_labelled: Served
) -> None:
    """It said “Nothing to mend” while wrong labels waited at the foot of another list."""
    page = visit(all_labelled, "/review?project=sample&kind=thin")  # the sample has no such intent
    nothing = page.locator("[data-role=findings] .empty")
    expect(nothing).to_contain_text("None left of this kind")
    fold = page.locator("[data-role=findings] button[data-key=folded]")
    expect(fold).to_have_text(re.compile(r"\d+ more labels worth a look"))
    nothing.get_by_role("button", name=re.compile(r"Show \d+ other findings")).click()
    expect(page.locator("[data-role=findings] li:not(.fold) button").first).to_be_visible()
    expect(fold).to_have_count(1)
    page.goto(f"{all_labelled.base}/review?project=sample&kind=label")
    expect(page.locator("[data-role=findings] li:not(.fold) button").first).to_be_visible()
    fold.click()
    expect(page.locator("[data-key='kind doubt']")).to_have_attribute("aria-pressed", "true")


def test_after_a_training_on_labels_alone_review_comes_next(
    visit: Callable[..., Page], serve: Callable[..., Served], tmp_path: Path
) -> None:
    """“The others wait for a label” and “Label more” were said where no text was without one."""
    file = tmp_path / "labels.csv"
    asked = {"parcel": "where is my parcel", "refund": "give me my money for order"}
    lines = [f"{text} {n},{name}\n" for name, text in asked.items() for n in range(12)]
    file.write_text("text,intent\n" + "".join(lines), encoding="utf-8")
    studio = serve(empty=True)
    page = visit(studio)
    page.get_by_label("Name").fill("shop")
    page.get_by_role("button", name="Create project").click()
    page.get_by_label("File to import").set_input_files(file)
    page.locator("[data-role=preview]").get_by_role("button", name="Import").click()
    imported = page.locator("[data-role=imported]")
    expect(imported.locator("[data-role=destination]")).to_have_text("The model learns from them.")
    imported.get_by_role("link", name="Train").click()
    page.get_by_role("radio", name="Quick").click()
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.locator("[data-role=job-state]")).to_have_text("done", timeout=600_000)
    result = page.get_by_role("region", name="Result")
    expect(result.get_by_role("link", name="Label more")).to_have_count(0)
    result.get_by_role("link", name="Look for wrong labels").click()
    page.wait_for_selector("h1:has-text('Review')")
