"""Heavy work gives way to whoever is served, and not for ever."""

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


def test_work_waits_until_the_last_request_is_a_while_ago(clock: Clock) -> None:
    traffic = Traffic(last=clock.now - 10)
    traffic.enter()
    clock.plans[100.1] = traffic.leave
    traffic.give_way(at_most=10)
    assert clock.now == pytest.approx(100.5, abs=0.1)  # 0.4 s after the request was answered
    assert traffic.inside == 0


def test_work_goes_on_beside_somebody_who_never_pauses(clock: Clock) -> None:
    traffic = Traffic(last=clock.now)
    traffic.enter()
    traffic.give_way(at_most=0.2)
    assert clock.now == pytest.approx(100.2, abs=0.06)
