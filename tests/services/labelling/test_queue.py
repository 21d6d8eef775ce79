"""The queue: other items for each browser, in the order asked for, none lost."""

import threading
from dataclasses import replace

import numpy as np
import pytest

from app.services.data.intents import add_intent, change_intent, load_overview
from app.services.data.projects import create_project
from app.services.labelling import decisions, queue
from app.services.labelling.decisions import Operation
from app.services.labelling.queue import QueueRequest, Queues
from app.services.live import pool as pool_module
from app.services.live.live_studio import open_live_studio
from app.services.live.pool import Pool
from app.services.review.fence import save_fence
from app.services.review.fence_views import FenceSetting
from app.services.status import load_status
from app.services.studio import Studio
from app.services.versions.registry import promote
from core.review.labelling_order import alike_from
from core.vectors import unit_rows
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset
from tests.builders.trained_home import POOL
from tests.waiting import wait_until


def wish(
    client: str, order: str = "newest", n: int = 20, without: tuple[str, ...] = ()
) -> QueueRequest:
    return QueueRequest(client, order, n, frozenset(without))


def asked(queues: Queues, client: str, *rest, without: tuple[str, ...] = ()) -> list[str]:
    items = queues.next("p", wish(client, *rest, without=without)).items
    return [item.id for item in items]


@pytest.fixture
def queues(studio: Studio) -> Queues:
    """Eight unlabelled texts, no model."""
    project = create_project(studio, "p")
    rows = [edits.create_utterance(f"u{i}", f"text {i}", "pool", "f", None) for i in range(8)]
    with studio.database.write() as connection:
        events.record(
            connection, project.id, Action("import", "local"), [edits.create_intent("a"), *rows]
        )
    return Queues(open_live_studio(studio))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1_000.0]
    monkeypatch.setattr(queue.time, "monotonic", lambda: now[0])
    return now


def test_two_browsers_get_other_items_and_a_closed_ones_come_back(queues: Queues) -> None:
    first, second = asked(queues, "one", "newest", 3), asked(queues, "two", "newest", 3)
    assert first == ["u7", "u6", "u5"]
    assert second == ["u4", "u3", "u2"]
    assert asked(queues, "one", "newest", 3) == first
    assert asked(queues, "three") == ["u1", "u0"]
    assert asked(queues, "four") == []
    queues.release("p", "one")
    assert asked(queues, "four") == first


def test_a_lease_expires_unless_the_browser_still_asks(queues: Queues, clock) -> None:
    mine = asked(queues, "one", "newest", 4)
    clock[0] += 500
    assert asked(queues, "one", "newest", 2, without=tuple(mine[:2])) == mine[2:]
    clock[0] += 200
    assert not set(mine) & set(asked(queues, "two", "newest", 4))
    clock[0] += 601
    assert asked(queues, "three", "newest", 4) == mine
    assert "two" not in {who for who, _ in queues.leases[1].values()}


