"""Conversation logs: any shape in, the same conversations out, in little memory."""

import gzip
import json
import tracemalloc
from pathlib import Path

import pytest

from core.errors import InvalidInput
from core.formats import dialogue_rows, gzipped
from core.formats.dialogues import (
    Dialogue,
    Pair,
    Turn,
    dialogue_line,
    history_text,
    pairs_of,
    read_dialogues,
    stream_pairs,
    without_repeats,
)

TEXTS = ["Hello.", "How can I help?", "My card is lost.", "I am sorry to hear that."]
SPEAKERS = ["user", "system", "user", "system"]


def dialogue(*texts: str, name: str = "1") -> Dialogue:
    return Dialogue(name, tuple(Turn(text) for text in texts))


@pytest.mark.parametrize(
    "line",
    [
        TEXTS,
        {"id": "1", "turns": TEXTS},
        {"turns": [{"speaker": s, "text": t} for s, t in zip(SPEAKERS, TEXTS, strict=True)]},
        [{"role": s, "content": t} for s, t in zip(SPEAKERS, TEXTS, strict=True)],
    ],
)
@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz"])
def test_every_shape_of_json_gives_the_same_conversation(tmp_path: Path, line, ending) -> None:
    path = tmp_path / f"log.{ending}"
    content = (json.dumps(line) + "\n\n").encode()
    path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    (found,) = read_dialogues(path)
    assert found.id == "1"
    assert [turn.text for turn in found.turns] == TEXTS
    assert [turn.by_user for turn in found.turns] == [True, False, True, False]


def test_a_table_is_read_in_the_order_of_its_turns(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(
        "conversation id,turn,speaker,text\n"
        'a,2,Agent,"How can, I\nhelp?"\na,1,Customer,Hello.\n'
        "b,1,Customer,Alone\n"
        "c,1,Customer,Hi\nc,10,Agent,Last\nc,9,Customer,  \n",
        encoding="utf-8",
    )
    first, second = read_dialogues(path)  # one turn is no conversation, a blank one no turn
    assert [turn.text for turn in first.turns] == ["Hello.", "How can, I\nhelp?"]
    assert [turn.by_user for turn in first.turns] == [True, False]
    assert (second.id, [turn.text for turn in second.turns]) == ("c", ["Hi", "Last"])


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", b'["Hi", "Ho"]\n{"turns": 3}\n', "row 2: there is no list of turns"),
        ("a.jsonl", b'["Hi", 4]\n', "row 1: turn 2 has no text"),
        ("a.jsonl", b"hello\n", "row 1: not JSON"),
        ("a.jsonl", b'["Hi", "Ho"]\n["\xff", "a"]\n', "not UTF-8"),
        ("a.jsonl.gz", b"no archive", "cannot be read"),
        ("a.csv", b"text,intent\nhello,greeting\n", "no column 'conversation'"),
        ("a.csv", b"id,turn,text\na,first,hello\n", "row 2: the turn 'first' is no number"),
        ("a.csv", b"id,turn,text\na,1\n", "row 2: the row has 2 columns"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, name, content, said) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=said):
        list(read_dialogues(path))


def test_a_column_that_is_no_id_does_not_fill_the_memory(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(dialogue_rows, "LONGEST_CONVERSATION", 3)
    path = tmp_path / "a.csv"
    path.write_text("id,text\n" + "same,hello\n" * 4, encoding="utf-8")
    with pytest.raises(InvalidInput, match="over 3 turns"):
        list(read_dialogues(path))


def test_a_small_log_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch) -> None:
    """500 MB of packed blank lines were read for hours before the first conversation was shown."""
    monkeypatch.setattr(gzipped, "_ALWAYS", 100_000)
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n" * 1_000_000))
    with pytest.raises(InvalidInput, match="unpacks to over 0"):
        list(read_dialogues(path))


def test_repeated_conversations_are_left_out_as_far_back_as_is_remembered() -> None:
    one, other, third = dialogue("a", "b"), dialogue("a", "c"), dialogue("A", "B", name="9")
    assert list(without_repeats([one, other, third])) == [one, other]
    assert list(without_repeats([one, other, third], remembered=1)) == [one, other, third]
    assert list(without_repeats([dialogue("a", "b c"), dialogue("a b", "c")]))[1:]


def test_pairs_carry_earlier_turns_the_most_recent_first() -> None:
    pairs = list(pairs_of(dialogue("a", "b", "c", "d"), contexts=2))
    assert pairs == [Pair("a", "b"), Pair("b", "c", ("a",)), Pair("c", "d", ("b", "a"))]
    assert [pair.history for pair in pairs_of(dialogue("a", "b", "c"))] == [(), ()]
    assert history_text(pairs[2].history) == "0 b 1 a"
    assert history_text(()) == ""


def test_a_long_file_streams_in_little_memory(tmp_path: Path) -> None:
    """The same code reads two gigabytes; memory does not depend on the length."""
    path = tmp_path / "long.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for number in range(20_000):
            texts = [f"turn {place} of conversation {number} " + "word " * 20 for place in range(6)]
            stream.write(json.dumps(texts) + "\n")
    assert path.stat().st_size > 15e6
    tracemalloc.start()
    n_pairs = sum(1 for _ in stream_pairs([path], contexts=10))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n_pairs == 100_000
    assert peak < 4e6


def test_an_id_and_a_speaker_lose_what_no_text_can_hold(tmp_path: Path) -> None:
    """The turns were mended, and the log could not be stored for its id or a speaker."""
    path = tmp_path / "log.jsonl"
    turns = [{"speaker": "\ud800user", "text": "Hi"}, {"speaker": "bot", "text": "Ho"}]
    log = [{"id": name, "turns": turns} for name in ("\udfff", "a\0")]
    path.write_text("\n".join(map(json.dumps, log)))
    first, second = read_dialogues(path)
    assert (first.id, first.turns) == ("1", (Turn("Hi", "user"), Turn("Ho", "bot")))
    assert second.id == "a"
    assert dialogue_line(first).encode()
