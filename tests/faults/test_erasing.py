"""A person asks that what they said is removed: no file of the home has its bytes any more."""

import io
import json
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient

from app.cli import main
from app.server import build_app
from app.services import upkeep
from app.services.data import utterances
from app.services.data.bulk import BulkAct, Edit
from app.services.data.erasing import erase_listed, erase_texts, list_containing
from app.services.data.history import redo_last, undo_action, undo_last
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.data.uploads import store_upload
from app.services.live.live_studio import open_live_studio
from app.services.reports.receipts import find_receipt, keep_receipt, receipt_page
from app.services.studio import Studio
from app.services.training.runs import TrainingRequest
from app.services.trying.answers import answer_texts
from app.services.trying.pins import set_pin
from app.services.versions.bundles import Handover, export_model, import_bundle
from core.errors import ArtifactDamaged, Conflict, InvalidInput
from core.text import hidden_key, match_key
from storage import artifacts, jobs, models, projects
from storage.log import erasing, events, versions
from storage.queries import dataset
from storage.queries.utterances import Filter
from storage.tables import batch, event
from tests.builders.trained_home import EVERY_TEXT, train_here

SAID = "my name is Zaphod Beeblebrox and I want my money back"
CORRECTED = "my name is Zafod Beeblebrocks and I want my money back"
SHORT = "Zaphod here"


@pytest.fixture
def told(studio: Studio, labelled_csv: Path, tiny_path: Path) -> Studio:
    """A project whose log, data versions, model, receipt, pin and filter hold the texts."""
    create_project(studio, "p")
    import_file(studio, ImportRequest("p", labelled_csv))
    own = labelled_csv.parent / "own.csv"
    own.write_text(f"text,intent\n{SAID},refund\n{SHORT},greeting\n", encoding="utf-8")
    import_file(studio, ImportRequest("p", own))
    own.unlink()
    train_here(studio, TrainingRequest("p", "instant", {}, str(tiny_path)))
    edit(studio, SAID, Edit("text", CORRECTED))
    with studio.database.read() as connection:
        greeting = dataset.intent_named(connection, 1, "greeting").id
    set_pin(open_live_studio(studio), "p", SHORT, [greeting])
    return studio


def edit(studio: Studio, text: str, change: Edit) -> None:
    with studio.database.read() as connection:
        row = next(r for r in dataset.utterances(connection, 1) if r.text == text)
    which = Filter(ids=(row.id,))
    utterances.change_many(studio, "p", which, change, BulkAct(1, EVERY_TEXT))


def files_with(home: Path, words: bytes) -> list[str]:
    """Name the files of a home that hold some bytes; JSON writes these letters as they are."""
    return [
        str(path.relative_to(home))
        for path in sorted(home.rglob("*"))
        if path.is_file() and words in path.read_bytes()
    ]


def test_no_file_of_the_home_holds_an_erased_text(told: Studio) -> None:
    home = told.places.home
    live_studio = open_live_studio(told)
    receipt = keep_receipt(live_studio, "p", SAID)
    copy = home / "studio.db.before-0009"
    copy.write_bytes(told.places.database.read_bytes())
    assert len(files_with(home, b"Beeblebro")) >= 2  # examples, and the log with its copy
    view = erase_texts(told, "p", [SAID, SHORT], now=True)
    assert (view.done, view.utterances, view.receipts, view.models) == (True, 2, 1, ("p@1",))
    assert view.copies == (str(copy),)
    with told.database.write() as connection, pytest.raises(sa.exc.IntegrityError, match="append"):
        connection.execute(sa.delete(event))
    for words in (b"Zaphod", b"Zafod", b"Beeblebro"):
        assert files_with(home, words) == []
    kept = find_receipt(told, receipt.id)
    page = receipt_page(kept.content, kept.created_at, "", {})
    assert "[erased]" in page
    assert "Zaphod" not in page


def test_an_intent_of_the_same_name_keeps_it(told: Studio, tmp_path: Path) -> None:
    """People say "refund": erased, versions lost the name of the intent in figures and pins."""
    own = tmp_path / "own.csv"
    own.write_text("text,intent\nrefund,refund\nkept,greeting\n", encoding="utf-8")
    import_file(told, ImportRequest("p", own))
    train_here(told, TrainingRequest("p", "instant", {}, "bundled", gate=False))
    with told.database.read() as connection:
        before = models.list_all(connection, 1)[-1]
        assert "refund" in str(before.metrics)
    erase_texts(told, "p", ["refund", "kept"], now=True)
    with told.database.read() as connection:
        after = models.list_all(connection, 1)[-1]
        assert (after.metrics, after.pins) == (before.metrics, before.pins)
        tree = artifacts.tree_files(connection, after.tree_sha256)
    assert '"text": "refund"' not in told.artifacts.read(tree["exemplars.jsonl"]).decode()


def test_pins_that_a_model_broke_or_a_bundle_brought_are_erased(
    told: Studio, tiny_path: Path, tmp_path: Path
) -> None:
    """They stayed in `facts.json` of the version."""
    with told.database.read() as connection:
        refund = dataset.intent_named(connection, 1, "refund").id
    set_pin(open_live_studio(told), "p", SHORT, [refund])
    train_here(told, TrainingRequest("p", "instant", {}, str(tiny_path)))
    export_model(told, "p@2", tmp_path / "p.zip")
    import_bundle(told, tmp_path / "p.zip", "p")
    with told.database.read() as connection:
        versions_then = [one.pins for one in models.list_all(connection, 1)]
    assert sum(SHORT in str(pins) for pins in versions_then) == 2
    erase_texts(told, "p", [SAID, SHORT], now=True)
    assert files_with(told.places.home, b"Zaphod") == []


def test_a_version_that_came_without_texts_loses_the_hash_of_an_erased_one(
    told: Studio, tmp_path: Path
) -> None:
    """The hash stayed: whoever guessed the text could see that it had been an example."""
    export_model(told, "p@1", tmp_path / "p.zip", Handover(without_texts=True))
    import_bundle(told, tmp_path / "p.zip", "p")
    hashes = [hidden_key(match_key(text)).encode() for text in (SAID, SHORT)]
    other = hidden_key(match_key("I want my money back")).encode()
    for said in (*hashes, other):
        assert len(files_with(told.places.home, said)) == 1
    assert erase_texts(told, "p", [SAID, SHORT], now=True).models == ("p@1", "p@2")
    for said in hashes:
        assert files_with(told.places.home, said) == []
    assert len(files_with(told.places.home, other)) == 1
    with told.database.read() as connection:
        assert told.artifacts.damaged(connection) == {}


def test_a_text_with_signs_that_end_lines_elsewhere_stops_no_erasure(
    told: Studio, tiny_path: Path, tmp_path: Path
) -> None:
    """The reader of a version's examples took U+2028 for the end of a line, and broke."""
    odd = {"text": "send\u2028it\u2029back\x85now", "intent": "refund"}
    (tmp_path / "odd.jsonl").write_text(json.dumps(odd), encoding="utf-8")
    import_file(told, ImportRequest("p", tmp_path / "odd.jsonl"))
    train_here(told, TrainingRequest("p", "instant", {}, str(tiny_path)))
    assert erase_texts(told, "p", [SHORT], now=True).models == ("p@1", "p@2")
    assert files_with(told.places.home, SHORT.encode()) == []
    assert files_with(told.places.home, odd["text"].encode())  # what others said stays


def test_files_that_wait_for_their_import_are_told_and_deleted(
    told: Studio, capsys: pytest.CaptureFixture[str]
) -> None:
    """They kept the text, and the erasure did not name them."""
    waiting = told.places.uploads / store_upload(told, "own.csv", [SHORT.encode()]) / "own.csv"
    assert erase_texts(told, "p", [SHORT]).uploads == (str(waiting),)
    assert waiting.exists()
    home = ["--home", str(told.places.home)]
    assert main([*home, "erase", "p", "--containing", SHORT]) == 0
    assert "waiting upload own.csv" in capsys.readouterr().out
    assert erase_texts(told, "p", [SHORT], now=True).uploads == (str(waiting),)
    assert files_with(told.places.home, SHORT.encode()) == []


@pytest.mark.parametrize("name", ["exemplars.jsonl", "exact.json", "facts.json"])
@pytest.mark.parametrize("change", ["missing", "changed"])
def test_a_version_with_a_damaged_file_is_named_and_nothing_is_erased(
    told: Studio, name: str, change: str
) -> None:
    """A missing file broke every erasure, and a changed byte got a SHA-256 that vouched for it."""
    with told.database.read() as connection:
        [version] = models.list_all(connection, 1)
        file = told.artifacts.path(artifacts.tree_files(connection, version.tree_sha256)[name])
    content = file.read_bytes()
    file.unlink()
    if change == "changed":
        file.write_bytes(content.replace(b"refund", b"refunt"))
    for now in (False, True):
        with pytest.raises(ArtifactDamaged, match="of p@1 that may hold a text") as refused:
            erase_texts(told, "p", [SHORT], now=now)
        assert "from a backup" in refused.value.hint
    file.unlink(missing_ok=True)
    file.write_bytes(content)
    assert erase_texts(told, "p", [SHORT], now=True).models == ("p@1",)


def test_what_is_left_is_sound_and_answers(told: Studio) -> None:
    with told.database.read() as connection:
        before = {v.number: v.sha256 for v in versions.list_all(connection, 1)}
    view = erase_texts(told, "p", [SAID], now=True)
    checks = {check.subject: check for check in upkeep.examine(told)}
    assert checks["data"].healthy, checks["data"].detail
    assert checks["artifacts"].healthy, checks["artifacts"].detail
    with told.database.read() as connection:
        after = {v.number: v.sha256 for v in versions.list_all(connection, 1)}
        [row] = connection.execute(erasing.erasure.select()).all()
        past = versions.state_at(connection, 1, versions.find(connection, 1, 1).revision)
    assert view.data_versions == (1,)
    assert row.data_versions == [[1, before[1], after[1]]]
    assert [r.text for r in past.utterance_records() if r.text.startswith("[erased ")] == (
        row.tombstones
    )
    [answer] = answer_texts(open_live_studio(told), "p", ["please refund the order"])
    assert answer.prediction.decision.intents == ("refund",)


def test_erasing_is_not_undone_and_other_actions_are(told: Studio) -> None:
    edit(told, "I want my money back", Edit("flag", "odd"))
    erase_texts(told, "p", [SHORT], now=True)
    with told.database.write() as connection:
        undone = events.undo(connection, 1, "local")
        rows = {r.text: r for r in dataset.utterances(connection, 1)}
    assert undone is not None
    assert undone.verb == "flag"
    assert rows["I want my money back"].flagged == ""
    assert SHORT not in rows


def texts_of(studio: Studio) -> set[str]:
    with studio.database.read() as connection:
        return {row.text for row in dataset.utterances(connection, 1)}


def test_undo_and_redo_leave_an_erased_text_away(told: Studio, tmp_path: Path) -> None:
    """They brought “[erased 1f3a9c02]” back as a labelled text."""
    edit(told, "I want my money back", Edit("flag", "odd"))
    edit(told, SHORT, Edit("delete"))
    before = texts_of(told)
    with told.database.read() as connection:
        newest = sa.select(batch.c.key).order_by(batch.c.id.desc()).limit(1)
        deletion = connection.execute(newest).scalar_one()
    erase_texts(told, "p", [SHORT], now=True)
    with pytest.raises(Conflict, match="texts that were erased"):
        undo_action(told, "p", deletion)
    undone = undo_last(told, "p")  # not the deletion, of which nothing is left
    assert undone is not None
    assert (undone.verb, texts_of(told)) == ("flag", before)
    file = tmp_path / "more.csv"
    file.write_text("text,intent\nFord here,greeting\n", "utf-8")
    import_file(told, ImportRequest("p", file))
    undo_last(told, "p")
    erase_texts(told, "p", ["Ford here"], now=True)
    assert redo_last(told, "p") is None
    assert texts_of(told) == before


def test_an_action_on_many_texts_is_undone_but_for_the_erased_one(
    told: Studio, tmp_path: Path
) -> None:
    """An import could not be undone any more, and the undo of a deletion brought a tombstone."""
    before = texts_of(told)
    file = tmp_path / "more.csv"
    file.write_text("text,intent\nFord here,greeting\nArthur here,greeting\n", "utf-8")
    import_file(told, ImportRequest("p", file))
    with told.database.read() as connection:
        rows = [row for row in dataset.utterances(connection, 1) if row.text not in before]
    which = Filter(ids=tuple(row.id for row in rows))
    utterances.change_many(told, "p", which, Edit("delete"), BulkAct(2, EVERY_TEXT))
    erase_texts(told, "p", ["Ford here"], now=True)
    undo_last(told, "p")
    assert texts_of(told) == before | {"Arthur here"}
    undo_last(told, "p")
    assert texts_of(told) == before
    redo_last(told, "p")
    assert texts_of(told) == before | {"Arthur here"}


def test_a_look_counts_and_changes_nothing(told: Studio) -> None:
    database, models_before = told.places.database, _trees(told)
    before = files_with(told.places.home, b"Zaphod")
    view = erase_texts(told, "p", [SAID, SHORT])
    assert (view.done, view.utterances, view.models) == (False, 2, ("p@1",))
    assert files_with(told.places.home, b"Zaphod") == before
    assert _trees(told) == models_before
    with told.database.read() as connection:
        head = projects.find(connection, "p").head_revision
        assert connection.execute(erasing.erasure.select()).all() == []
    assert head == erase_and_head(told)[0] - 2  # two rows were deleted only then
    assert database.exists()


