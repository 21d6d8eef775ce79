"""Homes on other disks: one that may not be read or written, a network file system, a slow disk."""

import os
import time
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from app.cli import main
from core import files
from core.errors import InvalidInput
from storage.database import open_database
from tests.builders.served_studio import copy_home
from tests.faults.kills import acts
from tests.faults.kills.acts import soundness, texts_of
from tests.faults.shims.write_points import do
from tests.faults.table import Fault

FAULTS = (
    Fault(
        21,
        "The home may not be written to",
        "Another person of the machine, without the right to write, runs commands",
        "Refused in words that name the folder; nothing is changed",
        figures="rights",
    ),
    Fault(
        37,
        "A home on a network file system",
        "A table of mounts that names NFS, SMB and SSHFS",
        "Refused in words, for SQLite's locks and shared memory need a local disk",
        figures="network",
    ),
    Fault(
        35,
        "A slow disk",
        "Each sync and each commit takes 100 ms more",
        "Labels and imports are saved all the same",
        figures="slow",
    ),
)
_NOBODY = 65534


@pytest.mark.parametrize("words", [["projects"], ["new", "q"], ["doctor"]])
def test_a_home_that_may_not_be_written_to_is_told(
    template: Path, tmp_path: Path, words: list[str]
) -> None:
    home = copy_home(template, tmp_path / "home")
    for path in (home, *home.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    error = tmp_path / "error"
    error.touch(mode=0o666)
    error.chmod(0o666)
    for folder in tmp_path.parents:  # another person may pass through
        if folder.is_relative_to(Path("/tmp")) and folder != Path("/tmp"):
            folder.chmod(folder.stat().st_mode | 0o055)
    tmp_path.chmod(0o755)

    def run() -> int:
        if os.geteuid() == 0:
            os.setegid(_NOBODY)
            os.seteuid(_NOBODY)
        os.dup2(os.open(error, os.O_WRONLY), 2)
        import sys

        sys.stderr = os.fdopen(2, "w")
        code = main(["--home", str(home), *words])
        sys.stderr.flush()
        return code

    ended = do(run)
    told = error.read_text()
    assert ended.error is None
    assert "Traceback" not in told
    assert ended.value == 2, told
    assert f"{home} may not be written to" in told


@pytest.mark.parametrize(
    ("kind", "told"), [("nfs4", "NFS"), ("cifs", "SMB"), ("fuse.sshfs", "SSHFS")]
)
def test_a_home_on_a_network_file_system_is_refused(
    tmp_path: Path, kind: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        f"40 21 0:35 / {tmp_path} rw,relatime shared:1 - {kind} server:/home rw\n"
    )
    monkeypatch.setattr(files, "_MOUNTS", mounts)
    with pytest.raises(InvalidInput, match=f"lies on a network file system \\({told}\\)"):
        open_database(tmp_path / "studio.db")
    assert not (tmp_path / "studio.db").exists()
    mounts.write_text(mounts.read_text() + f"41 40 8:2 / {tmp_path} rw - ext4 /dev/sdb1 rw\n")
    open_database(tmp_path / "studio.db").close()


def test_a_slow_disk_loses_nothing(template: Path, tmp_path: Path) -> None:
    home = copy_home(template, tmp_path / "home")
    real = os.fsync

    def slowly(descriptor: int) -> None:
        time.sleep(0.1)
        real(descriptor)

    def label_and_import() -> float:
        os.fsync = slowly
        event.listen(Engine, "commit", lambda _: time.sleep(0.1))
        began = time.monotonic()
        acts.label(home)
        acts.import_news(home)
        return time.monotonic() - began

    ended = do(label_and_import)
    assert ended.error is None
    assert ended.value >= 0.2
    assert len(texts_of(home)) == 25
    assert soundness(home) == []
