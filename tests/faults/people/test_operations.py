"""What a browser sends twice, late, out of order or from two tabs is saved once, and as decided."""

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.labelling.decisions import Operation, decide
from app.services.studio import Studio
from storage.queries import dataset
from tests.faults.table import Fault

FAULTS = (
    Fault(
        5,
        "Two tabs or people decide about one text",
        "Two decisions that saw the same label, in either order",
        "One is saved, the other is told who decided what; nothing is overwritten",
        figures="tabs",
    ),
    Fault(
        6,
        "A decision is sent twice, late, out of order, or after 24 hours offline",
        "50 shuffles of repeated messages; an outbox of yesterday, whose texts others labelled",
        "Each key is saved once; a repeat changes nothing, also after later decisions",
        figures="shuffles",
    ),
)
SHUFFLES = 50


@pytest.fixture
def pool(studio: Studio, tmp_path: Path, labelled_csv: Path) -> dict[str, str]:
    """Ids of texts that wait, and of the intents, by text and name."""
    texts = tmp_path / "pool.txt"
    texts.write_text("first\nsecond\nthird\n", encoding="utf-8")
    create_project(studio, "p")
    for file in (labelled_csv, texts):
        import_file(studio, ImportRequest("p", file))
    with studio.database.read() as connection:
        rows = {r.text: r.id for r in dataset.utterances(connection, 1) if r.labels is None}
        return rows | {intent.name: intent.id for intent in dataset.intents(connection, 1)}


def labels(studio: Studio) -> dict[str, tuple[str, ...] | None]:
    with studio.database.read() as connection:
        return {row.id: row.labels for row in dataset.utterances(connection, 1)}


def keys(studio: Studio) -> Counter[str]:
    with studio.database.read() as connection:
        rows = connection.execute(sa.text("SELECT key FROM batch")).scalars()
        return Counter(str(key) for key in rows)


def decision(pool: dict[str, str], key: str, text: str, intent: str, seen: str = "") -> Operation:
    before = (pool[seen],) if seen else None
    return Operation(key, "label", pool[text], (pool[intent],), seen=before)


def test_messages_in_any_order_and_number_are_saved_once(
    studio: Studio, pool: dict[str, str], measured: Callable[[str, str], None]
) -> None:
    generator = random.Random(3)
    conflicts = 0
    for turn in range(SHUFFLES):
        first = decision(pool, f"{turn}-a", "first", "refund")
        second = decision(pool, f"{turn}-b", "first", "parcel", "refund")
        third = Operation(f"{turn}-c", "undo", of=f"{turn}-a")
        sent = [first, second, third] * 2
        generator.shuffle(sent)
        states = [outcome.state for one in sent for outcome in decide(studio, "p", [one])]
        conflicts += states.count("conflict")
        assert set(states) <= {"saved", "conflict"}
        clear = Operation(f"{turn}-d", "unlabel", pool["first"], seen=labels(studio)[pool["first"]])
        decide(studio, "p", [clear])
    assert max(keys(studio).values()) == 1
    measured("shuffles", f"{SHUFFLES} shuffles: no key twice, {conflicts} told as conflicts.")


def test_a_repeat_after_a_later_decision_changes_nothing(
    studio: Studio, pool: dict[str, str]
) -> None:
    first = decision(pool, "a", "first", "refund")
    decide(studio, "p", [first, decision(pool, "b", "first", "parcel", "refund")])
    assert [outcome.state for outcome in decide(studio, "p", [first])] == ["saved"]
    assert labels(studio)[pool["first"]] == (pool["parcel"],)


def test_an_outbox_of_yesterday_saves_what_nobody_decided_meanwhile(
    studio: Studio, pool: dict[str, str]
) -> None:
    decide(studio, "p", [decision(pool, "other", "second", "parcel")])
    outbox = [
        decision(pool, "a", "first", "refund"),
        decision(pool, "b", "second", "refund"),
        decision(pool, "c", "third", "refund"),
    ]
    told = decide(studio, "p", outbox)
    assert [outcome.state for outcome in told] == ["saved", "conflict", "saved"]
    assert told[1].message == "Somebody else has labelled “second” as parcel meanwhile."
    assert labels(studio)[pool["second"]] == (pool["parcel"],)


def test_of_two_tabs_one_wins_and_the_other_is_told(studio: Studio, pool: dict[str, str]) -> None:
    tabs = [decision(pool, "a", "first", "refund"), decision(pool, "b", "first", "parcel")]
    states = [decide(studio, "p", [operation])[0].state for operation in tabs]
    assert states == ["saved", "conflict"]
    assert labels(studio)[pool["first"]] == (pool["refund"],)
    agreeing = decision(pool, "c", "first", "refund")  # the same answer is no conflict
    assert decide(studio, "p", [agreeing])[0].state == "saved"
