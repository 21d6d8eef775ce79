"""What `serve` takes for its address, its token and its names, and what it refuses."""

import argparse
import asyncio
import grp
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from app.addresses import (
    TOKEN,
    BehindProxy,
    Doorway,
    PublicAddress,
    check_hosts,
    check_prefix,
    read_public,
    read_token,
)
from app.server import _entrance, _paths, build_app
from app.terminal.arguments.parser import build_parser
from app.terminal.serve import door_of
from core.errors import InvalidInput


@pytest.mark.parametrize(
    ("url", "prefix", "origin", "path"),
    [
        ("", "", "", ""),
        ("https://nlu.example.com", "", "https://nlu.example.com", ""),
        ("https://NLU.example.com:443/Intents/", "", "https://nlu.example.com", "/Intents"),
        ("http://[::1]:8080/a/b", "/a/b/", "http://[::1]:8080", "/a/b"),
        ("https://nlu.example.com", "intents", "https://nlu.example.com", "/intents"),
        ("", "/intents/", "", "/intents"),
        ("", "/", "", ""),
    ],
)
def test_the_public_address_is_read(url: str, prefix: str, origin: str, path: str) -> None:
    found = read_public(url, prefix)
    assert (found.origin, found.prefix) == (origin, path)
    assert found.is_secure is origin.startswith("https")


@pytest.mark.parametrize(
    ("url", "prefix", "words"),
    [
        ("nlu.example.com", "", "no address of a studio"),
        ("ftp://nlu.example.com", "", "no address of a studio"),
        ("https://", "", "no address of a studio"),
        ("https://me:secret@nlu.example.com", "", "no address of a studio"),
        ("https://nlu.example.com/?a=b", "", "no address of a studio"),
        ("https://nlu.example.com:port", "", "no address of a studio"),
        ("https://nlu example.com", "", "no address of a studio"),
        ("https://nlu.example.com/a", "/b", "--public-url names the path /a"),
        ("", "/a b", "cannot stand before"),
        ("", "/a/../b", "cannot stand before"),
        ("https://nlu.example.com//evil.example", "", "cannot stand before"),
        ("", "/%2e", "cannot stand before"),
    ],
)
def test_what_is_no_public_address_is_refused(url: str, prefix: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        read_public(url, prefix)


def test_names_of_hosts_have_no_port_and_no_star() -> None:
    assert check_hosts(["NLU.example.com", "10.0.0.7", "[::1]"]) == {
        "nlu.example.com",
        "10.0.0.7",
        "[::1]",
    }
    for name in ("*", "nlu.example.com:80", "https://nlu.example.com", "", "a b"):
        with pytest.raises(InvalidInput, match="no name of a host"):
            check_hosts([name])


def test_a_prefix_that_is_a_path_of_the_studio_s_own_is_refused(live_studio, own_folder) -> None:
    for prefix in ("/label", "/api", "/receipts/x", "/assets", "/gradio_api"):
        public = PublicAddress("", prefix)
        with pytest.raises(InvalidInput, match="addresses of its own"):
            build_app(live_studio, None, frozenset({"127.0.0.1"}), public=public)
    check_prefix("/studio", ["/studio", "/label"])  # the one that is told apart
    check_prefix("/labels", ["/label"])
    check_prefix("", ["/label"])


def test_the_token_comes_from_a_file_or_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(TOKEN, raising=False)
    assert read_token(None) is None
    monkeypatch.setenv(TOKEN, " a-token-of-the-environment\n")
    assert read_token(None) == "a-token-of-the-environment"
    file = tmp_path / "token"
    file.write_text("a-token-of-a-file-0123\n", encoding="utf-8")
    assert read_token(file) == "a-token-of-a-file-0123"
    file.write_text("a-token-of-a-file-0123", encoding="utf-8-sig")  # as an editor of Windows does
    assert read_token(file) == "a-token-of-a-file-0123"
    for said in ("", "short", "a token with spaces in it", "x" * 201):
        file.write_text(said, encoding="utf-8")
        with pytest.raises(InvalidInput, match="holds no token") as refused:
            read_token(file)
        assert said == "" or said not in str(refused.value)
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_token(tmp_path / "absent")


def options(*words: str) -> argparse.Namespace:
    return build_parser().parse_args(["serve", *words])


def test_options_that_contradict_each_other_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(TOKEN, raising=False)
    file = tmp_path / "token"
    file.write_text("a-token-of-a-file-0123\n", encoding="utf-8")
    for words in (
        ("--token-file", str(file)),
        ("--public-url", "https://nlu.example.com"),
        ("--trusted-host", "nlu.example.com"),
    ):
        with pytest.raises(InvalidInput, match="lets everybody in"):
            door_of(options("--no-token", *words))
    with pytest.raises(InvalidInput, match="a socket or on a port"):
        door_of(options("--socket", "a.sock", "--port", "1"))
    door = door_of(options("--trusted-host", "nlu", "--public-url", "https://nlu.example.com/x"))
    assert door.hosts == {"127.0.0.1", "localhost", "[::1]", "nlu", "nlu.example.com"}
    assert (door.public.root, door.socket) == ("https://nlu.example.com/x", None)


def test_a_unix_socket_is_open_to_its_user_alone_and_is_deleted(tmp_path: Path) -> None:
    file = tmp_path / "studio.sock"
    with _entrance(Doorway(socket=file)) as entrance:
        entrance.listener.listen()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert entrance.address == str(file)
        with (
            pytest.raises(InvalidInput, match="A server listens on"),
            _entrance(Doorway(socket=file)),
        ):
            pass
        assert file.exists()
    assert not file.exists()


def test_a_group_may_open_the_socket_too(tmp_path: Path) -> None:
    """A proxy that runs as another user reached no socket of mode 0600."""
    file, group = tmp_path / "studio.sock", grp.getgrgid(os.getgid()).gr_name
    with _entrance(Doorway(socket=file, group=group)):
        found = file.stat()
        assert (stat.S_IMODE(found.st_mode), found.st_gid) == (0o660, os.getgid())
    with (
        pytest.raises(InvalidInput, match="no group 'nobody knows'"),
        _entrance(Doorway(socket=file, group="nobody knows")),
    ):
        pass
    assert not file.exists()
    with pytest.raises(InvalidInput, match="no socket for a group"):
        door_of(options("--socket-group", group))


def test_the_socket_of_a_killed_server_is_replaced_and_another_file_is_not(tmp_path: Path) -> None:
    file = tmp_path / "studio.sock"
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(str(file))
    with _entrance(Doorway(socket=file)):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_text("mine", encoding="utf-8")
    with pytest.raises(InvalidInput, match="is no socket"), _entrance(Doorway(socket=file)):
        pass
    assert file.read_text(encoding="utf-8") == "mine"
    for place in (tmp_path / "absent" / "s", tmp_path / ("x" * 200)):
        door = Doorway(socket=place)
        with pytest.raises(InvalidInput, match="cannot be listened on"), _entrance(door):
            pass


def asked(public: PublicAddress, path: str, *answer: tuple[bytes, bytes]) -> tuple[str, ...]:
    """Return the path that the studio sees, and the redirection that the browser gets."""
    seen: list[str] = []
    sent: list[dict] = []

    async def app(scope, receive, send) -> None:
        seen.append(scope["path"])
        await send({"type": "http.response.start", "status": 303, "headers": list(answer)})

    async def send(message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"a=b",
        "scheme": "http",
        "headers": [(b"host", b"127.0.0.1:7860")],
    }
    asyncio.run(BehindProxy(app, public)(scope, None, send))
    return (*seen, *(value.decode() for _, value in sent[0]["headers"][:1]))


AT = PublicAddress("https://nlu.example.com", "/intents")


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("/intents/label", "/label"),
        ("/label", "/label"),
        ("/intents/", "/"),
        ("/", "/"),
        ("/intents/intents/x", "/intents/x"),
        ("/intentsx", "/intentsx"),
    ],
)
def test_a_proxy_may_take_the_prefix_away_or_leave_it(path: str, seen: str) -> None:
    assert asked(AT, path) == (seen,)