def test_what_a_tab_asked_for_before_it_closed_is_not_leased_to_it(
    queues: Queues, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tab closed while the server answered it, and nobody else saw the texts for 10 minutes."""

    def close_meanwhile(queues: Queues, project_id: int, request: QueueRequest) -> None:
        queues.release("p", request.client)

    with monkeypatch.context() as patched:
        patched.setattr(Queues, "_scored", close_meanwhile)
        asked(queues, "one")
    assert len(asked(queues, "two")) == 8


def test_what_a_tab_shows_again_is_leased_again_unless_another_has_it(queues: Queues) -> None:
    mine = asked(queues, "one", "newest", 4)
    queues.release("p", "one")
    assert asked(queues, "two", "newest", 2) == mine[:2]
    asked(queues, "one", "newest", 1, without=tuple(mine))
    assert not set(mine[2:]) & set(asked(queues, "two", without=tuple(mine[:2])))
    assert {key: client for key, (client, _) in queues.leases[1].items()}[mine[0]] == "two"


def decide(queues: Queues, key: str, kind: str, row: str, **more) -> str:
    return decisions.decide(queues.live_studio.studio, "p", [Operation(key, kind, row, **more)])[
        0
    ].state


def test_a_skipped_item_leaves_the_queue_and_is_not_lost(queues: Queues) -> None:
    assert decide(queues, "k0", "skip", "u7") == "saved"
    view = queues.next("p", wish("one"))
    assert (view.waiting, view.items[0].id) == (7, "u6")
    counts, _ = load_overview(queues.live_studio.studio, "p")
    assert (counts.total, counts.skipped, counts.unlabelled) == (8, 1, 7)
    decide(queues, "k1", "undo", "", of="k0")
    assert asked(queues, "one")[0] == "u7"


def test_a_flagged_item_leaves_the_queue_as_a_skipped_one_does(queues: Queues) -> None:
    """It came back to whoever had called it unclear, and others were said to have the last text."""
    assert decide(queues, "k0", "flag", "u7", note="odd") == "saved"
    view = queues.next("p", wish("one"))
    assert (view.waiting, view.items[0].id) == (7, "u6")
    counts, _ = load_overview(queues.live_studio.studio, "p")
    assert (counts.flagged, counts.skipped, counts.unlabelled) == (1, 1, 7)
    decide(queues, "k1", "undo", "", of="k0")
    assert asked(queues, "one")[0] == "u7"
    counts, _ = load_overview(queues.live_studio.studio, "p")
    assert (counts.flagged, counts.skipped, counts.unlabelled) == (0, 0, 8)


def test_every_order_works_before_there_is_a_model(queues: Queues) -> None:
    shuffled = asked(queues, "one", "random")
    assert sorted(shuffled) == [f"u{i}" for i in range(8)]
    for order in ("helps", "asked", "unsure", "torn", "unlike"):
        view = queues.next("p", wish("one", order))
        assert [item.id for item in view.items] == shuffled
        assert {item.suggestions for item in view.items} == {None}
        assert view.order == order
    assert queues.suggest("p", ["u0"])[0].suggestions is None


def test_an_empty_queue_says_so(queues: Queues) -> None:
    for i in range(8):
        decide(queues, f"k{i}", "out-of-scope", f"u{i}")
    view = queues.next("p", wish("one", "unsure"))
    assert (view.items, view.waiting) == ((), 0)


def pool(queues: Queues, shares: np.ndarray, rows: np.ndarray, familiarity: np.ndarray) -> None:
    """Let the workbench know a pool of u0, u1, ... as made by hand."""
    with queues.live_studio.studio.database.read() as connection:
        records = list(dataset.utterances(connection, 1))[: len(rows)]
    unit = unit_rows(rows.astype(np.float32))
    made = Pool(
        tuple(records),
        unit,
        shares,
        shares - 0.5,
        familiarity,
        alike_from=alike_from(unit),
        live=None,
    )
    queues.live_studio.pools.kept[1].pool = made


def kept(queues: Queues, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        type(queues.live_studio.pools), "get", lambda self, key: self.kept[key].pool
    )


def test_each_order_puts_first_what_it_says(queues: Queues, monkeypatch) -> None:
    kept(queues, monkeypatch)
    shares = np.array([[0.9, 0.1, 0], [0.5, 0.5, 0], [0.4, 0.3, 0.3], [0.7, 0.3, 0]])
    pool(queues, shares, np.eye(4), np.array([0.8, 0.6, 0.7, 0.1]))
    assert asked(queues, "one", "unsure", 4) == ["u2", "u1", "u3", "u0"]
    assert asked(queues, "one", "torn", 4) == ["u1", "u2", "u3", "u0"]
    assert asked(queues, "one", "unlike", 4) == ["u3", "u1", "u2", "u0"]


def test_what_helps_most_goes_by_worth_once_it_is_known(queues: Queues, monkeypatch) -> None:
    kept(queues, monkeypatch)
    shares = np.array([[0.9, 0.1], [0.5, 0.5], [0.6, 0.4]])
    pool(queues, shares, np.eye(3), np.zeros(3))
    assert QueueRequest("one").order == "helps"
    assert asked(queues, "one", "helps", 3) == ["u1", "u2", "u0"]
    evaluated = queues.live_studio.pools.kept[1]
    evaluated.pool = replace(evaluated.pool, worth=np.array([0.1, 0.2, 0.9]))
    assert asked(queues, "one", "helps", 3) == ["u2", "u1", "u0"]


def test_what_is_asked_most_comes_first_and_then_what_helps(queues: Queues, monkeypatch) -> None:
    kept(queues, monkeypatch)
    pool(queues, np.full((4, 2), 0.5), np.eye(4), np.zeros(4))
    evaluated = queues.live_studio.pools.kept[1]
    worth, said = np.array([0.1, 0.9, 0.2, 0.3]), np.array([0.0, 0.0, 3.0, 7.0])
    evaluated.pool = replace(evaluated.pool, worth=worth, asked=said)
    assert asked(queues, "one", "asked", 4) == ["u3", "u2", "u1", "u0"]


def test_near_copies_wait_and_texts_the_model_has_not_seen_follow(queues, monkeypatch) -> None:
    kept(queues, monkeypatch)
    shares = np.array([[0.5, 0.5], [0.51, 0.49], [0.9, 0.1]])
    pool(queues, shares, np.array([[1, 0], [1, 0.01], [0, 1]]), np.zeros(3))
    assert asked(queues, "one", "unsure", 2) == ["u0", "u2"]
    whole = asked(queues, "one", "unsure", 8)
    assert whole[:3] == ["u0", "u2", "u1"]
    assert sorted(whole) == [f"u{i}" for i in range(8)]


def test_the_next_page_begins_with_other_texts_than_the_last_one(trained: Queues) -> None:
    """Texts alike stood apart in one answer only: a card fetched later was the last one's twin."""
    pools = trained.live_studio.pools
    pools.wait(1)
    settle(trained)
    [first, *_] = trained.next("p", wish("one", "helps", 1)).items
    evaluated = pools.kept[1]
    rows = np.eye(len(evaluated.pool.records), evaluated.pool.embeddings.shape[1], dtype=np.float32)
    place = [record.id for record in evaluated.pool.records].index(first.id)
    encoder = evaluated.pool.live.pipeline.encoder
    rows[place - 1] = unit_rows(encoder.encode([first.text]))[0]  # its twin
    worth = np.zeros(len(rows))
    worth[place - 1] = 1.0
    evaluated.pool = replace(evaluated.pool, embeddings=rows, worth=worth)
    twin = evaluated.pool.records[place - 1].id
    assert trained.next("p", wish("two", "helps", 1)).items[0].id == twin
    trained.release("p", "two")
    later = trained.next("p", wish("one", "helps", 4, without=(first.id,))).items
    assert [item.id for item in later].index(twin) == 3


def test_an_old_pool_does_not_hand_out_what_is_decided(queues, monkeypatch) -> None:
    """With the most uncertain texts decided since, the order had fallen back to chance."""
    kept(queues, monkeypatch)
    shares = np.array([[0.5 + 0.05 * i, 0.5 - 0.05 * i] for i in range(8)])
    pool(queues, shares, np.eye(8), np.zeros(8))
    for i in range(4):
        decide(queues, f"k{i}", "skip", f"u{i}")
    assert asked(queues, "one", "unsure", 1) == ["u4"]
    assert asked(queues, "two", "unsure", 2) == ["u5", "u6"]


def settle(queues: Queues) -> None:
    wait_until(lambda: not queues.live_studio.pools.loading(1), "nothing evaluates the pool", 180)


@pytest.fixture
def trained(home: Studio) -> Queues:
    return Queues(open_live_studio(home))


def test_suggestions_are_intents_that_can_be_chosen(trained: Queues) -> None:
    """An archived intent had been suggested, and taking it put a label on what nobody sees."""
    studio = trained.live_studio.studio
    _, intents = load_overview(studio, "p")
    by_name = {intent.name: intent.id for intent in intents}
    live = trained.live_studio.models.get(1)
    ids = [i.id for i in trained.next("p", wish("one", "newest")).items][::-1]
    items = trained.suggest("p", [*ids, "unknown"])
    assert [item.id for item in items] == ids
    for item in items:
        [answer] = live.pipeline.predict([item.text])
        found = [(s.intent, round(s.probability, 9)) for s in item.suggestions]
        assert found == [(r.intent, round(r.probability, 9)) for r in answer.ranked[:5]]
        assert {s.intent_id for s in item.suggestions} == set(by_name.values())
        numbers = {intent.number: intent.name for intent in intents}
        assert [numbers[one] for one in item.likely] == [r.intent for r in answer.ranked]
        below = answer.ranked[0].score < live.pipeline.calibration.threshold
        assert item.out_of_scope == below
    change_intent(studio, "p", by_name["refund"], {"archived": True})
    for item in trained.suggest("p", ids):
        assert "refund" not in {s.intent for s in item.suggestions}


def test_an_intent_without_an_example_is_found_but_not_suggested(trained: Queues) -> None:
    """An intent whose only text had been moved away stood on a key, five cards long."""
    studio = trained.live_studio.studio
    key = add_intent(studio, "p", "parcels and their orders")
    trained.live_studio.models.get(1)
    ids = [i.id for i in trained.next("p", wish("one", "newest")).items]
    _, intents = load_overview(studio, "p")
    number = next(intent.number for intent in intents if intent.id == key)
    for item in trained.suggest("p", ids):
        assert number in item.likely
        assert key not in {s.intent_id for s in (item.suggestions or ())[1:]}


def test_a_card_has_the_live_models_answer_once_that_is_loaded(trained: Queues) -> None:
    """The queue asked the model without the project's fence and names, and without new labels."""
    studio, live_studio = trained.live_studio.studio, trained.live_studio
    assert {item.suggestions for item in trained.next("p", wish("one")).items} == {None}
    live_studio.models.get(1)
    save_fence(live_studio, "p", FenceSetting(9.0))
    fenced = trained.next("p", wish("one")).items
    assert [item.out_of_scope for item in fenced] == [True] * len(fenced)
    _, intents = load_overview(studio, "p")
    other = next(i.id for i in intents if i.id != fenced[0].suggestions[0].intent_id)
    row = fenced[0].id
    decide(trained, "k0", "label", row, intents=(other,))
    held = replace(wish("one"), without=frozenset({fenced[1].id}))
    items = trained.next("p", held).items
    assert items == trained.suggest("p", [item.id for item in items])
    assert items != fenced[2:]


def test_the_pool_is_looked_at_again_when_another_model_answers(trained: Queues) -> None:
    """The revision alone had told whether to look, and no training or promotion changes it."""
    first = trained.live_studio.pools.wait(1)
    assert sorted(r.text for r in first.records) == sorted(POOL)
    assert load_status(trained.live_studio, "p").model == "ready"
    promote(trained.live_studio.studio, "p", 3 - first.live.version.number)
    assert load_status(trained.live_studio, "p").model == "loading"
    settle(trained)
    second = trained.live_studio.pools.get(1)
    assert second.live.version.number == 3 - first.live.version.number
    assert load_status(trained.live_studio, "p").model == "ready"
    assert not np.allclose(first.probabilities, second.probabilities)


def test_an_order_by_the_doubts_of_another_version_is_not_the_last_word(
    trained: Queues, monkeypatch: pytest.MonkeyPatch
) -> None:
    """“Helps most” began with texts that were 99 % sure: the version before had doubted them."""
    first = trained.live_studio.pools.wait(1)
    settle(trained)
    assert trained.next("p", wish("one", "helps")).model == "ready"
    read, made = threading.Event(), pool_module.judged
    monkeypatch.setattr(pool_module, "judged", lambda *given: read.wait(60) and made(*given))
    promote(trained.live_studio.studio, "p", 3 - first.live.version.number)
    trained.live_studio.models.get(1)
    assert trained.next("p", wish("one", "helps")).model == "loading"
    read.set()
    settle(trained)
    assert trained.next("p", wish("one", "helps")).model == "ready"


def test_a_damaged_model_does_not_stop_labelling(trained: Queues, monkeypatch, caplog) -> None:
    for blob in trained.live_studio.studio.places.artifacts.rglob("*"):
        if blob.is_file():
            blob.chmod(0o600)
            blob.write_bytes(b"damaged")
    view = trained.next("p", wish("one", "unsure"))
    assert len(view.items) == 5
    settle(trained)
    assert "was not looked at" in caplog.text
    assert len(trained.next("p", replace(wish("one"), n=2)).items) == 2
    view = load_status(trained.live_studio, "p")  # it had been loading for ever
    assert view.model == "failed"
    assert view.trouble.startswith(f"Version {view.champion} does not answer: ")
    assert view.trouble.endswith("Use another version on the Versions page, or train a new one.")
