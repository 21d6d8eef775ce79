"""Who writes when: a fair queue of writers, and small requests that are written together."""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

_MOST_TOGETHER = 100
"""Requests in one transaction; the first of them waits until the last is written."""

Request = TypeVar("Request")
Answer = TypeVar("Answer")

Take: TypeAlias = Callable[[], list[Request]]
"""Returns the requests that wait now; called once a transaction is open."""

Save: TypeAlias = Callable[[Take[Request]], Sequence[Answer]]
"""Writes the requests that it takes in one transaction; returns an answer for each."""


class WriteQueue:
    """Lets one thread write at a time, in order of arrival.

    SQLite's own locking is unfair and can starve one.
    """

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._taken = False
        self._writer: int | None = None

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait until this thread may write, and block the others meanwhile.

        Raises:
            RuntimeError: This thread writes already: it would wait for itself, for ever.
        """
        if self._writer == threading.get_ident():
            message = "a write was begun within another one of the same thread"
            raise RuntimeError(message)
        with self._mutex:
            mine = threading.Event()
            if not self._taken:
                self._taken = True
                mine.set()
            else:
                self._waiting.append(mine)
        mine.wait()
        self._writer = threading.get_ident()
        try:
            yield
        finally:
            self._writer = None
            with self._mutex:
                if self._waiting:
                    self._waiting.popleft().set()
                else:
                    self._taken = False


@dataclass(slots=True, eq=False)
class _Waiting(Generic[Request, Answer]):
    """A request; its thread is woken when it is answered, or is to write for all that wait."""

    request: Request
    answer: Future[Answer] = field(default_factory=Future)
    woken: threading.Event = field(default_factory=threading.Event)


class SharedWrites(Generic[Request, Answer]):
    """Writes requests that come while another is written in one transaction.

    Twelve people's decisions, written one by one, waited a quarter of a second for each other.
    """

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._waiting: deque[_Waiting[Request, Answer]] = deque()
        self._is_led = False

    def write(self, request: Request, save: Save[Request, Answer]) -> Answer:
        """Return the answer to a request once it is committed; raise what `save` raises.

        The thread that comes first writes for all that wait when its transaction is open. If a
        transaction fails, each of its requests is saved again alone, so that it fails for itself.
        """
        mine = _Waiting[Request, Answer](request)
        with self._mutex:
            self._waiting.append(mine)
            if not self._is_led:
                self._is_led = True
                mine.woken.set()
        mine.woken.wait()
        if not mine.answer.done():
            try:
                self._write_waiting(save)
            finally:
                self._pass_on(mine)
        return mine.answer.result()

    def _write_waiting(self, save: Save[Request, Answer]) -> None:
        together = list[_Waiting[Request, Answer]]()

        def take() -> list[Request]:
            together.extend(self._first_waiting())
            return [one.request for one in together]

        try:
            answers = save(take)
        except Exception as error:
            if not together:
                raise  # the transaction could not begin; those that wait try it themselves
            _fail(together, save, error)
        else:
            for one, answer in zip(together, answers, strict=True):
                one.answer.set_result(answer)
        finally:
            for one in together:
                if not one.answer.done():  # this thread was interrupted
                    one.answer.set_exception(InterruptedError("the writing thread was ended"))
                one.woken.set()

    def _first_waiting(self) -> list[_Waiting[Request, Answer]]:
        with self._mutex:
            return [self._waiting.popleft() for _ in range(min(len(self._waiting), _MOST_TOGETHER))]

    def _pass_on(self, mine: _Waiting[Request, Answer]) -> None:
        with self._mutex:
            self._waiting = deque(one for one in self._waiting if one is not mine)
            if self._waiting:
                self._waiting[0].woken.set()
            else:
                self._is_led = False


def _fail(
    together: Sequence[_Waiting[Request, Answer]], save: Save[Request, Answer], error: Exception
) -> None:
    """Answer requests of a transaction that failed: by the error, or each by a new attempt."""
    if len(together) == 1:
        together[0].answer.set_exception(error)
        return
    for one in together:
        _answer_alone(one, save)


def _answer_alone(one: _Waiting[Request, Answer], save: Save[Request, Answer]) -> None:
    try:
        [answer] = save(lambda: [one.request])
    except Exception as error:  # noqa: BLE001 - its own thread raises it
        one.answer.set_exception(error)
    else:
        one.answer.set_result(answer)
