"""What a repair is told to change is what changes once it is made, told before it is saved."""

import threading
import time

import pytest

from app.services.live.models import LiveModels
from app.services.live.server_state import Workbench, open_workbench
from app.services.live.traffic import Traffic
from app.services.studio import Studio
from app.services.trying import answers as trying
from app.services.what_if import repairs as repairing
from app.services.what_if import watched_texts
from app.services.what_if.preview import preview
from app.services.what_if.repairs import Repair
from app.services.what_if.views import Blast
from core.errors import InvalidInput
from core.heads.votes.fit import fit_votes
from storage.queries import dataset, utterances
from storage.records import UtteranceRecord
from tests.builders.trained_home import POOL, change


@pytest.fixture
def bench(home: Studio) -> Workbench:
    """Beside the 20 exemplars and 5 texts of the pool, four of the exemplars judge."""
    for text in ("my parcel has not arrived", "change my password", "hi", "good morning"):
        change(home, text, "split", "test")
    return open_workbench(home)


def rows(bench: Workbench) -> dict[str, UtteranceRecord]:
    with bench.studio.database.read() as connection:
        return {r.text: r for r in dataset.utterances(connection, 1)}


def intents(bench: Workbench) -> dict[str, str]:
    with bench.studio.database.read() as connection:
        return utterances.intent_ids(connection, 1)


def answers(bench: Workbench) -> dict[str, str]:
    """What is answered to every text of the pool and to judge by, fitted anew by hand."""
    live = bench.models.get(1)
    pipeline = live.pipeline
    head = pipeline.head
    again = fit_votes(
        pipeline.embeddings, head.targets, pipeline.head.intents, head.tau, head.ridge
    )
    watched = [r for r in rows(bench).values() if r.labels is None or r.split == "test"]
    found = {}
    for record in watched:
        [said] = pipeline.predict([record.text])
        scores = again.scores(pipeline.encoder.encode([record.text]))[0]
        best = pipeline.head.intents[int(scores.argmax())]
        inside = scores.max() >= pipeline.calibration.threshold
        words = (best if inside else "out of scope") if said.decision.rule != "exact" else None
        found[record.text] = words or said.decision.words
    return found


def told(bench: Workbench, repair: Repair) -> Blast:
    return preview(bench, "p", [repair])[0]


def repairs(bench: Workbench) -> list[Repair]:
    known, by = rows(bench), intents(bench)
    late, back = known["the parcel is late"].id, known["I want my money back"].id
    return [
        Repair("relabel", (late,), (by["refund"],)),
        Repair("relabel", (known[POOL[1]].id,), (by["greeting"],)),
        Repair("relabel", (back, late), ()),
        Repair("delete", (back, known["hello there"].id)),
        Repair("move", (late,), value="test"),
        Repair("add", (), (by["password"],), value="where is it then"),
        Repair("merge", intent=by["refund"], value=by["parcel"]),
        Repair("split", (back, known["refund my payment please"].id), (), by["refund"], "payout"),
        Repair("rename", intent=by["greeting"], value="hello"),
    ]


@pytest.mark.parametrize("number", range(9))
def test_the_blast_radius_is_what_happens(bench: Workbench, number: int) -> None:
    """Every repair, previewed, made, answered by votes fitted anew, and taken back."""
    repair = repairs(bench)[number]
    before = answers(bench)
    found = told(bench, repair)
    assert answers(bench) == before  # nothing was saved
    repairing.act(bench.studio, "p", repair, "key-of-it")
    repairing.act(bench.studio, "p", repair, "key-of-it")
    after = answers(bench)
    swap = {"refund": "parcel"} if repair.kind == "merge" else {}
    swap |= {"greeting": "hello"} if repair.kind == "rename" else {}
    both = before.keys() & after.keys()
    changed = {t for t in both if swap.get(before[t], before[t]) != after[t]}
    assert {turn.text for turn in found.turns} == changed
    assert found.pool + found.test == len(changed)
    assert {t.text: t.after for t in found.turns} == {t: after[t] for t in changed}
    repairing.undo(bench.studio, "p", "key-of-it")
    assert answers(bench) == before


