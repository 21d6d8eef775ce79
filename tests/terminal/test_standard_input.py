"""Commands read what another program prints."""

import io
import json
import sys

import pytest

from app.cli import main
from app.services.studio import Studio


def piped(monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))


def printed(capsys: pytest.CaptureFixture[str], *command: str) -> dict[str, object]:
    capsys.readouterr()
    assert main([*command, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_labels_texts_and_questions_come_through_a_pipe(
    studio: Studio, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = ("--home", str(studio.places.home))
    printed(capsys, *home, "new", "p")
    piped(monkeypatch, "text,intent\ngive my money back,refund\nwhere is it,parcel\n")
    report = printed(capsys, *home, "import", "p", "-")
    assert (report["added"], report["labelled"]) == (2, 2)
    piped(monkeypatch, "refund please\nparcel please\n")
    found = printed(capsys, *home, "predict", "p", "--file", "-")["predictions"]
    assert [(one["text"], one["ranked"][0]["intent"]) for one in found] == [
        ("refund please", "refund"),
        ("parcel please", "parcel"),
    ]
    answers = studio.places.home / "answers.jsonl"
    piped(monkeypatch, "refund please\nparcel please\n")
    told = printed(capsys, *home, "predict", "p", "--file", "-", "--to", str(answers))
    assert (told["texts"], told["precision"]) == (2, "float32")
    lines = [json.loads(line) for line in answers.read_text(encoding="utf-8").splitlines()]
    assert [(one["line"], one["text"]) for one in lines] == [
        (1, "refund please"),
        (2, "parcel please"),
    ]
    assert main([*home, "predict", "p", "refund please", "--to", str(answers)]) == 2
    assert "--file" in capsys.readouterr().err


def test_rows_that_are_not_answered_are_told(
    studio: Studio, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Empty and over-long rows of a file vanished without a word, unless `--to` was given."""
    home = ("--home", str(studio.places.home))
    printed(capsys, *home, "new", "p")
    piped(monkeypatch, "text,intent\ngive my money back,refund\nwhere is it,parcel\n")
    printed(capsys, *home, "import", "p", "-")
    table = f"text,id\nrefund please,1\n,2\n{'x' * 5_001},3\n"
    piped(monkeypatch, table)
    told = printed(capsys, *home, "predict", "p", "--file", "-")
    assert ([one["text"] for one in told["predictions"]], told["left_out"]) == (
        ["refund please"],
        2,
    )
    piped(monkeypatch, table)
    assert main([*home, "predict", "p", "--file", "-"]) == 0
    assert "2 rows left out: no text, or one of more than 5,000" in capsys.readouterr().err


def test_an_empty_pipe_is_refused_in_words(
    studio: Studio, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = ("--home", str(studio.places.home))
    printed(capsys, *home, "new", "p")
    piped(monkeypatch, "")
    assert main([*home, "import", "p", "-"]) != 0
    said = capsys.readouterr().err
    assert "empty" in said
    assert "Traceback" not in said


def test_rows_go_to_the_set_that_their_column_names_unless_none_is_to_be_read(
    studio: Studio, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Test texts of a sheet became examples without a word."""
    home = ("--home", str(studio.places.home), "import", "p", "-", "--dry-run")
    printed(capsys, *home[:2], "new", "p")
    sheet = "text,intent,Set\nwhere is it,parcel,train\nis it here,parcel,Test\nhi,parcel,dev\n"
    piped(monkeypatch, sheet)
    assert main([*home]) == 0
    said = capsys.readouterr().out
    for line in ("2 of these in train", "1 of these in test", "1 for validation, read as rows"):
        assert line in said
    for column, expected in (("Set", {"train": 2, "test": 1}), ("", {"train": 3})):
        piped(monkeypatch, sheet)
        assert printed(capsys, *home, "--split-column", column)["added_to"] == expected
