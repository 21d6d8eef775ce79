"""A platform's export is imported, repaired and written back through the services."""

import json
from pathlib import Path

import pytest

from app.services.data.bulk import BulkAct, Edit
from app.services.data.exporting import export_onto, words_of
from app.services.data.history import undo_last
from app.services.data.import_cases import ImportChoices
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.data.uploads import receive_package, upload_path
from app.services.data.utterances import change_many
from app.services.studio import Studio
from core.errors import InvalidInput
from storage import projects
from storage.queries import utterances
from storage.queries.utterances import Filter
from tests.builders.trained_home import EVERY_TEXT
from tests.core.platforms.exports import EXPORTS, read_export, write_export

_REFUND = {"dialogflow-es": "get me my money back"}


@pytest.mark.parametrize("platform", sorted(EXPORTS))
def test_what_is_repaired_here_goes_back_alone(
    platform: str, studio: Studio, tmp_path: Path
) -> None:
    package = write_export(platform, tmp_path)
    create_project(studio, "shop")
    report = import_file(studio, ImportRequest("shop", package))
    assert report.package is not None
    assert sum(one.phrases for one in report.package.files) == report.added
    out = tmp_path / f"out{package.suffix}"
    same = export_onto(studio, "shop", package, out)
    assert (same.moved, same.added, same.changed, same.losses) == (0, 0, (), ())
    read, written = read_export(package), read_export(out)
    assert list(written.values()) == list(read.values())
    text = _REFUND.get(platform, "get my money back")
    repair = tmp_path / "repair.csv"
    repair.write_text(f"text,intent\n{text},refund\nmoney for my ticket please,refund\n")
    import_file(studio, ImportRequest("shop", repair, choices=ImportChoices(otherwise="file")))
    looked = export_onto(studio, "shop", package, out, dry_run=True)
    assert (looked.moved, looked.added, looked.kept) == (1, 1, report.added - 1)
    assert words_of(looked)[0] == (
        f"1 phrase would get another intent, 1 text would be added, {report.added - 1} phrases "
        "stay as they are."
    )
    assert read_export(out) == written
    done = export_onto(studio, "shop", package, out)
    changed = {name for name, content in read_export(out).items() if content != written[name]}
    assert changed == {out.name if name == package.name else name for name in done.changed}


def test_a_package_is_not_written_over_itself_nor_with_what_its_platform_refuses(
    studio: Studio, tmp_path: Path
) -> None:
    package = write_export("clu", tmp_path)
    create_project(studio, "shop")
    import_file(studio, ImportRequest("shop", package))
    with pytest.raises(InvalidInput, match="would be overwritten"):
        export_onto(studio, "shop", package, package)
    long = tmp_path / "long.csv"
    long.write_text(f"text,intent\n{'very ' * 120}long,refund\n")
    import_file(studio, ImportRequest("shop", long))
    out = tmp_path / "out.json"
    with pytest.raises(InvalidInput, match=r"new texts of over 500 characters \(1\)"):
        export_onto(studio, "shop", package, out)
    assert not out.exists()


def test_an_uploaded_package_is_told_of_and_a_foreign_one_forgotten(
    studio: Studio, tmp_path: Path
) -> None:
    create_project(studio, "shop")
    package = write_export("lex", tmp_path)
    found = receive_package(studio, "shop", package.name, [package.read_bytes()])
    assert found.report.platform == "lex"
    assert upload_path(studio, found.key).name == package.name
    with pytest.raises(InvalidInput, match=r"^x\.json is no export of a platform"):
        receive_package(studio, "shop", "x.json", [b'{"a": 1}'])
    assert len(list(studio.places.uploads.iterdir())) == 1


def _edit(studio: Studio, text: str, edit: Edit) -> None:
    with studio.database.read() as connection:
        (row,) = utterances.by_text(connection, projects.find(connection, "shop").id, text)
    change_many(studio, "shop", Filter(ids=(row.id,)), edit, BulkAct(1, EVERY_TEXT))


def test_what_was_deleted_or_reworded_here_leaves_the_agent_if_it_is_asked_for(
    studio: Studio, tmp_path: Path
) -> None:
    package = write_export("luis", tmp_path)
    create_project(studio, "shop")
    import_file(studio, ImportRequest("shop", package))
    _edit(studio, "get my money back", Edit("delete"))
    _edit(studio, "refund my ticket", Edit("text", "refund this ticket"))
    _edit(studio, "who won the match", Edit("delete"))
    undo_last(studio, "shop")
    others = package.read_text(encoding="utf-8").replace("fly to Boston", "fly to Berlin")
    package.write_text(others, encoding="utf-8")  # as somebody else wrote it at the platform
    out = tmp_path / "out.json"
    report = export_onto(studio, "shop", package, out)
    assert (report.missing, report.removed, report.added) == (2, 0, 2)
    assert {one.what: one.count for one in report.losses} == {
        "phrases that the project never had: left as they are": 1,
        "phrases deleted or reworded in the project: left as they are": 2,
    }
    words = words_of(report)
    assert "Not carried: phrases deleted or reworded in the project: left as they are (2):" in words
    assert "  refund my ticket" in words  # only --json named it
    assert "refund my ticket" in out.read_text(encoding="utf-8")
    report = export_onto(studio, "shop", package, out, remove_missing=True)
    assert (report.missing, report.removed, report.added) == (2, 2, 2)
    assert "2 texts were added, 2 phrases were removed, " in words_of(report)[0]
    assert [loss.count for loss in report.losses] == [1]
    written = out.read_text(encoding="utf-8")
    said = {one["text"] for one in json.loads(written)["utterances"]}
    assert said == {
        *("🛫 fly to Boston", "🛫 fly to Berlin"),
        *("refund this ticket", "who won the match"),
    }


def test_an_import_that_was_taken_back_deletes_nothing_in_the_agent(
    studio: Studio, tmp_path: Path
) -> None:
    package = write_export("luis", tmp_path)
    create_project(studio, "shop")
    import_file(studio, ImportRequest("shop", package))
    undo_last(studio, "shop")
    out = tmp_path / "out.json"
    report = export_onto(studio, "shop", package, out, remove_missing=True)
    assert (report.missing, report.removed, report.changed) == (0, 0, ())
    assert words_of(report)[0] == "Nothing changes: 4 phrases stay as they are."
