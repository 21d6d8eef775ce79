"""When a page shows what it is there for."""

from playwright.sync_api import Page

_SHOWN = {
    "": ".tiles a",
    "data": "[data-role=utterances] tbody tr",
    "label": ".option",
    "slots": ".page .sheet",
    "review": "[data-role=finding] .remedy [data-role=radius], .walk li, .figure",
    "map": ".map[data-ready=true]",
    "train": "[data-role=estimate]:not(:empty)",
    "try": ".vote",
    "versions": "[data-role=models] tbody tr",
}


def settled(page: Page, name: str) -> None:
    """Wait until a page, named by its path, has been filled."""
    page.wait_for_selector(_SHOWN[name.partition("?")[0]])
