"""A project and a folder of text: what one side changes reaches the other, and nothing is lost."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from app.services.data.erasing import erase_texts
from app.services.data.history import list_actions, undo_action
from app.services.studio import Studio
from app.services.sync import landing
from app.services.sync.report import SyncReport, words_of
from app.services.sync.syncing import SyncRequest, sync_folder
from app.services.what_if.repairs import Repair, apply_repair
from core.errors import InvalidInput, NotFound
from storage import pinned_texts, projects
from storage.log import edits, events, versions
from storage.log.events import Action
from storage.log.label_origins import label_origins
from storage.people import acts
from storage.queries import dataset
from tests.builders.trained_home import intent_ids, rows


def sync(studio: Studio, folder: Path, **more: object) -> SyncReport:
    return sync_folder(studio, SyncRequest("p", folder, **more))  # type: ignore[arg-type]


def label_of(studio: Studio, text: str) -> tuple[str, ...] | None:
    names = {key: name for name, key in intent_ids(studio).items()}
    labels = rows(studio)[text].labels
    return None if labels is None else tuple(names[key] for key in labels)


def relabel(studio: Studio, text: str, intent: str) -> None:
    repair = Repair("relabel", (rows(studio)[text].id,), (intent_ids(studio)[intent],))
    apply_repair(studio, "p", repair, f"{text} {intent} {len(list_actions(studio, 'p'))}")


def delete(studio: Studio, text: str) -> None:
    apply_repair(studio, "p", Repair("delete", (rows(studio)[text].id,)), f"delete {text}")


def rewrite(folder: Path, text: str, change: Callable[[dict[str, object]], object]) -> None:
    """Change the line of a text; None removes it."""
    file = folder / "utterances.jsonl"
    lines = []
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["text"] == text:
            row = change(row)
        if row is not None:
            lines.append(json.dumps(row, ensure_ascii=False, sort_keys=True))
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def relabel_line(folder: Path, text: str, key: str) -> None:
    rewrite(folder, text, lambda row: row | {"labels": [key]})


def bytes_of(studio: Studio, folder: Path) -> dict[str, bytes]:
    database = studio.places.database
    files = [*folder.rglob("*"), database, database.with_name(database.name + "-wal")]
    return {str(f): f.read_bytes() for f in files if f.is_file() and ".git/" not in str(f)}


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.email=x@y", *words], cwd=folder, check=True, capture_output=True
    )
    return done.stdout.decode()


def test_a_second_sync_changes_no_byte_and_a_relabel_is_one_changed_line(
    studio: Studio, folder: Path
) -> None:
    before = bytes_of(studio, folder)
    done = sync(studio, folder)
    assert bytes_of(studio, folder) == before
    assert words_of(done) == ["The project got nothing new.", "The folder got nothing new."]
    old = (folder / "utterances.jsonl").read_bytes().splitlines()
    relabel(studio, "money back", "greeting")
    dry = sync(studio, folder, dry_run=True)
    assert (folder / "utterances.jsonl").read_bytes().splitlines() == old
    assert sync(studio, folder).to_folder == dry.to_folder
    new = (folder / "utterances.jsonl").read_bytes().splitlines()
    assert sum(a != b for a, b in zip(old, new, strict=True)) == 1
    assert (folder / "intents.jsonl").read_bytes() == before[str(folder / "intents.jsonl")]


def test_changes_of_the_folder_are_one_act_that_undo_takes_back(
    studio: Studio, folder: Path
) -> None:
    relabel_line(folder, "money back", intent_ids(studio)["greeting"])
    relabel_line(folder, "is it lost", intent_ids(studio)["refund"])
    rewrite(folder, "hi", lambda row: row | {"text": "hi there", "split": "test"})
    rewrite(folder, "what now", lambda _: None)
    before, was = rows(studio), bytes_of(studio, folder)
    dry = sync(studio, folder, dry_run=True)
    assert (rows(studio), bytes_of(studio, folder)) == (before, was)
    done = sync(studio, folder, author="Anna")
    got = done.from_folder
    assert got == dry.from_folder
    assert (got.relabelled, got.tests_relabelled, got.changed, got.removed) == (1, 1, 1, 1)
    newest = list_actions(studio, "p")[0]
    assert (newest.verb, newest.actor, newest.origin) == ("sync", "Anna", "sync folder")
    with studio.database.read() as connection:
        act = acts.read_page(connection, 1, acts.ActFilter(verb="sync")).acts[0]
    assert (act.actor, act.about, act.n) == ("Anna", "folder", 4)
    assert rows(studio)["hi there"].split == "test"
    assert label_of(studio, "is it lost") == ("refund",)
    undo_action(studio, "p", done.keys[0])
    assert rows(studio) == before
    assert sync(studio, folder).to_folder.added == 1  # an undo is a change of the project


def test_both_differently_is_kept_on_both_sides_until_a_person_decides(
    studio: Studio, folder: Path
) -> None:
    relabel(studio, "money back", "greeting")
    relabel(studio, "hi", "parcel")
    relabel_line(folder, "money back", intent_ids(studio)["parcel"])
    relabel_line(folder, "hi", intent_ids(studio)["parcel"])
    file = (folder / "utterances.jsonl").read_bytes()
    done = sync(studio, folder, author="Ben")
    [conflict] = done.conflicts
    told = (conflict.text, conflict.project, conflict.folder, conflict.author, conflict.new)
    assert told == ("money back", "greeting", "parcel", "Ben", True)
    assert any("greeting in the project, parcel in the folder (Ben)" in w for w in words_of(done))
    assert (folder / "utterances.jsonl").read_bytes() == file
    assert label_of(studio, "money back") == ("greeting",)
    before = bytes_of(studio, folder)
    assert not sync(studio, folder).conflicts[0].new
    assert bytes_of(studio, folder) == before
    relabel(studio, "money back", "refund")  # neither of the two
    decided = sync(studio, folder)
    assert (decided.conflicts, decided.to_folder.relabelled) == ((), 1)
    assert intent_ids(studio)["refund"].encode() in (folder / "utterances.jsonl").read_bytes()


def test_what_one_removed_and_the_other_relabelled_is_a_conflict(
    studio: Studio, folder: Path
) -> None:
    delete(studio, "hi")
    relabel_line(folder, "hi", intent_ids(studio)["parcel"])
    relabel(studio, "money back", "parcel")
    rewrite(folder, "money back", lambda _: None)
    done = sync(studio, folder)
    assert {(one.text, one.project, one.folder) for one in done.conflicts} == {
        ("hi", "removed", "parcel"),
        ("money back", "parcel", "removed"),
    }
    assert "hi" not in rows(studio)
    assert label_of(studio, "money back") == ("parcel",)


def test_intents_are_merged_by_id_and_one_that_is_used_stays(studio: Studio, folder: Path) -> None:
    keys = intent_ids(studio)
    with studio.database.write() as connection:
        renamed = edits.rename_intent(connection, 1, "refund", "money")
        events.record(connection, 1, Action("rename", "local"), [renamed])
        archived = edits.edit(dataset.intent_by_id(connection, 1, keys["greeting"]), "archived", 1)
        events.record(connection, 1, Action("archive", "local"), [archived])
    lines = (folder / "intents.jsonl").read_text(encoding="utf-8")
    lines = lines.replace('"parcel"', '"delivery"') + '{"id": "abc", "name": "new one"}\n'
    (folder / "intents.jsonl").write_text(lines, encoding="utf-8")
    relabel_line(folder, "what now", "abc")
    relabel_line(folder, "where is it", keys["greeting"])
    done = sync(studio, folder)
    assert intent_ids(studio) == {
        "delivery": keys["parcel"],
        "money": keys["refund"],
        "greeting": keys["greeting"],
        "new one": "abc",
    }
    assert done.kept_intents == ("greeting",)
    assert label_of(studio, "what now") == ("new one",)
    assert '"money"' in (folder / "intents.jsonl").read_text(encoding="utf-8")
    assert not sync(studio, folder, dry_run=True).conflicts


def test_pins_and_settings_go_both_ways(studio: Studio, folder: Path) -> None:
    keys = intent_ids(studio)
    with studio.database.write() as connection:
        pinned_texts.add(connection, 1, "mine", [keys["parcel"]], "local")
        projects.change_gate(connection, 1, auto_promote=True)
    pin = json.dumps({"text": "theirs", "intents": [keys["refund"]]})
    (folder / "pins.jsonl").write_text(pin + "\n", encoding="utf-8")
    settings = json.loads((folder / "project.json").read_text(encoding="utf-8"))
    settings["settings"]["fence"] = {"limit": 0.4, "limits": {}, "method": "votes"}
    (folder / "project.json").write_text(json.dumps(settings), encoding="utf-8")
    done = sync(studio, folder)
    assert (done.from_folder.pins, done.to_folder.pins) == (1, 1)
    with studio.database.read() as connection:
        assert [one.text for one in pinned_texts.list_all(connection, 1)] == ["mine", "theirs"]
        fence = projects.find(connection, "p").fence
    assert fence == {"limit": 0.4, "limits": {}, "method": "votes"}
    told = json.loads((folder / "project.json").read_text(encoding="utf-8"))
    assert told["settings"]["auto_promote"] is True
    before = bytes_of(studio, folder)
    sync(studio, folder)
    assert bytes_of(studio, folder) == before


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_two_people_with_a_clone_each_get_each_others_labels_with_author_and_time(
    studio: Studio, other: Studio, folder: Path, tmp_path: Path
) -> None:
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=Anna", "commit", "-qm", "first")
    git(tmp_path, "clone", "-q", str(folder), "clone")
    clone = tmp_path / "clone"
    assert sync(other, clone, dry_run=True).from_folder.added == 5
    assert sync(other, clone).from_folder.added == 5
    assert {t: r.id for t, r in rows(other).items()} == {t: r.id for t, r in rows(studio).items()}
    relabel(other, "hi", "parcel")
    sync(other, clone)
    date = "--date=2026-01-02T03:04:05+0000"
    git(clone, "-c", "user.name=Ben", "commit", "-qam", "hi is a parcel", date)
    git(folder, "pull", "-q", str(clone), "main")
    relabel_line(folder, "money back", intent_ids(studio)["greeting"])  # not committed
    done = sync(studio, folder, author="me")
    assert sorted(done.authors) == ["Ben", "me"]
    key = rows(studio)["hi"].id
    with studio.database.read() as connection:
        head = events.head(connection, 1)
        origin = label_origins(connection, 1, [key], head)[key]
        state = versions.state_at(connection, 1, head)
    assert (origin.actor, origin.at) == ("Ben", "2026-01-02T03:04:05.000+00:00")
    assert {one.id: one for one in state.utterance_records()} == {
        one.id: one for one in rows(studio).values()
    }


def test_a_kill_after_the_folder_was_written_is_mended_by_the_next_sync(
    studio: Studio, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    relabel(studio, "money back", "greeting")
    relabel_line(folder, "hi", intent_ids(studio)["parcel"])
    write = landing.write_folder

    def killed(*given: object) -> None:
        write(*given)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(landing, "write_folder", killed)
        with pytest.raises(KeyboardInterrupt):
            sync(studio, folder)
    assert label_of(studio, "hi") == ("greeting",)
    done = sync(studio, folder)
    assert (done.from_folder.relabelled, done.conflicts) == (1, ())
    assert (label_of(studio, "hi"), label_of(studio, "money back")) == (("parcel",), ("greeting",))


def test_a_broken_folder_changes_nothing(studio: Studio, folder: Path) -> None:
    relabel_line(folder, "hi", intent_ids(studio)["parcel"])
    with (folder / "utterances.jsonl").open("a", encoding="utf-8") as stream:
        stream.write("=======\n")
    before = bytes_of(studio, folder)
    with pytest.raises(InvalidInput, match=r"utterances\.jsonl, line 6: git could not merge"):
        sync(studio, folder)
    assert bytes_of(studio, folder) == before
    with pytest.raises(NotFound):
        sync_folder(studio, SyncRequest("q", folder / "nowhere"))


def test_an_erased_text_leaves_the_folder(studio: Studio, folder: Path) -> None:
    told = erase_texts(studio, "p", ["money back"], now=True)
    assert any("synced" in place for place in told.left)
    done = sync(studio, folder)
    assert (done.to_folder.removed, done.conflicts) == (1, ())
    assert "money back" not in (folder / "utterances.jsonl").read_text(encoding="utf-8")


def test_a_large_first_sync_waits_in_a_file_and_brings_the_same(
    studio: Studio, other: Studio, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A transaction that computes 100,000 new texts takes 5.6 s of processor, 23 s at load 10."""
    monkeypatch.setattr(landing, "_MANY", 1)
    seen = list[int]()
    join = landing.join_staged

    def counted(*given: object) -> None:
        seen.append(given[3].count)  # type: ignore[attr-defined]
        join(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(landing, "join_staged", counted)
    done = sync(other, folder)
    assert seen == [5 + 3]  # texts and intents
    assert (done.from_folder.added, done.conflicts) == (5, ())
    assert rows(other) == rows(studio)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert sync(other, folder).keys == ()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    undone = undo_action(other, "p", done.keys[0])
    assert undone is not None
    assert rows(other) == {}
