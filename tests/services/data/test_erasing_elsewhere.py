"""Who is told that a text is erased is also told which other projects have it."""

from pathlib import Path

import pytest

from app.cli import main
from app.services.data.bulk import BulkAct, Edit
from app.services.data.erasing import erase_texts
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project, delete_project, restore_project
from app.services.data.utterances import change_many
from app.services.studio import Studio
from app.services.training.runs import TrainingRequest
from app.services.versions.bundles import export_model, import_bundle
from core.errors import Conflict, InvalidInput
from storage import jobs, projects
from storage.queries import dataset
from storage.queries.utterances import Filter
from tests.builders.trained_home import EVERY_TEXT, train_here

SAID = "Zaphod here"
IN_Q = "the project 'q', which has or had 1 such text: erase there, too"
IN_OLD = (
    "the deleted project 'old', which has or had 1 such text: bring it back, erase there, and "
    "delete it again"
)


@pytest.fixture
def told(studio: Studio, tmp_path: Path) -> Studio:
    """The projects `p`, `q` and the deleted `old` have one text, and `r` has others alone."""
    for name in ("p", "q", "old", "r"):
        create_project(studio, name)
        file = tmp_path / f"{name}.csv"
        said = "Ford here" if name == "r" else SAID
        file.write_text(f"text,intent\n{said},name\nmy parcel,parcel\n", encoding="utf-8")
        import_file(studio, ImportRequest(name, file))
    delete_project(studio, "old")
    return studio


def places(left: tuple[str, ...]) -> list[str]:
    return [place for place in left if " project '" in place]


def test_other_projects_that_have_the_text_are_named(told: Studio) -> None:
    """The answer was “erased”, and each new backup kept the text."""
    for now in (False, True):
        assert places(erase_texts(told, "p", [SAID], now=now).left) == [IN_Q, IN_OLD]
    assert places(erase_texts(told, "q", [SAID], now=True).left) == [IN_OLD]
    with told.database.read() as connection:
        [old] = projects.list_deleted(connection)
    restore_project(told, old.id)
    assert places(erase_texts(told, "old", [SAID], now=True).left) == []
    assert not any(SAID.encode() in f.read_bytes() for f in told.places.home.glob("studio.db*"))


def test_a_training_of_another_project_that_starts_from_a_version_is_waited_for(
    told: Studio,
) -> None:
    """It had read the hash of a text, which stood in the version that it made after the erasure."""
    with told.database.write() as connection:
        other = projects.find(connection, "r")
        job = jobs.enqueue(connection, "train", {"base": "p@1"}, other.id)
    with pytest.raises(Conflict, match="under way"):
        erase_texts(told, "p", [SAID], now=True)
    with told.database.write() as connection:
        jobs.request_cancel(connection, job.id)
    assert erase_texts(told, "p", [SAID], now=True).done


def test_only_other_programs_keep_texts_in_memory(told: Studio) -> None:
    """The page of the server that had just forgotten a text said that this server still had it."""
    left = erase_texts(told, "p", [SAID], now=True).left
    assert not [place for place in left if "the memory of a running server" in place]
    assert [place for place in left if "the memory of other programs of the studio" in place]


def test_a_text_that_another_project_had_before_a_correction_counts(told: Studio) -> None:
    with told.database.read() as connection:
        other = projects.find(connection, "q")
        row = next(r for r in dataset.utterances(connection, other.id) if r.text == SAID)
    which = Filter(ids=(row.id,))
    change_many(told, "q", which, Edit("text", "somebody here"), BulkAct(1, EVERY_TEXT))
    assert places(erase_texts(told, "p", [SAID]).left) == [IN_Q, IN_OLD]


def test_a_text_that_stands_in_another_project_alone_is_told(told: Studio) -> None:
    with pytest.raises(InvalidInput, match="Nobody has said") as refused:
        erase_texts(told, "r", [SAID], now=True)
    assert refused.value.hint.startswith("Look at the project 'p'")
    with pytest.raises(InvalidInput) as refused:
        erase_texts(told, "r", ["never said"], now=True)
    assert refused.value.hint == "Give them as they stand on the Data page."


def test_the_command_names_them(
    told: Studio, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "texts.txt"
    file.write_text(SAID, encoding="utf-8")
    assert main(["--home", str(told.places.home), "erase", "p", str(file), "--now"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert f"Not reached: {IN_Q}." in out
    assert f"Not reached: {IN_OLD}." in out


def test_a_bundle_that_another_project_took_in_is_named_until_it_is_erased_there(
    told: Studio, tiny_path: Path, labelled_csv: Path, tmp_path: Path
) -> None:
    """A version of another project was not looked at: its examples kept the text."""
    import_file(told, ImportRequest("p", labelled_csv))
    train_here(told, TrainingRequest("p", "instant", {}, str(tiny_path)))
    export_model(told, "p@1", tmp_path / "p.zip")
    import_bundle(told, tmp_path / "p.zip", "r")
    in_r = (
        "the project 'r', which has, or may have, such a text or its hash in version 1: "
        "erase there, too"
    )
    assert places(erase_texts(told, "p", [SAID], now=True).left) == [IN_Q, IN_OLD, in_r]
    assert erase_texts(told, "r", [SAID], now=True).models == ("r@1",)
    assert places(erase_texts(told, "q", [SAID], now=True).left) == [IN_OLD]


def test_a_version_that_another_project_trained_from_one_that_learned_the_text_is_named(
    told: Studio, tiny_path: Path, labelled_csv: Path
) -> None:
    """It holds the hashes of what its base has learned, so that none of these tests it."""
    for name in ("p", "r"):
        import_file(told, ImportRequest(name, labelled_csv))
    tuned = {"epochs": 1, "calibration": "leave-one-out"}
    train_here(told, TrainingRequest("p", "convfit", tuned, str(tiny_path)))
    train_here(told, TrainingRequest("r", "instant", {}, "p@1"))
    in_r = (
        "the project 'r', which has, or may have, such a text or its hash in version 1: "
        "erase there, too"
    )
    assert places(erase_texts(told, "p", [SAID], now=True).left) == [IN_Q, IN_OLD, in_r]
    assert erase_texts(told, "r", [SAID], now=True).models == ("r@1",)
    assert places(erase_texts(told, "q", [SAID], now=True).left) == [IN_OLD]
