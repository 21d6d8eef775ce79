"""With a log go the texts that it brought, unless somebody has decided about them."""

import json
from pathlib import Path

import pytest
import sqlalchemy as sa

from app.services.conversations.logs import DialogueImport, import_dialogues, list_logs, view_logs
from app.services.conversations.removing import TextsToo, delete_removed, remove_log
from app.services.data.bulk import Allowed, BulkAct, Edit
from app.services.data.history import undo_action, undo_last
from app.services.data.importing import ImportRequest, import_file
from app.services.data.intents import add_intent
from app.services.data.projects import create_project
from app.services.data.utterances import change_many
from app.services.studio import Studio
from core.errors import Conflict
from storage.queries.utterances import Filter
from storage.tables import batch
from tests.builders.trained_home import EVERY_TEXT, rows

NAME = "chats.jsonl"


@pytest.fixture
def told(studio: Studio) -> Studio:
    create_project(studio, "p")
    return studio


def bring(studio: Studio, folder: Path, *texts: str) -> int:
    """Import a log of one conversation for each text; return its id."""
    folder.mkdir(exist_ok=True)
    lines = [json.dumps([text, f"What about {text}?"]) for text in texts]
    (folder / NAME).write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = import_dialogues(studio, DialogueImport("p", folder / NAME)).log
    assert found is not None
    return found


def change(studio: Studio, kind, value: str, *texts: str) -> None:
    ids = tuple(rows(studio)[text].id for text in texts)
    change_many(studio, "p", Filter(ids=ids), Edit(kind, value), BulkAct(len(ids), EVERY_TEXT))


def test_texts_of_other_files_of_the_same_name_stay(told: Studio, tmp_path: Path) -> None:
    """Two logs called chats.jsonl lost their texts together, and an import of that name, too."""
    first = bring(told, tmp_path / "first", "mine", "mine as well")
    bring(told, tmp_path / "second", "theirs")
    (tmp_path / NAME).write_text(json.dumps({"text": "typed"}) + "\n", encoding="utf-8")
    import_file(told, ImportRequest("p", tmp_path / NAME))
    assert {row.source for row in rows(told).values()} == {NAME}
    assert [log.n_texts for log in view_logs(told, "p")] == [2, 1]
    assert remove_log(told, "p", first, TextsToo(key="with-texts")).texts_deleted == 2
    assert rows(told).keys() == {"theirs", "typed"}
    undo_action(told, "p", "with-texts")
    assert rows(told).keys() == {"mine", "mine as well", "theirs", "typed"}


def test_texts_that_came_back_from_the_same_file_are_of_its_log(
    told: Studio, tmp_path: Path
) -> None:
    log = bring(told, tmp_path / "first", "mine")
    undo_last(told, "p")
    assert [one.n_texts for one in view_logs(told, "p")] == [0]
    again = import_dialogues(told, DialogueImport("p", tmp_path / "first" / NAME))
    assert (again.log, again.pooled) == (None, 1)
    assert [one.n_texts for one in view_logs(told, "p")] == [1]
    assert remove_log(told, "p", log, TextsToo()).texts_deleted == 1


def test_a_log_with_the_number_of_a_deleted_one_has_its_own_texts_alone(
    told: Studio, tmp_path: Path
) -> None:
    """The newer log counted the texts that the older one had left, and took them with it."""
    first = bring(told, tmp_path / "first", "stays")
    remove_log(told, "p", first)
    delete_removed(told)
    again = bring(told, tmp_path / "second", "goes")
    assert again == first  # SQLite gives the number once more
    assert [log.n_texts for log in view_logs(told, "p")] == [1]
    assert remove_log(told, "p", again, TextsToo()).texts_deleted == 1
    assert rows(told).keys() == {"stays"}


def test_the_texts_of_a_log_from_an_earlier_release_are_found(told: Studio, tmp_path: Path) -> None:
    """Its import named no log; those of another day had the same name."""
    bring(told, tmp_path / "first", "mine", "mine as well")
    bring(told, tmp_path / "second", "theirs")
    with told.database.write() as connection:
        unnamed = sa.update(batch).where(batch.c.verb == "import")
        connection.execute(unnamed.values(key=sa.func.hex(sa.func.randomblob(16))))
    assert [log.n_texts for log in view_logs(told, "p")] == [2, 1]


def test_what_somebody_decided_about_goes_only_if_it_is_asked_for(
    told: Studio, tmp_path: Path
) -> None:
    """Test texts went with “these 4 texts”, and labels that were given behind the page."""
    log = bring(told, tmp_path / "first", "bare", "labelled", "tested", "meanwhile")
    refund = add_intent(told, "p", "refund")
    change(told, "label", refund, "labelled")
    change(told, "move", "test", "tested")
    [shown] = view_logs(told, "p")
    assert (shown.n_texts, shown.n_labelled) == (4, 1)
    assert (shown.n_tests, shown.n_tests_labelled) == (1, 0)
    change(told, "label", refund, "meanwhile")
    asked = Allowed(labelled=True, test=True, revision=shown.revision)
    assert remove_log(told, "p", log, TextsToo(asked, 4, "all-of-them")).texts_deleted == 3
    assert rows(told).keys() == {"meanwhile"}
    undo_action(told, "p", "all-of-them")
    assert rows(told).keys() == {"bare", "labelled", "tested", "meanwhile"}


def test_a_program_that_tells_no_counts_takes_no_label_and_no_test_text(
    told: Studio, tmp_path: Path
) -> None:
    log = bring(told, tmp_path / "first", "bare", "labelled", "tested")
    change(told, "label", add_intent(told, "p", "refund"), "labelled")
    change(told, "move", "test", "tested")
    assert remove_log(told, "p", log, TextsToo()).texts_deleted == 1
    assert rows(told).keys() == {"labelled", "tested"}


def test_another_number_of_texts_than_was_shown_removes_nothing(
    told: Studio, tmp_path: Path
) -> None:
    log = bring(told, tmp_path / "first", "one", "two")
    change(told, "delete", "", "two")
    with pytest.raises(Conflict, match=r"1 text of .* can be deleted, not 2"):
        remove_log(told, "p", log, TextsToo(expected=2))
    assert (len(list_logs(told, "p")), rows(told).keys()) == (1, {"one"})