def erase_and_head(studio: Studio) -> tuple[int, int]:
    view = erase_texts(studio, "p", [SAID, SHORT], now=True)
    with studio.database.read() as connection:
        return projects.find(connection, "p").head_revision, view.utterances


def _trees(studio: Studio) -> list[str]:
    with studio.database.read() as connection:
        return [version.tree_sha256 for version in models.list_all(connection, 1)]


def test_a_text_deleted_long_ago_is_erased_too(told: Studio) -> None:
    """It stayed in the log for ever."""
    edit(told, SHORT, Edit("delete"))
    assert files_with(told.places.home, SHORT.encode())
    assert erase_texts(told, "p", [SHORT], now=True).utterances == 1
    assert files_with(told.places.home, SHORT.encode()) == []


def test_what_nobody_said_and_what_a_job_reads_is_refused(told: Studio) -> None:
    with pytest.raises(InvalidInput, match="Nobody has said"):
        erase_texts(told, "p", ["never said"], now=True)
    with pytest.raises(InvalidInput, match="no text to erase"):
        erase_texts(told, "p", ["  "], now=True)
    with told.database.write() as connection:
        jobs.enqueue(connection, "train", {}, 1)
    # “A job that holds texts of 'p' is under way”: nobody knew which, nor where to cancel it.
    with pytest.raises(Conflict, match=r"^A training, a map or groups of 'p' are under way"):
        erase_texts(told, "p", [SHORT], now=True)


def test_the_command_and_rest_count_first(
    told: Studio, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SHORT.encode())))
    home = ["--home", str(told.places.home)]
    capsys.readouterr()
    assert main([*home, "erase", "p", "-", "--json"]) == 0
    counted = json.loads(capsys.readouterr().out)
    assert (counted["done"], counted["utterances"]) == (False, 1)
    served = open_live_studio(told)
    app = build_app(served, None, frozenset({"127.0.0.1"}))
    with TestClient(app, base_url="http://127.0.0.1:7860") as client:
        assert served.pools.wait(1) is not None  # it holds the texts of examples
        answer = client.post("/api/projects/p/erase", json={"texts": [SHORT]}).json()
        assert (answer["done"], answer["utterances"]) == (False, 1)
        answer = client.post("/api/projects/p/erase", json={"texts": [SHORT], "now": True}).json()
        assert served.pools.kept[1].pool is None
    assert (answer["done"], answer["utterances"]) == (True, 1)
    assert files_with(told.places.home, SHORT.encode()) == []


def test_texts_with_some_words_are_listed_and_then_exactly_these_are_erased(
    told: Studio, tmp_path: Path
) -> None:
    """Each text had to be given whole."""
    file = tmp_path / "test.csv"
    file.write_text(f"text,intent\nzaphod is late,refund\n{CORRECTED} now,refund\n", "utf-8")
    import_file(told, ImportRequest("p", file, split="test"))
    listed = list_containing(told, "p", " ZAPHOD ")
    standing = {one.text: (one.split, one.labels, one.is_former) for one in listed.texts}
    assert standing == {
        SAID: ("train", ("refund",), True),
        CORRECTED: ("train", ("refund",), False),  # goes with the text that it stands for
        SHORT: ("train", ("greeting",), False),
        "zaphod is late": ("test", ("refund",), False),
    }
    with pytest.raises(InvalidInput, match="'Marvin'"):
        list_containing(told, "p", "Marvin")
    assert erase_listed(told, "p", "zaphod", "").utterances == 3
    edit(told, SHORT, Edit("out-of-scope"))
    with pytest.raises(Conflict, match="has 4 texts"):
        erase_listed(told, "p", "zaphod", listed.code, now=True)
    code = list_containing(told, "p", "zaphod").code
    assert erase_listed(told, "p", "zaphod", code, now=True).done
    with told.database.read() as connection:
        texts = {row.text for row in dataset.utterances(connection, 1)}
    assert not texts & set(standing)
    assert f"{CORRECTED} now" in texts


def test_the_command_lists_what_it_would_erase(
    told: Studio, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["--home", str(told.places.home), "erase", "p", "--containing", "zaphod"]
    assert main(command) == 0
    shown = capsys.readouterr()
    assert SHORT in shown.out
    assert "train, greeting" in shown.out
    code = list_containing(told, "p", "zaphod").code
    assert f"--now --list {code}" in shown.err
    assert main([*command, "--now", "--list", "00000000"]) != 0
    assert main([*command, "--now", "--list", code]) == 0
    with pytest.raises(InvalidInput):
        list_containing(told, "p", "zaphod")
