"""Backups at intervals: a dated file each, and the newest ones are kept."""

import json
from pathlib import Path

import pytest

from app.cli import main
from app.services import upkeep
from app.services.studio import Studio
from core.errors import DiskFull, InvalidInput


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_newest_are_kept_and_other_files_are_not_touched(
    home: Studio, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    strangers = ["studio-of-anna.zip", "studio-20200101T000000.zip", "notes.txt"]
    for name in strangers:
        (folder / name).write_text("mine", encoding="utf-8")
    made = [upkeep.back_up_dated(home, folder, keep=2) for _ in range(3)]
    assert [backup.deleted for backup in made] == [0, 0, 1]
    assert names(folder) == sorted([*strangers, made[1].file.name, made[2].file.name])
    place = str(home.places.home)
    assert main(["--home", place, "backup", str(folder), "--keep", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["deleted"] == 2
    assert names(folder) == sorted([*strangers, Path(told["file"]).name])
    assert upkeep.restore(Path(told["file"]), tmp_path / "restored") == told["files"]


def test_older_backups_stay_when_a_new_one_fails(
    home: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = upkeep.back_up_dated(home, tmp_path / "backups", keep=1)

    def fail(*_: object) -> int:
        raise DiskFull("The disk is full.", "")

    monkeypatch.setattr(upkeep, "back_up", fail)
    with pytest.raises(DiskFull):
        upkeep.back_up_dated(home, tmp_path / "backups", keep=1)
    assert names(tmp_path / "backups") == [first.file.name]


def test_a_folder_and_a_number_are_needed(
    home: Studio, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(InvalidInput, match="file is a file"):
        upkeep.back_up_dated(home, tmp_path / "file", keep=1)
    place = str(home.places.home)
    assert main(["--home", place, "backup", str(tmp_path / "b"), "--keep", "0"]) == 2
    assert "At least one backup is kept." in capsys.readouterr().err
