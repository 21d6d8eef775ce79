"""An import compares a file with all splits, counts every case first, and changes nothing else."""

from collections.abc import Callable
from pathlib import Path

import pytest

from app.services.data.history import undo_last
from app.services.data.import_cases import ImportChoices
from app.services.data.importing import ImportReport, ImportRequest, import_file
from app.services.data.intents import load_overview
from app.services.data.projects import create_project
from app.services.studio import Studio
from core.errors import Conflict
from core.formats.rows import ReadOptions
from storage import projects
from storage.queries import dataset

MINE = """text,intent,split
taught,greet,train
judged,greet,test
waiting,,pool
"""
State = dict[tuple[str, str], tuple[str, ...] | None]


@pytest.fixture
def bring(studio: Studio, tmp_path: Path) -> Callable[..., ImportReport]:
    create_project(studio, "p")

    def run(content: str, *, dry_run: bool = False, split=None, column=None, **choices):
        path = tmp_path / "file.csv"
        path.write_text(content)
        options = ReadOptions(intent_column=column)
        chosen = ImportChoices(**choices)
        return import_file(studio, ImportRequest("p", path, options, split, dry_run, chosen))

    run(MINE)
    return run


def state(studio: Studio) -> State:
    with studio.database.read() as connection:
        project = projects.find(connection, "p")
        names = dataset.intent_names(connection, project.id)
        return {
            (row.text, row.split): None
            if row.labels is None
            else tuple(names[key] for key in row.labels)
            for row in dataset.utterances(connection, project.id)
        }


def rows_by_case(report: ImportReport) -> dict[str, int]:
    return {case.kind: case.rows for case in report.cases}


def test_every_row_is_counted_once_and_the_preview_counts_what_is_done(studio, bring) -> None:
    content = (
        "text,intent\nnew one,refund\ntaught,greet\ntaught,refund\njudged,refund\nwaiting,greet\n"
        "new one,refund\nnew two,greet\nnew two,refund\n ,greet\n" + "y" * 6000 + ",greet\n"
    )
    before = state(studio)
    dry = bring(content, dry_run=True)
    assert state(studio) == before
    assert rows_by_case(dry) == {
        "new": 2,
        "given": 1,
        "same": 1,
        "in-test": 1,
        "repeated": 1,
        "contradicted": 2,
        "empty": 1,
        "too-long": 1,
    }
    assert sum(rows_by_case(dry).values()) == 10
    wet = bring(content)
    assert (wet.cases, wet.added, wet.labelled) == (dry.cases, dry.added, dry.labelled)
    assert state(studio) == {
        **{key: label for key, label in before.items() if key[0] != "waiting"},
        ("waiting", "train"): ("greet",),
        ("new one", "train"): ("refund",),
        ("new two", "train"): ("greet",),
    }


def test_a_label_that_differs_is_kept_unless_the_files_is_chosen(studio, bring) -> None:
    content = "text,intent\ntaught,refund\n"
    kept = bring(content)
    assert (rows_by_case(kept), kept.conflicting, kept.key) == ({"otherwise": 1}, 1, "")
    example = kept.cases[0].examples[0]
    assert (example.row, example.here, example.file) == (2, "greet", "refund")
    assert state(studio)["taught", "train"] == ("greet",)
    kept = bring(content, otherwise="file", exceptions=frozenset({2}))
    assert (kept.relabelled, state(studio)["taught", "train"]) == (0, ("greet",))
    taken = bring(content, otherwise="file")
    assert (rows_by_case(taken), taken.relabelled, taken.conflicting) == ({"otherwise": 1}, 1, 0)
    assert state(studio)["taught", "train"] == ("refund",)
    assert bring("text,intent\ntaught,greet\n", exceptions=frozenset({2})).relabelled == 1


@pytest.mark.parametrize(("label", "split"), [("greet", None), ("refund", None), ("", None)])
def test_a_text_of_the_test_set_is_left_out_unless_it_is_chosen(
    studio: Studio, bring, label: str, split
) -> None:
    content = f"text,intent\njudged,{label}\nfiller,greet\n"
    report = bring(content, split=split)
    assert rows_by_case(report) == {"new": 1, "in-test": 1}
    assert [key[1] for key in state(studio) if key[0] == "judged"] == ["test"]
    assert state(studio)["judged", "test"] == ("greet",)
    bring(content, across="add")
    added = "train" if label else "pool"
    assert state(studio)["judged", added] == ((label,) if label else None)
    assert state(studio)["judged", "test"] == ("greet",)


def test_a_test_file_takes_no_text_that_is_learned_from(studio: Studio, bring) -> None:
    content = "text,intent\ntaught,greet\njudged,greet\nwaiting,refund\nfresh,greet\n"
    report = bring(content, split="test")
    assert rows_by_case(report) == {"new": 1, "given": 1, "same": 1, "in-training": 1}
    assert ("taught", "test") not in state(studio)
    assert state(studio)["waiting", "test"] == ("refund",)  # nobody had decided about it
    assert ("waiting", "pool") not in state(studio)
    bring(content, split="test", across="add")
    assert {("taught", "test"), ("taught", "train")} <= state(studio).keys()


def test_a_pool_takes_no_text_that_is_there_in_any_split(studio: Studio, bring) -> None:
    before = state(studio)
    report = bring("text\ntaught\njudged\nwaiting\n")
    assert rows_by_case(report) == {"same": 1, "unlabelled": 1, "in-test": 1}
    assert (report.added, report.already_there, state(studio)) == (0, 3, before)


