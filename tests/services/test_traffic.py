"""Heavy work gives way to whoever is served, and not for ever."""

import threading
import time

from app.services.traffic import Traffic


def test_without_requests_nothing_waits() -> None:
    traffic = Traffic(last=time.monotonic() - 10)
    began = time.monotonic()
    traffic.give_way()
    assert time.monotonic() - began < 0.04


def test_work_waits_until_the_last_request_is_a_while_ago() -> None:
    traffic = Traffic(last=time.monotonic() - 10)
    traffic.enter()
    threading.Timer(0.1, traffic.leave).start()
    began = time.monotonic()
    traffic.give_way(at_most=10)
    assert 0.5 <= time.monotonic() - began < 5
    assert traffic.inside == 0


def test_work_goes_on_beside_somebody_who_never_pauses() -> None:
    traffic = Traffic()
    traffic.enter()
    began = time.monotonic()
    traffic.give_way(at_most=0.2)
    assert 0.2 <= time.monotonic() - began < 2
