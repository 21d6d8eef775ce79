"""The web server: REST under /api, files under /studio, Gradio's pages at the root."""

import os
import shutil
import socket
import stat
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware
from fastapi.middleware.gzip import GZipMiddleware
from starlette.routing import BaseRoute, Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from app.addresses import DIRECT, BehindProxy, Doorway, PublicAddress, check_prefix
from app.allocation import keep_threads, return_memory
from app.api import explaining, monitoring
from app.api.http.errors import answer_errors
from app.api.http.openapi import complete_schema
from app.api.http.repeats import RunningKeys
from app.api.http.requests import RequestCounts, RequestWatch
from app.api.routes import all_routes
from app.home import Places
from app.jobs.lock import take_lock
from app.last_port import keep_port, last_port
from app.log_lines import set_up_logs
from app.security import Guard, LaunchCodes, check_binding, new_token
from app.services.labelling.queue import Queues
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.live.traffic import Traffic
from app.services.reports.sharing import SharedLinks
from app.services.scratch import scratch_folder
from app.services.studio import Studio
from app.services.what_if.watched_texts import WatchedTextCache
from app.serving.limits import check_port
from app.slow_requests import PunctualProtocol
from app.ui.asset_files import MOUNTED, AssetFiles
from core.errors import InvalidInput, StudioError

_FIRST_PORT = 7860
_TRIED_PORTS = 20
_LONGEST_END_SECONDS = 5
"""What was begun is finished; a connection that is open longer is cut."""

_FIRST_PAGE_SECONDS = 1.0
"""Delay before the model is loaded, so that the first page is served first."""

_CHECK_SECONDS = 3.0
"""Delay before the database is checked for damage, so that the first page does not wait for it."""

_SWITCH_SECONDS = 0.0002
"""After so long a thread that computes lets another one run (5 ms by default). A decision asks for
its turn a dozen times, at each access to the database, and waits as long each time, while all
other decisions wait for it."""


def build_app(
    live_studio: LiveStudio,
    token: str | None,
    hosts: frozenset[str],
    codes: LaunchCodes | None = None,
    public: PublicAddress = DIRECT,
) -> RequestWatch:
    """Put REST, files and pages behind one guard, and watch all requests.

    Requests must present the launch token, if there is one, and use a name in `hosts`. A shared
    link opens one receipt or report. A launch code stands for the token once.

    Raises:
        InvalidInput: The prefix of the public address is a path of the studio's own.
    """
    from app.ui.navigation import mount_pages

    app = FastAPI(title="Intent Studio", docs_url=None, redoc_url=None, openapi_url="/api/schema")
    app.state.live_studio = live_studio
    app.state.queues, app.state.watched_texts = Queues(live_studio), WatchedTextCache(live_studio)
    app.state.running_keys, app.state.public = RunningKeys(), public
    app.state.request_counts = counts = RequestCounts()
    app.add_middleware(CORSMiddleware, allow_origins=[])  # replaces Gradio's own answers
    app.add_middleware(GZipMiddleware, minimum_size=2_000, compresslevel=4)
    app.add_middleware(Counted, traffic=live_studio.traffic)
    answer_errors(app)
    complete_schema(app)
    pages = (*explaining.pages.routes, *monitoring.router.routes)
    app.router.routes += [*all_routes(), *pages]
    app.mount(MOUNTED, AssetFiles(), name="studio")
    mount_pages(app, public.root)
    check_prefix(public.prefix, _paths(app.routes))
    links = SharedLinks(live_studio.studio)
    guard = Guard(app, token, hosts, links, codes=codes or LaunchCodes(), public=public)
    return RequestWatch(BehindProxy(guard, public), counts, live_studio.studio.settings.actor)


def _paths(routes: Iterable[BaseRoute]) -> Iterator[str]:
    """Yield the paths of routes, and of those mounted at the root."""
    for route in routes:
        path = str(getattr(route, "path", ""))
        yield path or "/"
        if isinstance(route, Mount) and not path:
            yield from _paths(route.routes)


@dataclass(frozen=True, slots=True)
class Counted:
    """Counts the requests in progress, so that heavy work can give way to them."""

    app: ASGIApp
    traffic: Traffic

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        self.traffic.enter()
        try:
            await self.app(scope, receive, send)
        finally:
            self.traffic.leave()


