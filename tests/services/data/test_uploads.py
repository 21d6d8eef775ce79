"""Dropped files: kept safely, spoken of by their own name, imported once, forgotten."""

import os
import time

import pytest

from app import server
from app.services.data import uploads
from app.services.data.intents import load_overview
from app.services.data.projects import create_project
from app.services.data.uploads import ColumnMapping
from app.services.live.live_studio import open_live_studio
from app.services.studio import Studio
from core.errors import InvalidInput, NotFound

CONTENT = b"question;kind\nI was charged twice;refund\nwho are you;greeting\n"
COLUMNS = ColumnMapping(text_column="question", intent_column="kind")


@pytest.fixture
def project(studio: Studio) -> str:
    create_project(studio, "p")
    return "p"


def total(studio: Studio) -> int:
    return load_overview(studio, "p")[0].total


def kept(studio: Studio) -> list[str]:
    return sorted(f.name for f in studio.places.uploads.rglob("*") if f.is_file())


def test_looking_changes_nothing_and_importing_forgets_the_file(studio: Studio, project) -> None:
    key = uploads.store_upload(studio, "new.csv", [CONTENT[:10], CONTENT[10:]])
    looked = uploads.preview_upload(studio, "p", key, COLUMNS)
    assert (looked.name, looked.report.added, looked.report.dry_run) == ("new.csv", 2, True)
    assert (looked.preview.text_column, looked.problem, total(studio)) == ("question", "", 0)
    report = uploads.import_upload(studio, "p", key, COLUMNS)
    assert (report.added, report.new_intents, total(studio)) == (2, ("refund", "greeting"), 2)
    assert kept(studio) == []
    with pytest.raises(NotFound, match="not there any more"):
        uploads.preview_upload(studio, "p", key, COLUMNS)


def test_faults_name_the_file_and_not_where_it_is_kept(studio: Studio, project) -> None:
    """A file that cannot even be shown had named its place on the server."""
    content = b'{"text": "fine"}\n{"text": 7}\n'
    key = uploads.store_upload(studio, "bad.jsonl", [content])
    with pytest.raises(InvalidInput) as refused:
        uploads.preview_upload(studio, "p", key, ColumnMapping())
    assert refused.value.message.startswith("bad.jsonl, row 2")
    with pytest.raises(InvalidInput, match=r"^bad\.jsonl, row 2"):
        uploads.import_upload(studio, "p", key, ColumnMapping())
    other = uploads.store_upload(studio, "many.csv", [b"a,b,c\nd,e,f\n"])
    looked = uploads.preview_upload(studio, "p", other, ColumnMapping())
    assert looked.problem.startswith("many.csv, row 1")
    assert (looked.report, bool(looked.hint), total(studio)) == (None, True, 0)


def test_a_file_too_large_leaves_nothing_behind(studio: Studio, project, monkeypatch) -> None:
    monkeypatch.setattr(uploads, "MOST_BYTES", 10)
    with pytest.raises(InvalidInput, match="has more than"):
        uploads.store_upload(studio, "big.csv", [b"123456", b"123456"])

    def cut_off():
        yield b"1234"
        raise ConnectionError

    with pytest.raises(ConnectionError):
        uploads.store_upload(studio, "half.csv", cut_off())
    assert list(studio.places.uploads.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("../../evil.csv", "evil.csv"),
        ("C:\\x\\evil.csv", "evil.csv"),
        ("a\0b.csv", "a_b.csv"),
        ("...", "upload"),
        ("", "upload"),
        ("Größe 1.csv", "Größe 1.csv"),
        ("質" * 100 + ".csv", "質" * 38 + ".csv"),
        ("😀" * 300 + ".csv", "_.csv"),
    ],
)
def test_any_name_is_kept_readable_and_harmless(studio, project, name: str, stored: str) -> None:
    """File systems count bytes: a hundred characters of Chinese had been too long a name."""
    key = uploads.store_upload(studio, name, [CONTENT])
    assert [f.name for f in (studio.places.uploads / key).iterdir()] == [stored]
    assert uploads.preview_upload(studio, "p", key, COLUMNS).report.added == 2


@pytest.mark.parametrize("key", ["", "..", "../uploads", "0" * 32, "g" * 32, "a" * 31, "/etc"])
def test_a_key_that_was_not_given_finds_nothing(studio: Studio, project, key: str) -> None:
    uploads.store_upload(studio, "new.csv", [CONTENT])
    with pytest.raises(NotFound):
        uploads.delete_upload(studio, key)
    assert kept(studio) == ["new.csv"]


def test_a_forgotten_file_goes_after_a_day(studio: Studio, project) -> None:
    old = uploads.store_upload(studio, "old.csv", [CONTENT])
    day_ago = time.time() - 25 * 3600
    os.utime(studio.places.uploads / old, (day_ago, day_ago))
    uploads.store_upload(studio, "new.csv", [CONTENT])
    assert kept(studio) == ["new.csv"]


def test_a_server_that_starts_deletes_the_files_of_yesterday(
    studio: Studio, project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They had stayed until somebody dropped the next file."""
    monkeypatch.setattr(server, "_leave_a_core", lambda: None)
    for name, hours in (("old.csv", 25), ("new.csv", 23)):
        folder = studio.places.uploads / uploads.store_upload(studio, name, [CONTENT])
        os.utime(folder, (time.time() - hours * 3600,) * 2)
    server._warm_up(open_live_studio(studio))
    assert kept(studio) == ["new.csv"]


def test_what_cannot_be_looked_at_is_not_kept(studio: Studio, project) -> None:
    """A photograph of 50 MB had stayed for a day, and so had what was meant for no project."""
    for name, target, fault in (("photo.csv", "p", InvalidInput), ("new.csv", "nope", NotFound)):
        content = b"\x89PNG\r\n\x1a\n\0" if target == "p" else CONTENT
        with pytest.raises(fault):
            uploads.receive_upload(studio, target, name, [content])
    assert kept(studio) == []
    assert uploads.receive_upload(studio, "p", "new.csv", [CONTENT]).name == "new.csv"
    assert kept(studio) == ["new.csv"]
