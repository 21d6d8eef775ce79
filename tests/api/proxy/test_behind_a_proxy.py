"""A studio on a Unix socket, which people reach through a proxy that puts a path before it."""

import json
import re
import shutil
import urllib.request
from collections.abc import Iterator
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urljoin, urlsplit

import pytest
from fastapi.testclient import TestClient

from app.addresses import PublicAddress
from app.server import build_app
from intent_studio_client.studio import Studio
from tests.builders.proxied.proxy import Proxy
from tests.builders.proxied.studio import TOKEN, behind
from tests.builders.served_studio import Served
from tests.served_in_memory import TOKEN as LAUNCH_TOKEN

Entered = tuple[Served, Proxy]
NGINX = Proxy("/intents", passes_host=False)
"""As `location /intents/ { proxy_pass http://unix:FILE:/; }` does."""
KEEPING = Proxy("/intents/shop", strips=False)
AT_FILES = Proxy("/studio")


@pytest.fixture(scope="module", params=[NGINX, KEEPING, AT_FILES], ids=lambda one: one.prefix)
def entered(request, prepared, tmp_path_factory) -> Iterator[Entered]:
    home = tmp_path_factory.mktemp("b") / "home"
    shutil.copytree(prepared["trained"], home)
    with behind(request.param, home) as found:
        yield found