@pytest.mark.parametrize(
    ("choice", "label"), [("first", ("a",)), ("last", ("c",)), ("unlabelled", None)]
)
def test_a_text_with_several_labels_in_the_file_gets_the_chosen_one(
    studio: Studio, bring, choice: str, label
) -> None:
    report = bring("text,intent\nx,\nx,a\nx,b\nx,c\n", contradicted=choice)
    assert rows_by_case(report) == {"new": 1, "contradicted": 3}
    assert [value for key, value in state(studio).items() if key[0] == "x"] == [label]


def test_a_label_in_a_later_row_counts_for_a_text_that_stood_without_one(studio, bring) -> None:
    assert rows_by_case(bring("text,intent\nx,\nx,greet\n")) == {"new": 1, "repeated": 1}
    assert state(studio)["x", "train"] == ("greet",)


DOUBTFUL = "text,intent\na,OOS\nb,None\nc,n/a\nd,-\ne,out-of-scope\nf,\ng,greet\n"


def test_labels_that_may_mean_no_intent_are_asked_about_and_make_none(studio, bring) -> None:
    dry = bring(DOUBTFUL, dry_run=True)
    asked = {doubt.label: (doubt.rows, doubt.meaning, doubt.chosen) for doubt in dry.doubtful}
    assert asked == {
        "": (1, "unlabelled", False),
        "-": (1, "unlabelled", False),
        "None": (1, "unlabelled", False),
        "OOS": (1, "out-of-scope", False),
        "n/a": (1, "unlabelled", False),
        "out-of-scope": (1, "out-of-scope", False),
    }
    assert {doubt.label: doubt.texts for doubt in dry.doubtful}["None"] == ("b",)
    meanings = {"None": "intent", "-": "out-of-scope", "": "out-of-scope", "OOS": "unlabelled"}
    done = bring(DOUBTFUL, meanings=meanings)
    assert done.new_intents == ("None",)
    labels = {text: label for (text, _), label in state(studio).items()}
    assert [labels[text] for text in "abcdef"] == [None, ("None",), None, (), (), ()]
    assert bring("text,intent\nz,None\n").doubtful == ()  # there is such an intent now


def test_no_column_for_the_intent_makes_every_row_unlabelled(studio: Studio, bring) -> None:
    report = bring("text,intent\nx,greet\ny,new\n", column="")
    assert (report.added, report.labelled, report.new_intents) == (2, 0, ())
    assert state(studio)["x", "pool"] is None


def test_empty_cells_are_asked_about_only_beside_labels(bring) -> None:
    assert bring("text,intent\nx,\ny,\n", dry_run=True).doubtful == ()
    assert bring("text\nx\n", dry_run=True).doubtful == ()


def test_an_import_is_taken_back_whole(studio: Studio, bring) -> None:
    before = state(studio)
    content = "text,intent\ntaught,refund\nwaiting,greet\nnew,fresh\njudged,refund\n"
    report = bring(content, otherwise="file", across="add")
    assert report.key
    assert state(studio) != before
    undo_last(studio, "p")
    assert state(studio) == before
    assert [intent.name for intent in load_overview(studio, "p")[1]] == ["greet"]


def test_counts_that_are_out_of_date_import_nothing(studio: Studio, bring) -> None:
    content = "text,intent\nx,greet\ny,greet\n"
    counted = rows_by_case(bring(content, dry_run=True))
    bring("text,intent\nx,refund\n")
    before = state(studio)
    with pytest.raises(Conflict, match="changed since you saw"):
        bring(content, counted=counted)
    assert state(studio) == before
    assert bring(content, counted=rows_by_case(bring(content, dry_run=True))).added == 1


def test_a_text_in_two_splits_goes_out_and_comes_in(studio: Studio, bring, tmp_path) -> None:
    from app.services.data.exporting import export_file

    bring("text,intent\njudged,refund\n", across="add")
    out, again = tmp_path / "out.csv", tmp_path / "again.csv"
    export_file(studio, "p", out)
    assert rows_by_case(bring(out.read_text(), dry_run=True)) == {"same": 4}
    create_project(studio, "q")
    import_file(studio, ImportRequest("q", out))
    export_file(studio, "q", again)
    assert again.read_bytes() == out.read_bytes()


def test_two_names_of_one_file_that_differ_by_signs_alone_are_told_of(bring) -> None:
    """ "top up by card charge" and "top_up_by_card_charge" came in unremarked."""
    content = "text,intent\none new,card charge\nanother new,Card_charge\na third,greeting\n"
    report = bring(content, dry_run=True)
    assert report.examples == (
        "The new intent 'Card_charge' has the words of 'card charge', which is in this file, too. "
        "Correct the file if they are the same, or merge them later, in Review.",
    )


def test_test_texts_of_a_table_that_numbers_its_rows_are_asked_about(studio, bring) -> None:
    """An id beside a set passed for the studio's own: the test text became an example, too."""
    report = bring("id,text,intent,split\n1,hello,greet,train\n2,hello,greet,test\n")
    assert rows_by_case(report) == {"new": 1, "repeated": 1}
    assert [key for key in state(studio) if key[0] == "hello"] == [("hello", "train")]


def test_a_row_conflicts_only_if_an_earlier_one_says_something_else(bring) -> None:
    """“row 3 says a, an earlier one not” stood there of a row that said the same."""
    report = bring("text,intent\nx,a\nx,a\nx,b\nx,\n", contradicted="first")
    assert report.conflicting == 1
    assert [words.split(":")[0] for words in report.examples] == [
        "row 4 says b, an earlier one not"
    ]
