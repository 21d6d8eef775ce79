"""Run Python where some packages cannot be imported, as if they were not installed."""

import subprocess
import sys
from pathlib import Path

HEAVY = (
    *("torch", "transformers", "sentence_transformers", "scipy", "sklearn", "safetensors"),
    *("pydantic", "fastapi", "sqlalchemy", "gradio", "pandas", "onnx", "rich", "cryptography"),
)
"""Packages of the studio that neither a graph's program nor its server needs."""

_HOOK = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {refused!r}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Refuse())
"""


def command_without(refused: tuple[str, ...], code: str, *arguments: str) -> list[str]:
    """Return the command that runs a program without packages."""
    return [sys.executable, "-c", _HOOK.format(refused=refused) + code, *arguments]


def run_without(refused: tuple[str, ...], code: str, folder: Path, *arguments: str) -> str:
    """Run a program without packages in a folder, and return what it printed; it must succeed."""
    command = command_without(refused, code, *arguments)
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout
