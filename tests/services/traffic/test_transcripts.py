"""Transcripts as logs: what the customer said is stored, at the time when it was said."""

from pathlib import Path

import pytest

from app.cli import main
from app.services.data.uploads import receive_upload
from app.services.live.live_studio import LiveStudio
from app.services.traffic.logs import LogReading, import_received, look_at_log, receive_log
from core.errors import InvalidInput
from core.traffic.log_rows import LogColumns
from tests.builders.traffic.stored_rows import stored_rows

CALL = b"""WEBVTT

00:01.000 --> 00:04.000
<v Agent>Hello. How can I help?

01:05.000 --> 01:07.000
<v Customer>where is my parcel
"""
NAMES = b"""Anna: where is my parcel
Ben: On its way.
Anna: thanks
"""
BEGAN = "2026-02-02T10:00"


def test_the_customers_turns_of_a_call_have_the_time_of_their_cues(live: LiveStudio) -> None:
    """A transcript was read as a table, and refused for lack of a column of times."""
    waiting = receive_log(live, "p", "call.vtt", [CALL], LogReading("Europe/Berlin"))
    assert waiting.names == ("Agent", "Customer")
    assert (waiting.columns.began, waiting.report) == ("", None)
    assert waiting.problem == "call.vtt does not say on which day it was said."
    began = LogReading("Europe/Berlin", LogColumns(began=BEGAN))
    looked = look_at_log(live, "p", waiting.key, began).report
    assert looked is not None
    assert (looked.rows, looked.others, looked.untimed) == (2, 1, 0)
    assert import_received(live, "p", waiting.key, began).kept == 1
    assert stored_rows(live) == [("2026-02-02T09:01:05Z", "where is my parcel", "call.vtt")]


def test_the_customer_is_chosen_where_names_do_not_tell(live: LiveStudio) -> None:
    """With nobody chosen, what an agent said would be what people ask for."""
    nobody = LogReading("UTC", LogColumns(began=BEGAN))
    waiting = receive_log(live, "p", "call.txt", [NAMES], nobody)
    assert waiting.problem == "call.txt does not say who is the customer."
    assert waiting.hint == "Name one of those who speak: Anna, Ben."
    anna = LogReading("UTC", LogColumns(began=BEGAN, speaker="anna"))
    assert look_at_log(live, "p", waiting.key, anna).columns.speaker == "Anna"
    done = import_received(live, "p", waiting.key, anna)
    assert (done.kept, done.others) == (2, 1)
    assert {text for _, text, _ in stored_rows(live)} == {"where is my parcel", "thanks"}


def test_what_nobody_said_by_name_is_not_the_customers(live: LiveStudio) -> None:
    told = b"00:01.000 --> 00:02.000\nThis call is recorded.\n\n"
    reading = LogReading("UTC", LogColumns(began=BEGAN))
    waiting = receive_log(live, "p", "c.vtt", [told, CALL.replace(b"Customer", b"Anna")], reading)
    done = import_received(live, "p", waiting.key, reading)
    assert (done.kept, done.others) == (1, 2)


def test_beside_a_bot_two_names_are_asked_about(live: LiveStudio) -> None:
    """“System” alone told who is no customer, and an agent called Sarah was taken for one."""
    told = b"System: This call is recorded\nSarah: How can I help?\nJohn: my parcel\n"
    waiting = receive_log(live, "p", "c.txt", [told], LogReading("UTC", LogColumns(began=BEGAN)))
    assert waiting.problem == "c.txt does not say who is the customer."
    john = LogReading("UTC", LogColumns(began=BEGAN, speaker="John", source="phone"))
    assert import_received(live, "p", waiting.key, john).kept == 1
    assert [(text, source) for _, text, source in stored_rows(live)] == [("my parcel", "phone")]


def test_a_wrong_customer_or_time_is_refused(live: LiveStudio) -> None:
    waiting = receive_log(live, "p", "call.vtt", [CALL], LogReading("UTC"))
    soon = LogReading("UTC", LogColumns(began="soon"))
    assert look_at_log(live, "p", waiting.key, soon).problem.startswith("'soon' is no time")
    absent = LogReading("UTC", LogColumns(began=BEGAN, speaker="Carl"))
    with pytest.raises(InvalidInput, match="has no speaker 'Carl'"):
        look_at_log(live, "p", waiting.key, absent)


def test_all_that_a_transcript_does_not_say_is_told_at_once(live: LiveStudio) -> None:
    """Who had named the customer was told next that the day is missing, too."""
    waiting = receive_log(live, "p", "call.txt", [NAMES], LogReading("UTC"))
    told = "call.txt does not say on which day it was said, and who is the customer."
    assert waiting.problem == told
    steps = "Say when it began, by day and time, and name one of those who speak: Anna, Ben."
    assert waiting.hint == steps


def test_a_transcript_is_no_file_of_texts(
    live: LiveStudio, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The numbers and times of its cues became texts that wait for a label."""
    path = tmp_path / "call.VTT"
    path.write_bytes(CALL)
    assert main(["--home", str(live.studio.settings.home), "import", "p", str(path)]) == 2
    told = capsys.readouterr().err
    assert "call.VTT is a transcript of a talk, and no file of texts.\n" in told
    assert "add --traffic and --began" in told
    with pytest.raises(InvalidInput, match=r"^call\.srt is a transcript of a talk") as refused:
        receive_upload(live.studio, "p", "call.srt", [CALL])
    assert refused.value.hint.startswith("Discover imports it as a log of what people said.")


def test_the_command_takes_the_day_and_the_customer(
    live: LiveStudio, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "call.txt"
    path.write_bytes(NAMES)
    command = ["--home", str(live.studio.settings.home), "import", "p", str(path), "--traffic"]
    assert main(command) == 2
    options = "add --began '2026-11-26 14:30' and --speaker-column NAME."
    assert options in capsys.readouterr().err
    assert main([*command, "--speaker-column", "Anna"]) == 2
    assert "add --began '2026-11-26 14:30'." in capsys.readouterr().err
    assert main([*command, "--began", "2026-02-02 10:00", "--speaker-column", "Anna"]) == 0
    assert [at for at, _, _ in stored_rows(live)] == ["2026-02-02T10:00:00Z"] * 2
