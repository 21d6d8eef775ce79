"""What a person waits for on each page, measured inside the page."""

import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from tests.benchmarks.browser_homes import PROJECT
from tests.benchmarks.browser_probe import Figure, Place, page_of, served

_KEYS, _BURST = 60, 40
_BETWEEN_KEYS_MS = 180
_REST_MS = 150
_LOOK_MS = 2_000
"""For which a person looks at a new map before colouring it otherwise."""
_WORDS = (
    "router", "cancel my", "zzz nothing", "é", "48", "broken leeds", "how do i", "monday",
    "neighbour", "at once", "invoice return", "łódź", "twice", "%", "without a fee", "order 7",
    "by phone", "the", "a e o", "please check",
)  # fmt: skip
_TYPED = ("where is my order", "cancel the contract at once", "my card was charged twice", "hello")
_WAYS = ("prediction", "agreement", "split", "time", "label state", "intent")


def first_page(browser: Browser, home: Path, rounds: int) -> Iterator[Figure]:
    """From the start of the process to the projects, and to a card to label."""
    tiles, cards = [], []
    for _ in range(rounds):
        began = time.perf_counter()
        with served(home) as server, page_of(browser) as page:
            page.goto(server.base + "/")
            page.wait_for_selector(".tiles h2 a")
            tiles.append(1000 * (time.perf_counter() - began))
            page.click(".tiles h2 a")
            page.wait_for_function("document.querySelector('[data-role=utterance]')?.textContent")
            cards.append(1000 * (time.perf_counter() - began))
    yield Figure(home.name, "process start to first usable page", tiles, 6_000, 100)
    yield Figure(home.name, "process start to first card, by a click", cards)


def labelling(place: Place) -> Iterator[Figure]:
    """Keys at the pace of a quick person, then as many at once."""
    page = _open_card(place)
    yield Figure(
        place.home,
        "a request that does nothing",
        [page.evaluate("bench.health()") for _ in range(20)],
    )
    yield from _at_a_pace(place, "", 150)
    before = _decided(page)
    _clear(page)
    for key in itertools.islice(itertools.cycle("so"), _BURST):
        page.keyboard.press(key)
    _all_saved(page)
    saved = _decided(page) - before
    if saved != _BURST:
        raise RuntimeError(f"{saved} of {_BURST} keys in a burst were saved")
    yield Figure(place.home, f"{_BURST} keys in a burst, next card", _clock(page, "next"))
    yield Figure(place.home, f"{_BURST} keys in a burst, durable", _clock(page, "durable"))


def labelling_while_training(place: Place) -> Iterator[Figure]:
    """The same keys while an encoder is tuned beside them."""
    page = _open_card(place)
    body = {"recipe": "convfit", "settings": {}, "base": "bundled", "gate": False}
    job = page.request.post(f"{place.url}/api/projects/{PROJECT}/train", data=body).json()["job"]
    deadline = time.monotonic() + 60
    while _job(place, job)["progress"] < 0.05 and time.monotonic() < deadline:
        page.wait_for_timeout(200)
    yield from _at_a_pace(place, " while training", 300)
    if _job(place, job)["state"] != "running":
        raise RuntimeError("the training had ended before the last key")
    page.request.post(f"{place.url}/api/jobs/{job}/cancel")
    while _job(place, job)["state"] == "running":
        page.wait_for_timeout(200)


def searching(place: Place) -> Iterator[Figure]:
    """Words, filters, orders and deep pages, one after the other."""
    page = place.page
    page.goto(f"{place.url}/data?project={PROJECT}")
    page.wait_for_selector("[data-role=utterances] tr[data-id]")
    page.wait_for_function(
        "document.querySelectorAll('select[aria-label=Intent] option').length > 1"
    )
    _until_ready(place)
    _clear(page)
    search = "input[aria-label='Search in texts']"
    typed = [_shown(page, search, word) for word in _WORDS]
    asked = _clock(page, "rows")
    _clear(page)
    clicked = list(_filters(page, search))
    asked += _clock(page, "rows")
    yield Figure(place.home, "50 rows, typed search (with its pause of 60 ms)", typed, 250)
    yield Figure(place.home, "50 rows, filter, order or deep page", clicked, 250)
    yield Figure(place.home, "50 rows, the server's part", asked, 250)


def _filters(page: Page, search: str) -> Iterator[float]:
    _shown(page, search, "")
    intents = page.eval_on_selector_all(
        "select[aria-label=Intent] option", "all => all.map(o => o.value)"
    )
    for intent in intents[1:4]:
        yield _shown(page, "select[aria-label=Intent]", intent)
    _shown(page, "select[aria-label=Intent]", "")
    for label, values in (
        ("Set", ("pool", "train", "")),
        ("State of the label", ("unlabelled", "labelled", "skipped", "flagged", "")),
        ("Order", ("oldest", "changed", "text", "newest")),
    ):
        for value in values:
            yield _shown(page, f"select[aria-label='{label}']", value)
    yield from _deep(page)


