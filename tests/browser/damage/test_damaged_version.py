"""A damaged version on the Versions page."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from app.bootstrap import open_studio
from app.settings import Settings
from storage import models
from storage.artifacts import tree_files
from tests.builders.served_studio import StudioPool, copy_home


def own_file(home: Path, number: int) -> Path:
    """Return a file of a version that no other one has."""
    studio = open_studio(Settings(home=home, device="cpu"))
    with studio.database.read() as connection:
        trees = {one.number: one.tree_sha256 for one in models.list_all(connection, 1)}
        files = {n: set(tree_files(connection, tree).values()) for n, tree in trees.items()}
    studio.database.close()
    own = files.pop(number)
    return studio.artifacts.path(min(own.difference(*files.values())))


def test_a_damaged_version_is_marked_and_cannot_be_used(
    visit: Callable[..., Page], twice_home: Path, tmp_path: Path, studios: StudioPool
) -> None:
    """It was made live, and nothing was answered any more."""
    home = copy_home(twice_home, tmp_path / "home")
    file = own_file(home, 2)
    content = file.read_bytes()
    file.unlink()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with studios.serving(home) as served:
        page = visit(served, "/versions?project=sample")
        line = page.locator("[data-version='2']")
        line.get_by_role("button", name="Use version 2").click()
        message = page.locator(".toast.bad", has_text="Version 2 of 'sample' is damaged")
        expect(message).to_be_visible()
        expect(line.locator("[data-role=state]")).to_contain_text("Damaged")
        expect(line.locator("[data-role=damaged]")).to_contain_text("it cannot answer")
        expect(line.get_by_role("button", name="Use version 2")).to_have_count(0)
        expect(page.locator("[data-version='1'] [data-role=state]")).to_contain_text("Live")
