"""What the images and the compose file promise, as far as it can be checked without Docker."""

import argparse
import importlib.metadata
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from app.api.routes import all_routes
from app.serving.command import add_arguments, serving_of
from app.serving.limits import Serving
from app.serving.server import make_application
from app.terminal.arguments.parser import build_parser
from core.pipeline import IntentPipeline
from tests.serving.deploy.dockerfiles import (
    FOLDER,
    ROOT,
    asked_for_health,
    instructions,
    last,
    sent,
    sources,
)
from tests.serving.refusing_imports import HEAVY, command_without
from tests.serving.test_command import RUN, ask, free_port, is_ready

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SERVER, STUDIO = "server.Dockerfile", "studio.Dockerfile"
MOST_MB = 350
SLIM_MB = 135
"""More than Debian's slim image of Python 3.11 takes, unpacked."""

each = pytest.mark.parametrize("name", [SERVER, STUDIO])


@each
def test_all_that_is_copied_is_there_and_is_sent_to_the_builder(name: str) -> None:
    copied = sources(name)
    assert {"app", "core", "intent_studio.py", "pyproject.toml"} <= set(copied)
    assert [path for path in copied if not (ROOT / path).exists()] == []
    assert set(copied) == sent(name)
    wanted = {PROJECT["readme"], *PROJECT["license-files"]}
    assert wanted <= set(copied)


@each
def test_it_runs_by_the_python_of_the_project_and_not_as_root(name: str) -> None:
    bases = {one.words.split()[0] for one in instructions(name) if one.name == "FROM"}
    (base,) = bases
    version = re.fullmatch(r"python:(3\.\d+)-slim-bookworm", base)
    assert version is not None
    assert version[1] in SpecifierSet(PROJECT["requires-python"])
    user, _, group = last(name, "USER").words.partition(":")
    assert int(user) == int(group) > 999
    after = [one.name for one in instructions(name)]
    assert "RUN" not in after[after.index("USER") :]


@each
def test_it_installs_extras_that_there_are_by_the_pinned_versions(name: str) -> None:
    (installed,) = (
        i.words for i in instructions(name) if i.name == "RUN" and "install --" in i.words
    )
    extras = re.search(r'"\.\[([\w,]+)\]"', installed)
    assert extras is not None
    assert set(extras[1].split(",")) <= PROJECT["optional-dependencies"].keys()
    assert "-c constraints.txt" in installed


def test_the_server_s_command_is_one_and_its_health_is_a_route(
    graph: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    port, path = asked_for_health(SERVER)
    assert path in {route.path for route in make_application(Serving(str(graph))).routes}
    assert last(SERVER, "EXPOSE").words == str(port)
    assert last(SERVER, "ENTRYPOINT").listed == ["intent-studio", "serve-model"]
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    monkeypatch.setenv("INTENT_STUDIO_API_KEY", "k1")
    options = parser.parse_args([str(graph), *last(SERVER, "CMD").listed[1:]])
    assert (options.port, serving_of(options).key) == (port, "k1")


def test_the_studio_s_command_is_one_and_its_health_is_a_route() -> None:
    port, path = asked_for_health(STUDIO)
    assert path in {getattr(route, "path", "") for route in all_routes()}
    assert last(STUDIO, "EXPOSE").words == str(port)
    options = build_parser().parse_args(last(STUDIO, "CMD").listed)
    assert (options.verb, options.port, options.host) == ("serve", port, "127.0.0.1")
    assert "STUDIO_HOME=/data" in last(STUDIO, "ENV").words
    assert last(STUDIO, "VOLUME").words == "/data"


def test_compose_reads_only_and_gives_each_service_one_volume() -> None:
    told = yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8"))
    assert told["services"].keys() == {"model", "studio"}
    for service in told["services"].values():
        build = service["build"]
        context = (FOLDER / build["context"]).resolve()
        assert context == ROOT
        name = Path(build["dockerfile"]).name
        assert (context / build["dockerfile"]).is_file()
        assert last(name, "HEALTHCHECK").words.startswith("--interval=")
        assert (service["read_only"], service["tmpfs"]) == (True, ["/tmp"])
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert len(service["volumes"]) == 1
        assert "user" not in service
    model, studio = told["services"]["model"], told["services"]["studio"]
    assert model["ports"] == ["127.0.0.1:8080:8080"]
    assert model["volumes"][0].endswith(":/models:ro")
    assert studio["network_mode"] == "host"
    assert studio["volumes"] == ["studio:/data"]
    assert told["volumes"].keys() == {"studio"}
    assert told["secrets"]["model_key"]["file"] == "./model_key"
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    options = parser.parse_args(model["command"])
    assert str(options.bundle) == "/models/model.zip"
    assert str(options.api_key_file) == f"/run/secrets/{model['secrets'][0]}"
    asked = build_parser().parse_args(studio["command"])
    assert (asked.verb, asked.port) == ("serve", asked_for_health(STUDIO)[0])
    assert str(asked.token_file) == f"/run/secrets/{studio['secrets'][0]}"
    assert set(told["secrets"]) == {*model["secrets"], *studio["secrets"]}


def installed_bytes(wanted: list[str]) -> dict[str, int]:
    """Return the bytes of packages and of all that they need, without compiled modules."""
    sizes: dict[str, int] = {}
    waiting = [Requirement(one) for one in wanted]
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop().name).lower()
        if name in sizes:
            continue
        found = importlib.metadata.distribution(name)
        files = [Path(str(found.locate_file(file))) for file in found.files or ()]
        sizes[name] = sum(
            file.stat().st_size for file in files if file.suffix != ".pyc" and file.exists()
        )
        needed = (Requirement(one) for one in found.requires or ())
        waiting += [n for n in needed if n.marker is None or n.marker.evaluate({"extra": ""})]
    return sizes


