"""Requests that compute for seconds take turns, and nobody else waits for them."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.services.explaining import explain as explaining
from app.services.live import traffic as traffic_module
from app.services.live.server_state import LiveStudio

TEXT = {"text": "where is my money"}


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch, live_studio: LiveStudio) -> list[int]:
    """How many explanations were computed at each one's start; each takes a third of a second."""
    live_studio.traffic.turns = asyncio.Semaphore(1)
    computing, seen, guard = [0], list[int](), threading.Lock()
    explain = explaining.explain

    def slow(*arguments: Any) -> Any:
        with guard:
            computing[0] += 1
            seen.append(computing[0])
        time.sleep(0.3)
        try:
            return explain(*arguments)
        finally:
            with guard:
                computing[0] -= 1

    monkeypatch.setattr(explaining, "explain", slow)
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
