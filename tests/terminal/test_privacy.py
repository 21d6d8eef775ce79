"""What customers said is nobody else's: the files of a studio are their owner's alone."""

import stat
import subprocess
import sys
from pathlib import Path

from app.bootstrap import open_studio
from app.services.upkeep import examine
from app.settings import Settings


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_home_database_and_backup_can_be_opened_by_their_owner_alone(tmp_path: Path) -> None:
    """The folder had 755, database and backups 644: everybody on the machine read the texts."""
    home, backup = tmp_path / "home", tmp_path / "backup.zip"
    command = [sys.executable, "-m", "app.cli", "--home", str(home)]
    for words in (["new", "p"], ["backup", str(backup)]):
        subprocess.run([*command, *words], check=True, capture_output=True)
    files = [home, backup, *home.rglob("*")]
    assert len(files) > 2
    assert [file for file in files if mode(file) & 0o077] == []


def test_doctor_tells_of_an_open_home_of_an_earlier_release_and_closes_it(tmp_path: Path) -> None:
    studio = open_studio(Settings(home=tmp_path / "home"))
    studio.places.home.chmod(0o755)
    [amiss] = [check for check in examine(studio) if check.subject == "privacy"]
    assert (amiss.healthy, amiss.mends, mode(studio.places.home)) == (False, True, 0o755)
    mended = examine(studio, repair=True)
    [told] = [check for check in mended if check.subject == "privacy"]
    assert (told.healthy, mode(studio.places.home)) == (True, 0o700)
    assert told.detail == "others on this machine could open the home; now only you can"
    [again] = [check for check in examine(studio) if check.subject == "privacy"]
    assert again.detail == "ok, only you can open the home"
    studio.database.close()
