"""A shared link opens one receipt or report, until it expires or somebody stops sharing.

Every link had carried the one token of a home, which opened all receipts and reports for ever.
"""

import hashlib
import logging
import secrets
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient

from app.server import build_app
from app.services.data.projects import create_project, delete_project, rename_project
from app.services.upkeep import back_up, restore
from storage.database import open_database
from storage.tables import share
from tests.served_in_memory import HOST, TOKEN


@pytest.fixture
def served(live_studio, own_folder):
    return build_app(live_studio, TOKEN, frozenset({"127.0.0.1"}))


def visitor(served, token: str = "") -> TestClient:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return TestClient(served, base_url=f"http://{HOST}", headers=headers)


@pytest.fixture
def owner(served, trained: str) -> TestClient:
    return visitor(served, TOKEN)


def receipt(owner: TestClient, text: str = "where is my parcel") -> str:
    return owner.post("/api/projects/p/receipts", json={"text": text}).json()["id"]


def shared(owner: TestClient, kind: str, target: str, **more) -> dict:
    made = owner.post("/api/projects/p/shares", json={"kind": kind, "target": target, **more})
    assert made.status_code == 201, made.text
    return made.json()


def test_a_link_opens_its_receipt_and_nothing_else(served, owner) -> None:
    key, other = receipt(owner), receipt(owner, "hello")
    link = shared(owner, "receipt", key)["link"]
    reader = visitor(served)
    assert reader.get(f"/receipts/{key}").status_code == 401
    opened = reader.get(link)
    assert opened.status_code == 200
    assert "where is my parcel" in opened.text
    assert urlsplit(str(opened.url)).query == ""
    assert "default-src 'none'" in opened.headers["content-security-policy"]
    assert reader.get(f"/api/receipts/{key}/receipt.html").status_code == 200
    assert reader.get(f"/api/v1/receipts/{key}/receipt.html").status_code == 200
    for path in (
        *(f"/receipts/{other}", f"/api/receipts/{other}/receipt.html", "/reports/p/1"),
        *("/", "/data?project=p", "/api/projects", "/api/projects/p/utterances", "/config"),
        *(
            "/api/projects/p/shares",
            "/api/projects/p/acts",
            "/api/projects/p/traffic/export",
            f"/receipts/{key}/",
            f"//receipts/{key}",
        ),
    ):
        assert reader.get(path).status_code == 403, path
    for method, path in (
        ("POST", "/api/projects/p/ops"),
        ("POST", f"/receipts/{key}"),
        ("POST", "/api/projects/p/shares"),
        ("DELETE", "/api/projects/p/models/1"),
    ):
        refused = reader.request(method, path)
        assert refused.status_code == 403, path
        assert "for reading only" in refused.text


def test_several_links_open_in_one_browser_and_lock_their_owner_out_of_nothing(
    served, owner, live_studio
) -> None:
    key = receipt(owner)
    first = shared(owner, "receipt", key)["link"]
    second = shared(owner, "report", "1")["link"]
    browser = visitor(served)
    assert browser.get(f"/api/projects?token={TOKEN}").status_code == 200
    assert browser.get(first).status_code == browser.get(second).status_code == 200
    assert browser.get("/api/projects").status_code == 200
    reader = visitor(served)
    assert reader.get(first).status_code == reader.get(second).status_code == 200
    assert reader.get(f"/receipts/{key}").status_code == 200
    assert reader.get("/reports/p/1").status_code == 200
    assert reader.get("/api/projects/p/models/1/report.html").status_code == 200


