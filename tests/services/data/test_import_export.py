import json
from pathlib import Path

import pytest

from app.cli import main
from app.services.data.exporting import ExportChoice, export_file
from app.services.data.importing import ImportRequest, import_file
from app.services.data.intents import add_intent
from app.services.data.projects import create_project, list_projects
from app.services.studio import Studio
from core.errors import InvalidInput, StudioError
from core.formats.rows import ReadOptions
from storage import pinned_texts, projects
from storage.database import open_database
from storage.log import edits, events
from storage.queries import dataset


def write(tmp_path: Path, content: str | bytes, name: str = "data.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def state_of(studio: Studio) -> tuple[bytes, bytes]:
    wal = studio.places.database.with_name("studio.db-wal")
    return studio.places.database.read_bytes(), wal.read_bytes() if wal.exists() else b""


def test_an_import_says_what_it_did_and_a_dry_run_says_the_same(
    studio: Studio, tmp_path: Path
) -> None:
    create_project(studio, "p")
    first = write(tmp_path, "text,intent\nhello,greeting\nNA,null\n007,agent\n")
    import_file(studio, ImportRequest("p", first))
    content = "text,intent\nhello,greeting\nHELLO,greeting\nNA,other\n   ,x\nnew one,refund\n"
    second = write(tmp_path, content + "y" * 6000 + ",x\nonly text,\n", "second.csv")
    before = state_of(studio)
    dry = import_file(studio, ImportRequest("p", second, dry_run=True))
    assert state_of(studio) == before
    wet = import_file(studio, ImportRequest("p", second))
    figures = (wet.added, wet.labelled, wet.already_there, wet.conflicting, wet.empty, wet.too_long)
    assert figures == (3, 2, 1, 1, 1, 1)
    assert wet.new_intents == ("refund",)
    assert (dry.added, dry.new_intents, dry.examples) == (wet.added, wet.new_intents, wet.examples)
    again = import_file(studio, ImportRequest("p", second))
    assert (again.added, again.labelled, again.already_there) == (0, 0, 4)


def test_exporting_then_importing_gives_the_same_texts_labels_ids_and_splits(
    studio: Studio, tmp_path: Path
) -> None:
    create_project(studio, "p", "multi-label")
    lines = '{"text": "a", "intents": ["x", "y"]}\n{"text": "b", "intents": []}\n'
    path = write(tmp_path, lines + '{"text": "c"}\n{"text": "007", "intent": "NA"}\n', "d.jsonl")
    import_file(studio, ImportRequest("p", path))
    for kind in ("jsonl", "csv", "tsv"):
        out = tmp_path / f"out.{kind}"
        assert export_file(studio, "p", out).written == 4
        create_project(studio, kind, "multi-label")
        import_file(studio, ImportRequest(kind, out))
        again = tmp_path / f"again.{kind}"
        export_file(studio, kind, again)
        assert again.read_bytes() == out.read_bytes()


def test_what_is_out_of_scope_goes_out_and_comes_in_where_a_text_has_one_intent(
    studio: Studio, tmp_path: Path
) -> None:
    """One press of O at the card, and the project could not be exported as a table any more."""
    create_project(studio, "p")
    lines = '{"text": "tell me a joke", "intents": []}\n{"text": "hello", "intent": "greet"}\n'
    import_file(studio, ImportRequest("p", write(tmp_path, lines + '{"text": "c"}\n', "d.jsonl")))
    for kind in ("csv", "tsv", "jsonl"):
        out, again = tmp_path / f"out.{kind}", tmp_path / f"again.{kind}"
        assert export_file(studio, "p", out).written == 3
        create_project(studio, kind)
        import_file(studio, ImportRequest(kind, out))
        with studio.database.read() as connection:
            rows = dataset.utterances(connection, projects.find(connection, kind).id)
            labels = {row.text: row.labels and len(row.labels) for row in rows}
        assert labels == {"tell me a joke": (), "hello": 1, "c": None}
        export_file(studio, kind, again)
        assert again.read_bytes() == out.read_bytes()


def test_an_intent_named_as_no_intent_is_not_written_into_a_table(studio, tmp_path) -> None:
    create_project(studio, "p")
    path = write(tmp_path, '{"text": "a", "intents": ["|"]}\n', "d.jsonl")
    import_file(studio, ImportRequest("p", path))
    with pytest.raises(InvalidInput, match="looks like a label without intent"):
        export_file(studio, "p", tmp_path / "out.csv")


def test_a_file_that_uses_an_archived_intent_brings_it_back_and_says_so(
    studio: Studio, tmp_path: Path
) -> None:
    """Its texts were taught under an intent that no card and no form offered."""
    create_project(studio, "p")
    import_file(studio, ImportRequest("p", write(tmp_path, "text,intent\na,old\nb,new\n")))
    with studio.database.write() as connection:
        project = projects.find(connection, "p").id
        changes = edits.merge_intents(connection, project, "old", "new")
        events.record(connection, project, events.Action("merge", "local"), changes)
    kept = import_file(studio, ImportRequest("p", write(tmp_path, "text,intent\na,old\n")))
    assert (kept.conflicting, kept.examples[0][:5]) == (1, "row 2")
    again = write(tmp_path, "text,intent\nc,old\nd,old\n")
    for dry_run in (True, False):
        report = import_file(studio, ImportRequest("p", again, dry_run=dry_run))
        assert report.examples == ("The intent 'old' was archived; the file uses it again.",)
    with studio.database.read() as connection:
        intents = dataset.intents(connection, project)
    assert [(intent.name, intent.archived) for intent in intents] == [
        ("old", False),
        ("new", False),
    ]


def test_a_test_set_with_an_intent_of_its_own_is_told(studio: Studio, tmp_path: Path) -> None:
    """110 test texts of "none of these" counted as wrong on every page, without a word."""
    create_project(studio, "p")
    tests = write(tmp_path, "text,intent\nc,Nothing\nd,Nothing\ne,pay\n")
    first = import_file(studio, ImportRequest("p", tests, split="test", dry_run=True))
    assert not first.examples  # the examples may come after it
    import_file(studio, ImportRequest("p", write(tmp_path, "text,intent\na,pay\n", "own.csv")))
    (told,) = import_file(studio, ImportRequest("p", tests, split="test")).examples
    assert told.startswith("The new intent 'Nothing' has no example to learn from")


def test_two_spellings_of_one_name_are_one_intent(studio: Studio, tmp_path: Path) -> None:
    create_project(studio, "p")
    path = write(tmp_path, "text,intent\na,caf\u00e9\nb,cafe\u0301\n")
    assert import_file(studio, ImportRequest("p", path)).new_intents == ("caf\u00e9",)


def test_names_that_look_the_same_are_one_intent(studio: Studio, tmp_path: Path) -> None:
    """A zero-width space that came along from a web page made a second "refund"."""
    create_project(studio, "p")
    first = write(tmp_path, "text,intent\na,refund\n", "first.csv")
    import_file(studio, ImportRequest("p", first))
    second = write(tmp_path, "text,intent\nb,ref\u200bund\nc,\u202erefund\u202c\n", "second.csv")
    report = import_file(studio, ImportRequest("p", second))
    assert (report.added, report.labelled, report.new_intents) == (2, 2, ())


def test_an_old_version_exports_byte_for_byte_after_a_thousand_edits(
    studio: Studio, tmp_path: Path, labelled_csv: Path
) -> None:
    from storage.log import versions

    create_project(studio, "p")
    import_file(studio, ImportRequest("p", labelled_csv))
    with studio.database.write() as connection:
        project = projects.find(connection, "p")
        versions.cut(connection, project, "last week")
    export_file(studio, "p", tmp_path / "before.csv", ExportChoice(version="1"))
    with studio.database.write() as connection:
        keys = [row.id for row in dataset.utterances(connection, project.id)]
        for turn in range(1_000):
            row = dataset.utterance_by_id(connection, project.id, keys[turn % len(keys)])
            change = edits.edit(row, "text", f"{turn}")
            events.record(connection, project.id, events.Action("edit", "local"), [change])
        change = edits.rename_intent(connection, project.id, "refund", "money back")
        events.record(connection, project.id, events.Action("rename", "local"), [change])
    export_file(studio, "p", tmp_path / "after.csv", ExportChoice(version="1"))
    assert (tmp_path / "after.csv").read_bytes() == (tmp_path / "before.csv").read_bytes()


BAD = {
    "not text": (b"\x89PNG\r\n\x1a\n\0", "bad.csv"),
    "no text column": (b"label,what\nx,hello\n", "bad.csv"),
    "a cell of 10 MB": (b"text,intent\nok,a\n" + b"x" * 10_000_000 + b",b\n", "bad.csv"),
    "a NUL": (b"text,intent\nok,a\nhel\0lo,b\n", "bad.csv"),
    "broken JSON": (b'{"text": "a"}\n{"text"\n', "bad.jsonl"),
    "two intents": (b'{"text": "a", "intents": ["x", "y"]}\n', "bad.jsonl"),
    "a missing text": (b"intent,text\nx,hello\ny\n", "bad.csv"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_file_is_refused_and_the_database_stays_byte_for_byte(
    studio: Studio, tmp_path: Path, labelled_csv: Path, kind: str
) -> None:
    create_project(studio, "p")
    import_file(studio, ImportRequest("p", labelled_csv))
    content, name = BAD[kind]
    path = write(tmp_path, content, name)
    before = state_of(studio)
    with pytest.raises(StudioError) as caught:
        import_file(studio, ImportRequest("p", path))
    assert caught.value.hint
    assert state_of(studio) == before


def test_a_named_column_that_is_missing_writes_nothing(studio: Studio, labelled_csv: Path) -> None:
    create_project(studio, "p")
    before = state_of(studio)
    options = ReadOptions(text_column="body")
    with pytest.raises(InvalidInput, match="body"):
        import_file(studio, ImportRequest("p", labelled_csv, options))
    assert state_of(studio) == before


def test_a_project_list_counts_what_is_there(studio: Studio, labelled_csv: Path) -> None:
    create_project(studio, "p")
    import_file(studio, ImportRequest("p", labelled_csv))
    view = list_projects(studio)[0]
    assert (view.intents, view.labelled, view.utterances, view.champion) == (4, 20, 20, None)


def test_a_second_process_sees_what_was_imported(studio: Studio, labelled_csv: Path) -> None:
    create_project(studio, "p")
    import_file(studio, ImportRequest("p", labelled_csv))
    other = open_database(studio.places.database)
    with other.read() as connection:
        assert dataset.count(connection, projects.find(connection, "p").id) == (20, 20)
    other.close()


def test_a_format_of_examples_counts_what_it_holds(studio: Studio, tmp_path: Path) -> None:
    """“Wrote 1000 utterances” was said of a file with the 200 that have an intent."""
    path = tmp_path / "mine.csv"
    path.write_text("text,intent,split\ntaught,greet,train\njudged,greet,test\nwaiting,,pool\n")
    create_project(studio, "p")
    import_file(studio, ImportRequest("p", path))
    done = export_file(studio, "p", tmp_path / "nlu.yml")
    assert (done.written, done.left_out, done.without_intent) == (1, 1, 1)
    assert (tmp_path / "nlu.yml").read_text().count("- taught") == 1


def test_a_file_of_utterances_tells_what_it_does_not_hold(
    studio: Studio, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exports to platforms told it; a CSV lost marked values and pins without a word."""
    city = {"slot": "city", "value": "Boston", "start": 7, "end": 13}
    rows = [
        {"text": "fly to Boston", "intents": ["book"], "split": "train", "slots": [city]},
        {"text": "flieg\nheim", "intents": ["book"], "split": "train", "language": "de"},
        {"text": "hello", "split": "pool"},
    ]
    create_project(studio, "p")
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    import_file(studio, ImportRequest("p", write(tmp_path, lines, "said.jsonl")))
    key = add_intent(studio, "p", "pay", "to pay")
    with studio.database.write() as connection:
        pinned_texts.add(connection, projects.find(connection, "p").id, "pay it", [key], "local")
    labels, marks = ("labels of texts", 2), ("marked values: written as plain words", 1)
    breaks = ("line breaks inside texts: written as blanks", 1)
    languages = ("languages of texts", 1)
    always = [("descriptions of intents", 1), ("pins, which the formats of tests write", 1)]
    for ending, losses in (
        ("csv", [marks, languages]),
        ("tsv", [marks, languages]),
        ("jsonl", []),
        ("yml", [breaks, languages]),
        ("txt", [labels, marks, breaks, languages]),
    ):
        done = export_file(studio, "p", tmp_path / f"all.{ending}")
        assert [(one.what, one.count) for one in done.losses] == [*losses, *always], ending
    out = str(tmp_path / "again.csv")
    assert main(["--home", str(studio.settings.home), "export", "p", out]) == 0
    told = capsys.readouterr().err
    assert "Not carried: marked values: written as plain words (1):\n  fly to Boston\n" in told
