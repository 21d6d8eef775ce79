"""Pages, programs and commands ask the same model, or say which other one they mean."""

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.cli import main
from app.services.data import utterances
from app.services.data.bulk import BulkAct, Edit
from app.services.live import catching_up
from app.services.studio import Studio
from storage import projects
from storage.queries import dataset
from storage.queries.utterances import Filter
from tests.builders.trained_home import EVERY_TEXT

ASKED = "reset it"


@pytest.fixture
def labelled_since(studio: Studio, trained: str) -> int:
    """A text of the pool is labelled after the training, against what the model said of it.

    Return the data's revision.
    """
    with studio.database.read() as connection:
        row = next(r for r in dataset.utterances(connection, 1) if r.text == ASKED)
        other = dataset.intent_named(connection, 1, "password").id
    which, edit = Filter(ids=(row.id,)), Edit("label", other)
    utterances.change_many(studio, "p", which, edit, BulkAct(1, EVERY_TEXT))
    with studio.database.read() as connection:
        return projects.find(connection, "p").head_revision


def by_rest(client: TestClient, which: str | int | None) -> dict[str, Any]:
    body = {"texts": [ASKED]} if which is None else {"texts": [ASKED], "model": which}
    answer = client.post("/api/projects/p/predict", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()[0]["prediction"]


def by_command(studio: Studio, capsys: pytest.CaptureFixture[str], name: str) -> dict[str, Any]:
    capsys.readouterr()
    home = str(studio.places.home)
    assert main(["--home", home, "predict", name, ASKED, "--json"]) == 0
    return json.loads(capsys.readouterr().out)["predictions"][0]


def told(prediction: dict[str, Any]) -> tuple[list[str], float, str, int]:
    decision = prediction["decision"]
    return (
        decision["intents"],
        round(decision["score"], 6),
        prediction["model_version"],
        prediction["label_revision"],
    )


def test_one_version_gives_one_answer_wherever_it_is_asked(
    client: TestClient,
    studio: Studio,
    labelled_since: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The page answered with the label given since; the command without, both as `p@1`."""
    live = told(by_rest(client, None))
    assert live[0] == ["password"]
    assert live[2:] == ("p@1", labelled_since)
    assert told(by_rest(client, "live")) == live
    assert told(by_command(studio, capsys, "p")) == live
    assert told(by_command(studio, capsys, "p@live")) == live
    trained = told(by_rest(client, "champion"))
    assert trained[0] == ["refund"]
    assert 0 < trained[3] < labelled_since
    assert told(by_rest(client, 1)) == trained
    assert told(by_command(studio, capsys, "p@champion")) == trained
    assert told(by_command(studio, capsys, "p@1")) == trained


def test_an_explanation_is_of_the_answer_that_is_given(
    client: TestClient,
    studio: Studio,
    labelled_since: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for which, name in (("live", "p"), ("champion", "p@champion"), (1, "p@1")):
        body = {"text": ASKED, "model": which}
        explained = client.post("/api/projects/p/explain", json=body).json()
        assert list(explained["answer"]) == by_rest(client, which)["decision"]["intents"]
        capsys.readouterr()
        home = str(studio.places.home)
        assert main(["--home", home, "explain", name, ASKED, "--json"]) == 0
        printed = json.loads(capsys.readouterr().out)
        assert printed["answer"] == explained["answer"]
        assert printed["label_revision"] == by_rest(client, which)["label_revision"]


def test_a_version_is_explained_with_intents_made_since(client: TestClient, trained: str) -> None:
    """The votes of a version were kept without the column of a newer intent: "Something broke"."""
    asked = {"text": ASKED, "model": "champion"}
    before = client.post("/api/projects/p/explain", json=asked).json()
    assert client.post("/api/projects/p/intents", json={"name": "opening hours"}).status_code == 201
    after = client.post("/api/projects/p/explain", json=asked)
    assert after.status_code == 200, after.text
    assert after.json()["answer"] == before["answer"]
    assert after.json()["reasons"][0]["score"] == before["reasons"][0]["score"]


def test_a_command_waits_for_the_labels_of_a_large_set(
    studio: Studio,
    labelled_since: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A server joins them in a thread; a command would end before its thread."""
    monkeypatch.setattr(catching_up, "SOLVED_AT_ONCE", 1)
    monkeypatch.setattr(catching_up, "_IMMEDIATE", 1)
    assert told(by_command(studio, capsys, "p"))[3] == labelled_since


@pytest.mark.parametrize("which", ["newest", 0, -1, 1.5, True])
def test_a_model_that_cannot_be_is_refused(
    client: TestClient, labelled_since: int, which: object
) -> None:
    answer = client.post("/api/projects/p/predict", json={"texts": ["x"], "model": which})
    assert answer.status_code == 422
    missing = client.post("/api/projects/p/predict", json={"texts": ["x"], "model": 7})
    assert missing.status_code == 404
    both = {"texts": ["x"], "model": "champion", "strength": 0.5}
    refused = client.post("/api/projects/p/predict", json=both)
    assert refused.status_code == 422
    assert "only the live model can be compressed" in refused.text
