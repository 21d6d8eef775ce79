"""A process of tests ends in peace while threads of the studio compute."""

import re
import subprocess
import sys
from pathlib import Path

from tests.ended_threads import OURS

_ROOT = Path(__file__).parents[1]
_ENDS = """
import threading, time, torch
from tests.ended_threads import await_threads

def compute():
    rows = torch.ones(64, 64, requires_grad=True)
    until = time.monotonic() + 2
    while time.monotonic() < until:
        torch.nn.functional.linear(rows, rows).sum().backward()

for _ in range(4):
    threading.Thread(target=compute, name="look-at-pool", daemon=True).start()
time.sleep(0.5)
assert await_threads() == []
"""


def test_a_process_that_waits_for_the_threads_is_not_aborted() -> None:
    """The words "terminate called without an active exception" ended some runs."""
    done = subprocess.run(
        [sys.executable, "-c", _ENDS], cwd=_ROOT, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


_COMMAND = """
import atexit, sys, threading, time, torch
import app.cli, intent_studio

def compute():
    rows = torch.ones(64, 64)
    while True:
        torch.nn.functional.linear(rows, rows)

def command():
    atexit.register(lambda: print("closed"))
    threading.Thread(target=compute, daemon=True).start()
    time.sleep(0.5)
    print("answered")
    return 3

app.cli.main = command
sys.exit(intent_studio.main())
"""


def test_a_command_ends_with_its_code_while_a_thread_computes() -> None:
    """A server that was stopped while it computed aborted, with the exit code 134."""
    done = subprocess.run(
        [sys.executable, "-c", _COMMAND], cwd=_ROOT, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (3, b"")
    assert done.stdout.split() == [b"answered", b"closed"]


def test_all_threads_of_the_services_are_waited_for() -> None:
    """Each is begun by one function, which has its name."""
    paths = (_ROOT / "app/services").rglob("*.py")
    sources = {str(path.relative_to(_ROOT)): path.read_text(encoding="utf-8") for path in paths}
    own = [path for path, text in sources.items() if "Thread(" in text]
    assert own == ["app/services/background.py"]
    calls = "".join(sources.values())
    assert set(re.findall(r'in_background\(\s*"([^"]+)"', calls)) == set(OURS)