def serve(studio: Studio, door: Doorway, prepare: Callable[[], None] | None = None) -> None:
    """Serve until stopped; `prepare` is called when the pages are built and nobody was let in yet.

    Raises:
        InvalidInput: The address is not safe, the port is taken, or another server has this home.
    """
    check_port(door.port)
    check_binding(door.host, token=door.token)
    with (
        _entrance(door, last_port(studio.places)) as entrance,
        _only_server(studio.places, entrance.address),
    ):
        keep_port(studio.places, entrance.listener)
        _serve_at(studio, door, entrance, prepare)


@dataclass(frozen=True, slots=True)
class _Entrance:
    """An open socket, and the address by which browsers reach it."""

    listener: socket.socket
    address: str


@contextmanager
def _entrance(door: Doorway, last: int | None = None) -> Iterator[_Entrance]:
    """Listen, on the port `last` if it is free and none is wanted; a Unix socket's file goes."""
    public = door.public
    if door.socket is None:
        with _listen(door, last) as listener:
            host = f"[{door.host}]" if ":" in door.host else door.host
            own = f"http://{host}:{listener.getsockname()[1]}{public.prefix}/"
            yield _Entrance(listener, f"{public.root}/" if public.origin else own)
        return
    with _listen_at(door.socket, door.group) as listener:
        mine = door.socket.stat().st_ino
        try:
            yield _Entrance(listener, f"{public.root}/" if public.origin else str(door.socket))
        finally:
            with suppress(OSError):
                if door.socket.stat().st_ino == mine:  # else another server's by now
                    door.socket.unlink()


def _serve_at(
    studio: Studio, door: Doorway, entrance: _Entrance, prepare: Callable[[], None] | None
) -> None:
    import uvicorn

    set_up_logs(studio.settings.log)
    sys.setswitchinterval(_SWITCH_SECONDS)
    return_memory()
    token = (door.secret or new_token()) if door.token else None
    live_studio = open_live_studio(studio)
    with _private_places(studio.places.home):
        codes = LaunchCodes() if door.token else None
        app = build_app(live_studio, token, door.hosts, codes, door.public)
        if prepare is not None:
            prepare()
        shown = token and not door.secret  # what is printed often ends in a log
        address = entrance.address + (f"?token={token}" if shown else "")
        config = uvicorn.Config(
            app,
            log_config=None,
            http=PunctualProtocol,
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="on",
            timeout_graceful_shutdown=_LONGEST_END_SECONDS,
            # Who may open the socket is a proxy: it tells the scheme that it speaks.
            forwarded_allow_ips="*" if door.socket else None,
        )
        open_browser = partial(_open_browser, entrance.address, codes)
        opens = door.browser and door.socket is None and not door.public.origin
        ready = partial(_open_for, live_studio, address, open_browser if opens else _stay)
        _server(config, ready).run(sockets=[entrance.listener])


