"""The systemd unit starts the server as it is, and lets it see and write little."""

import argparse
import shutil
import subprocess
from pathlib import Path

import pytest

from app.serving.command import add_arguments
from tests.serving.deploy.dockerfiles import FOLDER

UNIT = FOLDER / "intent-studio-server.service"


def settings() -> dict[str, str]:
    lines = UNIT.read_text("utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line[:1].isalpha())


def test_it_starts_the_server_with_options_that_there_are() -> None:
    program, verb, *words = settings()["ExecStart"].split()
    assert (Path(program).name, verb) == ("intent-studio", "serve-model")
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    options = parser.parse_args(words)
    assert (options.host, options.port) == ("127.0.0.1", 8080)
    assert str(options.api_key_file) == "%d/key"
    assert settings()["LoadCredential"].startswith("key:")


def test_it_is_not_root_and_writes_to_no_place_but_its_own() -> None:
    told = settings()
    assert told["DynamicUser"] == told["NoNewPrivileges"] == told["PrivateTmp"] == "yes"
    assert (told["ProtectSystem"], told["ProtectHome"]) == ("strict", "yes")
    assert told["CapabilityBoundingSet"] == ""
    assert "ReadWritePaths" not in told


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_systemd_understands_it(tmp_path: Path) -> None:
    words = UNIT.read_text("utf-8").replace("/opt/intent-studio/bin/intent-studio", "/bin/true")
    (tmp_path / UNIT.name).write_text(words, encoding="utf-8")
    command = ["systemd-analyze", "verify", "--man=no", str(tmp_path / UNIT.name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