def test_the_server_s_image_is_small_and_has_no_torch() -> None:
    wanted = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["serve"]
    sizes = installed_bytes(wanted)
    assert sizes.keys().isdisjoint({"torch", "transformers", "scipy", "pandas", "gradio"})
    copied = sum(
        file.stat().st_size
        for path in sources(SERVER)
        for file in ((ROOT / path).rglob("*.*") if (ROOT / path).is_dir() else [ROOT / path])
        if file.is_file() and file.suffix != ".pyc"
    )
    assert sum(sizes.values()) > 100e6  # onnxruntime and NumPy were found
    assert (sum(sizes.values()) + copied) / 1e6 + SLIM_MB < MOST_MB


def laid_out(graph: Path, folder: Path) -> None:
    """Put what the server's image holds, and a bundle, into a folder that all may read."""
    (folder / "source").mkdir(parents=True)
    skipped = shutil.ignore_patterns("__pycache__")
    for path in sources(SERVER):
        if (ROOT / path).is_dir():
            shutil.copytree(ROOT / path, folder / "source" / path, ignore=skipped)
        else:
            shutil.copy(ROOT / path, folder / "source" / path)
    shutil.copy(graph, folder / "model.zip")
    for place in (folder, *folder.rglob("*")):
        place.chmod(0o755 if place.is_dir() else 0o644)


ENCLOSED = """
mount --make-rprivate /
mount --bind "$1" /mnt
mount -t tmpfs tmpfs /tmp
mount -o remount,ro,bind /mnt
mount -o remount,ro,bind /
shift
cd /
exec setpriv --reuid 10001 --regid 10001 --clear-groups --no-new-privs "$@"
"""


WALL = ("unshare", "--mount", "sh", "-ec", ENCLOSED, "sh")
"""Runs a command, which follows the folder that it sees as /mnt."""


def can_enclose() -> bool:
    """Whether this process may make a place where the root cannot be written."""
    if not all(map(shutil.which, ("unshare", "setpriv", "mount"))):
        return False
    # The interpreter may lie below /tmp, which becomes another one there.
    trial = [*WALL, "/", sys.executable, "-c", "import sys"]
    return subprocess.run(trial, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("enclosed", [False, True], ids=["as it is", "read-only, not root"])
def test_what_the_image_holds_is_enough_to_serve(
    graph: Path, made: IntentPipeline, tmp_path: Path, enclosed
) -> None:
    if enclosed and not can_enclose():
        pytest.skip("this process may not mount")
    laid_out(graph, tmp_path / "image")
    place, port = Path("/mnt") if enclosed else tmp_path / "image", free_port()
    code = RUN.format(root=str(place / "source"))
    words = ("serve-model", str(place / "model.zip"), "--port", str(port))
    command = command_without(HEAVY, code, *words)
    if enclosed:
        command = [*WALL, str(tmp_path / "image"), *command]
    clean = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    with (tmp_path / "said").open("wb") as output:
        server = subprocess.Popen(command, stdout=output, stderr=output, cwd="/", env=clean)
    try:
        until = time.monotonic() + 30
        while not is_ready(port):
            assert server.poll() is None, (tmp_path / "said").read_text("utf-8")
            assert time.monotonic() < until
            time.sleep(0.05)
        status, body = ask(port, "POST", "/predict?evidence=0", {"text": "give the money back"})
        intent = made.predict(["give the money back"])[0].decision.leading
        assert (status, f'"intent":"{intent}"'.encode() in body) == (200, True)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(20)
