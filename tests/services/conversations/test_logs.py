"""Conversations come into a project once, masked on request, and feed its pool."""

import gzip
import json
import tracemalloc
from pathlib import Path

import pytest

from app.services.conversations import logs, uploads
from app.services.conversations.logs import DialogueImport, import_dialogues, list_logs
from app.services.conversations.reading import LOG, read_conversations, read_pairs, stored_logs
from app.services.conversations.removing import (
    TextsToo,
    delete_removed,
    remove_log,
    restore_log,
)
from app.services.data.erasing import erase_texts
from app.services.data.history import undo_action
from app.services.data.projects import create_project
from app.services.studio import Studio
from app.services.upkeep import examine
from core.errors import Conflict, InvalidInput, NotFound
from core.formats.dialogues import Dialogue
from core.text import normalise
from storage import jobs, projects
from storage.artifacts import tree_files
from storage.log import events
from storage.queries import dataset
from tests.builders.conversation_logs import conversation, with_conversations, write_log


def pool(studio: Studio) -> list[str]:
    with studio.database.read() as connection:
        project = projects.find(connection, "p")
        rows = dataset.utterances(connection, project.id, "pool")
        return sorted(row.text for row in rows)


def stored(studio: Studio) -> list[Dialogue]:
    with stored_logs(studio, list_logs(studio, "p")) as folders:
        return list(read_conversations(folders))


def write(path: Path, *found: list[str]) -> Path:
    path.write_text("".join(json.dumps(turns) + "\n" for turns in found), encoding="utf-8")
    return path


def test_an_import_stores_conversations_and_feeds_the_pool(studio: Studio, tmp_path: Path) -> None:
    create_project(studio, "p")
    found = import_dialogues(studio, DialogueImport("p", write_log(tmp_path / "a.jsonl", 2)))
    assert (found.dialogues, found.turns, found.repeated, found.masked) == (12, 48, 0, None)
    # Twelve openings, and two answers that all topics share.
    assert (found.user_turns, found.pooled, found.known) == (14, 14, 0)
    [log] = list_logs(studio, "p")
    assert (log.id, log.source, log.n_dialogues) == (found.log, "a.jsonl", 12)
    assert (log.n_turns, log.n_user_turns) == (48, 24)
    assert "it is late, number 0" in pool(studio)
    assert [turn.text for turn in stored(studio)[0].turns] == conversation("refund", 0)
    assert not list(studio.places.scratch.iterdir())


def test_conversations_are_known_again_in_any_later_log(studio: Studio, tmp_path: Path) -> None:
    create_project(studio, "p")
    old, new = conversation("refund", 1), conversation("card", 9)
    import_dialogues(studio, DialogueImport("p", write(tmp_path / "a.jsonl", old, old)))
    both = DialogueImport("p", write(tmp_path / "b.jsonl", [t.upper() for t in old], new, new))
    assert import_dialogues(studio, both).repeated == 2
    assert [log.n_dialogues for log in list_logs(studio, "p")] == [1, 1]
    again = import_dialogues(studio, both)
    assert (again.dialogues, again.repeated, again.log, again.pooled) == (0, 3, None, 0)
    assert len(list_logs(studio, "p")) == 2
    assert len(stored(studio)) == 2


def test_personal_data_are_masked_and_counted(studio: Studio, tmp_path: Path) -> None:
    create_project(studio, "p")
    talk = [
        "I am ann@example.org, call +49 30 1234567",
        "Is it bob@example.org?",
        "card 4111 1111 1111 1111, account DE89 3704 0044 0532 0130 00",
        "Thanks.",
    ]
    request = DialogueImport("p", write(tmp_path / "a.jsonl", talk), mask=True)
    looked = import_dialogues(studio, DialogueImport("p", request.path, mask=True, dry_run=True))
    assert (looked.dialogues, looked.pooled, list_logs(studio, "p")) == (1, 2, [])
    found = import_dialogues(studio, request)
    assert found.masked == looked.masked == {"e-mail": 2, "phone": 1, "card": 1, "account": 1}
    assert pool(studio) == ["I am [e-mail], call [phone]", "card [card], account [account]"]
    assert list_logs(studio, "p")[0].masked == found.masked
    with stored_logs(studio, list_logs(studio, "p")) as [folder]:
        kept = gzip.decompress((folder / LOG).read_bytes()).decode()
    assert not any(private in kept for private in ("ann@", "bob@", "1234567", "4111", "3704"))


def test_the_pool_gets_an_even_sample_and_undo_takes_it_back(
    studio: Studio, tmp_path: Path
) -> None:
    create_project(studio, "p")
    talks = [[f"question {n}", "yes"] for n in range(1_000)]
    path = write(tmp_path / "a.jsonl", *talks)
    found = import_dialogues(studio, DialogueImport("p", path, pool=100))
    assert (found.user_turns, found.pooled, len(pool(studio))) == (1_000, 100, 100)
    halves = [sum(int(text.split()[1]) < 500 for text in pool(studio)), 100]
    assert 35 < halves[0] < 65
    with studio.database.write() as connection:
        undone = events.undo(connection, 1, "local")
    assert undone is not None
    assert (undone.verb, undone.origin, pool(studio)) == ("import", "import a.jsonl", [])
    assert len(list_logs(studio, "p")) == 1
    # The conversations stay; what was taken back may come again, now all of it.
    again = import_dialogues(studio, DialogueImport("p", path))
    assert (again.dialogues, again.pooled, len(pool(studio))) == (0, 1_000, 1_000)
    more = import_dialogues(studio, DialogueImport("p", path))
    assert (more.pooled, more.known) == (0, 1_000)
    assert import_dialogues(studio, DialogueImport("p", path, pool=0)).pooled == 0


