"""`serve-model` runs where torch and the studio's other packages are not."""

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import time
from argparse import ArgumentParser
from pathlib import Path

import pytest

from app.serving.command import add_arguments, main, serving_of
from app.serving.limits import KEY, PUSH_TOKEN
from core.bundle.archive import export_bundle
from core.bundle.layout import save_pipeline
from core.errors import InvalidInput
from core.pipeline import IntentPipeline
from tests.core.bundle.test_bundle import FACTS
from tests.serving.refusing_imports import HEAVY, command_without

ROOT = Path(__file__).parents[2]
RUN = "sys.path.insert(0, {root!r}); import intent_studio; sys.exit(intent_studio.main())"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def ask(port: int, method: str, path: str, body: object = None, key: str = "") -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    headers = {"X-API-Key": key} if key else {}
    connection.request(method, path, json.dumps(body) if body else None, headers)
    reply = connection.getresponse()
    return reply.status, reply.read()


def is_ready(port: int) -> bool:
    try:
        return ask(port, "GET", "/health/ready")[0] == 200
    except OSError:
        return False


@pytest.mark.parametrize("workers", [1, 2])
def test_it_serves_without_torch_and_says_no_text(
    graph: Path, made: IntentPipeline, tmp_path: Path, workers: int
) -> None:
    port, key = free_port(), tmp_path / "key"
    key.write_text("k1\n", encoding="utf-8")
    code = RUN.format(root=str(ROOT))
    options = ["--port", str(port), "--workers", str(workers), "--api-key-file", str(key)]
    command = command_without(HEAVY, code, "serve-model", str(graph), *options)
    said = tmp_path / "said"
    with said.open("wb") as output:
        server = subprocess.Popen(command, stdout=output, stderr=output, cwd=ROOT)
    try:
        until = time.monotonic() + 60
        while not is_ready(port):
            assert server.poll() is None, said.read_text("utf-8")
            assert time.monotonic() < until
            time.sleep(0.05)
        texts = ["give the money back", "zzz qqq", "my secret parcel"]
        status, body = ask(port, "POST", "/predict", {"texts": texts}, "k1")
        assert status == 200
        its = [one["intents"] for one in json.loads(body)["predictions"]]
        assert its == [list(one.decision.intents) for one in made.predict(texts)]
        assert ask(port, "POST", "/predict", {"texts": texts})[0] == 401
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(20)
    assert "secret" not in said.read_text("utf-8")
    assert "Traceback" not in said.read_text("utf-8")


@pytest.mark.parametrize("workers", [1, 2])
def test_it_says_which_port_the_system_chose(graph: Path, tmp_path: Path, workers: int) -> None:
    """With `--port 0` it said http://127.0.0.1:0."""
    code, options = RUN.format(root=str(ROOT)), ["--port", "0", "--workers", str(workers)]
    command = [sys.executable, "-c", f"import sys; {code}", "serve-model", str(graph), *options]
    said = tmp_path / "said"
    with said.open("wb") as output:
        server = subprocess.Popen(command, stdout=output, stderr=output, cwd=ROOT)
    try:
        until, port = time.monotonic() + 60, 0
        while not port or not is_ready(port):
            assert server.poll() is None, said.read_text("utf-8")
            assert time.monotonic() < until, said.read_text("utf-8")
            time.sleep(0.05)
            found = re.search(r" at http://127\.0\.0\.1:(\d+)\n", said.read_text("utf-8"))
            port = int(found[1]) if found else 0
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(20)


