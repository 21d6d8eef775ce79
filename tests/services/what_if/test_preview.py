"""What a repair is told to change is what changes once it is made, told before it is saved."""

import threading
from collections import Counter
from pathlib import Path

import pytest

from app.services.data.history import undo_action
from app.services.data.importing import ImportRequest, import_file
from app.services.live.accuracy import accuracy_now
from app.services.live.live_studio import open_live_studio
from app.services.live.models import LiveModels
from app.services.live.traffic import Traffic
from app.services.studio import Studio
from app.services.trying import pins
from app.services.what_if import watched_texts as watched_module
from app.services.what_if.prepared_texts import PreparedTexts
from app.services.what_if.preview import preview
from app.services.what_if.repairs import Repair, apply_repair
from app.services.what_if.views import Blast
from app.services.what_if.watched_texts import WatchedTextCache
from core.errors import InvalidInput
from core.heads.votes.fit import fit_votes
from storage import projects
from storage.queries import dataset, utterances
from storage.records import ProjectRecord, UtteranceRecord
from tests.builders.trained_home import POOL, change, tuned_elsewhere
from tests.waiting import wait_until


@pytest.fixture
def watched_texts(home: Studio) -> WatchedTextCache:
    """Beside the 20 exemplars and 5 texts of the pool, four of the exemplars judge."""
    tuned_elsewhere(home)
    for text in ("my parcel has not arrived", "change my password", "hi", "good morning"):
        change(home, text, "split", "test")
    return WatchedTextCache(open_live_studio(home))


def ended(watched_texts: WatchedTextCache) -> None:
    wait_until(lambda: not watched_texts.preparing, "the texts that repairs move are prepared", 180)


def rows(watched_texts: WatchedTextCache) -> dict[str, UtteranceRecord]:
    with watched_texts.live_studio.studio.database.read() as connection:
        return {r.text: r for r in dataset.utterances(connection, 1)}


def project_of(watched_texts: WatchedTextCache) -> ProjectRecord:
    with watched_texts.live_studio.studio.database.read() as connection:
        return projects.get(connection, 1)


def intents(watched_texts: WatchedTextCache) -> dict[str, str]:
    with watched_texts.live_studio.studio.database.read() as connection:
        return utterances.intent_ids(connection, 1)


def answers(watched_texts: WatchedTextCache) -> dict[str, str]:
    """What is answered to every text of the pool and to judge by, fitted anew by hand."""
    live = watched_texts.live_studio.models.get(1)
    pipeline = live.pipeline
    head = pipeline.head
    again = fit_votes(
        pipeline.embeddings, head.targets, pipeline.head.intents, head.tau, head.ridge
    )
    watched = [r for r in rows(watched_texts).values() if r.labels is None or r.split == "test"]
    found = {}
    for record in watched:
        [said] = pipeline.predict([record.text])
        scores = again.scores(pipeline.encoder.encode([record.text]))[0]
        best = pipeline.head.intents[int(scores.argmax())]
        inside = scores.max() >= pipeline.calibration.threshold
        words = (best if inside else "out of scope") if said.decision.rule != "exact" else None
        found[record.text] = words or said.decision.words
    return found


def told(watched_texts: WatchedTextCache, repair: Repair) -> Blast:
    return preview(watched_texts, "p", [repair])[0]


def parts_of(found: Blast) -> list[int]:
    """What the page shows of the answers that change."""
    pins_of = [len(found.pins_fixed), len(found.pins_broken)]
    judged = [found.fixed, found.broken, *found.stays]
    return [*judged, *pins_of, *found.scope, found.renamed, found.another]


def repairs(watched_texts: WatchedTextCache) -> list[Repair]:
    known, by = rows(watched_texts), intents(watched_texts)
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
def test_the_blast_radius_is_what_happens(watched_texts: WatchedTextCache, number: int) -> None:
    """Every repair, previewed, made, answered by votes fitted anew, and taken back."""
    repair = repairs(watched_texts)[number]
    before = answers(watched_texts)
    found = told(watched_texts, repair)
    assert answers(watched_texts) == before  # nothing was saved
    apply_repair(watched_texts.live_studio.studio, "p", repair, "key-of-it")
    apply_repair(watched_texts.live_studio.studio, "p", repair, "key-of-it")
    after = answers(watched_texts)
    swap = {"greeting": "hello"} if repair.kind == "rename" else {}
    both = before.keys() & after.keys()
    changed = {t for t in both if swap.get(before[t], before[t]) != after[t]}
    assert {turn.text for turn in found.turns} == changed
    assert found.pool + found.test == len(changed)
    # Of 55 answers that a merge changed, the page told what 11 come to.
    assert sum(parts_of(found)) == found.pool + found.test + found.pins
    assert {t.text: t.after for t in found.turns} == {t: after[t] for t in changed}
    undo_action(watched_texts.live_studio.studio, "p", "key-of-it")
    assert answers(watched_texts) == before


