"""What Gradio does while it is imported and builds pages, kept to what the pages need."""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def without_stub_files() -> Iterator[None]:
    """Keep Gradio from writing a `.pyi` file for editors beside each component that is defined.

    It parses the source of every component for that, which took half of its import. It writes none
    for a class without a file, so its classes seem to have none here.
    """
    plain = inspect.getfile

    def getfile(thing: Any) -> str:
        if type(thing).__name__ == "ComponentMeta":
            raise OSError("no file for editors is wanted")
        return plain(thing)

    inspect.getfile = getfile  # type: ignore[assignment]
    try:
        yield
    finally:
        inspect.getfile = plain


@contextmanager
def without_spare_apps() -> Iterator[None]:
    """Keep Gradio from making an app with all its routes at the end of each page.

    Ten of them took half a second, and `mount_gradio_app` makes the one that serves.
    """
    from gradio.routes import App

    plain = App.create_app
    App.create_app = staticmethod(lambda *_, **__: None)  # type: ignore[assignment]
    try:
        yield
    finally:
        App.create_app = staticmethod(plain)  # type: ignore[method-assign]
