"""A damaged, full, locked or read-only database is told in words, and nothing makes it worse.

`doctor` and all commands ended with a traceback: SQLite's check returns a row for each fault.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from app.bootstrap import open_studio
from app.cli import main
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.settings import Settings
from core.errors import (
    DatabaseBusy,
    DatabaseDamaged,
    DiskFull,
    InvalidInput,
    ReadOnlyHome,
)
from storage import database as opening
from storage import projects
from storage.database import Transaction, database_file, open_database
from tests.faults.table import Fault

FAULTS = (
    Fault(
        30,
        "Damaged database: header, pages, truncation",
        "100 zero bytes, every seventh page overwritten, the file cut in half",
        "`doctor` names it and writes nothing; each command says 'damaged' and names the newest "
        "backup, which restores",
    ),
)

_PAGE = 4096


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with 4,000 texts and a backup of it."""
    texts = tmp_path / "texts.txt"
    texts.write_text("".join(f"this is text number {n}\n" for n in range(4_000)), "utf-8")
    home = tmp_path / "home"
    studio = open_studio(Settings(home=home))
    create_project(studio, "p")
    import_file(studio, ImportRequest("p", texts))
    studio.database.close()
    assert main(["--home", str(home), "backup", str(tmp_path / "backup.zip")]) == 0
    return home


def create_many(connection: Transaction) -> None:
    for number in range(5_000):
        projects.create(connection, f"project number {number}")


def cut(file: Path) -> None:
    with file.open("r+b") as stream:
        stream.truncate(file.stat().st_size // 2)


def destroy_header(file: Path) -> None:
    with file.open("r+b") as stream:
        stream.write(b"\0" * 100)


def overwrite_pages(file: Path) -> None:
    with file.open("r+b") as stream:
        for page in range(10, file.stat().st_size // _PAGE, 7):
            stream.seek(page * _PAGE)
            stream.write(b"\x5a" * 2_000)


@pytest.mark.parametrize("spoil", [cut, destroy_header, overwrite_pages])
def test_doctor_names_the_damage_and_changes_nothing(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], spoil: Callable[[Path], None]
) -> None:
    spoil(home / "studio.db")
    before = {file: file.read_bytes() for file in home.rglob("*") if file.is_file()}
    capsys.readouterr()
    assert main(["--home", str(home), "doctor", "--json"]) == 2
    printed = capsys.readouterr()
    findings = {one["subject"]: one for one in json.loads(printed.out)["findings"]}
    assert not findings["database"]["healthy"]
    for left_out in ("data", "embeddings", "jobs"):
        assert "left out: " in findings[left_out]["detail"]
        assert findings[left_out]["detail"].endswith("the database, which is damaged")
    assert findings["artifacts"]["healthy"]
    assert {"erasing", "maps and groups", "bundled encoder", "disk"} <= findings.keys()
    assert findings["privacy"]["healthy"]
    refused = json.loads(printed.err)
    assert refused["message"] == f"The database {home / 'studio.db'} is damaged."
    assert str(tmp_path / "backup.zip") in refused["hint"]
    assert f"--home NEW_FOLDER restore {tmp_path / 'backup.zip'}`" in refused["hint"]
    after = {file: file.read_bytes() for file in home.rglob("*") if file.is_file()}
    assert {file for file in before if before[file] != after.get(file)} == set()
    restored = tmp_path / "restored"
    assert main(["--home", str(restored), "restore", str(tmp_path / "backup.zip")]) == 0
    assert main(["--home", str(restored), "doctor"]) == 0


@pytest.mark.parametrize("spoil", [cut, destroy_header])
@pytest.mark.parametrize("words", [["projects"], ["export", "p", "out.csv"], ["new", "q"]])
def test_every_command_says_damaged_and_names_the_backup(
    home: Path,
    capsys: pytest.CaptureFixture[str],
    spoil: Callable[[Path], None],
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    spoil(home / "studio.db")
    assert main(["--home", str(home), *words]) == 2
    said = capsys.readouterr().err
    assert f"The database {home / 'studio.db'} is damaged." in said
    assert str(tmp_path / "backup.zip") in said


def test_a_full_disk_a_lock_and_a_read_only_file_are_told_apart(home: Path) -> None:
    database = open_database(home / "studio.db")
    with database.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count=1")
        connection.exec_driver_sql("PRAGMA busy_timeout=10")
    with pytest.raises(DiskFull, match="nothing was saved"), database.write() as connection:
        create_many(connection)
    with database.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA query_only=ON")
    with pytest.raises(ReadOnlyHome, match="may not be written to"), database.write() as connection:
        projects.create(connection, "q")
    with database.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA query_only=OFF")
    other = open_database(home / "studio.db")
    with (
        other.write(),
        pytest.raises(DatabaseBusy, match="Another program"),
        database.write() as connection,
    ):
        projects.create(connection, "q")
    with database.write() as connection:
        projects.create(connection, "q")
    other.close()
    database.close()
    assert opening.damage(home / "studio.db") == ()


def test_without_a_backup_the_folder_is_to_be_copied_aside(tmp_path: Path) -> None:
    file = tmp_path / "studio.db"
    file.write_bytes(b"these are no pages" * 1_000)
    with pytest.raises(DatabaseDamaged) as refused:
        open_database(file)
    assert refused.value.hint == (
        "Change nothing, and copy the whole folder aside. No backup is known."
    )


@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+psycopg", "mysql", "oracle"])
def test_another_database_is_refused_before_its_password_is_told(scheme: str) -> None:
    """PostgreSQL failed at the first import, and its address stood in the error."""
    with pytest.raises(InvalidInput, match="not supported yet") as caught:
        database_file(f"{scheme}://anna:secret@localhost/studio")
    assert "secret" not in str(caught.value)
