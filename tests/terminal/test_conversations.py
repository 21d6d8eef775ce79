"""Logs of conversations on the command line, and an encoder from them."""

import json
from pathlib import Path

import pytest

from app.cli import main
from tests.builders.conversation_logs import write_log


def run(home: Path, *arguments: object) -> int:
    return main(["--home", str(home), *map(str, arguments)])


def test_a_log_is_looked_at_imported_listed_and_removed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home, log = tmp_path / "home", write_log(tmp_path / "chats.jsonl")
    assert run(home, "new", "p") == 0
    assert run(home, "dialogues", "import", "p", log, "--mask", "--dry-run", "--pool", 5) == 0
    said = capsys.readouterr().out
    assert "Would add 24 conversations of 96 turns.\n" in said
    assert "5 of them would come into the pool" in said
    assert "masked: nothing found" in said
    assert run(home, "dialogues", "import", "p", log, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["dialogues"], found["pooled"], found["masked"], found["log"]) == (24, 28, None, 1)
    assert run(home, "dialogues", "list", "p", "--json") == 0
    [listed] = json.loads(capsys.readouterr().out)["logs"]
    assert (listed["source"], listed["n_turns"], listed["n_user_turns"]) == ("chats.jsonl", 96, 48)
    assert run(home, "dialogues", "remove", "p", 1) == 0
    assert run(home, "dialogues", "remove", "p", 1) == 2
    assert "no conversation log 1" in capsys.readouterr().err


def test_training_without_conversations_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path / "home", "new", "p") == 0
    assert run(tmp_path / "home", "train", "p", "--recipe", "dialogues", "--set", "minutes=15") == 2
    assert "Import a log on the page Conversations." in capsys.readouterr().err


@pytest.mark.slow
def test_an_encoder_comes_of_it_and_the_next_step_is_named(
    tmp_path: Path, tiny_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    assert run(home, "new", "p") == 0
    assert run(home, "dialogues", "import", "p", write_log(tmp_path / "chats.jsonl")) == 0
    settings = ("--set", "minutes=0.01", "--set", "batch_size=24")
    assert run(home, "train", "p", "--recipe", "dialogues", "--base", tiny_path, *settings) == 0
    said = capsys.readouterr()
    assert "p@1 is an encoder; it answers no intents." in said.out
    assert "intent-studio train 'p' --base 'p@1'" in said.err
    assert run(home, "predict", "p@1", "hello") == 2
    assert "Version 1 is an encoder" in capsys.readouterr().err
