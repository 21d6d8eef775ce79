"""Finding utterances: filters against plain Python, pages without gaps, search word for word."""

import unicodedata
from dataclasses import replace

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from storage import projects
from storage.database import Database, open_database
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset, utterances
from storage.queries.utterances import Filter, Page
from storage.records import UtteranceRecord
from storage.tables import utterance

TEXTS = [
    "Wo ist mein ÄRGER?",
    "straße und STRASSE",
    "100% sure",
    "100 percent",
    "a_b",
    "aXb",
    'it\'s "quoted"',
    "back\\slash",
    "caf\u00e9 Ж",
    "\u039f\u0394\u039f\u03a3",
    "İstanbul",
    "plain",
    "plain",
    "'; DROP TABLE utterance; --",
]
ORDERS = ("newest", "oldest", "changed", "text")


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory):
    opened = open_database(tmp_path_factory.mktemp("browse") / "studio.db")
    with opened.write() as connection:
        project = projects.create(connection, "p")
        other = projects.create(connection, "other")
        made = [edits.create_intent(name) for name in "ab"]
        labels = [None, [], [made[0].subject_id], [made[0].subject_id, made[1].subject_id]]
        rows = [
            edits.create_utterance(
                f"u{i:02}", text, ("train", "test", "pool")[i % 3], "f", labels[i % 4]
            )
            for i, text in enumerate(TEXTS * 2)
        ]
        events.record(connection, project.id, Action("import", "local"), [*made, *rows])
        events.record(connection, other.id, Action("import", "local"), [*made, *rows])
        for i, row in enumerate(dataset.utterances(connection, project.id)):
            changes = [edits.edit(row, "skipped", value=True)] if i % 5 == 0 else []
            changes += [edits.edit(row, "flagged", "odd")] if i % 7 == 0 else []
            events.record(connection, project.id, Action("edit", "local"), changes)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def everything(database: Database) -> list[UtteranceRecord]:
    with database.read() as connection:
        return list(dataset.utterances(connection, 1))


@pytest.fixture(scope="module")
def intent_ids(database: Database) -> dict[str, str]:
    with database.read() as connection:
        return utterances.intent_ids(connection, 1)


def fold(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


STATES = {
    "labelled": lambda r: bool(r.labels),
    "unlabelled": lambda r: r.labels is None and not r.skipped,
    "out-of-scope": lambda r: r.labels == (),
    "skipped": lambda r: r.labels is None and r.skipped,
    "flagged": lambda r: r.flagged != "",
}


def lets_through(which: Filter, record: UtteranceRecord) -> bool:
    """What the filter promises, said plainly."""
    return (
        all(fold(word) in fold(record.text) for word in which.text.split())
        and (which.intent_id is None or which.intent_id in (record.labels or ()))
        and (which.second_intent_id is None or which.second_intent_id in (record.labels or ()))
        and (which.split is None or which.split == record.split)
        and (which.state is None or STATES[which.state](record))
        and (which.ids is None or record.id in which.ids)
    )


PIECES = [
    "%",
    "_",
    "a_b",
    "\\",
    "'",
    '"',
    "ä",
    "Ä",
    "strasse",
    "STRASSE",
    "e\u0301",
    "ж",
    "\u03c3",
    "\u03c2",
]
PIECES += ["PLAIN", "100%", "a", "is", "\0", "i", "--", "%%", "100 sure", " "]
Filters = st.builds(
    Filter,
    text=st.one_of(st.sampled_from(PIECES), st.text(max_size=3)),
    state=st.none() | st.sampled_from(sorted(STATES)),
    split=st.none() | st.sampled_from(["train", "test", "pool"]),
    ids=st.none() | st.lists(st.sampled_from([f"u{i:02}" for i in range(30)])).map(tuple),
)


@settings(deadline=None, max_examples=150)
@given(which=Filters, names=st.tuples(*[st.sampled_from([None, "a", "b"])] * 2))
def test_every_filter_is_what_it_says(database, everything, intent_ids, which, names) -> None:
    first, second = (intent_ids.get(name) for name in names)
    which = replace(which, intent_id=first, second_intent_id=second)
    with database.read() as connection:
        found = {record.id for record in utterances.find_all(connection, 1, which)}
        _, total = utterances.read_page(connection, 1, which, "newest", Page(0, 1))
        assert utterances.count_all(connection, 1, which) == total
    assert found == {record.id for record in everything if lets_through(which, record)}
    assert total == len(found)


def test_a_second_intent_finds_the_texts_that_have_both(database, intent_ids) -> None:
    """Of sets of intents one could be asked for, but not which texts have it beside another."""
    which = Filter(intent_id=intent_ids["a"], second_intent_id=intent_ids["b"])
    with database.read() as connection:
        found = {record.id for record in utterances.find_all(connection, 1, which)}
    assert found == {f"u{i:02}" for i in range(3, 2 * len(TEXTS), 4)}


@settings(deadline=None, max_examples=30)
@given(which=Filters, order=st.sampled_from(ORDERS), size=st.integers(1, 11))
def test_pages_show_every_row_once(database, which, order, size) -> None:
    with database.read() as connection:
        whole = {record.id for record in utterances.find_all(connection, 1, which)}
        pages = [
            utterances.read_page(connection, 1, which, order, Page(start, size))[0]
            for start in range(0, 40, size)
        ]
    shown = [record.id for rows in pages for record in rows]
    assert len(shown) == len(set(shown))
    assert set(shown) == whole


def test_orders_are_by_coming_by_change_and_by_text(database, everything) -> None:
    def ids(order: str) -> list[str]:
        with database.read() as connection:
            rows, _ = utterances.read_page(connection, 1, Filter(), order, Page(0, 100))
        return [record.id for record in rows]

    assert ids("oldest") == sorted(record.id for record in everything)
    assert ids("newest") == ids("oldest")[::-1]
    texts = {record.id: record.text for record in everything}
    assert [texts[key] for key in ids("text")] == sorted(texts.values())
    changed = [key for i, key in enumerate(ids("oldest")) if i % 5 == 0 or i % 7 == 0]
    assert ids("changed")[: len(changed)] == changed[::-1]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("%", ["100% sure"]),
        ("_", ["a_b"]),
        ("\\", ["back\\slash"]),
        ('"', ['it\'s "quoted"']),
        ("ärger", ["Wo ist mein ÄRGER?"]),
        ("STRASSE", ["straße und STRASSE"]),
        ("CAFE\u0301", ["caf\u00e9 Ж"]),
        ("ж", ["caf\u00e9 Ж"]),
        ("\u03bf\u03b4\u03bf\u03c2", ["\u039f\u0394\u039f\u03a3"]),
        ("sure 100", ["100% sure"]),
        ("; DROP", ["'; DROP TABLE utterance; --"]),
        ("plain\0", []),
    ],
)
def test_a_search_means_its_letters_in_any_case(database, text: str, found: list[str]) -> None:
    """SQLite alone knows upper and lower case of English, and stops reading at a NUL."""
    with database.read() as connection:
        rows = utterances.find_all(connection, 1, Filter(text))
    assert sorted({record.text for record in rows}) == found


