"""The pages and their frame: a rail of pages, a header with the state, one view."""

import os
import warnings
from importlib.resources import files
from typing import Any

from fastapi import FastAPI

from app.ui.asset_files import asset_address
from app.ui.gradio_start import without_spare_apps, without_stub_files

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # before Gradio is imported: it asks at once
with without_stub_files():
    import gradio as gr

    from app.ui.components.view import View
    from app.ui.theme import studio_theme

PAGES = (
    ("Home", "", "home"),
    ("Data", "data", "data"),
    ("Label", "label", "label"),
    ("Discover", "discover", "discover"),
    ("Slots", "slots", "slots"),
    ("Review", "review", "review"),
    ("Map", "map", "map"),
    ("Train", "train", "train"),
    ("Try", "try", "try"),
    ("Versions", "versions", "versions"),
    ("History", "history", "history"),
)
"""Title, path and script of each page."""

_SHEETS = (
    *("shared/tokens", "shared/base", "shared/frame"),
    *("shared/controls", "shared/parts", "shared/tables", "shared/messages"),
    *("shared/evidence", "shared/command_bar", "shared/drawer"),
    *("home", "data", "label", "slots", "map", "train", "versions", "try", "review", "discover"),
)
"""Style sheets in the order in which they are loaded: a page may refine what is shared."""


def mount_pages(app: FastAPI, root: str = "") -> None:
    """Let Gradio serve every page, at the root; `root` is the address or prefix of a proxy."""
    pages = build_pages()
    with warnings.catch_warnings():  # Gradio warns about its own settings
        warnings.filterwarnings("ignore", "SSR mode is not supported")
        gr.mount_gradio_app(app, pages, path="/", root_path=root, **launch_settings())
    pages.has_launched = True  # Gradio checks file paths only after a launch
    # No page has events of Gradio. Its queue looked for some a thousand times a second, which took
    # 7 % of a core for as long as the studio was open.
    queue = pages._queue
    queue.sleep_when_free = queue.progress_update_sleep_when_free = 60.0


def build_pages() -> gr.Blocks:
    """Build every page; what they show is fetched by their scripts, from the REST routes."""
    with without_spare_apps():
        pages = gr.Blocks(title="Intent Studio", fill_width=True, analytics_enabled=False)
        with pages:
            _view("home")
        for title, path, script in PAGES[1:]:
            with pages.route(title, f"/{path}", show_in_navbar=False):
                _view(script)
    return pages


def launch_settings() -> dict[str, Any]:
    """How Gradio is mounted: nothing leaves the machine, nothing is kept in the browser."""
    return {
        "max_file_size": "50mb",
        "run_history": False,
        "ssr_mode": False,
        "footer_links": [],
        "show_error": False,
        "pwa": True,
        "favicon_path": str(files("assets") / "icon.svg"),
        "theme": studio_theme(),
        "head": _head(),
    }


def _view(script: str) -> View:
    return View(script, _relative(f"js/{script}.js"))


def _relative(path: str) -> str:
    """Name a file from where every page lies: a proxy may have put a path before both."""
    return f".{asset_address(path)}"


def _head() -> str:
    sheets = [_relative(f"css/{sheet}.css") for sheet in _SHEETS]
    font, icon = _relative("fonts/inter-latin.woff2"), _relative("icon.svg")
    return (
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        + "".join(f'<link rel="stylesheet" href="{sheet}">' for sheet in sheets)
        + f'<link rel="preload" href="{font}" as="font" crossorigin>'
        + f'<link rel="icon" href="{icon}" type="image/svg+xml">'
    )
