"""Requests that compute for seconds take turns, and nobody else waits for them."""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.api.http import server_state
from app.services.explaining import explain as explaining
from app.services.live import traffic as traffic_module
from app.services.live.live_studio import LiveStudio
from app.services.reports import model_report
from tests.served_in_memory import TOKEN

TEXT = {"text": "where is my money"}


def slowly(act: Callable[..., Any], seen: list[int]) -> Callable[..., Any]:
    """Act a third of a second later, and note how many do so at each one's start."""
    computing, guard = [0], threading.Lock()

    def slow(*arguments: Any) -> Any:
        with guard:
            computing[0] += 1
            seen.append(computing[0])
        time.sleep(0.3)
        try:
            return act(*arguments)
        finally:
            with guard:
                computing[0] -= 1

    return slow


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch, live_studio: LiveStudio) -> list[int]:
    """How many explanations were computed at each one's start."""
    live_studio.traffic.turns = asyncio.Semaphore(1)
    seen = list[int]()
    monkeypatch.setattr(explaining, "explain", slowly(explaining.explain, seen))
    return seen


def test_explanations_take_turns_while_others_are_answered(
    client: TestClient, trained: str, at_once: list[int]
) -> None:
    """Three at once, a review and a report made a label take 190 ms on two cores."""
    here = f"/api/projects/{trained}"
    with ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(client.post, f"{here}/explain", json=TEXT) for _ in range(3)]
        while not at_once:
            time.sleep(0.01)
        assert client.get(f"{here}/overview").status_code == 200
        assert sum(one.done() for one in asked) < 3
        assert [one.result().status_code for one in asked] == [200, 200, 200]
    assert at_once == [1, 1, 1]


def test_a_turn_ends_with_a_request_that_is_refused(
    client: TestClient, trained: str, at_once: list[int]
) -> None:
    assert client.post("/api/projects/nobody/explain", json=TEXT).status_code == 404
    assert client.post(f"/api/projects/{trained}/explain", json={"text": 5}).status_code == 422
    assert client.post(f"/api/projects/{trained}/explain", json=TEXT).status_code == 200
    assert at_once == [1, 1]


def test_who_has_waited_for_long_goes_ahead(
    client: TestClient, trained: str, at_once: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A review of 100,000 texts takes a minute, for which nobody waits on the Try page."""
    monkeypatch.setattr(traffic_module, "_LONGEST_WAIT", 0.1)
    here = f"/api/projects/{trained}/explain"
    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(client.post, here, json=TEXT) for _ in range(2)]
        assert [one.result().status_code for one in asked] == [200, 200]
    assert at_once == [1, 2]
    assert client.post(here, json=TEXT).status_code == 200
    assert at_once == [1, 2, 1]


@pytest.fixture
def receipt(client: TestClient, trained: str) -> str:
    """The address of a receipt, without the ending of a file."""
    kept = client.post(f"/api/projects/{trained}/receipts", json=TEXT).json()
    return f"/api/receipts/{kept['id']}/receipt"


def print_at_once(_settings: object, _page: str, out: Path) -> None:
    out.write_bytes(b"%PDF")


def test_pdfs_are_printed_one_after_another(
    client: TestClient, receipt: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a shared link alone forty browsers were started, and no thread was left for labels."""
    seen = list[int]()
    monkeypatch.setattr("app.api.explaining.print_pdf", slowly(print_at_once, seen))
    with ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(client.get, f"{receipt}.pdf") for _ in range(3)]
        while not seen:
            time.sleep(0.01)
        assert client.get(f"{receipt}.html").status_code == 200
        assert sum(one.done() for one in asked) < 3
        assert [one.result().content for one in asked] == [b"%PDF"] * 3
    assert seen == [1, 1, 1]


def test_a_pdf_that_waits_for_long_is_refused(
    client: TestClient, receipt: str, live_studio: LiveStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.api.explaining.print_pdf", print_at_once)
    monkeypatch.setattr(server_state, "_LONGEST_WAIT", 0.05)
    live_studio.traffic.prints = asyncio.Semaphore(0)
    refused = client.get(f"{receipt}.pdf")
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "30")
    assert "PDFs are being printed" in refused.json()["message"]
    live_studio.traffic.prints = asyncio.Semaphore(1)
    for _ in range(2):  # the turn is given back
        assert client.get(f"{receipt}.pdf").status_code == 200


def test_a_pdf_by_a_shared_link_waits_for_none(
    serve: Callable[..., TestClient],
    trained: str,
    live_studio: LiveStudio,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By such a link alone, the owner's PDF stood behind any number of others."""
    monkeypatch.setattr("app.api.explaining.print_pdf", print_at_once)
    owner, viewer, here = serve(TOKEN), serve(TOKEN), f"/api/projects/{trained}"
    owner.headers["Authorization"] = f"Bearer {TOKEN}"
    key = owner.post(f"{here}/receipts", json=TEXT).json()["id"]
    shared = owner.post(f"{here}/shares", json={"kind": "receipt", "target": key}).json()
    assert viewer.get(shared["link"]).status_code == 200
    live_studio.traffic.prints = asyncio.Semaphore(0)
    began = time.monotonic()
    refused = viewer.get(f"/api/receipts/{key}/receipt.pdf")
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "30")
    assert time.monotonic() - began < 10
    live_studio.traffic.prints = asyncio.Semaphore(1)
    assert viewer.get(f"/api/receipts/{key}/receipt.pdf").content == b"%PDF"


def test_pages_of_reports_take_turns(
    client: TestClient, trained: str, live_studio: LiveStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call of a shared link judged the version anew, however many came at once."""
    seen = list[int]()
    live_studio.traffic.turns = asyncio.Semaphore(1)
    monkeypatch.setattr(traffic_module, "_LONGEST_WAIT", 60.0)
    monkeypatch.setattr(model_report, "report", slowly(model_report.report, seen))
    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(client.get, f"/reports/{trained}/1") for _ in range(2)]
        assert [one.result().status_code for one in asked] == [200, 200]
    assert seen == [1, 1]
