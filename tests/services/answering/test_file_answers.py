"""Files of any size are answered as single texts are, once each, however often a run is killed."""

import csv
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli import main
from app.jobs.lock import take_lock
from app.services.answering import file_answers
from app.services.answering.file_answers import FileReport, FileRequest, answer_file
from app.services.answering.file_models import model_of_pipeline
from core.encoders.loading import load_encoder
from core.encoders.quick import copies
from core.errors import InvalidInput
from core.intent_names import answer_by_name
from core.pipeline import IntentPipeline
from core.types import Intent
from tests.builders.stub_pipeline import trained
from tests.conftest import SENTENCES

LABELS = {text: intent for intent, texts in SENTENCES.items() for text in texts}
ASKED = [f"{text}, {more}" for text in LABELS for more in ("please", "now")] + list(LABELS)


@pytest.fixture
def model(tiny) -> IntentPipeline:
    return replace(trained(tiny, LABELS), model_version="shop@3")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "texts.csv"
    rows = [f'"{text}"' for text in ASKED]
    rows.insert(7, "   ")
    path.write_text("\n".join(["text", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_answers, "_CHUNK", 16)


def answer(model: IntentPipeline, source: Path, target: Path) -> FileReport:
    return answer_file(
        model_of_pipeline(model, 5), FileRequest(source, target), lambda done, total: None
    )


def test_a_file_for_spreadsheets_computes_nothing(model: IntentPipeline, tmp_path: Path) -> None:
    """A text that begins with = was a formula of whoever opened the answers."""
    source, target = tmp_path / "asked.jsonl", tmp_path / "answers.csv"
    asked = ["=1+1", "-5 refunds", "@SUM(A1)", "where is it"]
    rows = [{"id": f"+{n}", "text": text} for n, text in enumerate(asked)]
    source.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    found = model_of_pipeline(model, 5)
    for format, sign in (("spreadsheet", "'"), (None, "")):
        answer_file(found, FileRequest(source, target, format), lambda done, total: None)
        with target.open(encoding="utf-8", newline="") as file:
            answers = list(csv.DictReader(file))
        assert [row["text"] for row in answers] == [sign + text for text in asked[:3]] + asked[3:]
        assert answers[0]["id"] == f"{sign}+0"


def test_a_format_without_a_file_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", "p", "hello", "--format", "spreadsheet"]) == 2
    assert "Name one with --to" in capsys.readouterr().err


def test_each_text_gets_the_answer_that_it_gets_alone(
    model: IntentPipeline, source: Path, tmp_path: Path
) -> None:
    target = tmp_path / "answers.csv"
    told = answer(model, source, target)
    assert (told.texts, told.left_out, told.went_on_at) == (len(ASKED), 1, 0)
    with target.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["text"] for row in rows] == ASKED
    lines = source.read_text(encoding="utf-8").splitlines()
    for row, single in zip(rows, (model.predict([text])[0] for text in ASKED), strict=True):
        assert lines[int(row["line"]) - 1].strip('"') == row["text"]
        assert row["intents"] == "|".join(single.decision.intents)
        assert row["rule"] == single.decision.rule
        if single.decision.intents:
            [share] = [s.probability for s in single.ranked if s.intent == row["intents"]]
            assert float(row["probabilities"]) == pytest.approx(share, abs=1e-4)
    assert {row["rule"] for row in rows} >= {"exact", "votes"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers.csv", "texts.csv"]


def test_a_killed_run_goes_on_and_writes_the_same_file(
    model: IntentPipeline, source: Path, tmp_path: Path
) -> None:
    whole, broken = tmp_path / "whole.jsonl", tmp_path / "broken.jsonl"
    answer(model, source, whole)

    def killed(done: int, total: int) -> None:
        if done >= 32:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        answer_file(model_of_pipeline(model, 5), FileRequest(source, broken), killed)
    assert not broken.exists()
    with (tmp_path / "broken.jsonl.part").open("ab") as part:
        part.write(b'{"line": 99, "te')  # the next chunk, of which half was written
    told = answer(model, source, broken)
    assert told.went_on_at == 31  # the blank row is among the first 32
    assert broken.read_bytes() == whole.read_bytes()
    assert [json.loads(line)["text"] for line in broken.open(encoding="utf-8")] == ASKED


def test_a_part_of_another_model_is_not_continued(
    model: IntentPipeline, source: Path, tmp_path: Path
) -> None:
    target = tmp_path / "answers.csv"

    def killed(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        answer_file(model_of_pipeline(model, 5), FileRequest(source, target), killed)
    told = answer_file(
        model_of_pipeline(model, 6), FileRequest(source, target), lambda done, total: None
    )
    assert told.went_on_at == 0
    assert told.texts == len(ASKED)


def test_a_part_of_another_bundle_is_not_continued(
    model: IntentPipeline, source: Path, tmp_path: Path
) -> None:
    """Bundles of one name with other votes, or another temperature, were taken for one."""
    target = tmp_path / "answers.csv"
    request = FileRequest(source, target)

    def killed(done: int, total: int) -> None:
        raise KeyboardInterrupt

    one, other = (model_of_pipeline(model, None, bundle=digest) for digest in ("3cb6", "90cd"))
    for found, went_on_at in ((other, 0), (one, 15)):
        with pytest.raises(KeyboardInterrupt):
            answer_file(one, request, killed)
        told = answer_file(found, request, lambda done, total: None)
        assert told.went_on_at == went_on_at


def test_a_part_is_not_continued_after_an_intent_was_described_otherwise(
    model: IntentPipeline, source: Path, tmp_path: Path
) -> None:
    """An intent without examples answers by its name: one file held the answers of two models."""

    def described(words: str) -> IntentPipeline:
        named = [Intent("stop_membership", words)]
        return replace(model, head=answer_by_name(model.head, model.encoder, named))

    def killed(done: int, total: int) -> None:
        raise KeyboardInterrupt

    target = tmp_path / "answers.csv"
    request = FileRequest(source, target)
    with pytest.raises(KeyboardInterrupt):
        answer_file(model_of_pipeline(described("leave the club"), 5), request, killed)
    told = answer(described("give the money back"), source, target)
    assert (told.went_on_at, told.texts) == (0, len(ASKED))


def test_two_runs_do_not_write_one_file(
    model: IntentPipeline, source: Path, tmp_path: Path
) -> None:
    held = take_lock(tmp_path / "answers.csv.part")
    assert held is not None
    with pytest.raises(InvalidInput, match="Another run is writing"):
        answer(model, source, tmp_path / "answers.csv")
    os.close(held)
    assert answer(model, source, tmp_path / "answers.csv").texts == len(ASKED)


def test_a_run_begins_anew_after_another_model_began(
    model: IntentPipeline, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it had noted stayed, and its answers went on after those of the other model."""
    whole, target = tmp_path / "whole.csv", tmp_path / "answers.csv"
    answer(model, source, whole)
    request = FileRequest(source, target)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        answer_file(model_of_pipeline(model, 5), request, killed)
    other = model.renamed(tuple(f"another {name}" for name in model.head.intents))
    with monkeypatch.context() as patch:
        patch.setattr(file_answers, "write_atomically", killed)  # before it has noted its chunk
        with pytest.raises(KeyboardInterrupt):
            answer_file(model_of_pipeline(other, 5), request, lambda done, total: None)
    assert "another" in (tmp_path / "answers.csv.part").read_text("utf-8")
    assert answer(model, source, target).went_on_at == 0
    assert target.read_bytes() == whole.read_bytes()


def test_answers_have_the_permissions_of_the_file_before_them_or_of_any_other(
    model: IntentPipeline, source: Path, tmp_path: Path
) -> None:
    """They were their owner's alone, and no other program could read them."""
    usual, old, new = (tmp_path / name for name in ("usual", "old.csv", "new.csv"))
    usual.touch()
    old.touch()
    old.chmod(0o664)
    for target, like in ((old, 0o664), (new, usual.stat().st_mode & 0o777)):
        answer(model, source, target)
        assert target.stat().st_mode & 0o777 == like


def test_a_link_goes_on_pointing_to_its_file(
    model: IntentPipeline, source: Path, tmp_path: Path
) -> None:
    """The answers took the place of the link, and its file stayed as it was."""
    (tmp_path / "far").mkdir()
    file, link = tmp_path / "far" / "answers.csv", tmp_path / "link.csv"
    link.symlink_to(file)
    for _ in ("a file that is not there yet", "one that is"):
        answer(model, source, link)
        assert link.is_symlink()
        assert len(file.read_text("utf-8").splitlines()) == len(ASKED) + 1
        file.write_text("old", "utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["far", "link.csv", "texts.csv"]
    assert list(file.parent.iterdir()) == [file]


def test_no_run_begins_while_another_puts_its_answers_in_place(
    model: IntentPipeline, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that began just then emptied the part, which was put in place all the same."""
    finish, held = file_answers._finish, []

    def finished(target: Path) -> None:
        held.append(take_lock(tmp_path / "answers.csv.part"))
        finish(target)

    def late(path: Path) -> int | None:
        lock = take_lock(path)
        path.unlink()  # as by a run that has finished since the file was opened
        return lock

    monkeypatch.setattr(file_answers, "_finish", finished)
    assert answer(model, source, tmp_path / "answers.csv").texts == len(ASKED)
    assert held == [None]
    monkeypatch.setattr(file_answers, "take_lock", late)
    with pytest.raises(InvalidInput, match="Another run is writing"):
        answer(model, source, tmp_path / "answers.csv")


def test_what_is_no_file_is_not_replaced(
    model: IntentPipeline, source: Path, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InvalidInput, match="pipe is no file"):
        answer(model, source, pipe)
    assert pipe.is_fifo()


def test_the_texts_are_never_overwritten(model: IntentPipeline, source: Path) -> None:
    before = source.read_bytes()
    with pytest.raises(InvalidInput, match="overwrite"):
        answer(model, source, source)
    assert source.read_bytes() == before


def test_eight_bits_say_how_many_answers_they_change(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "has_eight_bits", lambda: True)
    model = trained(load_encoder("bundled"), LABELS)
    request = FileRequest(source, tmp_path / "answers.csv")
    told = answer_file(model_of_pipeline(model, None, "int8"), request, lambda done, total: None)
    assert told.precision == "int8"
    assert told.same_answers is not None
    assert 0.9 <= told.same_answers <= 1.0


def test_a_processor_without_eight_bits_answers_in_float32_and_says_so(
    model: IntentPipeline, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "has_eight_bits", lambda: False)
    request = FileRequest(source, tmp_path / "answers.csv")
    told = answer_file(model_of_pipeline(model, 5, "int8"), request, lambda done, total: None)
    assert (told.precision, told.same_answers) == ("float32", None)
