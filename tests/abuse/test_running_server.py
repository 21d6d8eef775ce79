"""What a running server gives away: sockets, files, logs; and what it fetches."""

import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.jobs.process_names import JOB, SUPERVISOR
from app.security import LaunchCodes, new_token
from core.encoders.loading import load_encoder
from core.errors import InvalidInput, StudioError
from core.formats.reading import read_rows
from tests.abuse.table import Abuse
from tests.builders.served_studio import Served, StudioPool
from tests.faults.processes import serving

_SECURITY = "tests/api/test_security.py"
ABUSES = (
    Abuse(
        13,
        "The server is asked to listen where other machines reach it",
        "`--host` with addresses of networks and of all interfaces",
        "refused, with a token and without: there are no users yet",
        (_SECURITY,),
    ),
    Abuse(
        15,
        "A default secret, or one that others read",
        "the tokens and codes of a hundred launches are compared",
        "no secret is built in; each is random and differs, and none is kept in a file",
    ),
    Abuse(
        16,
        "The server fetches an address that somebody names: of this machine, of a private network",
        "addresses as file, as base and as encoder, with a server that waits for the call",
        "no address is fetched; a hub model is looked up by name on the hub alone",
        ("tests/browser/test_watched_sockets.py",),
    ),
    Abuse(
        17,
        "Tokens and texts in logs, errors, bundles and addresses",
        "a server with its log, asked rightly and wrongly; each file of the home is searched",
        "the launch token stands in the one line that says the address; texts stand in no log",
        (_SECURITY, "tests/api/test_listening.py"),
    ),
    Abuse(
        18,
        "Other people of the machine read the studio's files, temporary ones too",
        "the rights of all that a running server has written",
        "0700 for folders and 0600 for files, whatever the umask is",
        ("tests/terminal/test_privacy.py",),
    ),
    Abuse(
        22,
        "Another service that the studio starts: a dashboard, a queue, a debugger",
        "the listening sockets of the server and its children",
        "one socket, on 127.0.0.1",
    ),
)
TEXT = "a text that stands in no log"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on a new home that was asked rightly and wrongly."""
    home = tmp_path_factory.mktemp("running") / "home"
    with StudioPool().serving(home) as studio:
        studio.ask("/projects", {"name": "p"})
        studio.ask("/projects/p/intents", {"name": "intent-of-a-customer"})
        for path in (
            f"/?token={studio.token}",
            f"/api/nothing?token={studio.token}",
            "/api/projects?token=wrong-token",
            f"/api/projects/p/utterances?text={TEXT.replace(' ', '%20')}&token={studio.token}",
            f"/api/projects/p/models/{10**30}/shape?token={studio.token}",
        ):
            with urllib.request.build_opener(NoRedirects).open(f"{studio.base}{path}") as answer:
                assert answer.status < 500
        yield studio


class NoRedirects(urllib.request.HTTPErrorProcessor):
    """Leaves every answer as it is."""

    def http_response(self, request, response):
        return response


def test_the_token_stands_in_the_line_with_the_address_alone(running: Served) -> None:
    printed = running.home.with_suffix(".output").read_text(encoding="utf-8")
    assert printed.count(running.token) == 1
    assert TEXT not in printed
    assert "wrong-token" not in printed
    for path in running.home.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert running.token.encode() not in content, path
            if path.suffix in (".log", ".json"):
                assert TEXT.encode() not in content, path


def test_no_page_holds_the_token(running: Served) -> None:
    headers = {"Authorization": f"Bearer {running.token}"}
    for path in ("/", "/label", "/config", "/api/schema", "/gradio_api/info", "/metrics"):
        request = urllib.request.Request(f"{running.base}{path}", headers=headers)
        with urllib.request.urlopen(request) as answer:
            assert running.token.encode() not in answer.read(), path
            assert answer.headers["referrer-policy"] == "same-origin"


def test_all_that_it_wrote_belongs_to_its_owner_alone(running: Served) -> None:
    written = [running.home, *running.home.rglob("*")]
    assert any("in-use-" in path.name for path in written)
    for path in written:
        if not path.is_symlink():
            assert path.stat().st_mode & 0o077 == 0, (path, oct(path.stat().st_mode))


def listening(pid: int) -> set[str]:
    """Return the local addresses on which a process listens, as the kernel writes them."""
    sockets = set()
    for handle in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = str(handle.readlink())
        except FileNotFoundError:
            continue
        if target.startswith("socket:["):
            sockets.add(target[8:-1])
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            cells = line.split()
            if cells[3] == "0A" and cells[9] in sockets:
                found.add(cells[1])
    return found


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads the kernel's tables")
def test_it_listens_once_and_for_this_machine_alone(running: Served) -> None:
    assert running.process is not None
    children = (pid for name in (SUPERVISOR, JOB) for pid in serving(running.home, name))
    pids = {running.process.pid, *children}
    assert {address for pid in pids for address in listening(pid)} == {
        f"0100007F:{running.port:04X}"
    }


def test_no_secret_is_built_in() -> None:
    secrets = {new_token() for _ in range(100)} | {LaunchCodes().new() for _ in range(100)}
    assert len(secrets) == 200
    assert min(map(len, secrets)) >= 32


def test_no_address_is_fetched(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    calls = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.3)
        port = server.getsockname()[1]

        def wait() -> None:
            try:
                calls.append(server.accept())
            except TimeoutError:
                return

        waiter = threading.Thread(target=wait)
        waiter.start()
        for address in (
            f"http://127.0.0.1:{port}/rows.csv",
            f"//127.0.0.1:{port}/x",
            f"file://127.0.0.1:{port}/etc/passwd",
            f"127.0.0.1:{port}/model",
        ):
            with pytest.raises(InvalidInput):
                next(read_rows(Path(address)))
            with pytest.raises(StudioError):
                load_encoder(address)
        waiter.join()
    assert calls == []