def test_a_link_opens_nothing_once_it_is_stopped_or_expired(served, owner, studio) -> None:
    made = [shared(owner, "report", "1", days=days) for days in (7, 30, 90, None)]
    ends = [
        one["share"]["expires_at"]
        and (datetime.fromisoformat(one["share"]["expires_at"]) - datetime.now(UTC)).days
        for one in made
    ]
    assert ends == [6, 29, 89, None]  # and some hours
    readers = [visitor(served) for _ in made]
    assert {
        reader.get(one["link"]).status_code for reader, one in zip(readers, made, strict=True)
    } == {200}
    assert owner.delete(f"/api/projects/p/shares/{made[0]['share']['id']}").status_code == 204
    gone = (datetime.now(UTC) - timedelta(seconds=1)).isoformat(timespec="milliseconds")
    with studio.database.write() as connection:
        this = share.c.id == made[1]["share"]["id"]
        connection.execute(sa.update(share).where(this).values(expires_at=gone))
    statuses = [reader.get("/reports/p/1").status_code for reader in readers]
    assert statuses == [401, 401, 200, 200]
    assert "Ask whoever sent it for a new one" in visitor(served).get(made[0]["link"]).text
    listed = owner.get("/api/projects/p/shares").json()
    assert {one["id"] for one in listed} == {one["share"]["id"] for one in made[2:]}
    assert owner.delete("/api/projects/p/shares/nope").status_code == 404


def test_openings_are_noted_and_listed(served, owner, studio) -> None:
    link = shared(owner, "report", "1")["link"]
    [before] = owner.get("/api/projects/p/shares").json()
    assert (before["opened_at"], before["by"]) == (None, studio.settings.actor)
    own = visitor(served)
    assert own.get(f"/api/projects?token={TOKEN}").status_code == 200
    assert own.get(link).status_code == 200
    assert owner.get("/api/projects/p/shares").json() == [before]  # the owner's look is no opening
    visitor(served).get(link)
    [after] = owner.get("/api/projects/p/shares").json()
    assert after["opened_at"] >= before["created_at"]


def test_a_link_says_nothing_of_its_token(served, owner, caplog, studio) -> None:
    link = shared(owner, "report", "1")["link"]
    token = link.partition("token=")[2]
    assert len(token) >= 32
    with caplog.at_level(logging.DEBUG):
        moved = visitor(served).get(link, follow_redirects=False)
        page = visitor(served).get(link)
    assert moved.headers["referrer-policy"] == "no-referrer"
    assert moved.headers["cache-control"] == "no-store"
    assert "HttpOnly" in moved.headers["set-cookie"]
    assert token not in moved.headers["location"] + page.text + caplog.text.replace(link, "")
    assert token not in owner.get("/api/projects/p/shares").text
    studio.database.empty_log()
    files = [path for path in studio.places.home.rglob("*") if path.is_file()]
    assert [path.name for path in files if token.encode() in path.read_bytes()] == []


def test_the_cookie_of_a_link_holds_no_token(served, owner, studio) -> None:
    """Browsers send cookies to every server of the host name: the token itself was sent there."""
    made = shared(owner, "report", "1")
    token = made["link"].partition("token=")[2]
    kept = visitor(served).get(made["link"], follow_redirects=False).headers["set-cookie"]
    assert token not in kept
    own = {"Cookie": kept.partition(";")[0]}
    assert visitor(served).get("/reports/p/1", headers=own).status_code == 200
    with studio.database.read() as connection:
        [stored] = connection.execute(sa.select(share.c.token_sha256)).scalars()
    assert stored not in kept
    assert visitor(served).get("/reports/p/1", params={"token": stored}).status_code == 401
    owner.delete(f"/api/projects/p/shares/{made['share']['id']}")
    assert visitor(served).get("/reports/p/1", headers=own).status_code == 401


def test_a_link_of_an_earlier_release_opens_what_it_opened(served, owner, studio) -> None:
    link = shared(owner, "report", "1")["link"]
    token = link.partition("token=")[2]
    with studio.database.write() as connection:
        former = hashlib.sha256(token.encode()).hexdigest()
        connection.execute(sa.update(share).values(token_sha256=former))
    reader = visitor(served)
    assert reader.get(link).status_code == 200
    assert reader.get("/reports/p/1").status_code == 200  # by its cookie