def test_what_is_watched_is_not_made_anew_from_a_model_that_is_no_newer(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 10,000 rows imported at once, each preview took 14 s until the model had caught up."""
    told(bench, repairs(bench)[0])
    kept = bench.watchings.known[1]
    live = bench.models.known[1]
    monkeypatch.setattr(watched_texts, "_DRIFT", 2)
    for text in POOL[:3]:
        change(bench.studio, text, "flagged", "odd")
    monkeypatch.setattr(LiveModels, "_current", lambda *_: live)
    told(bench, repairs(bench)[0])
    assert bench.watchings.known[1] is kept
    monkeypatch.undo()
    monkeypatch.setattr(watched_texts, "_DRIFT", 2)
    told(bench, repairs(bench)[0])
    assert bench.watchings.known[1] is not kept


def test_the_first_question_finds_everything_prepared_once(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = watched_texts._watching
    times: list[str] = []

    def counted(*given: object) -> watched_texts.Watching:
        times.append(threading.current_thread().name)
        return made(*given)

    monkeypatch.setattr(watched_texts, "_watching", counted)
    bench.watchings.prepare(1)
    bench.watchings.prepare(1)
    told(bench, repairs(bench)[0])
    until = time.monotonic() + 180
    while bench.watchings.preparing and time.monotonic() < until:
        time.sleep(0.01)
    assert len(times) == 1
    told(bench, repairs(bench)[3])
    bench.watchings.prepare(2)  # another project's page, which nobody has asked anything
    while bench.watchings.preparing and time.monotonic() < until:
        time.sleep(0.01)
    assert list(bench.watchings.known) == [1]
    assert len(times) == 1


def test_work_for_a_question_gives_way_to_nobody(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A first preview waited a second for each part of the kernel: for its own request to end."""
    gaps: list[float] = []
    monkeypatch.setattr(Traffic, "give_way", lambda _, at_most=1.0: gaps.append(at_most))
    bench.watchings.asking += 1
    bench.watchings._pause()
    assert gaps == []
    bench.watchings.asking -= 1
    bench.watchings._pause()
    assert gaps == [1.0]


def test_changes_since_the_anchor_count_as_made(bench: Workbench) -> None:
    """The kernel of the texts is kept over labels; what they changed is not told again."""
    first, second = repairs(bench)[3], repairs(bench)[0]
    told(bench, first)
    kept = bench.watchings.known[1]
    repairing.act(bench.studio, "p", first, "first-key")
    before = answers(bench)
    found = told(bench, second)
    assert bench.watchings.known[1] is kept
    repairing.act(bench.studio, "p", second, "second-key")
    after = answers(bench)
    assert {turn.text for turn in found.turns} == {t for t in before if before[t] != after[t]}


def test_fixed_and_broken_are_counted_by_labels_and_pins(bench: Workbench) -> None:
    known, by = rows(bench), intents(bench)
    trying.pin(bench, "p", "where is my parcel", [by["parcel"]])
    trying.pin(bench, "p", "my package is missing", [by["refund"]])
    parcels = [
        r.id for r in known.values() if by["parcel"] in (r.labels or ()) and r.split != "test"
    ]
    found = told(bench, Repair("relabel", tuple(parcels), (by["refund"],)))
    assert found.pins_broken == ("where is my parcel",)
    right = {text: said for text, said in answers(bench).items() if known[text].split == "test"}
    names = {key: name for name, key in by.items()}
    was = sum(names[known[text].labels[0]] == said for text, said in right.items())
    assert found.right[0] == was
    assert found.right[1] == was + found.fixed - found.broken
    assert found.watched == (5, 4)
    broken = [turn for turn in found.turns if turn.verdict == "broken"]
    assert [t.text for t in broken][:2] == [t.text for t in found.turns][:2]


def test_a_new_example_names_its_nearest_conflicts(bench: Workbench) -> None:
    by = intents(bench)
    found = told(bench, Repair("add", (), (by["refund"],), value="where is my parcel"))
    assert found.near[0].text == "where is my parcel"
    assert (found.near[0].conflict, round(found.near[0].cosine, 4)) == (True, 1.0)
    assert found.now == "parcel"
    cosines = [one.cosine for one in found.near]
    assert cosines == sorted(cosines, reverse=True)
    same = told(bench, Repair("add", (), (by["parcel"],), value="where is my parcel"))
    assert not same.near[0].conflict


def test_the_last_examples_cannot_all_go(bench: Workbench) -> None:
    exemplars = tuple(r.id for r in rows(bench).values() if r.split == "train" and r.labels)
    with pytest.raises(InvalidInput, match="No example would be left"):
        told(bench, Repair("delete", exemplars))