def _deep(page: Page) -> Iterator[float]:
    """Pages far back are reached by their address, then turned."""
    pages = int(page.inner_text("[data-role=total]").split(" of ")[-1].replace(",", ""))
    address = page.url
    for share, order in ((0.5, "newest"), (0.99, "text"), (0.35, "changed"), (0.75, "oldest")):
        page.goto(f"{address}&page={int(share * pages) - 2}&order={order}")
        page.wait_for_selector("[data-role=utterances] tbody tr")
        page.wait_for_timeout(800)
        for _ in range(2):
            yield _turn(page)


def _turn(page: Page) -> float:
    spent = float(page.evaluate("bench.turn()"))
    page.wait_for_timeout(_REST_MS)
    return spent


def mapped(browser: Browser, home: Path, rounds: int) -> Iterator[Figure]:
    """From the click to a map that can be used, with nothing of it in memory; then its colours."""
    opened, colours = [], []
    for _ in range(rounds):
        with served(home) as server, page_of(browser) as page:
            page.goto(f"{server.base}/data?project={PROJECT}")
            page.wait_for_selector("[data-role=utterances] tr[data-id]")
            page.wait_for_timeout(3_000)
            opened.append(_open_map(page))
            page.hover(".map")
            page.mouse.wheel(0, -300)
            page.wait_for_timeout(_LOOK_MS)
            colours += [_recolour(page, by) for by in _WAYS * 2]
    yield Figure(
        home.name, "map, from the click to its points, nothing in memory", opened, 4_000, 100
    )
    yield Figure(home.name, "map, other colours with the zoom kept", colours, 700)


def _open_map(page: Page) -> float:
    page.evaluate("bench.markClick()")
    page.click("nav a:text-is('Map')")
    page.wait_for_function("document.querySelector('.map')?.dataset.ready")
    return float(page.evaluate("bench.sinceClick()"))


def _recolour(page: Page, by: str) -> float:
    spent, kept = page.evaluate("bench.recolour", by)
    if not kept:
        raise RuntimeError(f"colouring by {by} lost the zoom")
    page.wait_for_timeout(200)
    return float(spent)


def trying(place: Place) -> Iterator[Figure]:
    """From the last letter to the answer, which includes the page's own pause."""
    page = place.page
    page.goto(f"{place.url}/try?project={PROJECT}")
    page.wait_for_selector("textarea")
    _until_ready(place)
    page.evaluate("bench.answer", "warm up")
    texts = [f"{text} {n}" for n in range(5) for text in _TYPED]
    spent = []
    for text in texts:
        page.wait_for_timeout(150)
        spent.append(page.evaluate("bench.answer", text))
    yield Figure(place.home, "try, last letter to answer (with its pause of 40 ms)", spent, 150)


def _open_card(place: Place) -> Page:
    place.page.goto(f"{place.url}/label?project={PROJECT}")
    place.page.wait_for_selector(".option")
    return place.page


def _until_ready(place: Place) -> None:
    """Wait for the model, which a server loads when it has started."""
    path = f"{place.url}/api/projects/{PROJECT}/status"
    while place.page.request.get(path).json()["model"] != "ready":
        place.page.wait_for_timeout(200)


def _at_a_pace(place: Place, when: str, limit: float) -> Iterator[Figure]:
    page = place.page
    _clear(page)
    for key in itertools.islice(itertools.cycle(("Enter", "Enter", "o", "s")), _KEYS):
        shown = page.query_selector(".option:not([disabled])") is not None
        page.keyboard.press(key if shown else "s")
        page.wait_for_timeout(_BETWEEN_KEYS_MS)
    _all_saved(page)
    yield Figure(place.home, f"label, key to next card{when}", _clock(page, "next"), 30)
    yield Figure(place.home, f"label, key to saved{when}", _clock(page, "durable"), limit)


def _shown(page: Page, field: str, value: str) -> float:
    spent = float(page.evaluate("bench.rows", [field, value]))
    page.wait_for_timeout(_REST_MS)
    return spent


def _all_saved(page: Page) -> None:
    page.wait_for_function(
        "document.querySelector('[data-role=saved]').textContent === 'all saved'"
    )


def _decided(page: Page) -> int:
    found = page.evaluate(
        f"async () => (await (await fetch('/api/projects/{PROJECT}/overview')).json()).counts"
    )
    return int(found["out_of_scope"]) + int(found["skipped"])


def _job(place: Place, job: str) -> Any:
    return place.page.request.get(f"{place.url}/api/jobs/{job}").json()


def _clear(page: Page) -> None:
    page.evaluate("for (const found of Object.values(clocks)) found.length = 0")


def _clock(page: Page, which: str) -> list[float]:
    return list(page.evaluate(f"clocks.{which}"))
