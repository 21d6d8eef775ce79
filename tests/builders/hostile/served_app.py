"""Every route of a served app, its own and those of the libraries that it mounts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_PARAMETER = re.compile(r"\{[^}]+\}")


@dataclass(frozen=True, slots=True)
class Served:
    """A method and the pattern of a path."""

    method: str
    pattern: str

    @property
    def path(self) -> str:
        """A path that fits the pattern."""
        return _PARAMETER.sub("1", self.pattern)

    def path_in(self, project: str) -> str:
        """A path of a project."""
        return _PARAMETER.sub("1", self.pattern.replace("{project}", project))


def routes_of(app: Any) -> list[Served]:
    """Return what an app answers, behind its guards and in what it mounts, each once."""
    while not hasattr(app, "routes"):
        app = app.app
    return sorted(set(_walk(app.routes, "")), key=lambda served: (served.pattern, served.method))


def _walk(routes: Any, before: str) -> Iterator[Served]:
    for route in routes:
        path = before + getattr(route, "path", "")
        if hasattr(route, "effective_candidates"):  # a router that FastAPI includes lazily
            yield from _walk(route.effective_candidates(), before)
        elif getattr(route, "methods", None):
            yield from (Served(method, path) for method in route.methods)
        elif hasattr(getattr(route, "app", None), "routes"):
            yield from _walk(route.app.routes, path)
        else:  # files
            yield Served("GET", f"{path}/1")
