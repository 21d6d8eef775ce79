"""Heavy work gives way to whoever is served, and not for ever."""

import contextvars
from dataclasses import dataclass, field

import pytest

from app.services.live import traffic as module
from app.services.live.traffic import Traffic


@dataclass
class Clock:
    """A clock that only sleeping moves, and what happens when it shows a time."""

    now: float = 100.0
    plans: dict[float, object] = field(default_factory=dict)

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        for due in [due for due in self.plans if due <= self.now]:
            self.plans.pop(due)()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(module, "time", made)
    return made


def test_without_requests_nothing_waits(clock: Clock) -> None:
    Traffic(last=clock.now - 10).give_way()
    assert clock.now == 100.0


def begin_elsewhere(traffic: Traffic) -> None:
    """Let a request begin that another thread serves."""
    contextvars.copy_context().run(traffic.enter)


def test_work_waits_until_the_last_request_is_a_while_ago(clock: Clock) -> None:
    traffic = Traffic(last=clock.now - 10)
    begin_elsewhere(traffic)
    clock.plans[100.1] = traffic.leave
    traffic.give_way(at_most=10)
    assert clock.now == pytest.approx(100.5, abs=0.1)  # 0.4 s after the request was answered
    assert traffic.inside == 0


def test_work_goes_on_beside_somebody_who_never_pauses(clock: Clock) -> None:
    traffic = Traffic(last=clock.now)
    begin_elsewhere(traffic)
    traffic.give_way(at_most=0.2)
    assert clock.now == pytest.approx(100.2, abs=0.06)


def test_a_request_does_not_wait_for_itself(clock: Clock) -> None:
    """It counted as traffic, so that each pause of Review's own work took its whole second."""
    traffic = Traffic(last=clock.now - 10)

    def serve() -> None:
        traffic.enter()
        traffic.give_way(at_most=10)
        traffic.leave()

    contextvars.copy_context().run(serve)
    assert clock.now == 100.0


def test_of_two_requests_neither_waits_for_the_end_of_the_other(clock: Clock) -> None:
    """Two people who opened Review at once waited for each other at every pause."""
    traffic = Traffic(last=clock.now)
    begin_elsewhere(traffic)

    def serve() -> None:
        traffic.enter()
        for _ in range(10):
            traffic.give_way()

    contextvars.copy_context().run(serve)
    assert clock.now == pytest.approx(100.5, abs=0.01)  # 0.05 s each
