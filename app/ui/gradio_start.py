"""What Gradio does while it is imported, kept to what the pages need."""

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
