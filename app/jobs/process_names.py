"""The names under which the processes of jobs stand in lists such as those of `ps` and `top`."""

from contextlib import suppress
from pathlib import Path

JOB = "studio-job"
SUPERVISOR = "studio-jobs"


def name_process(name: str) -> None:
    """Give this process a name of at most 15 characters, where the system has names for them."""
    with suppress(OSError):
        Path("/proc/self/comm").write_text(name, encoding="ascii")