def test_a_log_without_speakers_in_its_table_feeds_no_pool(studio: Studio, tmp_path: Path) -> None:
    create_project(studio, "p")
    path = tmp_path / "a.csv"
    path.write_text("conversation_id,turn,text\na,2,no\na,1,hello\n", encoding="utf-8")
    found = import_dialogues(studio, DialogueImport("p", path))
    assert (found.dialogues, found.user_turns, found.pooled) == (1, 0, 0)
    assert [turn.text for turn in stored(studio)[0].turns] == ["hello", "no"]


def test_a_broken_row_leaves_nothing_behind(studio: Studio, tmp_path: Path) -> None:
    create_project(studio, "p")
    path = write_log(tmp_path / "a.jsonl")
    path.write_text(path.read_text(encoding="utf-8") + "oops\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="row 25: not JSON"):
        import_dialogues(studio, DialogueImport("p", path))
    assert (list_logs(studio, "p"), pool(studio)) == ([], [])
    assert not list(studio.places.scratch.iterdir())
    assert not [p for p in studio.places.artifacts.rglob("*") if p.is_file()]


def test_a_line_that_could_not_be_read_again_is_left_out(studio: Studio, tmp_path: Path) -> None:
    """A conversation of bare texts grows when its speakers are written beside them."""
    create_project(studio, "p")
    long = ["x"] * 40_000
    path = write(tmp_path / "a.jsonl", long, conversation("card", 1))
    found = import_dialogues(studio, DialogueImport("p", path))
    assert (found.dialogues, found.too_long) == (1, 1)
    assert len(stored(studio)) == 1


def test_equal_logs_share_their_files_until_the_last_is_removed(
    studio: Studio, tmp_path: Path
) -> None:
    with_conversations(studio, tmp_path)
    create_project(studio, "q")
    import_dialogues(studio, DialogueImport("q", tmp_path / "log.jsonl"))
    [mine], [other] = list_logs(studio, "p"), list_logs(studio, "q")
    assert mine.tree_sha256 == other.tree_sha256
    remove_log(studio, "p", mine.id)
    assert list_logs(studio, "p") == []
    assert len(pool(studio)) == 28
    assert all(finding.healthy for finding in examine(studio) if finding.subject == "artifacts")
    with stored_logs(studio, [other]) as folders:
        assert sum(1 for _ in read_pairs(folders, contexts=2)) == 72
    with pytest.raises(NotFound, match="no conversation log"):
        remove_log(studio, "q", mine.id)
    remove_log(studio, "q", other.id)
    assert delete_removed(studio) == 2
    with studio.database.write() as connection:
        studio.artifacts.sweep(connection, grace_seconds=0)
    assert not [p for p in studio.places.artifacts.rglob("*") if p.is_file()]


def test_a_removed_log_comes_back_with_its_texts_until_its_files_are_deleted(
    studio: Studio, tmp_path: Path
) -> None:
    with_conversations(studio, tmp_path)
    [log] = list_logs(studio, "p")
    before = pool(studio)
    remove_log(studio, "p", log.id, TextsToo(key="remove-log-1"))
    assert (list_logs(studio, "p"), pool(studio)) == ([], [])
    assert delete_removed(studio, 600) == 0
    restore_log(studio, "p", log.id)
    undo_action(studio, "p", "remove-log-1")
    assert (list_logs(studio, "p"), pool(studio)) == ([log], before)
    assert len(stored(studio)) == 24
    remove_log(studio, "p", log.id)
    assert pool(studio) == before
    import_dialogues(studio, DialogueImport("p", tmp_path / "log.jsonl", mask=True))
    with pytest.raises(Conflict, match="another log was added since"):
        restore_log(studio, "p", log.id)
    assert delete_removed(studio) == 1
    with pytest.raises(NotFound, match="deleted for good"):
        restore_log(studio, "p", log.id)
    assert len(list_logs(studio, "p")) == 1


def test_erasing_a_text_deletes_removed_logs_which_may_hold_it(
    studio: Studio, tmp_path: Path
) -> None:
    with_conversations(studio, tmp_path)
    [log] = list_logs(studio, "p")
    remove_log(studio, "p", log.id)
    erase_texts(studio, "p", pool(studio)[:1], now=True)
    with pytest.raises(NotFound, match="deleted for good"):
        restore_log(studio, "p", log.id)


@pytest.mark.parametrize("said", ['say "no" to it', "up\\down", "two\nlines", "cafe\u0301 late"])
def test_a_log_is_named_as_holding_an_erased_text_however_it_is_spelt(
    studio: Studio, tmp_path: Path, said: str
) -> None:
    """JSON wrote a quote as two signs, and the log seemed not to hold the text."""
    create_project(studio, "p")
    import_dialogues(studio, DialogueImport("p", write(tmp_path / "a.jsonl", [said, "Well."])))
    assert pool(studio) == [normalise(said)]
    [place] = [one for one in erase_texts(studio, "p", [said]).left if "conversation log" in one]
    assert "(a.jsonl): remove it on the Data page" in place


def test_an_erasure_unpacks_no_log_as_a_whole(studio: Studio, tmp_path: Path, monkeypatch) -> None:
    """It took as much memory as a log unpacks to, and ended where the machine had less."""
    with_conversations(studio, tmp_path)
    monkeypatch.setattr(gzip, "decompress", None)
    done = erase_texts(studio, "p", pool(studio)[:1])
    [place] = [one for one in done.left if "conversation log" in one]
    assert "remove it on the Data page" in place


@pytest.mark.parametrize("content", [None, b"", b"\x1f\x8bcut"])
def test_a_damaged_log_is_named_as_one_that_may_hold_an_erased_text(
    studio: Studio, tmp_path: Path, content: bytes | None
) -> None:
    """Every erasure of the project had stopped with “Something broke”."""
    with_conversations(studio, tmp_path)
    [log] = list_logs(studio, "p")
    with studio.database.read() as connection:
        file = studio.artifacts.path(tree_files(connection, log.tree_sha256)[LOG])
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    done = erase_texts(studio, "p", pool(studio)[:1], now=True)
    assert done.done
    [place] = [one for one in done.left if "conversation log" in one]
    assert f"{log.id} (log.jsonl), whose file is missing or was changed" in place


def test_a_log_that_a_training_reads_stays(studio: Studio, tmp_path: Path) -> None:
    with_conversations(studio, tmp_path)
    [log] = list_logs(studio, "p")
    with studio.database.write() as connection:
        jobs.enqueue(connection, "train", {"logs": [log.id]}, 1)
    with pytest.raises(Conflict, match=r"^A training learns from 'log\.jsonl'\.$"):
        remove_log(studio, "p", log.id)


def test_two_imports_at_once_do_not_store_a_conversation_twice(
    studio: Studio, tmp_path: Path, monkeypatch
) -> None:
    create_project(studio, "p")
    request = DialogueImport("p", write_log(tmp_path / "a.jsonl"))
    stored_digests = logs._stored_digests

    def late(*given):
        monkeypatch.setattr(logs, "_stored_digests", stored_digests)
        import_dialogues(studio, request)  # by another process, since the first read what is there
        return stored_digests(*given)

    monkeypatch.setattr(logs, "_stored_digests", late)
    with pytest.raises(Conflict, match="meanwhile"):
        import_dialogues(studio, request)
    assert len(stored(studio)) == 24


def test_an_upload_shows_its_beginning_as_it_would_be_stored(
    studio: Studio, tmp_path: Path
) -> None:
    create_project(studio, "p")
    path = write(tmp_path / "a.jsonl", ["I am ann@example.org", "hello"], *[["a", "b"]] * 5)
    looked = uploads.receive_log(studio, "p", "my log.jsonl", [path.read_bytes()])
    assert (looked.name, len(looked.beginning)) == ("my log.jsonl", 2)
    assert looked.beginning[0].turns[0].text == "I am ann@example.org"
    masked = uploads.preview_log(studio, looked.key, mask=True)
    assert masked.beginning[0].turns[0].text == "I am [e-mail]"
    done = uploads.import_received_log(studio, "p", looked.key, mask=True, pool=1)
    assert (done.dialogues, done.repeated, done.pooled) == (2, 4, 1)
    with pytest.raises(NotFound, match="not there any more"):
        uploads.preview_log(studio, looked.key, mask=False)
    with pytest.raises(InvalidInput, match="not JSON"):
        uploads.receive_log(studio, "p", "a.jsonl", [b"what?\n"])
    assert not list(studio.places.uploads.iterdir())


def test_a_long_log_is_imported_in_little_memory(studio: Studio, tmp_path: Path) -> None:
    """The same code takes two gigabytes: texts pass by, and eight bytes of each are kept."""
    create_project(studio, "p")
    path = tmp_path / "long.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for n in range(2_500):
            turns = [f"turn {at} of conversation {n} " + "word " * 300 for at in range(6)]
            stream.write(json.dumps(turns) + "\n")
    assert path.stat().st_size > 20e6
    request = DialogueImport("p", path, mask=False, pool=200)
    import_dialogues(studio, DialogueImport("p", path, dry_run=True, pool=0))
    tracemalloc.start()
    found = import_dialogues(studio, request)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found.dialogues, found.user_turns, found.pooled) == (2_500, 7_500, 200)
    assert peak < 8e6
    [log] = list_logs(studio, "p")
    with stored_logs(studio, [log]) as folders:
        tracemalloc.start()
        assert sum(1 for _ in read_pairs(folders, contexts=10)) == 12_500
        assert tracemalloc.get_traced_memory()[1] < 4e6
        tracemalloc.stop()
