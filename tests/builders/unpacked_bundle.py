"""What somebody does with a bundle who has nothing else of the studio."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any


def unpacked(bundle: Path, folder: Path) -> Path:
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(folder)
    return folder


def example_answers(folder: Path, texts: list[str]) -> list[dict[str, Any]]:
    """What a bundle's own program answers."""
    code = (
        "import json, pathlib, sys, predict; "
        "print(json.dumps(predict.Bundle().predict(sys.argv[1:])))"
    )
    command = [sys.executable, "-c", code, *texts]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=True, text=True)
    return json.loads(done.stdout)