def _server(config: Any, when_ready: Callable[[], None]) -> Any:
    """Return a uvicorn server that calls `when_ready` once it accepts requests."""
    import uvicorn

    class Announcing(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            await keep_threads()
            when_ready()

    return Announcing(config)


def _open_for(live_studio: LiveStudio, address: str, open_browser: Callable[[], None]) -> None:
    print(f"Intent Studio is open at {address}", flush=True)  # noqa: T201 - the one line of serve
    print("Ctrl-C closes it; running trainings go on.", flush=True)  # noqa: T201
    open_browser()
    _later(_FIRST_PAGE_SECONDS, partial(_warm_up, live_studio))
    _later(_CHECK_SECONDS, live_studio.soundness.check)


def _later(seconds: float, act: Callable[[], None]) -> None:
    timer = threading.Timer(seconds, act)
    timer.daemon = True
    timer.start()


def _open_browser(address: str, codes: LaunchCodes | None) -> None:
    """Open the studio by a launch code: the arguments of a browser are seen by other programs."""
    code = "" if codes is None else f"?code={codes.new()}"
    threading.Thread(target=webbrowser.open, args=(address + code,), daemon=True).start()


def _stay() -> None:
    """Open no browser."""


def _warm_up(live_studio: LiveStudio) -> None:
    """Delete what has waited too long, and load the first project's model before a question."""
    from app.services.conversations.removing import delete_removed
    from app.services.data import uploads
    from app.services.data.projects import list_projects
    from app.services.status import load_status
    from app.services.training.jobs import list_jobs

    _leave_a_core()
    try:
        uploads.forget_old(live_studio.studio)
        list_jobs(live_studio.studio)  # restarts jobs after a power cut
        delete_removed(live_studio.studio)  # no page that could bring them back is open
        for project in list_projects(live_studio.studio)[:1]:
            load_status(live_studio, project.name)
    except StudioError:
        return  # the page shows the error


def _leave_a_core() -> None:
    """Compute with half of the cores; the others are for browsers, trainings and other programs.

    An answer is one short text: threads that wait for each other save no time on an idle machine,
    and take ten times as long on a busy one. Jobs are other processes and use all cores.
    """
    import torch
    from threadpoolctl import threadpool_limits

    few = max(1, (os.cpu_count() or 1) // 2)
    torch.set_num_threads(few)
    threadpool_limits(limits=few, user_api="blas")


def _listen(door: Doorway, last: int | None = None) -> socket.socket:
    free = [] if last is None else [last]
    free += range(_FIRST_PORT, _FIRST_PORT + _TRIED_PORTS)
    wanted = free if door.port is None else [door.port]
    family = socket.AF_INET6 if ":" in door.host else socket.AF_INET
    for port in wanted:
        # Without an explicit IPPROTO_TCP, asyncio leaves Nagle on and every answer waits 40 ms.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((door.host, port))
        except OSError as error:
            listener.close()
            problem = error
        else:
            return listener
    raise InvalidInput(
        f"Port {wanted[-1]} of {door.host} cannot be used: {problem.strerror}.",
        "Name another with --port, or --port 0 for any free one.",
    )


def _listen_at(path: Path, group: str) -> socket.socket:
    """Listen on a Unix socket, which this user's programs alone can open, and those of a group.

    The file of a server that was killed is replaced.

    Raises:
        InvalidInput: Another file lies there, another server listens there, it cannot be made, or
            there is no such group.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _make_room(path)
        before = os.umask(0o177)  # mode 0600 from the beginning
        try:
            listener.bind(str(path))
        finally:
            os.umask(before)
        if group:
            shutil.chown(path, group=group)
            path.chmod(0o660)
    except LookupError as error:
        listener.close()
        path.unlink(missing_ok=True)
        raise InvalidInput(f"There is no group '{group[:80]}'.", "Make it first.") from error
    except InvalidInput:
        listener.close()
        raise
    except OSError as error:
        listener.close()
        raise InvalidInput(
            f"{path} cannot be listened on: {error.strerror or error}.",
            "Name a socket in a folder that you may write to, of at most 100 bytes.",
        ) from error
    return listener


def _make_room(path: Path) -> None:
    """Delete the file of a Unix socket that nobody listens on any more."""
    if not path.exists():
        return
    if not stat.S_ISSOCK(path.stat().st_mode):
        raise InvalidInput(f"{path} is there, and is no socket.", "Name another with --socket.")
    if _listens(path):
        raise InvalidInput(f"A server listens on {path}.", "Name another with --socket.")
    path.unlink()


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        try:
            asking.connect(str(path))
        except ConnectionRefusedError:  # the file of a server that was killed
            return False
        return True


@contextmanager
def _only_server(places: Places, address: str) -> Iterator[None]:
    """Hold the lock of the home's server: two of them would hand one text to two people."""
    descriptor = take_lock(places.server_lock)
    if descriptor is None:
        raise InvalidInput(
            f"This studio is open already at {places.server_lock.read_text(encoding='utf-8')}.",
            "Use it there, close it with Ctrl-C, or name another studio with --home.",
        )
    try:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, address.encode())
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _private_places(home: Path) -> Iterator[None]:
    """Work in an empty folder with a private one for temporary files; Gradio may serve both."""
    (home / "viewer-token").unlink(missing_ok=True)  # its links opened every receipt and report
    with scratch_folder(Places(home)) as folder:
        work, temporary = folder / "work", folder / "tmp"
        for place in (work, temporary):
            place.mkdir(mode=0o700)
        os.environ["GRADIO_TEMP_DIR"] = str(temporary / "gradio")
        os.environ["TMPDIR"] = str(temporary)
        tempfile.tempdir = str(temporary)
        before = Path.cwd()
        os.chdir(work)
        try:
            yield
        finally:
            os.chdir(before)
            tempfile.tempdir = None
