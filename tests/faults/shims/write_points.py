"""Kill a process, or fill its disk, at the n-th act on the disk: every n is one test.

An act is a write or truncation of SQLite, and a sync, rename, link or removal of Python's `os`.
Between two acts the files do not change in a way that a restart could see, except for a file under
a temporary name.
"""

import errno
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from tests.faults.shims.sqlite_calls import SqliteCalls

_ACTS = ("fsync", "replace", "rename", "link", "unlink", "rmdir", "mkdir")
KILLED = -signal.SIGKILL


@dataclass
class WritePoints:
    """Counts the acts of this process; `at` is the one, from 1, before which `strike` is called."""

    at: int
    strike: Callable[[], None]
    lasting: bool = False
    count: int = 0
    names: list[str] = field(default_factory=list)

    def install(self) -> None:
        """Count from now on."""
        self.sqlite = SqliteCalls(self.before)
        for name in _ACTS:
            setattr(os, name, self._counted(name, getattr(os, name)))

    def before(self, name: str) -> None:
        self.count += 1
        self.names.append(name)
        if self.count == self.at or (self.lasting and self.count > self.at):
            self.strike()

    def _counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def act(*arguments: Any, **more: Any) -> Any:
            if not (name in ("unlink", "rmdir") and self.lasting):  # a full disk lets go of files
                self.before(name)
            return real(*arguments, **more)

        return act


@dataclass(frozen=True)
class Ended:
    """How a process ended: `code` as of a `Popen`; what it returned or raised; its acts."""

    code: int
    value: Any = None
    error: BaseException | None = None
    acts: tuple[str, ...] = ()


def die() -> None:
    """End this process as a lost power plug does."""
    os.kill(os.getpid(), signal.SIGKILL)


def full() -> None:
    """Answer as a full disk does."""
    raise OSError(errno.ENOSPC, "No space left on device")


def over_quota() -> None:
    """Answer as a disk does on which this user has no room left."""
    raise OSError(errno.EDQUOT, "Disk quota exceeded")


def do(act: Callable[[], Any], points: WritePoints | None = None) -> Ended:
    """Do something in a fork of this process, with a fault at one of its acts.

    What it imported is imported here, too: a grouping's fork needed 1.3 s each time for that.
    """
    reading, writing = os.pipe()
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        os.close(reading)
        _in_fork(act, points, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        told = stream.read()
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    ended = pickle.loads(told) if told else {}
    for name in ended.pop("modules", ()):
        with suppress(ImportError):  # some are names without a module
            import_module(name)
    return Ended(code, **ended)


def _in_fork(act: Callable[[], Any], points: WritePoints | None, writing: int) -> None:
    told: dict[str, Any] = {}
    before = set(sys.modules)
    try:
        if points is not None:
            points.install()
        told["value"] = act()
    except BaseException as error:  # noqa: BLE001 - told to the test
        traceback.print_exc()
        told["error"] = error
    told["modules"] = [name for name in sys.modules if name not in before]
    told["acts"] = tuple(points.names) if points is not None else ()
    with os.fdopen(writing, "wb") as stream:
        try:
            stream.write(pickle.dumps(told))
        except Exception:  # noqa: BLE001 - what cannot be pickled is told by its words
            told["error"], told["value"] = RuntimeError(repr(told["error"])), None
            stream.write(pickle.dumps(told))
    os._exit(0)


def every(count: int, most: int | None = None) -> Iterator[int]:
    """Yield each number from 1 to `count`; with `most`, so many of them, evenly."""
    step = max(1, -(-count // most)) if most else 1
    yield from range(1, count + 1, step)
