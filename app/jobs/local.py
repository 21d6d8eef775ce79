"""Jobs on this machine: make sure that a supervisor serves the home."""

import subprocess
import sys
from dataclasses import dataclass

from app.home import Places
from app.jobs.lock import is_free
from app.settings import Settings

# A parent between us and the supervisor leaves at once, so that the system adopts it and no dead
# child of ours is left to collect; in a session of its own, no Ctrl-C of the terminal reaches it.
_DETACH = (
    "import os, subprocess, sys\n"
    "subprocess.Popen(sys.argv[1:], start_new_session=True)\n"
    "os._exit(0)"
)


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """Starts a supervisor that outlives this process and leaves when nothing is left to do.

    The supervisor and its jobs work with the settings of the process that started it.
    """

    settings: Settings

    def ensure_running(self) -> None:
        """Start a supervisor unless one serves the home; a second one leaves by itself."""
        places = Places(self.settings.folder)
        if not is_free(places.supervisor_lock):
            return
        command = [sys.executable, "-m", "app.jobs.supervisor", "--until-idle"]
        command += ["--home", str(places.home)]
        log = places.log("supervisor")
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as stream:
            subprocess.run(
                [sys.executable, "-c", _DETACH, *command],
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                env=self.settings.environment(),
                check=True,
            )