def test_guessed_tokens_open_nothing(served, owner) -> None:
    token = shared(owner, "report", "1")["link"].partition("token=")[2]
    digest = "0" * 64
    near = [token[:-1], token + "x", token.swapcase(), "", "%", "' OR 1=1 --", digest]
    for guess in [*near, *(secrets.token_urlsafe(24) for _ in range(50))]:
        reader = visitor(served)
        assert reader.get("/reports/p/1", params={"token": guess}).status_code == 401, guess
        reader.cookies.set("intent-studio-viewer-7860-00000000", guess or "x")
        assert reader.get("/reports/p/1").status_code == 401, guess


def test_only_what_is_there_is_shared(owner) -> None:
    path = "/api/projects/p/shares"
    owner.post("/api/projects", json={"name": "q"})
    key = receipt(owner)
    for project, body in (
        ("p", {"kind": "report", "target": "9"}),
        ("p", {"kind": "report", "target": "one"}),
        ("p", {"kind": "receipt", "target": "f" * 32}),
        ("q", {"kind": "receipt", "target": key}),
        ("nope", {"kind": "report", "target": "1"}),
    ):
        refused = owner.post(path.replace("/p/", f"/{project}/"), json=body)
        assert refused.status_code == 404, body
    for body in ({"kind": "project", "target": "p"}, {"kind": "report", "target": "1", "days": 8}):
        assert owner.post(path, json=body).status_code == 422
    assert owner.get(path).json() == []


def test_a_renamed_project_shares_under_its_new_name_and_a_deleted_one_nothing(
    served, owner, studio
) -> None:
    reader = visitor(served)
    token = shared(owner, "report", "1")["link"].partition("token=")[2]
    rename_project(studio, "p", "new name")
    assert reader.get(f"/reports/new name/1?token={token}").status_code == 200
    create_project(studio, "p")  # the link that was sent still opens its own report
    by_mail = visitor(served).get(f"/reports/p/1?token={token}")
    assert (by_mail.status_code, by_mail.url.path) == (200, "/reports/new name/1")
    assert "<bdi>new name</bdi>, version 1" in by_mail.text
    assert visitor(served).get(f"/reports/p/2?token={token}").status_code == 403
    assert reader.get("/reports/p/1").status_code == 403  # without its token that is another one
    delete_project(studio, "new name")
    assert visitor(served).get(f"/reports/p/1?token={token}").status_code == 403
    assert reader.get("/reports/new name/1").status_code == 403


def test_links_are_in_the_backup_and_only_as_hashes(owner, studio, tmp_path) -> None:
    link = shared(owner, "report", "1")["link"]
    back_up(studio, tmp_path / "b.zip")
    restore(tmp_path / "b.zip", tmp_path / "again")
    database = open_database(tmp_path / "again" / "studio.db")
    with database.read() as connection:
        [row] = connection.execute(sa.select(share)).all()
    database.close()
    assert row.target == "1"
    assert link.partition("token=")[2] not in str(row)


def test_acts_tell_browsers_from_programs_and_are_not_for_viewers(served, owner) -> None:
    browser = {"Sec-Fetch-Site": "same-origin"}
    owner.post("/api/projects/p/intents", json={"name": "by program"})
    owner.post("/api/projects/p/intents", json={"name": "by page"}, headers=browser)
    acts = owner.get("/api/projects/p/acts", params={"verb": "create intent"}).json()["acts"]
    assert [one["via"] for one in acts[:2]] == ["page", "REST"]
    reader = visitor(served)
    reader.get(shared(owner, "report", "1")["link"])
    assert reader.get("/api/projects/p/acts").status_code == 403
    assert reader.get("/history?project=p").status_code == 403
    assert owner.get("/api/projects/p/acts", params={"limit": 1000}).status_code == 422