def test_counts_add_up_to_what_the_filters_find(database, everything, intent_ids) -> None:
    with database.read() as connection:
        counts = utterances.counts(connection, 1)
        exemplars = utterances.taught(connection, 1, "single-label")
    for state, test in STATES.items():
        assert getattr(counts, state.replace("-", "_")) == sum(map(test, everything))
    parts = counts.labelled + counts.unlabelled + counts.out_of_scope + counts.skipped
    assert parts == counts.total == len(everything)
    for split in ("train", "test", "pool"):
        assert counts.by_split[split] == sum(r.split == split for r in everything)
    for key in intent_ids.values():
        assert counts.by_intent[key] == sum(key in (r.labels or ()) for r in everything)
    taught = [r for r in everything if r.split == "train" and r.labels]
    assert exemplars == (len(taught), len({key for r in taught for key in r.labels or ()}))


def test_more_ids_than_one_statement_takes_are_asked_in_parts(database, monkeypatch) -> None:
    monkeypatch.setattr(utterances, "_MOST_IDS", 4)
    ids = [f"u{i:02}" for i in range(20)] + ["unknown"]
    with database.read() as connection:
        assert sorted(utterances.by_ids(connection, 1, ids)) == ids[:-1]
        waiting = utterances.waiting(connection, 1, ids)
        found = utterances.by_ids(connection, 1, ids).values()
    assert waiting == {r.id for r in found if STATES["unlabelled"](r)}


def test_chance_chooses_once(database: Database, everything) -> None:
    with database.read() as connection:
        first = utterances.sample_unlabelled(connection, 1, 3)
        whole = utterances.sample_unlabelled(connection, 1, 100)
    assert whole[:3] == first
    assert {r.id for r in whole} == {r.id for r in everything if STATES["unlabelled"](r)}
    assert len(whole) == len({r.id for r in whole}) > 3


def test_many_utterances_read_at_once_equal_those_read_row_by_row(database: Database) -> None:
    """Thousands of rows a second, read one by one, kept every decision of a busy day waiting."""
    with database.read() as connection:
        for order in (utterance.c.text_hash, utterance.c.id.desc(), utterance.c.text):
            query = sa.select(utterance).order_by(order, utterance.c.project_id).limit(40)
            one_by_one = dataset.read_utterances(connection, query)
            assert len(one_by_one) == 40
            assert dataset.read_many_utterances(connection, query) == one_by_one
        none = sa.select(utterance).where(utterance.c.id == "none")
        assert dataset.read_many_utterances(connection, none) == []
