"""Which texts `predict` answers, and how much of an answer it sends."""

import json
from pathlib import Path

import pytest

from app.cli import main

INVISIBLE = ["", "   ", "\u200b", "\u200b \u2060\ufeff", "\u3164", "\u00ad\ufe0f", "\u202e"]
PREDICT = "/api/projects/p/predict"


@pytest.mark.parametrize("text", INVISIBLE)
def test_a_text_that_nobody_sees_gets_no_intent(client, trained, text: str) -> None:
    """It was answered with an intent, as in scope."""
    bodies = {
        "predict": {"texts": ["where is it", text]},
        "explain": {"text": text},
        "receipts": {"text": text},
        "pins": {"text": text, "intents": []},
    }
    for route, body in bodies.items():
        refused = client.post(f"/api/projects/p/{route}", json=body)
        assert refused.status_code == 422, route
    many = client.post(PREDICT, json={"texts": ["where is it", text], "model": 1})
    assert many.json()["message"] == "Text 2 of 2 is empty: nothing in it can be seen."


def test_a_text_that_cannot_be_stored_is_refused(client, trained) -> None:
    for model in ("live", 1):
        content = json.dumps({"texts": ["a\ud800b"], "model": model})
        headers = {"Content-Type": "application/json"}
        assert client.post(PREDICT, content=content, headers=headers).status_code in (400, 422)
    assert client.post(PREDICT, json={"texts": ["a\0b"]}).status_code == 422


def test_signs_of_other_scripts_and_pictures_are_texts(client, trained) -> None:
    texts = ["?", "ok\u200d", "👍🏽", "می‌خواهم", "é", "한"]
    assert len(client.post(PREDICT, json={"texts": texts}).json()) == len(texts)


def test_the_command_line_refuses_what_nobody_sees(studio, trained, capsys, tmp_path: Path) -> None:
    home = str(studio.settings.home)
    for verb in ("predict", "explain"):
        assert main(["--home", home, verb, "p", "\u200b"]) == 2
        assert "text" in capsys.readouterr().err
    rows = tmp_path / "rows.csv"
    rows.write_text("text,intent\n\u200b,greet\nhello you,greet\n", encoding="utf-8")
    assert main(["--home", home, "import", "p", str(rows), "--dry-run", "--json"]) == 0
    counts = json.loads(capsys.readouterr().out)
    assert (counts["empty"], counts["added"]) == (1, 1)


def test_only_the_asked_fields_of_the_best_intents_are_sent(client, trained) -> None:
    texts = ["my parcel has not arrived", "a refund please"]
    whole = client.post(PREDICT, json={"texts": texts}).json()
    body = {"texts": texts, "top_k": 2, "fields": ["text", "decision", "ranked", "sentence"]}
    short = client.post(PREDICT, json=body).json()
    for one, other in zip(short, whole, strict=True):
        prediction = other["prediction"]
        assert one == {
            "text": prediction["text"],
            "decision": prediction["decision"],
            "ranked": prediction["ranked"][:2],
            "sentence": other["sentence"],
        }
    best = client.post(PREDICT, json={"texts": texts, "top_k": 1, "model": 1}).json()
    assert [len(answer["prediction"]["ranked"]) for answer in best] == [1, 1]
    assert best[0]["reasons"] == whole[0]["reasons"]
    for wrong in ({"fields": ["colour"]}, {"fields": []}, {"top_k": 0}):
        assert client.post(PREDICT, json={"texts": texts, **wrong}).status_code == 422
