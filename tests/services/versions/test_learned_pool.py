"""A version learned from unlabelled texts, and these become test texts: they do not test it."""

import zipfile
from pathlib import Path

import pytest

from app.services.answering import judging
from app.services.answering.stored import load_model
from app.services.data.erasing import erase_texts
from app.services.live.accuracy import accuracy_now
from app.services.live.live_studio import open_live_studio
from app.services.studio import Studio
from app.services.versions.bundles import Handover, export_model, import_bundle
from app.services.versions.comparison import compare_models
from app.services.versions.verdict import verdict_on
from app.services.what_if.preview import preview
from app.services.what_if.repairs import Repair
from app.services.what_if.watched_texts import WatchedTextCache
from core.bundle.layout import load_pipeline, save_pipeline
from core.pipeline import learned_texts
from core.types import Exemplar, no_pause
from storage import models
from storage.log import edits, events
from storage.log.events import Action
from tests.builders.trained_home import (
    add_enough_unlabelled,
    add_test,
    intent_ids,
    rows,
    train,
    version,
)

NEW = "nobody ever said this"
OPERATIONS = Path(__file__).parents[3] / "docs" / "topics" / "operations.md"


@pytest.fixture
def learned(home: Studio, tiny_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ten unlabelled texts that version 3, which is in use, learned from; they are tests now."""
    waiting = add_enough_unlabelled(home, monkeypatch)
    train(home, tiny_path, {"kind": "convfit", "epochs": 2, "learning_rate": 1e-3})
    known = learned_texts(load_model(home, "p@3"))
    found = [text for text in waiting if text in known][:10]
    assert len(found) == 10
    said, refund = rows(home), intent_ids(home)["refund"]
    with home.database.write() as connection:
        models.point(connection, models.find(connection, 1, 3), "local")
        for text in found:
            changes = [edits.edit(said[text], "split", "test"), edits.label(said[text], [refund])]
            events.record(connection, 1, Action("label", "local"), changes)
    return found


def test_texts_that_a_version_learned_without_a_label_do_not_test_it(
    home: Studio, learned: list[str]
) -> None:
    """Drawn as test texts, they told how well it knows what it had been tuned to."""
    live_studio = open_live_studio(home)
    assert accuracy_now(home, *live_studio.models.open("p"), no_pause) is None
    verdict = verdict_on(version(home, 3), "single-label", None)
    assert verdict is not None
    assert verdict.meaning.endswith("these test only the next version.")
    add_test(home, NEW, "refund")
    now = accuracy_now(home, *live_studio.models.open("p"), no_pause)
    assert now is not None
    assert now.n == 1
    given = [Exemplar(text, text, ("refund",)) for text in (*learned, NEW)]
    judged = judging.tests_for(load_model(home, "p@3"), given)
    assert [one.text for one in judged.texts] == [NEW]
    assert judged.words() == "; 10 texts that it has learned were left out"
    compared = compare_models(home, "p", 3, 2)
    assert (compared.n, compared.left_out) == (1, 10)


def test_previews_count_the_test_texts_that_the_header_counts(
    home: Studio, learned: list[str]
) -> None:
    """Review counted eleven test texts beside one in the header."""
    add_test(home, NEW, "refund")
    live_studio = open_live_studio(home)
    now = accuracy_now(home, *live_studio.models.open("p"), no_pause)
    assert now is not None
    repair = Repair("rename", intent=intent_ids(home)["greeting"], value="salute")
    [told] = preview(WatchedTextCache(live_studio), "p", [repair])
    assert (told.watched[1], told.left_out) == (1, 10)
    assert (told.in_scope.n, told.in_scope.now) == (now.n, now.right)
    assert now.n == 1


def test_the_next_version_is_tested_by_them(
    home: Studio, learned: list[str], tiny_path: Path
) -> None:
    train(home, tiny_path, {"kind": "convfit", "epochs": 2, "learning_rate": 1e-3})
    assert version(home, 4).metrics["n"] == 10
    assert not any(text in learned_texts(load_model(home, "p@4")) for text in learned)


@pytest.mark.parametrize("without_texts", [False, True])
def test_a_bundle_brings_what_was_learned_without_its_texts(
    home: Studio, learned: list[str], tmp_path: Path, *, without_texts: bool
) -> None:
    out = tmp_path / "p.zip"
    export_model(home, "p@3", out, Handover(without_texts=without_texts))
    taken = load_model(home, import_bundle(home, out, "taken_in"))
    assert taken.learned == load_model(home, "p@3").learned
    known = learned_texts(taken)
    assert [text in known for text in (*learned, NEW)] == [True] * 10 + [False]
    save_pipeline(taken, {}, tmp_path / "stored")
    stored = (tmp_path / "stored" / "learned.json").read_text("utf-8")
    assert not any(text in stored for text in learned)
    (tmp_path / "stored" / "learned.json").unlink()  # as an earlier release stored it
    assert load_pipeline(tmp_path / "stored").learned == frozenset()


def test_a_bundle_for_an_earlier_release_is_one_without_unlabelled_texts(
    home: Studio, tiny_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Earlier releases refuse the file of their hashes, and no page said what to do then."""
    add_enough_unlabelled(home, monkeypatch)
    train(home, tiny_path, {"kind": "convfit", "epochs": 1, "pool": False})
    out = tmp_path / "p.zip"
    export_model(home, "p@3", out)
    with zipfile.ZipFile(out) as archive:
        assert "learned.json" not in archive.namelist()
    told = OPERATIONS.read_text("utf-8")
    assert "`learned.json`" in told
    assert "`intent-studio train PROJECT --set pool=false`" in told


def test_an_erased_text_is_not_recognised_any_more(home: Studio, learned: list[str]) -> None:
    first, *others = learned
    assert "p@3" in erase_texts(home, "p", [first], now=True).models
    known = learned_texts(load_model(home, "p@3"))
    assert first not in known
    assert all(text in known for text in others)
