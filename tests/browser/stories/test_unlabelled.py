"""A project with many unlabelled texts learns from them, and a person can see it and undo it."""

import csv
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.bootstrap import open_studio
from app.services.training.runs import TrainingRequest
from app.settings import Settings
from tests.builders.served_studio import Served, StudioPool, copy_home, run
from tests.builders.trained_home import train_here

_SAMPLE = Path(__file__).parents[3] / "assets" / "sample"
_INTENTS = ("lost_sim", "roaming", "slow_internet", "moving_home", "change_plan", "bill_question")
_ENDS = ("please", "since monday", "can you help", "today", "again")


@pytest.fixture(scope="module")
def pooled(
    sample_home: Path, tmp_path_factory: pytest.TempPathFactory, studios: StudioPool
) -> Iterator[Served]:
    """Six intents of the sample, with 600 unlabelled texts: all 17 would train for minutes."""
    folder = tmp_path_factory.mktemp("pooled")
    home = copy_home(sample_home, folder / "home")
    taught, tested = (_rows(f"{name}.csv") for name in ("labelled", "test"))
    more = [{"text": f"{row['text']} {end}"} for row in taught for end in _ENDS]
    run(home, "new", "small")
    for split, rows in {"train": taught, "test": tested, "pool": more}.items():
        file = folder / f"{split}.csv"
        with file.open("w", encoding="utf-8", newline="") as stream:
            table = csv.DictWriter(stream, rows[0].keys())
            table.writeheader()
            table.writerows(rows)
        run(home, "import", "small", str(file), *([] if split == "pool" else ["--split", split]))
    studio = open_studio(Settings(home=home, device="cpu"))
    train_here(studio, TrainingRequest("small", "instant", {}))
    studio.database.close()
    with studios.serving(home) as served:
        yield served


def _rows(name: str) -> list[dict[str, str]]:
    with (_SAMPLE / name).open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["intent"] in _INTENTS]


def test_unlabelled_texts_teach_a_version_and_can_be_switched_off(
    visit: Callable[..., Page], pooled: Served
) -> None:
    page = visit(pooled, "/train?project=small")
    best = page.get_by_role("radio", name="Best")
    expect(best).to_contain_text("120 examples of 6 intents and 600 unlabelled")
    expect(page.get_by_role("radio", name="Quick")).not_to_contain_text("unlabelled")
    form = page.locator("#settings-convfit")
    form.get_by_text("Settings of the training", exact=True).click()
    form.get_by_label("Rounds over your examples").fill("1")
    tick = form.get_by_label("Learn from unlabelled texts, too")
    expect(tick).to_be_checked()
    told = page.locator("[data-role=pool-words]")
    trains(page)
    # Few words or many: one round on this machine or another may help, or be left out.
    expect(told).to_contain_text(re.compile(r"\d+ of 24 held-out labels right, \d+ without them"))
    taught = pooled.ask("/projects/small/models/2/lineage")["n_unlabelled"]
    assert taught == 0 or f"{taught:,} unlabelled texts" in told.inner_text()
    assert taught == 0 or taught > 300
    with_texts = page.locator("[data-role=estimate]").inner_text()
    tick.uncheck()
    expect(page.locator("[data-role=estimate]")).not_to_have_text(with_texts)  # it takes less time
    trains(page)
    expect(told).to_have_count(0)
    assert pooled.ask("/projects/small/models/3/lineage")["n_unlabelled"] == 0
    page.goto(f"{pooled.base}/versions?project=small")
    second = page.locator("[data-role=models] > li[data-version='2'] [data-role=changes]")
    words = f"120 examples and {taught:,} unlabelled texts" if taught else "120 examples."
    expect(second).to_contain_text(words)
    page.goto(f"{pooled.base}/versions?project=small&candidate=3&champion=2")
    expect(page.locator("[data-role=verdict]")).to_contain_text("test texts")


def trains(page: Page) -> None:
    page.get_by_role("button", name="Retrain").click()
    page.wait_for_selector("[data-role=job-state]:has-text('running')")
    page.wait_for_selector("[data-role=job-state]:has-text('done')", timeout=600_000)
