"""What a person waits for in the browser: the real server, Chromium, and projects of all sizes."""

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser

from tests.benchmarks import browser_homes as homes
from tests.benchmarks import browser_measures as measures
from tests.benchmarks.browser_probe import Figure, Place, chromium, page_of, served, table


def run(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a table or JSON, and return 1 where a figure misses its limit."""
    options = _options(arguments)
    with tempfile.TemporaryDirectory() as folder:
        place = options.homes or Path(folder)
        figures = list(_measure(place, options))
    if options.json:
        sys.stdout.write(json.dumps([figure.as_json() for figure in figures]) + "\n")
    else:
        sys.stdout.write(table(figures) + "\n")
    return 0 if all(figure.kept for figure in figures) else 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--homes", type=Path, help="where homes are built, and found again")
    parser.add_argument("--labelled", type=Path, help="a labelled file to measure, such as a CSV")
    parser.add_argument("--only", nargs="*", choices=PARTS, help="these alone")
    parser.add_argument("--rounds", type=int, default=2, help="starts of the server for each")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(arguments)


def _measure(place: Path, options: argparse.Namespace) -> Iterator[Figure]:
    with chromium() as browser:
        live_studio = Live(browser, place, options.rounds, options.labelled)
        for part in options.only or PARTS:
            if part == "file" and options.labelled is None:
                continue
            for figure in PARTS[part](live_studio):
                sys.stderr.write(table([figure]).splitlines()[1] + "\n")
                yield figure


@dataclass(frozen=True, slots=True)
class Live:
    """What the parts work with."""

    browser: Browser
    place: Path
    rounds: int
    labelled: Path | None

    @contextmanager
    def opened(self, home: Path) -> Iterator[Place]:
        """Serve a home and open a page."""
        with served(home) as server, page_of(self.browser) as page:
            yield Place(page, server.base, home.name)

    def home(self, name: str, build: Callable[[Path], None]) -> Path:
        """Return a home, built when it is not there."""
        return homes.prepare(self.place / name, build)

    @contextmanager
    def sample(self) -> Iterator[Path]:
        """Copy the sample's home, whose few utterances are soon all labelled."""
        with tempfile.TemporaryDirectory() as folder:
            yield Path(shutil.copytree(self.home("sample", homes.sample), Path(folder) / "sample"))


def _start(live_studio: Live) -> Iterator[Figure]:
    for name, build in (("sample", homes.sample), ("100000", homes.many_rows)):
        yield from measures.first_page(
            live_studio.browser, live_studio.home(name, build), live_studio.rounds
        )


def _label(live_studio: Live) -> Iterator[Figure]:
    with live_studio.sample() as home, live_studio.opened(home) as place:
        yield from measures.labelling(place)
    with live_studio.opened(live_studio.home("100000", homes.many_rows)) as place:
        yield from measures.labelling(place)


def _train(live_studio: Live) -> Iterator[Figure]:
    with live_studio.opened(live_studio.home("100000", homes.many_rows)) as place:
        yield from measures.labelling_while_training(place)


def _search(live_studio: Live) -> Iterator[Figure]:
    with live_studio.opened(live_studio.home("100000", homes.many_rows)) as place:
        yield from measures.searching(place)


def _map(live_studio: Live) -> Iterator[Figure]:
    yield from measures.mapped(
        live_studio.browser, live_studio.home("50000", homes.many_points), live_studio.rounds
    )


def _try(live_studio: Live) -> Iterator[Figure]:
    with live_studio.sample() as home, live_studio.opened(home) as place:
        yield from measures.trying(place)


def _file(live_studio: Live) -> Iterator[Figure]:
    if live_studio.labelled is None:
        return
    home = live_studio.home("file", homes.of_file(live_studio.labelled))
    for measure in (measures.labelling, measures.searching, measures.trying):
        with live_studio.opened(home) as place:
            yield from measure(place)
    yield from measures.mapped(live_studio.browser, home, live_studio.rounds)


PARTS: dict[str, Callable[[Live], Iterator[Figure]]] = {
    "start": _start,
    "label": _label,
    "train": _train,
    "search": _search,
    "map": _map,
    "try": _try,
    "file": _file,
}


if __name__ == "__main__":
    sys.exit(run())
