"""Every script of the pages parses as a module, where node is there to ask."""

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "assets" / "js"
_NODE = shutil.which("node")
_CHECK = """
const {SourceTextModule} = require('node:vm');
const {readFileSync} = require('node:fs');
for (const file of process.argv.slice(1)) {
  try {
    new SourceTextModule(readFileSync(file, 'utf8'), {identifier: file});
  } catch (error) {
    console.log(`${file}: ${error.message}`);
  }
}
"""


def faults(*files: Path) -> list[str]:
    """Name the modules that a browser would refuse, with the reason."""
    if _NODE is None:
        pytest.skip("There is no node on this machine to parse scripts.")
    command = [_NODE, "--no-warnings", "--experimental-vm-modules", "-e", _CHECK, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.splitlines()


def test_every_script_parses() -> None:
    """A name that one module declared twice emptied two pages, and no other check saw it."""
    assert faults(*sorted(SCRIPTS.rglob("*.js"))) == []


def test_a_name_declared_twice_is_found(tmp_path: Path) -> None:
    file = tmp_path / "twice.js"
    file.write_text("import {a} from './a.js';\nconst a = 1;\nexport {a};\n", encoding="utf-8")
    [fault] = faults(file)
    assert "'a' has already been declared" in fault
