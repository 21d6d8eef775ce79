"""A project with many unlabelled texts learns from them, and a person can see it and undo it."""

import csv
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.builders.served_studio import Served, StudioPool, copy_home, run

_SAMPLE = Path(__file__).parents[3] / "assets" / "sample" / "labelled.csv"
_ENDS = ("please", "since monday", "can you help")


@pytest.fixture(scope="module")
def pooled(
    sample_home: Path, tmp_path_factory: pytest.TempPathFactory, studios: StudioPool
) -> Iterator[Served]:
    """The sample with 1,020 more unlabelled texts."""
    folder = tmp_path_factory.mktemp("pooled")
    home = copy_home(sample_home, folder / "home")
    with _SAMPLE.open(encoding="utf-8", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)]
    more = folder / "more.csv"
    with more.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["text"], *([f"{t} {end}"] for t in texts for end in _ENDS)])
    run(home, "import", "sample", str(more))
    with studios.serving(home) as served:
        yield served


def test_unlabelled_texts_teach_a_version_and_can_be_switched_off(
    visit: Callable[..., Page], pooled: Served
) -> None:
    page = visit(pooled, "/train?project=sample")
    best = page.get_by_role("radio", name="Best")
    expect(best).to_contain_text(re.compile(r"340 examples of 17 intents and 1,\d{3} unlabelled"))
    expect(page.get_by_role("radio", name="Quick")).not_to_contain_text("unlabelled")
    form = page.locator("#settings-convfit")
    form.get_by_text("Settings of the training", exact=True).click()
    form.get_by_label("Rounds over your examples").fill("1")
    tick = form.get_by_label("Learn from unlabelled texts, too")
    expect(tick).to_be_checked()
    told = page.locator("[data-role=pool-words]")
    trains(page)
    # Few words or many: one round on this machine or another may help, or be left out.
    expect(told).to_contain_text(re.compile(r"\d+ of 68 held-out labels right, \d+ without them"))
    taught = pooled.ask("/projects/sample/models/2/lineage")["n_unlabelled"]
    assert taught == 0 or f"{taught:,} unlabelled texts" in told.inner_text()
    assert taught == 0 or taught > 500
    with_texts = page.locator("[data-role=estimate]").inner_text()
    tick.uncheck()
    expect(page.locator("[data-role=estimate]")).not_to_have_text(with_texts)  # it takes less time
    trains(page)
    expect(told).to_have_count(0)
    assert pooled.ask("/projects/sample/models/3/lineage")["n_unlabelled"] == 0
    page.goto(f"{pooled.base}/versions?project=sample")
    second = page.locator("[data-role=models] > li[data-version='2'] [data-role=changes]")
    words = f"340 examples and {taught:,} unlabelled texts" if taught else "340 examples."
    expect(second).to_contain_text(words)
    page.goto(f"{pooled.base}/versions?project=sample&candidate=3&champion=2")
    expect(page.locator("[data-role=verdict]")).to_contain_text("test texts")


def trains(page: Page) -> None:
    page.get_by_role("button", name="Retrain").click()
    page.wait_for_selector("[data-role=job-state]:has-text('running')")
    page.wait_for_selector("[data-role=job-state]:has-text('succeeded')", timeout=600_000)