def test_a_prefix_without_a_slash_leads_to_the_one_with() -> None:
    """A page names its files from where it lies: from /intents they would lie beside it."""
    assert asked(AT, "/intents") == ("/intents/?a=b",)


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("/studio/0123456789ab/js/home.js", "/studio/0123456789ab/js/home.js"),
        ("/studio/studio/0123456789ab/js/home.js", "/studio/0123456789ab/js/home.js"),
        ("/studio/css/home.css", "/studio/css/home.css"),
        ("/studio/icon.svg", "/studio/icon.svg"),
        ("/studio/label", "/label"),
        ("/studio/api/projects", "/api/projects"),
    ],
)
def test_a_proxy_at_the_path_of_the_files_is_told_apart(path: str, seen: str) -> None:
    assert asked(PublicAddress("", "/studio"), path) == (seen,)


@pytest.mark.parametrize(
    ("public", "target", "moved"),
    [
        (AT, "/label?x=1", "/intents/label?x=1"),
        (AT, "http://127.0.0.1:7860/api/x", "https://nlu.example.com/intents/api/x"),
        (AT, "https://elsewhere.example/x", "https://elsewhere.example/x"),
        (AT, "//elsewhere.example/x", "//elsewhere.example/x"),
        (PublicAddress("", "/n"), "http://127.0.0.1:7860/x", "http://127.0.0.1:7860/n/x"),
        (PublicAddress("https://n.example"), "/label", "/label"),
        (PublicAddress("https://n.example"), "http://127.0.0.1:7860/x", "https://n.example/x"),
        (PublicAddress(), "http://127.0.0.1:7860/x", "http://127.0.0.1:7860/x"),
    ],
)
def test_redirections_lead_to_addresses_behind_the_proxy(
    public: PublicAddress, target: str, moved: str
) -> None:
    assert asked(public, "/", (b"location", target.encode())) == ("/", moved)


def test_every_page_and_file_of_gradio_is_a_path_of_the_studio_s_own(
    live_studio, own_folder
) -> None:
    watch = build_app(live_studio, None, frozenset({"127.0.0.1"}))
    app = watch.app.app.app
    firsts: set[str] = {path.split("/")[1] for path in _paths(app.routes)}
    wanted: Callable[[str], bool] = firsts.__contains__
    assert all(map(wanted, ("api", "label", "versions", "receipts", "reports", "gradio_api")))
