"""Logs with a column of times: rows that are left out, once and again."""

import json
from pathlib import Path

import pytest

from app.cli import main
from app.services.data.importing import ImportRequest, import_file
from app.services.live.live_studio import LiveStudio
from app.services.traffic.logs import (
    LogReading,
    LogRequest,
    TrafficLogReport,
    import_log,
    import_received,
    look_at_log,
    receive_log,
)
from app.services.traffic.receiving import Sent, receive_traffic
from core.errors import InvalidInput
from core.formats.rows import ReadOptions
from core.traffic.log_rows import LogColumns
from core.traffic.times import zone_named
from storage.queries import utterances
from storage.queries.utterances import Filter
from tests.builders.traffic.stored_rows import stored_rows

BERLIN = zone_named("Europe/Berlin")
LOG = """when,message,channel
2026-02-02 10:00,where is my parcel,app
2026-02-02 10:00,where is my parcel,app
03.02.2026 09:30,call me at anna@example.org,phone
soon,hello,app
,hello,app
2026-02-03T10:00:00+01:00,,app
2026-02-03T10:00:00+01:00,cancel it,
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "february.csv"
    path.write_text(LOG, encoding="utf-8")
    return path


def load(live: LiveStudio, path: Path, *, dry_run: bool = False) -> TrafficLogReport:
    return import_log(live, LogRequest("p", path, zone=BERLIN, dry_run=dry_run))


def test_a_log_is_counted_then_stored_once_and_masked(live: LiveStudio, log: Path) -> None:
    counted = load(live, log, dry_run=True)
    assert (counted.rows, counted.untimed, counted.textless) == (7, 2, 1)
    assert (counted.kept, counted.added, counted.repeated) == (None, 3, 0)
    assert stored_rows(live) == []
    done = load(live, log)
    assert (done.kept, done.added, done.examples) == (4, 3, ("soon", ""))
    assert (done.first, done.last) == ("2026-02-02", "2026-02-03")
    assert done.sources == {"app": 2, "phone": 1, "february.csv": 1}
    assert done.masked is not None
    assert sum(done.masked.values()) == 1
    stored = stored_rows(live)
    assert stored[0] == ("2026-02-02T09:00:00Z", "where is my parcel", "app")
    assert "anna" not in str(stored)
    again = load(live, log)
    assert (again.kept, again.repeated, again.added) == (0, 4, 0)
    assert stored_rows(live) == stored


def test_what_a_bot_has_sent_is_not_stored_again_by_a_log(live: LiveStudio, log: Path) -> None:
    sent = Sent("where is my parcel", "2026-02-02T09:00:00Z", "app")
    receive_traffic(live, "p", [sent, sent], mask=True)
    assert load(live, log).repeated == 2


def test_json_lines_have_times_as_numbers_too(live: LiveStudio, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    lines = [{"text": "hello", "timestamp": 1770026400, "source": "app"}, {"text": "no time"}]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    done = load(live, path)
    assert (done.kept, done.untimed) == (1, 1)
    assert stored_rows(live) == [("2026-02-02T10:00:00Z", "hello", "app")]


@pytest.mark.parametrize(
    ("head", "rows_of_it", "given"),
    [
        ("date,time,text", ["2026-02-02,14:30,hello", "2026-02-03,9:05:10,bye"], None),
        ("time,text,date", ["2:30 PM,hello,2/2/2026", "9:05:10 AM,bye,2/13/2026"], "date"),
        ("day,clock,text", ["02.02.2026,14:30,hello", "13.02.2026,09:05:10,bye"], "day"),
        ("Datum,Uhrzeit,text", ["2026-02-02 00:00:00,14:30,hello", "2026-02-03,9:05:10,bye"], None),
    ],
)
def test_a_day_and_a_time_of_the_day_are_joined(
    live: LiveStudio, tmp_path: Path, head: str, rows_of_it: list[str], given: str | None
) -> None:
    """The column “time” was read alone: no time could be read, and all rows were left out."""
    path = tmp_path / "log.csv"
    path.write_text("\n".join([head, *rows_of_it]) + "\n", encoding="utf-8")
    done = import_log(live, LogRequest("p", path, columns=LogColumns(time=given)))
    day, clock = (name for name in head.split(",") if name not in ("text",))
    assert set(done.times) == {day, clock}
    assert (done.kept, done.untimed) == (2, 0)
    assert [at[10:] for at, _, _ in stored_rows(live)] == ["T14:30:00Z", "T09:05:10Z"]
    assert stored_rows(live)[0][0] == "2026-02-02T14:30:00Z"


def test_objects_with_a_day_and_a_time_of_the_day_are_read(
    live: LiveStudio, tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    line = {"text": "hello", "date": "2026-02-02", "time": "14:30", "sent": "2026-02-02"}
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    assert load(live, path).times == ("date", "time")
    assert stored_rows(live) == [("2026-02-02T13:30:00Z", "hello", "log.jsonl")]
    path.write_text(json.dumps({**line, "time": "2026-02-02 15:00"}), encoding="utf-8")
    assert load(live, path).times == ()


def test_how_long_a_talk_took_is_no_time_of_the_day(live: LiveStudio, tmp_path: Path) -> None:
    """“35:20” beside a day was an hour that no day has, and its row was left out."""
    path = tmp_path / "log.csv"
    path.write_text("text,date,duration\nhello,2026-02-02,35:20\nbye,2026-02-03,0:42\n", "utf-8")
    done = load(live, path)
    assert (done.kept, done.untimed, done.times) == (2, 0, ())
    assert [at for at, _, _ in stored_rows(live)] == [
        "2026-02-02T00:00:00Z",
        "2026-02-03T00:00:00Z",
    ]


@pytest.mark.parametrize("clock", ["", " 00:00:00"])
def test_a_log_of_days_alone_keeps_its_days_in_each_zone(
    live: LiveStudio, tmp_path: Path, clock: str
) -> None:
    """East of Greenwich each row was stored one day early, and from two zones it came twice."""
    path = tmp_path / "log.csv"
    days = [f"2026-02-0{n}{clock},text {n}" for n in (2, 3, 8)]
    path.write_text("\n".join(["date,text", *days, "soon,hello"]) + "\n", encoding="utf-8")
    done = load(live, path)
    assert (done.kept, done.untimed, done.first, done.last) == (3, 1, "2026-02-02", "2026-02-08")
    west = import_log(live, LogRequest("p", path, zone=zone_named("America/New_York")))
    assert (west.kept, west.repeated, west.first) == (0, 3, "2026-02-02")
    assert [at for at, _, _ in stored_rows(live)] == [f"2026-02-0{n}T00:00:00Z" for n in (2, 3, 8)]


TURNS = """time,role,content
2026-02-02 10:00,bot,Hello. How can I help?
2026-02-02 10:01,user,where is my parcel
2026-02-02 10:02,bot,On its way.
2026-02-02 10:03,agent,Anything else?
2026-02-02 10:04,user,no
"""


def test_what_a_bot_or_an_agent_said_is_no_traffic(live: LiveStudio, tmp_path: Path) -> None:
    """“How can I help?” was the first of what people ask for."""
    waiting = receive_log(live, "p", "turns.csv", [TURNS.encode()], LogReading("UTC"))
    assert waiting.columns == LogColumns("content", "time", None, "role")
    assert waiting.report is not None
    assert (waiting.report.rows, waiting.report.others) == (5, 3)
    assert waiting.report.speaker_column == "role"
    every = LogReading("UTC", LogColumns("content", "time", "", ""))
    looked = look_at_log(live, "p", waiting.key, every).report
    assert looked is not None
    assert (looked.others, sum(looked.sources.values())) == (0, 5)
    assert looked.speaker_column == ""
    done = import_received(live, "p", waiting.key, LogReading("UTC"))
    assert (done.kept, done.others) == (2, 3)
    assert [text for _, text, _ in stored_rows(live)] == ["where is my parcel", "no"]


def test_a_column_of_names_says_nothing_of_who_is_a_user(live: LiveStudio, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    line = {"text": "hello", "time": "2026-02-02 10:00", "author": "Anna", "channel": "app"}
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    done = load(live, path)
    assert (done.kept, done.others, done.sources) == (1, 0, {"app": 1})


def test_a_column_of_roles_tells_who_spoke_whatever_its_name(
    live: LiveStudio, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bakery's log called it “who”, and what the staff said was counted as what users ask for."""
    path = tmp_path / "bakery.csv"
    said = ["customer,is the bread fresh", "Agent,It is.", "customer,two loaves please"]
    lines = [f"2026-02-02 10:0{at},{one}" for at, one in enumerate(said)]
    path.write_text("\n".join(["time,who,message", *lines]), encoding="utf-8")
    command = ["--home", str(live.studio.settings.home), "import", "p", str(path), "--traffic"]
    assert main([*command, "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "2 texts with a time" in told
    assert "  who spoke is told by the column 'who'\n" in told
    assert "  1 row of a bot, an agent or a system: left out\n" in told
    waiting = receive_log(live, "p", path.name, [path.read_bytes()], LogReading("UTC"))
    assert waiting.columns == LogColumns("message", "time", None, "who")
    done = import_received(live, "p", waiting.key, LogReading("UTC"))
    assert (done.kept, done.others, done.speaker_column) == (2, 1, "who")
    assert [text for _, text, _ in stored_rows(live)] == ["is the bread fresh", "two loaves please"]


@pytest.mark.parametrize(
    ("cells", "others"),
    [
        (["customer"] * 9 + ["agent"], 1),  # seen below the first rows
        (["agent"] * 9 + ["customer", "refund"], 0),  # intents
        (["agent"] * 3, 0),
    ],
)
def test_a_column_says_who_spoke_only_where_all_its_cells_are_roles(
    live: LiveStudio, tmp_path: Path, cells: list[str], others: int
) -> None:
    path = tmp_path / "log.jsonl"
    said = {"text": "hello", "time": "2026-02-02 10:00"}
    path.write_text("\n".join(json.dumps({**said, "about": one}) for one in cells), "utf-8")
    done = load(live, path)
    assert (done.kept, done.others) == (len(cells) - others, others)
    assert done.speaker_column == ("about" if others else "")
    table = tmp_path / "log.csv"
    table.write_text("\n".join(["text,time,about", *(f"hello,2026-02-03,{c}" for c in cells)]))
    assert load(live, table).speaker_column == done.speaker_column


def test_a_log_is_refused_where_nothing_tells_the_time(live: LiveStudio, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("time,text\n3/4/2026,hello\n5/6/2026,good day\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="may be a day before a month"):
        load(live, path)
    path.write_text("number,text\n1,hello\n2,good day\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="has no column of times"):
        load(live, path)
    request = LogRequest("p", path, columns=LogColumns(time="absent"))
    with pytest.raises(InvalidInput, match="has no column 'absent'"):
        import_log(live, request)
    with pytest.raises(InvalidInput, match="is no time zone"):
        zone_named("Nowhere/Land")


def test_a_log_with_halves_of_characters_is_shown_with_signs_that_can_be_sent(
    live: LiveStudio,
) -> None:
    """The name of a key and a time that cannot be read were quoted as they are: a fault."""
    objects = [{"text": "hi", "time": "2026-02-02 10:00", "\ud800": "app"}]
    objects.append({"text": "ho", "time": "\ud800"})
    lines = ["\n".join(map(json.dumps, objects)).encode()]
    waiting = receive_log(live, "p", "a.jsonl", lines, LogReading("UTC"))
    assert waiting.names == ("text", "time", "\ufffd")
    assert waiting.report is not None
    assert waiting.report.examples == ("\ufffd",)
    named = LogReading("UTC", LogColumns(source="\ufffd"))
    looked = look_at_log(live, "p", waiting.key, named)
    assert looked.report is not None
    assert looked.report.sources == {"app": 1}


def test_a_row_with_too_few_or_too_many_cells_is_counted_and_left_out(
    live: LiveStudio, tmp_path: Path
) -> None:
    """One short row at the end of a log of a thousand refused all of them."""
    path = tmp_path / "log.csv"
    lines = ["time,text,source", "2026-02-02 10:00,hello,app", "2026-02-02 10:01"]
    lines += ["2026-02-02 10:02,well, then,app", "2026-02-02 10:03,good day,app", ""]
    path.write_text("\n".join(lines), encoding="utf-8")
    done = load(live, path)
    assert (done.rows, done.misshapen, done.textless, done.kept) == (4, 2, 0, 2)
    assert [text for _, text, _ in stored_rows(live)] == ["hello", "good day"]


def test_columns_that_are_not_recognised_can_be_named(live: LiveStudio) -> None:
    lines = b"stamp,what they wrote,place\n2026-02-02 10:00,where is my parcel,shop\n"
    waiting = receive_log(live, "p", "log.csv", [lines], LogReading("UTC"))
    assert waiting.names == ("stamp", "what they wrote", "place")
    assert waiting.columns == LogColumns(None, "stamp", None)  # by its cells
    assert waiting.report is None
    assert waiting.problem == "log.csv has no column of texts."
    named = LogReading("UTC", LogColumns("what they wrote", "stamp", "place"))
    looked = look_at_log(live, "p", waiting.key, named)
    assert looked.columns == named.columns
    assert looked.report is not None
    assert looked.report.sources == {"shop": 1}
    without = LogReading("UTC", LogColumns("what they wrote", "stamp", ""))
    assert import_received(live, "p", waiting.key, without).sources == {"log.csv": 1}
    assert stored_rows(live) == [("2026-02-02T10:00:00Z", "where is my parcel", "log.csv")]


def test_a_source_may_be_of_two_columns(live: LiveStudio, tmp_path: Path) -> None:
    """A log with a channel and a language was told apart by one of them alone."""
    lines = ["time,text,channel,language", "2026-02-02 10:00,hello,app,de"]
    lines += ["2026-02-02 10:01,hallo,app, ", "2026-02-02 10:02,bye,,en", "2026-02-02 10:03,no,,"]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    both = LogColumns(source="channel", second_source="Language")
    done = import_log(live, LogRequest("p", path, columns=both))
    assert [source for _, _, source in stored_rows(live)] == ["app · de", "app", "en", "log.csv"]
    assert done.sources == {"app · de": 1, "app": 1, "en": 1, "log.csv": 1}


@pytest.mark.parametrize(
    ("columns", "source"),
    [
        (LogColumns(second_source="language"), "app · de"),
        (LogColumns(source="", second_source="language"), "de"),
        (LogColumns(source="channel", second_source="channel"), "app"),
        (LogColumns(source="channel", second_source=""), "app"),
        (LogColumns(source="channel"), "app"),
    ],
)
def test_a_second_part_of_a_source_is_read_where_it_is_named(
    live: LiveStudio, tmp_path: Path, columns: LogColumns, source: str
) -> None:
    path = tmp_path / "log.jsonl"
    line = {"text": "hello", "time": "2026-02-02 10:00", "channel": "app", "language": "de"}
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    done = import_log(live, LogRequest("p", path, columns=columns))
    assert done.sources == {source: 1}


def test_two_long_parts_make_one_source_of_200_signs(live: LiveStudio, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    line = {"text": "hello", "time": "2026-02-02 10:00", "channel": "a" * 150, "place": "b" * 150}
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    done = import_log(live, LogRequest("p", path, columns=LogColumns(second_source="place")))
    assert list(done.sources) == ["a" * 150 + " · " + "b" * 47]
    with pytest.raises(InvalidInput, match="has no column 'absent'"):
        import_log(live, LogRequest("p", path, columns=LogColumns(second_source="absent")))


def test_conversations_of_rasa_are_masked_and_have_their_channel(
    live: LiveStudio, tmp_path: Path
) -> None:
    path = tmp_path / "trackers.json"
    event = {"event": "user", "timestamp": 1770026400.5, "input_channel": "rest"}
    events = [{**event, "text": "i am anna@example.org"}, {"event": "bot", "text": "Hello."}]
    path.write_text(json.dumps([{"sender_id": "a", "events": events}]), encoding="utf-8")
    done = load(live, path)
    assert (done.tool, done.rows, done.kept, done.masked) == ("rasa", 1, 1, {"e-mail": 1})
    assert stored_rows(live) == [("2026-02-02T10:00:00Z", "i am [e-mail]", "rest")]


def test_a_file_that_is_imported_as_texts_and_as_a_log_brings_each_text_in_once(
    live: LiveStudio, log: Path
) -> None:
    """The log masked what the import had stored as it was: a second text waited for a label."""
    import_file(live.studio, ImportRequest("p", log, ReadOptions(text_column="message")))
    with live.studio.database.read() as connection:
        before = [row.text for row in utterances.find_all(connection, 1, Filter())]
    reading = LogReading("Europe/Berlin", LogColumns("message", "when", "channel"), mask=False)
    waiting = receive_log(live, "p", log.name, [log.read_bytes()], reading)
    assert waiting.report is not None
    found = waiting.report
    assert (found.added, found.masked, found.unmasked) == (0, None, {"e-mail": 1})
    assert import_received(live, "p", waiting.key, reading).kept == 4
    with live.studio.database.read() as connection:
        assert [row.text for row in utterances.find_all(connection, 1, Filter())] == before
    masked = load(live, log)  # the same rows, masked now
    assert (masked.kept, masked.repeated, masked.unmasked) == (0, 4, None)


def test_the_command_counts_and_stores(
    live: LiveStudio, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = str(live.studio.settings.home)
    command = ["--home", home, "import", "p", str(log), "--traffic", "--zone", "Europe/Berlin"]
    assert main([*command, "--dry-run", "--second-source-column", "message"]) == 0
    assert "  app · where is my parcel: 2" in capsys.readouterr().out
    assert main(["--home", home, "import", "p", str(log), "--second-source-column", "x"]) != 0
    capsys.readouterr()
    assert main([*command, "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "4 texts with a time, said from 2026-02-02 to 2026-02-03." in told
    assert "2 rows without a time that can be read, left out: 'soon', ''" in told
    assert stored_rows(live) == []
    assert main(command) == 0
    assert "4 stored now" in capsys.readouterr().out
    assert len(stored_rows(live)) == 4
    assert main(["--home", home, "import", "p", str(log), "--zone", "UTC"]) != 0
