"""What somebody does with a bundle who has nothing else of the studio."""

import json
import os
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PREDICT = "import json, sys, predict; print(json.dumps(predict.Bundle().predict(sys.argv[1:])))"
_RUN = "import runpy, sys; sys.argv.pop(0); runpy.run_path(sys.argv[0], run_name='__main__')"

# A child of its own runs each program, so that none finds what another one has left; the libraries
# are loaded before, as that takes longer than all a program does.
_FORKS = """
import json, os, sys, traceback
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("core", "app", "storage", "tests"):
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
import sentence_transformers
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            for number, name in ((1, "printed"), (2, "complained")):
                os.dup2(os.open(asked[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
            os.chdir(asked["folder"])
            sys.path[0], sys.argv = asked["folder"], ["-c", *asked["arguments"]]
            exec(compile(asked["code"], "<program>", "exec"), {"__name__": "__main__"})
            code = 0
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@dataclass
class Elsewhere:
    """Runs programs where this project cannot be imported, and its libraries can.

    Attributes:
        folder: Where it keeps what programs print, and what the libraries keep.
        process: Has the libraries loaded; None before the first program.
    """

    folder: Path
    process: subprocess.Popen[str] | None = None

    def run(self, folder: Path, code: str, *arguments: str) -> str:
        """Run a program in a folder, and return what it printed; it must succeed."""
        process = self.process = self.process or self._start()
        printed, complained = self.folder / "printed", self.folder / "complained"
        asked = {
            "folder": str(folder),
            "code": code,
            "arguments": arguments,
            "printed": str(printed),
            "complained": str(complained),
        }
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        code_of_exit = process.stdout.readline().strip()
        assert code_of_exit == "0", complained.read_text(encoding="utf-8")
        return printed.read_text(encoding="utf-8")

    def run_example(self, bundle: Path, *arguments: str) -> list[dict[str, Any]]:
        """Run the program of an unpacked bundle, and return the answers that it prints."""
        printed = self.run(bundle.parent, _RUN, str(bundle / "predict.py"), *arguments)
        return [json.loads(line) for line in printed.splitlines()]

    def example_answers(self, bundle: Path, texts: list[str]) -> list[dict[str, Any]]:
        """Let a program of one's own import the one of an unpacked bundle, and ask it."""
        answers: list[dict[str, Any]] = json.loads(self.run(bundle, _PREDICT, *texts))
        return answers

    def close(self) -> None:
        """End it."""
        if self.process is not None:
            self.process.communicate()

    def _start(self) -> "subprocess.Popen[str]":
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        environment |= {"HF_HUB_OFFLINE": "1", "HF_HOME": str(self.folder / "hf")}
        return subprocess.Popen(
            [sys.executable, "-c", _FORKS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            cwd=self.folder,
            env=environment,
        )


def unpack_bundle(bundle: Path, folder: Path) -> Path:
    """Unpack a bundle as anybody's tool does."""
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(folder)
    return folder
