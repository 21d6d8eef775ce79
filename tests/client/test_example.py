"""The program that the documentation shows runs as it stands, with Python alone."""

import re
import subprocess
import sys
from pathlib import Path

from core.bundle.archive import open_bundle
from intent_studio_client.studio import Studio
from tests.builders.served_studio import Served

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "topics" / "clients.md"


def test_the_program_of_the_documentation_runs(
    served: Served, studio: Studio, tmp_path: Path
) -> None:
    [program] = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", start + program],  # without any package
        cwd=tmp_path,
        env={"STUDIO_ADDRESS": served.base, "STUDIO_TOKEN": served.token},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["6 texts added", "version 1 answers"]
    assert re.fullmatch(r"parcel \d+% sure, because of:", lines[2])
    assert re.fullmatch(r"  \+0\.\d\d  .*parcel.*", lines[3])
    with open_bundle(tmp_path / "shop.zip") as (_, manifest):
        assert str(manifest.facts["model_version"]).startswith("shop, trained ")
    [project] = [one for one in studio.projects() if one.name == "shop"]
    assert (project.utterances, project.champion) == (7, "shop@1")


def test_every_method_is_named() -> None:
    named = set(re.findall(r"`(\w+)`", PAGE.read_text("utf-8")))
    methods = {name for name in vars(Studio) if name[0] != "_" and callable(vars(Studio)[name])}
    assert methods <= named
