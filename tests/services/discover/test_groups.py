"""A project's unlabelled texts are grouped, described and written; nothing in it changes."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from app.cli import main
from app.services.data.bulk import BulkAct, Edit
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.data.utterances import change_many
from app.services.discover.describing import line_about
from app.services.discover.files import read_placed, write_placed
from app.services.discover.grouped import GroupChoice
from app.services.discover.groups import discover
from app.services.discover.views import DiscoveredView, PlacedText
from app.services.live.live_studio import open_live_studio
from app.services.studio import Studio
from core.errors import InvalidInput, NotFound
from storage import projects
from storage.queries.utterances import Filter
from tests.builders.trained_home import EVERY_TEXT, POOL, change, rows

Bring = Callable[..., None]


@pytest.fixture
def bring(home: Studio, tmp_path: Path) -> Bring:
    """Import unlabelled texts into the project."""

    def _bring(*texts: str) -> None:
        path = tmp_path / "more.txt"
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")
        import_file(home, ImportRequest("p", path))

    return _bring


def test_words_that_tell_nothing_do_not_describe_a_group() -> None:
    """A group was “About how, is”, another “About card, bill, and”."""
    assert line_about(("how", "is"), "how big is it") == "Such as “how big is it”"
    assert line_about(("card", "bill", "and"), "my card") == "About card, bill: “my card”"
    assert line_about(("the parcel",), "lost") == "About the parcel: “lost”"


def empty_the_pool(home: Studio) -> None:
    for text in POOL:
        change(home, text, "split", "test")


def grouped(home: Studio, **choice: object) -> tuple[DiscoveredView, tuple[PlacedText, ...]]:
    return discover(open_live_studio(home), "p", GroupChoice(**choice))  # type: ignore[arg-type]


def revision(home: Studio) -> int:
    with home.database.read() as connection:
        return projects.find(connection, "p").head_revision


def test_every_unlabelled_text_is_in_one_named_group_and_nothing_changes(home: Studio) -> None:
    before = revision(home)
    view, placed = grouped(home, n_groups=2)
    assert revision(home) == before
    assert sorted(one.text for one in placed) == sorted(POOL)
    assert view.n_texts == sum(group.size for group in view.groups) == 5
    assert [group.size for group in view.groups] == sorted(
        (group.size for group in view.groups), reverse=True
    )
    assert len({group.name for group in view.groups}) == len(view.groups) == 2
    assert (view.by, view.note) == ("p@2", "")
    for group in view.groups:
        assert group.typical[0] in group.description
        assert len(group.nearest) == 2
        assert group.nearest[0].cosine >= group.nearest[1].cosine
        assert group.in_scope is not None
        assert 0 <= group.in_scope <= 1


def test_texts_grouped_before_stay_and_new_ones_join(home: Studio, bring: Bring) -> None:
    before = dict.fromkeys(POOL[:3], "my own name") | dict.fromkeys(POOL[3:], "another")
    bring("what about refund", "what about password")
    view, placed = grouped(home, before=before)
    of = {one.text: one.group for one in placed}
    assert len(of) == view.n_texts == 7
    assert {text: of[text] for text in POOL} == before
    assert {group.name for group in view.groups} >= {"my own name", "another"}
    bring(*(f"zq {n} xv 77 jj {n * n}" for n in range(12)))
    assert {text: grouped(home, before=of)[0].n_texts for text in POOL[:1]} == {POOL[0]: 19}


def test_none_one_and_equal_texts_get_clear_words(home: Studio, bring: Bring) -> None:
    empty_the_pool(home)
    view, placed = grouped(home)
    assert view.groups == placed == ()
    assert view.note.startswith("There is nothing to group: of 25 texts in 'p', none is without")
    create_project(home, "q")
    nothing, _ = discover(open_live_studio(home), "q")
    assert nothing.note == "'q' has no texts yet. Import some."
    bring("where am I")
    view, _ = grouped(home)
    assert [group.typical for group in view.groups] == [("where am I",)]
    assert view.note == "1 text without a label: too few to divide."
    bring("Where am I", "WHERE am I", "where AM I", "where am i", "WHERE AM I")
    view, _ = grouped(home, n_groups=3)
    assert [group.size for group in view.groups] == [view.n_texts]
    assert view.note.endswith("texts without a label are the same to the encoder: one group.")


def test_what_cannot_be_made_is_refused(home: Studio) -> None:
    with pytest.raises(InvalidInput, match="0 groups"):
        grouped(home, n_groups=0)
    with pytest.raises(NotFound):
        discover(open_live_studio(home), "nobody")


def test_a_file_holds_any_text_and_returns_its_group(tmp_path: Path) -> None:
    texts = ('a "quoted", one', "two\nlines", "a\rreturn", "=1+1")
    path = tmp_path / "out.csv"
    write_placed(path, [PlacedText(text, "g, h", 0.123456) for text in texts])
    assert path.read_text(encoding="utf-8").startswith("text,group,closeness\n")
    assert read_placed(path) == dict.fromkeys(texts, "g, h")


def test_a_file_for_spreadsheets_computes_nothing(tmp_path: Path) -> None:
    """A text that begins with = was a formula of whoever opened the file."""
    path = tmp_path / "out.csv"
    placed = [PlacedText("=1+1", "@g", 0.5), PlacedText("where is it", "g", 0.5)]
    write_placed(path, placed, spreadsheet=True)
    assert path.read_text("utf-8").splitlines()[1:] == [
        '"\'=1+1","\'@g",0.5',
        '"where is it","g",0.5',
    ]


def test_the_command_prints_and_writes_the_groups(
    home: Studio, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "groups.csv"
    words = ["--home", str(home.settings.home), "discover", "--project", "p"]
    assert main([*words, "--groups", "2", "--out", str(out)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "5 texts without a label, grouped by p@2." in printed
    assert "nearest intents:" in printed
    assert "answered in scope" in printed
    assert set(read_placed(out)) == set(POOL)
    assert main([*words, "--before", str(out), "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert {group["name"] for group in again["groups"]} == set(read_placed(out).values())
    assert main([*words, "--groups", "401"]) == 2
    assert "Choose 1 to 400" in capsys.readouterr().err
    assert main([*words, "--format", "spreadsheet"]) == 2
    assert "Name one with --out" in capsys.readouterr().err
    assert main([*words, "--out", str(out), "--format", "spreadsheet"]) == 0


def test_the_command_groups_texts_out_of_scope_on_wish(
    home: Studio, capsys: pytest.CaptureFixture[str]
) -> None:
    key = rows(home)[POOL[0]].id
    act = BulkAct(1, EVERY_TEXT)
    change_many(home, "p", Filter(ids=(key,)), Edit("out-of-scope"), act)
    words = ["--home", str(home.settings.home), "discover", "--project", "p"]
    assert main(words) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "4 texts without a label, grouped by p@2." in printed
    assert main([*words, "--out-of-scope"]) == 0
    told = capsys.readouterr()
    printed = " ".join(told.out.split())
    assert "4 texts without a label and 1 out of scope, grouped by p@2." in printed
    first = told.err.splitlines()[0]  # before the work, which takes minutes with many texts
    assert first == "Also grouped: 1 text labelled out of scope."
    assert rows(home)[POOL[0]].labels == ()