class Visitor:
    """A browser without scripts: it keeps cookies and follows redirections."""

    def __init__(self, base: str, token: str = "") -> None:
        self.base, self.token = base, token
        jar = urllib.request.HTTPCookieProcessor(CookieJar())
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), jar)

    def get(self, address: str, body: Any = None) -> tuple[str, str]:
        """Return where it came to, and what stands there."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"} if body is not None else {}
        request = urllib.request.Request(urljoin(f"{self.base}/", address), data, headers)
        with self.opener.open(request, timeout=60) as answer:
            return answer.url, answer.read().decode("utf-8", "replace")


@pytest.fixture
def owner(entered: Entered) -> Visitor:
    found = Visitor(entered[0].base)
    found.get(f"{found.base}/?token={TOKEN}")
    return found


def test_pages_and_all_that_they_name_lie_behind_the_prefix(
    owner: Visitor, entered: Entered
) -> None:
    served, proxy = entered
    for page in ("", "label?project=p"):
        url, content = owner.get(f"{served.base}/{page}")
        assert url == f"{served.base}/{page}"
        assert json.loads(re.search(r'"root":("[^"]*")', content)[1]) == served.base
        named = set(re.findall(r"\./(?:studio|assets)/[\w./-]+\.(?:css|js|svg|woff2)", content))
        assert len(named) > 20
        for name in named:
            owner.get(urljoin(url, name))
    url, _ = owner.get(f"{proxy.url}?x=1")
    assert url == f"{served.base}/?x=1"
    url, _ = owner.get(f"{served.base}/label/")
    assert url == f"{served.base}/label"
    assert proxy.outside == []


def test_the_token_becomes_a_cookie_of_the_prefix(entered: Entered) -> None:
    served, proxy = entered
    asked = proxy.connect()
    asked.request("GET", f"{'' if proxy.strips else proxy.prefix}/label?token={TOKEN}")
    answer = asked.getresponse()
    assert (answer.status, answer.getheader("location")) == (303, f"{proxy.prefix}/label")
    assert f"; Path={proxy.prefix}; HttpOnly" in answer.getheader("set-cookie")
    visitor = Visitor(served.base)
    with pytest.raises(HTTPError, match="401"):
        visitor.get("api/projects")
    url, _ = visitor.get(f"label?project=p&token={TOKEN}")
    assert url == f"{served.base}/label?project=p"
    assert '"p"' in visitor.get("api/projects")[1]


def test_programs_reach_it_by_its_public_url(entered: Entered) -> None:
    served, _ = entered
    studio = Studio(served.base, TOKEN)
    assert [one.name for one in studio.projects()] == ["p"]
    [answer] = studio.predict("p", ["where is my parcel"])
    assert answer.decision.intents == ("parcel",)


def test_shared_links_and_reports_bear_the_public_url(owner: Visitor, entered: Entered) -> None:
    served, proxy = entered
    said = {"text": "where is my parcel"}
    kept = json.loads(owner.get("api/projects/p/receipts", said)[1])
    assert kept["link"] == served.base + kept["path"]
    for kind, target in (("receipt", kept["id"]), ("report", "1")):
        wanted = {"kind": kind, "target": target, "days": 7}
        link = json.loads(owner.get("api/projects/p/shares", wanted)[1])["link"]
        assert link.startswith(f"{served.base}/{kind}s/")
        reader = Visitor(served.base)
        url, page = reader.get(link)
        assert url == link.partition("?")[0]
        files = re.findall(r'href="(/[^"]+)"', page)
        assert len(files) == 2
        for file in files:
            assert file.startswith(f"{proxy.prefix}/api/")
        assert "<html" in reader.get(urljoin(url, files[0]))[1]
        with pytest.raises(HTTPError, match="403"):
            reader.get("api/projects")
    _, report = owner.get("reports/p/1")
    assert f'class="back" href="{proxy.prefix}/versions?project=p"' in report
    assert proxy.outside == []


def refused(entered: Entered, method: str = "GET", **headers: str) -> int:
    _, proxy = entered
    asked = proxy.connect()
    sent = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    path = f"{'' if proxy.strips else proxy.prefix}/api/projects"
    body = b"{}" if method == "POST" else None
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    asked.request(method, path, body, {**sent, **named})
    return asked.getresponse().status


def test_other_names_and_pages_of_other_sites_are_refused(entered: Entered) -> None:
    """A name that an attacker lets point to this machine reaches nothing (DNS rebinding)."""
    host = urlsplit(entered[0].base).netloc
    own = f"http://{host}"
    assert refused(entered, Host=host) == 200
    assert refused(entered, Host="evil.example") == 400
    assert refused(entered, Host="evil.example", X_Forwarded_Host=host) == 400
    assert refused(entered, "POST", Host="localhost", Origin=own) == 422  # a page of its own
    assert refused(entered, "POST", Host=host, Origin="http://evil.example") == 403
    assert refused(entered, "POST", Host=host, Origin=own, Sec_Fetch_Site="cross-site") == 403


def test_the_socket_is_its_user_s_alone(entered: Entered) -> None:
    _, proxy = entered
    assert isinstance(proxy.upstream, Path)
    assert proxy.upstream.stat().st_mode & 0o777 == 0o600


def test_a_proxy_that_passes_name_and_scheme_needs_no_public_url(
    prepared: dict[str, Path], tmp_path: Path
) -> None:
    """Over a socket the scheme was not believed: pages of https were those of another site."""
    proxy = Proxy("/intents", strips=False)
    names = ("--root-path", proxy.prefix, "--trusted-host", "nlu.example.com")
    shutil.copytree(prepared["labelled"], tmp_path / "home")
    with behind(proxy, tmp_path / "home", *names) as entered:
        sent = {"Host": "nlu.example.com", "Origin": "https://nlu.example.com"}
        assert refused(entered, "POST", **sent) == 403
        assert refused(entered, "POST", **sent, X_Forwarded_Proto="https") == 422
        assert refused(entered, Host="other.example.com") == 400


def test_a_cookie_of_a_secure_address_is_sent_over_https_alone(live_studio, own_folder) -> None:
    public = PublicAddress("https://nlu.example.com", "/intents")
    app = build_app(live_studio, LAUNCH_TOKEN, frozenset({"nlu.example.com"}), public=public)
    client = TestClient(app, base_url="http://nlu.example.com")
    answer = client.get(f"/label?token={LAUNCH_TOKEN}", follow_redirects=False)
    assert "; Path=/intents; Secure; HttpOnly" in answer.headers["set-cookie"]
    sent = {"Origin": "https://nlu.example.com", "Authorization": f"Bearer {LAUNCH_TOKEN}"}
    assert client.post("/api/projects", json={"name": "q"}, headers=sent).status_code == 201
