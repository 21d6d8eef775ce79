"""Transcripts of talks: who said what, and how long after the beginning."""

import time
from datetime import datetime
from pathlib import Path

import pytest

from core.errors import InvalidInput
from core.traffic.transcripts import is_transcript, read_beginning, read_turns

VTT = """WEBVTT - a call

NOTE
Agent: this is a note

STYLE
::cue { color: red }

1
00:01.000 --> 00:04.000 align:start
<v Agent>Hello &amp; welcome.

00:05.500 --> 00:07.000
<v.loud Anna Berg>Where is <i>my</i> parcel</v>
I wait since Monday

01:00:08.000 --> 01:00:09.000
and it is late
<v Agent>I look.</v><v Anna Berg>thanks</v>
"""
SRT = """1
00:00:01,000 --> 00:00:02,000
Agent: Hello.

2
00:00:03,250 --> 00:00:05,000
- Customer: cancel it
- Agent: Done: at https://example.org
"""
TEXT = """Agent: Hello.

Customer: where is my parcel
it was sent on Monday
The number of my order is: 5
Agent:
On its way.
"""


def turns(path: Path, text: str) -> list[tuple[str, float, str]]:
    path.write_text(text, encoding="utf-8")
    assert is_transcript(path, "utf-8")
    found = list(read_turns(path, "utf-8"))
    return [(turn.speaker, turn.offset.total_seconds(), turn.text) for turn in found]


def test_cues_of_webvtt_have_voices(tmp_path: Path) -> None:
    assert turns(tmp_path / "call.vtt", VTT) == [
        ("Agent", 1.0, "Hello & welcome."),
        ("Anna Berg", 5.5, "Where is my parcel I wait since Monday and it is late"),
        ("Agent", 3608.0, "I look."),
        ("Anna Berg", 3608.0, "thanks"),
    ]


def test_cues_of_subrip_have_names(tmp_path: Path) -> None:
    assert turns(tmp_path / "call.SRT", SRT) == [
        ("Agent", 1.0, "Hello."),
        ("Customer", 3.25, "cancel it"),
        ("Agent", 3.25, "Done: at https://example.org"),
    ]


def test_a_colon_makes_no_speaker_of_what_goes_on(tmp_path: Path) -> None:
    """A customer's second line was lost as that of a speaker “my order number is”."""
    text = "Agent: Hello.\nCustomer: cancel it\nmy order number is: 5\nBen: On its way.\n"
    assert turns(tmp_path / "call.txt", text) == [
        ("Agent", 0.0, "Hello."),
        ("Customer", 0.0, "cancel it my order number is: 5"),
        ("Ben", 0.0, "On its way."),
    ]
    cue = "00:0{}.000 --> 00:09.000\n<v {}>{}\n{}\n\n"
    marked = cue.format(1, "Agent", "Thanks.", "Please note: your card is ready")
    marked += cue.format(2, "Anna", "I would like", "to cancel")
    marked += cue.format(3, "Anna", "my order", "of Monday")
    assert turns(tmp_path / "call.vtt", "WEBVTT\n\n" + marked) == [
        ("Agent", 1.0, "Thanks. Please note: your card is ready"),
        ("Anna", 2.0, "I would like to cancel my order of Monday"),
    ]


def test_one_marked_voice_takes_no_name_from_the_others(tmp_path: Path) -> None:
    """All that others said went on with what the marked voice had said, the agent's words too."""
    cue = "00:0{}.000 --> 00:09.000\n{}\n\n"
    said = ["Tom: my cake", "Priya: which one?", "<v Tom>The large one.", "Priya: Done."]
    text = "WEBVTT\n\n" + "".join(cue.format(at, one) for at, one in enumerate(said, start=1))
    assert turns(tmp_path / "call.vtt", text) == [
        ("Tom", 1.0, "my cake"),
        ("Priya", 2.0, "which one?"),
        ("Tom", 3.0, "The large one."),
        ("Priya", 4.0, "Done."),
    ]


@pytest.mark.parametrize("line", ["<v a" * 40_000, "<v." * 13_000, "<v" + " " * 80_000 + "a"])
def test_a_long_line_of_voices_that_do_not_end_is_no_work(tmp_path: Path, line: str) -> None:
    """Each beginning was read to the line's end: 1 MB stopped the whole server for minutes."""
    path = tmp_path / "call.vtt"
    path.write_text(f"WEBVTT\n\n00:01.000 --> 00:09.000\n<v Anna>hello\n{line}\n")
    began = time.process_time()
    assert [turn.text for turn in read_turns(path, "utf-8")] == [f"hello {line}"]
    assert time.process_time() - began < 1.5


def test_damaged_bytes_are_refused_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "call.txt"
    path.write_bytes(b"Agent: hello\nCustomer\xff: bye\n")
    with pytest.raises(InvalidInput, match="row 2, column 1: the byte 0xFF does not fit"):
        list(read_turns(path, "utf-8"))


def test_lines_without_a_speaker_go_on_with_the_last_turn(tmp_path: Path) -> None:
    said = "where is my parcel it was sent on Monday The number of my order is: 5"
    assert turns(tmp_path / "call.txt", TEXT) == [
        ("Agent", 0.0, "Hello."),
        ("Customer", 0.0, said),
        ("Agent", 0.0, "On its way."),
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plain.txt", "where is my parcel\ncancel it\nAgent: hello\n"),
        ("table.txt", "text\ttime\nnote: hello\t2026-02-02\nnote: bye\t2026-02-03\n"),
        ("log.csv", "Agent: hello\nCustomer: bye\n"),
    ],
)
def test_other_texts_are_no_transcripts(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert not is_transcript(path, "utf-8")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("WEBVTT\n", "has no turns with times"),
        ("Agent: hello\n", "has no turns with times"),
        ("00:01.000 --> 00:02.000\nhello\n", "says nowhere who speaks"),
    ],
)
def test_cues_without_times_or_speakers_are_refused(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "call.vtt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=fault):
        list(read_turns(path, "utf-8"))


def test_a_beginning_is_a_day_with_or_without_a_time() -> None:
    assert read_beginning("2026-11-26 14:30") == datetime(2026, 11, 26, 14, 30)  # noqa: DTZ001
    assert read_beginning("2026-11-26") == datetime(2026, 11, 26)  # noqa: DTZ001
    for began in ("soon", "9999-12-31", "1026-11-26", "14:30"):
        with pytest.raises(InvalidInput, match="is no time at which a talk began"):
            read_beginning(began)
