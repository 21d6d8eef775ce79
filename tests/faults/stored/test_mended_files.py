"""Stored files that were lost come back from the newest backup, or their version is deleted."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from app.cli import main
from storage.artifacts import record_tree
from storage.computed import layouts
from storage.faults import last_backup
from tests.builders.served_studio import copy_home
from tests.faults.kills.acts import back_up, opened, soundness, to_backup
from tests.faults.shims.write_points import do
from tests.faults.table import Fault

FAULTS = (
    Fault(
        10.2,
        "A stored file is lost, and a backup has it, or has none",
        "A file of a version is changed or deleted in a home with a sound backup, a damaged one or "
        "none; a file of a map is deleted",
        "`doctor --repair` takes the file from the newest backup if it is sound there, and deletes "
        "a damaged map, which is made anew; `versions --delete --even-so` ends the finding of a "
        "version whose files nobody has",
    ),
)


_SECOND = """
INSERT INTO model_version (project_id, number, tree_sha256, lineage, metrics, pins, created_at)
VALUES (1, 2, ?, '{}', '{}', '{}', '')
"""


@pytest.fixture
def home(template: Path, tmp_path: Path) -> Path:
    """A home with a version in use, and a second one with a file of its own."""
    home = copy_home(template, tmp_path / "home")
    tree = stored_tree(home, tmp_path / "second")
    studio = opened(home)
    with studio.database.write() as connection:
        connection.exec_driver_sql(_SECOND, (tree,))
    studio.database.close()
    return home


def stored_tree(home: Path, folder: Path) -> str:
    """Store a folder with one file, and return the tree."""
    folder.mkdir()
    (folder / "points").write_bytes(folder.name.encode())
    studio = opened(home)
    files = studio.artifacts.put_files(folder)
    with studio.database.write() as connection:
        tree = record_tree(connection, studio.artifacts, files)
    studio.database.close()
    return tree


def own_file(home: Path, folder: str = "second") -> Path:
    """Return the stored file of a folder."""
    name = hashlib.sha256(folder.encode()).hexdigest()
    return home / "artifacts" / name[:2] / name[2:]


def spoil(file: Path) -> bytes:
    """Change a file's last byte; the homes that it was copied from keep theirs."""
    content = file.read_bytes()
    file.unlink()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    return content


def doctor(home: Path, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, dict, str]:
    capsys.readouterr()
    code = main(["--home", str(home), "doctor", "--json", *more])
    printed = capsys.readouterr()
    found = {one["subject"]: one for one in json.loads(printed.out)["findings"]}
    return code, found["artifacts"], printed.err


@pytest.mark.parametrize("is_gone", [True, False])
def test_a_lost_file_comes_back_from_the_newest_backup(
    home: Path,
    capsys: pytest.CaptureFixture[str],
    is_gone: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """It was told to train again, after which the finding was still there."""
    assert do(lambda: back_up(home)).error is None
    file = own_file(home)
    content = spoil(file)
    if is_gone:
        file.unlink()
    _, found, _ = doctor(home, capsys)
    assert found["detail"].startswith("version 2 of 'p': points ")
    assert (found["healthy"], found["mends"]) == (False, True)
    _, found, _ = doctor(home, capsys, "--repair")
    assert found["detail"] == "ok, 1 damaged file mended"
    assert file.read_bytes() == content
    assert soundness(home) == []


def test_a_backup_that_is_damaged_itself_mends_nothing(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = own_file(home)
    spoil(file)
    assert do(lambda: back_up(home)).error is None
    code, found, refused = doctor(home, capsys, "--repair")
    assert (code, found["healthy"]) == (2, False)
    assert "--even-so" in json.loads(refused)["hint"]


def test_a_version_whose_files_are_lost_can_be_deleted(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own_file(home).unlink()
    code, found, refused = doctor(home, capsys)
    assert (code, found["mends"]) == (2, False)
    assert "versions PROJECT --delete N --even-so" in json.loads(refused)["hint"]
    assert main(["--home", str(home), "versions", "p", "--delete", "2", "--even-so"]) == 0
    assert "Deleted version 2 of 'p'" in capsys.readouterr().out
    assert soundness(home) == []


def test_a_damaged_map_is_deleted_to_be_made_anew(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = stored_tree(home, tmp_path / "map")
    studio = opened(home)
    with studio.database.write() as connection:
        row = {"project_id": 1, "model_version_id": 1, "method": "pca", "tree_sha256": tree, "n": 1}
        layouts.add(connection, {**row, "job_id": None})
    studio.database.close()
    own_file(home, "map").unlink()
    _, found, _ = doctor(home, capsys)
    assert found["detail"] == "a map of 'p' (pca): points is missing"
    assert found["mends"]
    doctor(home, capsys, "--repair")
    assert soundness(home) == []


def test_a_restored_home_knows_its_backup_and_the_next_command(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A restored home knew of no backup until it made one of its own."""
    assert do(lambda: to_backup(home)).error is None
    backup = tmp_path / "home.zip"
    capsys.readouterr()
    assert main(["--home", str(home), "restore", str(backup)]) == 0
    assert f"intent-studio --home {home} doctor" in capsys.readouterr().err
    known = last_backup(home / "studio.db")
    assert known is not None
    assert known.file == str(backup)
    shutil.rmtree(home / "artifacts")
    _, found, _ = doctor(home, capsys, "--repair")
    assert found["healthy"]
    assert soundness(home) == []
