"""A damaged database: no decision is lost, and every page says so in words."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.bootstrap import open_studio
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.upkeep import back_up
from app.settings import Settings
from tests.builders.served_studio import Served, StudioPool, copy_home
from tests.faults.spoiling import spoil
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def damaged(
    sample_home: Path, tmp_path_factory: pytest.TempPathFactory, studios: StudioPool
) -> Iterator[Served]:
    """The sample and a project of texts that wait; a page of the log of changes is overwritten."""
    folder = tmp_path_factory.mktemp("damaged")
    home = copy_home(sample_home, folder / "home")
    texts = folder / "texts.txt"
    texts.write_text("".join(f"text number {n}\n" for n in range(9)), encoding="utf-8")
    studio = open_studio(Settings(home=home, device="cpu"))
    create_project(studio, "p")
    import_file(studio, ImportRequest("p", texts))
    back_up(studio, folder / "backup.zip")
    studio.database.close()
    spoil(home, "ix_event_subject")
    with studios.serving(home) as served:
        wait_until(
            lambda: served.ask("/database")["state"] != "unchecked", "the database is checked"
        )
        yield served


def test_a_decision_that_the_database_cannot_take_is_kept(
    visit: Callable[..., Page], damaged: Served
) -> None:
    """It was told as refused and forgotten."""
    page = visit(damaged, "/label?project=p")
    page.wait_for_selector("[data-role=utterance]:not(:empty)")
    page.keyboard.press("s")
    state = page.locator("[data-role=saved]")
    expect(state).to_have_text("1 decision not saved, kept here in this browser")
    expect(page.locator(".toast.bad", has_text="is damaged")).to_be_visible()
    page.keyboard.press("s")
    expect(state).to_have_text("2 decisions not saved, kept here in this browser")
    page.reload()
    expect(state).to_have_text("2 decisions not saved, kept here in this browser")


@pytest.mark.parametrize("path", ["/", "/label?project=p", "/versions?project=sample"])
def test_every_page_says_that_the_database_is_damaged(
    visit: Callable[..., Page], damaged: Served, path: str
) -> None:
    """Nothing said so, and the Label page promised “saved as you go”."""
    banner = visit(damaged, path).locator("[data-role=damage]")
    expect(banner).to_contain_text("The database of this studio is damaged.")
    expect(banner).to_contain_text("cannot be read whole: the history of changes.")
    expect(banner).to_contain_text("Still readable: texts, labels and intents; model versions;")
    expect(banner).to_contain_text("backup.zip")
    expect(banner).not_to_contain_text("intent-studio")
