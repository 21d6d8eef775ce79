"""A database outside its home: every part of the studio looks at the file that is in use."""

import json
from pathlib import Path

import pytest

from app.bootstrap import open_studio
from app.cli import main
from app.services import upkeep
from app.services.data.erasing import erase_texts
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.pruning import prune
from app.services.studio import Studio
from app.settings import Settings
from storage.database import database_file

SAID = "Zaphod here"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "elsewhere").mkdir()
    return tmp_path / "elsewhere" / "x.db"


@pytest.fixture
def told(tmp_path: Path, place: Path) -> Studio:
    settings = Settings(home=tmp_path / "home", database_url=f"sqlite:///{place}")
    studio = open_studio(settings)
    create_project(studio, "p")
    file = tmp_path / "said.csv"
    file.write_text(f"text,intent\n{SAID},name\n", encoding="utf-8")
    import_file(studio, ImportRequest("p", file))
    return studio


def test_an_erasure_finds_the_copies_and_the_backup(told: Studio, place: Path) -> None:
    """It looked beside HOME/studio.db, where there are none: the copy kept the text."""
    copy = place.with_name("x.db.before-0009")
    copy.write_bytes(place.read_bytes())
    upkeep.back_up(told, place.with_name("all.zip"))
    view = erase_texts(told, "p", [SAID], now=True)
    assert view.copies == (str(copy),)
    assert not copy.exists()
    assert f"the backup {place.with_name('all.zip')}" in view.left[0]
    assert not any(SAID.encode() in file.read_bytes() for file in place.parent.glob("x.db*"))


def test_old_copies_are_pruned(told: Studio, place: Path) -> None:
    for name in ("0001", "0002"):
        place.with_name(f"x.db.before-{name}").touch()
    found = {one.kind: one.count for one in prune(told, now=False)}
    assert found["copies from before an upgrade"] == 0
    settings = told.settings.model_copy(update={"keep_copies_days": 0})
    found = {one.kind: one.count for one in prune(with_settings(told, settings), now=False)}
    assert found["copies from before an upgrade"] == 1


def with_settings(studio: Studio, settings: Settings) -> Studio:
    return Studio(settings, studio.places, studio.database, studio.artifacts, studio.executor)


def test_doctor_examines_the_database_in_use(
    told: Studio, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It found no file in the home, and told that the database is sound."""
    told.database.close()
    place.write_bytes(b"these are no pages" * 1_000)
    home = ["--home", str(told.settings.home), "--database-url", f"sqlite:///{place}"]
    capsys.readouterr()
    assert main([*home, "doctor", "--json"]) == 2
    told_of = capsys.readouterr()
    checks = {one["subject"]: one["healthy"] for one in json.loads(told_of.out)["findings"]}
    assert not checks["database"]
    assert f"The database {place} is damaged." in told_of.err


def test_a_variable_names_the_database_as_the_option_does(
    told: Studio, place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """“There is no studio in” the home was said to whoever set the variable."""
    home = ["--home", str(told.settings.home)]
    monkeypatch.setenv("STUDIO_DATABASE_URL", f"sqlite:///{place}")
    assert main([*home, "projects"]) == 0
    assert "p" in capsys.readouterr().out
    wrong = place.with_name("y.db")
    monkeypatch.setenv("STUDIO_DATABASE_URL", f"sqlite:///{wrong}")
    assert main([*home, "projects"]) == 2
    assert f"There is no database {wrong}." in capsys.readouterr().err
    assert not wrong.exists()


def test_a_restore_tells_that_it_takes_no_other_database(
    told: Studio, place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It wrote into the home all the same, and the studio opened the other one."""
    upkeep.back_up(told, tmp_path / "all.zip")
    home = ["--home", str(tmp_path / "new"), "--database-url", f"sqlite:///{place}"]
    assert main([*home, "restore", str(tmp_path / "all.zip")]) == 2
    assert "STUDIO_DATABASE_URL" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_file_is_named_from_where_the_command_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server works in another folder, and its jobs got the name as it was written."""
    monkeypatch.chdir(tmp_path)
    settings = Settings(database_url="sqlite:///x.db")
    assert settings.database_url == f"sqlite:///{tmp_path / 'x.db'}"
    assert database_file("sqlite:///x.db") == tmp_path / "x.db"


@pytest.mark.parametrize("url", ["sqlite", "sqlite:", "sqlite://", "sqlite:x.db", "here.db"])
def test_a_url_without_a_file_is_refused_in_words(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--home", str(tmp_path), "--database-url", url, "projects"]) == 2
    assert "sqlite:///FILE" in capsys.readouterr().err