def test_a_split_mends_no_test_text_by_its_new_name_alone(
    watched_texts: WatchedTextCache,
) -> None:
    """A split said "77 are right, and 81 after it": four had moved along to the new intent."""
    known, by = rows(watched_texts), intents(watched_texts)
    tests = [known[text] for text in ("hi", "good morning")]
    right = sum(answers(watched_texts)[record.text] == "greeting" for record in tests)
    assert right > 0
    moved = tuple(r.id for r in known.values() if r.labels == (by["greeting"],))
    split = told(watched_texts, Repair("split", moved, (), by["greeting"], "salute"))
    others = told(watched_texts, Repair("rename", intent=by["greeting"], value="salute"))
    assert split.right[0] == others.right[0]
    assert split.fixed == max(0, split.right[1] - split.right[0])


def test_a_merge_and_a_split_count_the_answers_and_pins_that_name_another_intent(
    watched_texts: WatchedTextCache,
) -> None:
    """A merge left out all answers that only take another name; a split counted them."""
    known, by = rows(watched_texts), intents(watched_texts)
    said = answers(watched_texts)
    name = Counter(one for one in said.values() if one in by).most_common(1)[0][0]
    other = next(one for one in by if one != name)
    pinned = next(text for text, one in said.items() if one == name)
    pins.set_pin(watched_texts.live_studio, "p", pinned, [by[name]])
    moved = tuple(r.id for r in known.values() if r.labels == (by[name],))
    split = told(watched_texts, Repair("split", moved, (), by[name], "made anew"))
    merge = told(watched_texts, Repair("merge", intent=by[name], value=by[other]))
    named = {text for text, one in said.items() if one == name}
    assert named <= {turn.text for turn in merge.turns}
    for found in (split, merge):
        assert found.pins == sum(turn.place == "pin" for turn in found.turns)
        assert found.pool + found.test + found.pins == len(found.turns) > 0
    assert sum(parts_of(merge)) == len(merge.turns)
    assert merge.renamed == sum(turn.before == name for turn in merge.turns if turn.after == other)
    assert merge.pins == 1
    assert merge.pins_broken == merge.pins_fixed == ()  # the pin goes to the other intent, too
    kept = {turn.text for turn in merge.turns if turn.verdict == "right"}
    assert pinned in kept  # it said neither right nor wrong