@pytest.mark.parametrize("fault", ["no graph", "damaged"])
def test_what_cannot_be_served_is_told_whatever_the_number_of_processes(
    graph: Path, made: IntentPipeline, tmp_path: Path, fault: str
) -> None:
    """With several processes each ended at once, and another was started in its place for ever."""
    bundle = tmp_path / "p.zip"
    if fault == "damaged":
        bundle.write_bytes(graph.read_bytes()[:-100])
    else:
        save_pipeline(made, FACTS, tmp_path / "p")
        export_bundle(tmp_path / "p", bundle)
    code, options = RUN.format(root=str(ROOT)), ["--port", str(free_port()), "--workers", "2"]
    command = [sys.executable, "-c", f"import sys; {code}", "serve-model", str(bundle), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert done.returncode == 2
    assert done.stderr.count("no graph" if fault == "no graph" else "is not a whole zip") == 1
    assert "Traceback" not in done.stderr
    assert "Serving" not in done.stderr


def test_a_process_that_cannot_start_ends_the_server(graph: Path, tmp_path: Path) -> None:
    """The bundle was damaged after the first look at it, such as before a process died."""
    bundle, port = tmp_path / "p.zip", free_port()
    bundle.write_bytes(graph.read_bytes())
    look = "import app.serving.models as m; from pathlib import Path; "
    look += f"m.opened_models = lambda *_: Path({str(bundle)!r}).write_bytes(b'damaged'); "
    code = look + RUN.format(root=str(ROOT))
    options = ["--port", str(port), "--workers", "2"]
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}"]
    command += ["serve-model", str(bundle), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert done.returncode == 2
    assert "the models cannot be served: p.zip is not a whole zip" in done.stderr
    assert "A process of the server could not start." in done.stderr


def test_a_server_that_could_not_start_says_no_address(graph: Path) -> None:
    """Versions of uvicorn that return then, in place of ending, led to a fault with a traceback."""
    code = f"""
import sys
import uvicorn
async def startup(server, sockets=None):
    server.should_exit = True
uvicorn.Server.startup = startup
{RUN.format(root=str(ROOT))}
"""
    command = [sys.executable, "-c", code, "serve-model", str(graph), "--port", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert "Serving" not in done.stderr


def options_of(*words: str) -> object:
    parser = ArgumentParser()
    add_arguments(parser)
    return serving_of(parser.parse_args(words))


def test_other_machines_are_served_with_a_key_alone(
    graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(KEY, raising=False)
    with pytest.raises(InvalidInput, match="other machines reach the server, and there is no key"):
        options_of(str(graph), "--host", "0.0.0.0")
    assert options_of(str(graph), "--host", "0.0.0.0", "--no-key").key == ""
    assert options_of(str(graph), "--host", "::1").key == ""
    monkeypatch.setenv(KEY, " from the environment\n")
    assert options_of(str(graph), "--host", "0.0.0.0").key == "from the environment"
    (tmp_path / "empty").write_text(" \n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="is empty"):
        options_of(str(graph), "--api-key-file", str(tmp_path / "empty"))
    with pytest.raises(InvalidInput, match="cannot be read"):
        options_of(str(graph), "--api-key-file", str(tmp_path / "absent"))


def test_the_help_names_the_variables_of_both_secrets(capsys: pytest.CaptureFixture[str]) -> None:
    """It named that of the studio's token alone."""
    with pytest.raises(SystemExit):
        main(["--help"])
    told = capsys.readouterr().out
    assert KEY in told
    assert PUSH_TOKEN in told


def test_settings_that_cannot_be_used_are_refused(
    graph: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(graph), "--workers", "0"]) == 2
    assert "--workers must be 1 or more" in capsys.readouterr().err
    for port in ("70000", "-1"):  # a fault of the socket, told with an incident
        assert main([str(graph), f"--port={port}"]) == 2
        assert f"There is no port {port}" in capsys.readouterr().err
    assert main([f"{graph}.absent"]) == 2
    assert "There is no file" in capsys.readouterr().err
    found = options_of(str(graph), "--workers", "64", "--most-waiting", "9", "--name", "bot")
    assert (found.threads, found.most_waiting, found.name) == (1, 9, "bot")


def test_each_process_of_a_server_reads_the_same_settings(graph: Path) -> None:
    from app.serving.limits import Serving

    found = options_of(str(graph))
    assert Serving(**json.loads(json.dumps(found.values))) == found
    assert Path(found.bundle).is_absolute()


def test_where_the_studio_is_not_installed_other_commands_say_so() -> None:
    code = RUN.format(root=str(ROOT))
    command = command_without(("pydantic",), code, "projects")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'intent-studio[studio]'" in done.stderr
