"""A backup while others write, a backup that was cut, a restore over a newer home."""

import os
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.services import upkeep
from app.services.data.projects import create_project
from core.errors import ArtifactDamaged, Conflict
from storage import backup
from storage.artifacts import record_tree
from tests.builders.served_studio import copy_home
from tests.faults.kills.acts import back_up, opened, soundness, texts_of
from tests.faults.table import Fault

FAULTS = (
    Fault(
        20,
        "A backup is made while others write",
        "A thread writes without a pause during four backups, each of which is restored",
        "The backup is one moment of the home: it restores, and is sound",
        figures="writes",
    ),
    Fault(
        32,
        "A backup is cut or changed; a restore meets a newer home",
        "The file is cut at 40 places and has a byte changed at 40; the home has a studio",
        "Refused in words; the home is as it was",
        figures="cuts",
    ),
)


def test_a_backup_under_writes_is_one_moment(
    template: Path, tmp_path: Path, measured: Callable[[str, str], None]
) -> None:
    home = copy_home(template, tmp_path / "home")
    studio, stop, written = opened(home), threading.Event(), [0]

    def write() -> None:
        while not stop.is_set():
            written[0] += 1
            create_project(studio, f"project {written[0]}")

    thread = threading.Thread(target=write)
    thread.start()
    for number in range(4):
        out = tmp_path / f"{number}.zip"
        before = written[0] - 1
        upkeep.back_up(studio, out)
        restored = tmp_path / f"restored-{number}"
        upkeep.restore(out, restored)
        assert soundness(restored) == []
        other = opened(restored)
        with other.database.read() as connection:
            count = int(connection.exec_driver_sql("SELECT count(*) FROM project").scalar_one())
        other.database.close()
        assert count >= before  # with "p", whatever was committed before it began
    stop.set()
    thread.join()
    studio.database.close()
    measured("writes", f"4 backups beside {written[0]} writes, all restored and sound.")


@pytest.mark.parametrize("when", ["copy_database", "_artifacts"])
def test_a_backup_beside_a_deletion_is_begun_anew(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """It named files that it had not, or ended, where they were deleted after its copy or list."""
    studio, gone = opened(copy_home(template, tmp_path / "home")), list[Path]()
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "weights").write_bytes(b"of a version that is deleted")
    store = studio.artifacts
    files = store.put_files(folder)
    with studio.database.write() as connection:
        record_tree(connection, store, files)
    plain = getattr(backup, when)

    def deleted_after(*given: Any) -> Any:
        made = plain(*given)
        if not gone:
            gone.append(store.path(files["weights"]))
            with studio.database.write() as connection:
                store.sweep(connection, grace_seconds=-60)
        return made

    monkeypatch.setattr(backup, when, deleted_after)
    upkeep.back_up(studio, tmp_path / "home.zip")
    studio.database.close()
    assert [path.exists() for path in gone] == [False]
    upkeep.restore(tmp_path / "home.zip", tmp_path / "restored")
    assert soundness(tmp_path / "restored") == []


def test_a_cut_or_changed_backup_is_refused_and_leaves_no_home(
    template: Path, tmp_path: Path, measured: Callable[[str, str], None]
) -> None:
    home = copy_home(template, tmp_path / "home")
    back_up(home)
    whole = (tmp_path / "home.zip").read_bytes()
    step = len(whole) // 40
    damages = [whole[:size] for size in range(0, len(whole), step)]
    with zipfile.ZipFile(tmp_path / "home.zip") as archive:
        inside = [info.header_offset + 30 + len(info.filename) + 60 for info in archive.infolist()]
    damages += [whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :] for at in inside[:40]]
    file, target = tmp_path / "damaged.zip", tmp_path / "target"
    for content in damages:
        file.write_bytes(content)
        with pytest.raises(ArtifactDamaged):
            upkeep.restore(file, target)
        assert not target.exists() or list(target.iterdir()) == []
    measured("cuts", f"{len(damages)} damaged backups, all refused.")


def test_a_restore_over_a_newer_home_is_refused(template: Path, tmp_path: Path) -> None:
    home = copy_home(template, tmp_path / "home")
    back_up(home)
    before = texts_of(home)
    with pytest.raises(Conflict, match="holds a studio already"):
        upkeep.restore(tmp_path / "home.zip", home)
    assert texts_of(home) == before


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_a_restore_beside_the_log_of_a_lost_database_is_refused(
    template: Path, tmp_path: Path, ending: str
) -> None:
    """SQLite played the log into the restored database, and damaged it."""
    back_up(copy_home(template, tmp_path / "home"))
    target = tmp_path / "target"
    target.mkdir(mode=0o700)
    left = target / f"studio.db{ending}"
    left.write_bytes(b"of another database")
    with pytest.raises(Conflict, match=f"has left: studio.db{ending}") as refused:
        upkeep.restore(tmp_path / "home.zip", target)
    assert "empty --home" in refused.value.hint
    assert list(target.iterdir()) == [left]
    left.rename(tmp_path / left.name)
    upkeep.restore(tmp_path / "home.zip", target)
    assert soundness(target) == []


def test_the_next_backup_sweeps_what_a_killed_one_left(template: Path, tmp_path: Path) -> None:
    """Each killed backup left a file as large as the home, which nothing deleted."""
    home = copy_home(template, tmp_path / "home")
    old, young, foreign = (
        tmp_path / name for name in (f".part-{'a' * 32}", f".part-{'b' * 32}", ".part-of-mine")
    )
    for file in (old, young, foreign):
        file.write_bytes(b"half a backup")
    for file in (old, foreign):
        os.utime(file, (time.time() - 7_200,) * 2)
    back_up(home)
    assert (old.exists(), young.exists(), foreign.exists()) == (False, True, True)
