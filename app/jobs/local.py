"""Jobs on this machine: ensure that a supervisor serves the home."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from app.home import Places
from app.jobs.lock import lacks_processes, take_lock
from app.settings import Settings

# An intermediate parent exits at once, so that init adopts the supervisor and no zombie remains. A
# session of its own shields it from the terminal's Ctrl-C.
_DETACH = (
    "import os, subprocess, sys\n"
    "subprocess.Popen(sys.argv[2:], start_new_session=True, pass_fds=[int(sys.argv[1])])\n"
    "os._exit(0)"
)


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """Starts a supervisor that outlives this process and exits when no job is left.

    The supervisor and its jobs use the settings of the process that started it.

    Attributes:
        standby: Descriptor by which the server asks a process of its own; see `app.jobs.standby`.
    """

    settings: Settings
    standby: int | None = None

    def ensure_running(self) -> None:
        """Have a supervisor serve the home, unless one does."""
        if not self._asked_standby():
            self._start()

    def _asked_standby(self) -> bool:
        if self.standby is None:
            return False
        try:
            os.write(self.standby, b"1")
        except BlockingIOError:  # it was asked thousands of times, and will see it
            return True
        except OSError:  # somebody ended it
            return False
        return True

    def _start(self) -> None:
        """Start a supervisor, which inherits the lock that is taken here.

        No second one is started while the first is still loading its modules.
        """
        places = Places.of(self.settings)
        descriptor = take_lock(places.supervisor_lock)
        if descriptor is None:
            return
        # Without -P, a folder called `app` where the command was given would be taken for ours.
        command = [sys.executable, "-P", "-m", "app.jobs.supervisor", "--until-idle"]
        command += ["--home", str(places.home), "--lock", str(descriptor)]
        log = places.log("supervisor")
        log.parent.mkdir(parents=True, exist_ok=True)
        try:
            with log.open("ab") as stream:
                subprocess.run(
                    [sys.executable, "-c", _DETACH, str(descriptor), *command],
                    stdin=subprocess.DEVNULL,
                    stdout=stream,
                    stderr=stream,
                    env=_own_packages_first(self.settings.environment()),
                    pass_fds=(descriptor,),
                    check=True,
                )
        except OSError as error:
            if not lacks_processes(error):
                raise
            # The job waits: whoever follows it asks again.
        finally:
            os.close(descriptor)


def _own_packages_first(environment: dict[str, str]) -> dict[str, str]:
    paths = [str(Path(__file__).parents[2]), environment.get("PYTHONPATH", "")]
    return {**environment, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