def test_what_is_watched_is_not_made_anew_from_a_model_that_is_no_newer(
    watched_texts: WatchedTextCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 10,000 rows imported at once, each preview took 14 s until the model had caught up."""
    monkeypatch.setattr(watched_module, "REST_SHARE", 0)
    told(watched_texts, repairs(watched_texts)[0])
    kept = watched_texts.kept.anchor
    live = watched_texts.live_studio.models.peek(1)
    monkeypatch.setattr(watched_module, "_DRIFT", 2)
    for text in POOL[:3]:
        change(watched_texts.live_studio.studio, text, "flagged", "odd")
    monkeypatch.setattr(LiveModels, "get", lambda *_: live)
    told(watched_texts, repairs(watched_texts)[0])
    assert watched_texts.kept.anchor is kept
    monkeypatch.undo()
    monkeypatch.setattr(watched_module, "_DRIFT", 2)
    told(watched_texts, repairs(watched_texts)[0])
    assert watched_texts.kept.anchor is not kept


def test_while_others_label_the_texts_are_not_prepared_for_each_question(
    watched_texts: WatchedTextCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each finding of Review prepared the texts again: 45 s beside twenty people who label."""
    monkeypatch.setattr(watched_module, "REST_SHARE", 1_000_000)
    monkeypatch.setattr(watched_module, "_DRIFT", 2)
    told(watched_texts, repairs(watched_texts)[0])
    kept = watched_texts.kept.anchor
    for text in POOL[:3]:
        change(watched_texts.live_studio.studio, text, "flagged", "odd")
    told(watched_texts, repairs(watched_texts)[0])
    assert watched_texts.kept.anchor is kept
    assert watched_texts.is_ready(project_of(watched_texts))


def test_thousands_of_new_texts_are_not_encoded_within_a_request(
    watched_texts: WatchedTextCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Review encoded 2,000 texts before it answered: most of a minute beside other people."""
    project = project_of(watched_texts)
    watched_texts.live_studio.models.get(project.id)
    assert watched_texts.is_ready(project)  # the few texts of a small project
    monkeypatch.setattr(watched_module, "_NEW_AT_ONCE", 0)
    file = tmp_path / "more.txt"
    file.write_text("a text that nobody has encoded\nand another\n", encoding="utf-8")
    import_file(watched_texts.live_studio.studio, ImportRequest("p", file))
    assert not watched_texts.is_ready(project)
    watched_texts.prepare(project.id)
    ended(watched_texts)
    assert watched_texts.is_ready(project)


def test_the_first_question_finds_everything_prepared_once(
    watched_texts: WatchedTextCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = watched_module.prepare_texts
    times: list[str] = []

    def counted(*given: object) -> PreparedTexts:
        times.append(threading.current_thread().name)
        return made(*given)

    monkeypatch.setattr(watched_module, "prepare_texts", counted)
    watched_texts.prepare(1)
    watched_texts.prepare(1)
    told(watched_texts, repairs(watched_texts)[0])
    ended(watched_texts)
    assert len(times) == 1
    told(watched_texts, repairs(watched_texts)[3])
    watched_texts.prepare(2)  # another project's page, which nobody has asked anything
    ended(watched_texts)
    assert watched_texts.kept.project_id == 1
    assert len(times) == 1


def test_work_for_a_question_gives_way_to_nobody(
    watched_texts: WatchedTextCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A first preview waited a second for each part of the kernel: for its own request to end."""
    gaps: list[float] = []
    monkeypatch.setattr(Traffic, "give_way", lambda _, at_most=1.0: gaps.append(at_most))
    watched_texts.asking += 1
    watched_texts._pause()
    assert gaps == []
    watched_texts.asking -= 1
    watched_texts._pause()
    assert gaps == [1.0]


def test_changes_since_the_anchor_count_as_made(watched_texts: WatchedTextCache) -> None:
    """The kernel of the texts is kept over labels; what they changed is not told again."""
    first, second = repairs(watched_texts)[3], repairs(watched_texts)[0]
    told(watched_texts, first)
    kept = watched_texts.kept.anchor
    apply_repair(watched_texts.live_studio.studio, "p", first, "first-key")
    before = answers(watched_texts)
    found = told(watched_texts, second)
    assert watched_texts.kept.anchor is kept
    apply_repair(watched_texts.live_studio.studio, "p", second, "second-key")
    after = answers(watched_texts)
    assert {turn.text for turn in found.turns} == {t for t in before if before[t] != after[t]}


def test_fixed_and_broken_are_counted_by_labels_and_pins(watched_texts: WatchedTextCache) -> None:
    known, by = rows(watched_texts), intents(watched_texts)
    pins.set_pin(watched_texts.live_studio, "p", "where is my parcel", [by["parcel"]])
    pins.set_pin(watched_texts.live_studio, "p", "my package is missing", [by["refund"]])
    parcels = [
        r.id for r in known.values() if by["parcel"] in (r.labels or ()) and r.split != "test"
    ]
    found = told(watched_texts, Repair("relabel", tuple(parcels), (by["refund"],)))
    assert found.pins_broken == ("where is my parcel",)
    right = {
        text: said for text, said in answers(watched_texts).items() if known[text].split == "test"
    }
    names = {key: name for name, key in by.items()}
    was = sum(names[known[text].labels[0]] == said for text, said in right.items())
    assert found.right[0] == was
    assert found.right[1] == was + found.fixed - found.broken
    assert found.watched == (5, 4, 2)
    broken = [turn for turn in found.turns if turn.verdict == "broken"]
    assert [t.text for t in broken][:2] == [t.text for t in found.turns][:2]


def test_right_answers_are_counted_as_the_header_counts_them(
    watched_texts: WatchedTextCache,
) -> None:
    """Review said that 767 of 920 are right, 83.4 %, beside 82.2 % in the header.

    It counted texts that are rightly refused, and texts that an example says word for word.
    """
    live_studio = watched_texts.live_studio
    outside = Repair("relabel", (rows(watched_texts)["hi"].id,), ())
    apply_repair(live_studio.studio, "p", outside, "outside")
    change(live_studio.studio, "good morning", "text", "where is my parcel")
    found = told(watched_texts, repairs(watched_texts)[0])
    now, live = live_studio.models.open_by_id(1)
    header = accuracy_now(live_studio.studio, now, live, lambda: None)
    assert (found.watched[1], found.left_out) == (3, 1)  # an example says the fourth
    assert (found.in_scope.n, found.in_scope.now) == (header.n, header.right)
    assert (found.outside.n, found.outside.now) == (1, round(header.kept_out))
    assert found.in_scope.n == 2


def test_before_a_merge_as_many_are_right_as_the_header_says(
    watched_texts: WatchedTextCache,
) -> None:
    """Both intents counted as one already, so that the gain of the merge was in "before"."""
    live_studio, by = watched_texts.live_studio, intents(watched_texts)
    assert answers(watched_texts)["good morning"] == "greeting"
    mixed_up = rows(watched_texts)["good morning"].id
    label = Repair("relabel", (mixed_up,), (by["parcel"],))
    apply_repair(live_studio.studio, "p", label, "label-01")
    merge = Repair("merge", intent=by["parcel"], value=by["greeting"])
    found = told(watched_texts, merge)

    def header() -> int:
        now, live = live_studio.models.open_by_id(1)
        return accuracy_now(live_studio.studio, now, live, lambda: None).right

    assert found.in_scope.now == header() == found.right[0] - 1  # one is right only as merged
    apply_repair(live_studio.studio, "p", merge, "merged-01")
    assert found.in_scope.then == header()


def test_an_unlabelled_text_that_is_refused_before_or_after_is_told(
    watched_texts: WatchedTextCache,
) -> None:
    by, live_studio = intents(watched_texts), watched_texts.live_studio
    change_fence = {"limit": 5.0, "limits": {}, "method": "votes"}  # refuses all
    with live_studio.studio.database.write() as connection:
        projects.change_fence(connection, 1, change_fence)
    found = told(watched_texts, Repair("add", (), (by["greeting"],), value=POOL[0].upper()))
    told_in = [turn.text for turn in found.turns if turn.scope == "in"]
    assert told_in == [POOL[0]]  # its example says the same, whatever the line
    assert found.scope == (1, 0)


def test_what_is_worst_comes_first_among_the_changed_answers(
    watched_texts: WatchedTextCache,
) -> None:
    """Texts that would be refused stood behind all that stay right under a merged label."""
    by, live_studio = intents(watched_texts), watched_texts.live_studio
    live = live_studio.models.get(1)
    pipeline = live.pipeline
    scores = pipeline.head.scores(pipeline.encoder.encode(list(POOL))).max(1)
    limit = float(sorted(scores)[len(scores) // 2])
    with live_studio.studio.database.write() as connection:
        projects.change_fence(connection, 1, {"limit": limit, "limits": {}, "method": "votes"})
    gone = tuple(r.id for r in rows(watched_texts).values() if r.labels == (by["refund"],))
    found = [
        told(watched_texts, Repair("merge", intent=by["parcel"], value=by["password"])),
        told(watched_texts, Repair("delete", gone[:4])),
        told(watched_texts, Repair("relabel", gone[:4], (by["parcel"],))),
    ]
    rank = {"broken": 0, "out": 1, "in": 2, "fixed": 3, "right": 4}
    seen = list[set[str]]()
    for one in found:
        kinds = [
            turn.verdict if turn.verdict != "other" else turn.scope or "other" for turn in one.turns
        ]
        places = [rank.get(kind, 5) for kind in kinds]
        assert places == sorted(places)
        seen.append(set(kinds))
    assert any(kinds & {"in", "out"} and kinds & {"fixed", "right"} for kinds in seen), seen


def test_a_new_example_names_its_nearest_conflicts(watched_texts: WatchedTextCache) -> None:
    by = intents(watched_texts)
    found = told(watched_texts, Repair("add", (), (by["refund"],), value="where is my parcel"))
    assert found.near[0].text == "where is my parcel"
    assert (found.near[0].conflict, round(found.near[0].cosine, 4)) == (True, 1.0)
    assert found.now == "parcel"
    cosines = [one.cosine for one in found.near]
    assert cosines == sorted(cosines, reverse=True)
    same = told(watched_texts, Repair("add", (), (by["parcel"],), value="where is my parcel"))
    assert not same.near[0].conflict


def test_the_last_examples_cannot_all_go(watched_texts: WatchedTextCache) -> None:
    exemplars = tuple(r.id for r in rows(watched_texts).values() if r.split == "train" and r.labels)
    with pytest.raises(InvalidInput, match="No example would be left"):
        told(watched_texts, Repair("delete", exemplars))
