"""The card of a bundle tells how good the bundle is, not how good the training was."""

import json
from pathlib import Path

import pytest

from app.cli import main
from app.services.answering import judging
from app.services.answering.stored import load_model
from app.services.live.live_studio import open_live_studio
from app.services.reports.model_report import report
from app.services.review.fence import FenceSetting, save_fence
from app.services.studio import Studio
from app.services.versions.bundles import Handover, export_model, import_bundle
from app.services.versions.timeline import list_versions
from core.bundle.archive import verify_bundle
from core.bundle.card import model_card
from core.pipeline import learned_texts
from core.types import Exemplar
from storage import pinned_texts
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset
from tests.builders.trained_home import POOL, label
from tests.builders.unpacked_bundle import unpack_bundle


def put_into_tests(studio: Studio) -> None:
    """Put all texts of the pool into the test set: the last one out of scope."""
    with studio.database.write() as connection:
        label = dataset.intents(connection, 1)[0].id
        rows = [row for row in dataset.utterances(connection, 1) if row.text in POOL]
        for row in rows:
            labels = [] if row.text == POOL[-1] else [label]
            changes = [edits.edit(row, "split", "test"), edits.label(row, labels)]
            events.record(connection, 1, Action("label", "local"), changes)


def test_a_bundle_brings_the_pins_of_its_project(home: Studio, tmp_path: Path) -> None:
    with home.database.write() as connection:
        intent = dataset.intents(connection, 1)[0]
        pinned_texts.add(connection, 1, "may I ask", [intent.id], "local")
    out, again = tmp_path / "p.zip", tmp_path / "again.zip"
    pins = export_model(home, "p", out).facts["pins"]
    assert pins["expected"] == [{"text": "may I ask", "intents": [intent.name]}]
    assert verify_bundle(out).own_card
    export_model(home, import_bundle(home, out, "taken_in"), again)
    assert again.read_bytes() == out.read_bytes()
    export_model(home, "p", out, Handover(without_texts=True))
    hidden = verify_bundle(out).facts["pins"]
    assert (hidden["expected"], hidden["n_expected"]) == ([], 1)


def test_a_version_without_texts_is_not_tested_by_what_it_learned(
    home: Studio, tmp_path: Path
) -> None:
    """Its examples stand there as “[id]”, and it was told to answer what it learned right."""
    learned = load_model(home, "p").exemplars[0].text
    out = tmp_path / "p.zip"
    export_model(home, "p", out, Handover(without_texts=True))
    taken = load_model(home, import_bundle(home, out, "taken_in"))
    assert taken.exemplars[0].text != learned
    assert [text in learned_texts(taken) for text in (learned, POOL[0])] == [True, False]
    given = [Exemplar(text, text, taken.exemplars[0].intents) for text in (learned, POOL[0])]
    judged = judging.tests_for(taken, given)  # as `check` and an evaluation do
    assert [one.text for one in judged.texts] == [POOL[0]]


def test_a_version_that_came_without_texts_takes_none_of_its_project_along(
    home: Studio, tmp_path: Path
) -> None:
    """Its card and facts said that texts were left out, and beside that stood those of the pins."""
    bare, out = tmp_path / "bare.zip", tmp_path / "out.zip"
    export_model(home, "p", bare, Handover(without_texts=True))
    taken = import_bundle(home, bare, "p")
    with home.database.write() as connection:
        intent = dataset.intents(connection, 1)[0]
        pinned_texts.add(connection, 1, "may I ask", [intent.id], "local")
    facts = export_model(home, taken, out).facts
    assert facts["texts_left_out"]
    _, made = list_versions(home, "p")  # Versions promised “examples as texts” before the export
    assert [one.texts_left_out for one in made] == [*([False] * (len(made) - 1)), True]
    assert (facts["pins"]["expected"], facts["pins"]["n_expected"]) == ([], 1)
    files = unpack_bundle(out, tmp_path / "unpacked")
    assert "were left out" in (files / "README.md").read_text("utf-8")
    assert [one for one in files.rglob("*.json*") if b"may I ask" in one.read_bytes()] == []
    facts = export_model(home, "p@2", out).facts  # of which the texts are there
    assert [one["text"] for one in facts["pins"]["expected"]] == ["may I ask"]


def test_an_export_says_how_many_labels_the_bundle_lacks(
    home: Studio, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It answers as the version was trained, and labels had joined the model in use since."""
    export = ["--home", str(home.settings.folder), "bundle", "export", "p", str(tmp_path / "p.zip")]
    assert main([*export, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"] == []
    for text, intent in (
        (POOL[0], "refund"),
        (POOL[1], "parcel"),
        ("where is my parcel", "refund"),
    ):
        label(home, text, intent)
    assert main(export) == 0
    assert "3 labels changed since this version was trained" in capsys.readouterr().out
    assert main([*export[:-2], str(tmp_path / "p.zip"), str(tmp_path / "q.zip"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"] == []


@pytest.mark.parametrize("line", [-9.0, 9.0])
def test_it_tells_right_answers_by_the_line_that_it_carries(
    home: Studio, tmp_path: Path, line: float
) -> None:
    """It told 89.8 %, of the training, while pages said 92.0 % by the saved line it carried."""
    put_into_tests(home)
    live_studio = open_live_studio(home)
    save_fence(live_studio, "p", FenceSetting(line))
    out, again = tmp_path / "p.zip", tmp_path / "again.zip"
    manifest = export_model(home, "p", out)
    card = (unpack_bundle(out, tmp_path / "unpacked") / "README.md").read_text("utf-8")
    now, then = card.split("## How good it is")[1].split("when trained")
    answers = load_model(home, str(out)).predict(POOL)
    refused = sum(one.decision.out_of_scope for one in answers[:-1])
    assert refused == (0 if line < 0 else len(POOL) - 1)
    of = manifest.facts["measured"]
    assert of["n"] == len(POOL) - 1
    assert of["outside"] == 1
    assert of["refused"] == (0 if line < 0 else 1)
    assert f"({of['right']:,} of {of['n']:,} test texts)" in now
    assert "0.0 % (0 of 1)" in now if line < 0 else "100.0 % (1 of 1)" in now
    told = report(live_studio, "p", number_in_use(home)).ready.figures[0].basis
    assert told.startswith(f"{of['right']:,} of {of['n']:,} test texts answered right today")
    assert "with the limit for out of scope of then" in then
    assert verify_bundle(out).own_card
    export_model(home, import_bundle(home, out, "taken_in"), again)
    assert again.read_bytes() == out.read_bytes()


def number_in_use(studio: Studio) -> int:
    """Return the number of the version in use."""
    reference = load_model(studio, "p").model_version or ""
    return int(reference.rpartition("@")[2])


def test_shares_are_percents_and_the_project_is_named_once() -> None:
    metrics = {"accuracy": 0.9413, "answered_right": 0.8975, "n": 1800, "silhouette_after": 0.2191}
    facts = {"project": "Bank", "model_version": "Bank, trained now", "metrics": metrics}
    card = model_card(facts)
    assert card.startswith("# Bank, trained now\n")
    assert "| right answers | 89.8 % |" in card
    assert "| texts | 1,800 |" in card
    assert "| silhouette after | 0.219 |" in card
    assert "as it answers now" not in card
