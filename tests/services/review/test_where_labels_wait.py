"""Review of a model that takes in no label before the next training."""

from pathlib import Path
from typing import Any

import pytest

from app.services.live.live_studio import LiveStudio, open_live, open_live_studio
from app.services.review import review
from app.services.review.evidence.gathering import evidence_of
from app.services.review.evidence.held import held_examples
from app.services.review.findings import Finding
from app.services.studio import Studio
from app.services.versions.registry import promote
from app.services.what_if import watched_texts as watched_module
from app.services.what_if.repairs import Repair, apply_repair
from app.services.what_if.watched_texts import WatchedTextCache
from tests.builders.trained_home import intent_ids, label, rows, train

LINEAR: dict[str, Any] = {"kind": "linear"}
FEW_VOTE: dict[str, Any] = {"kind": "votes", "max_exemplars": 10}


def answering(home: Studio, tiny_path: Path, head: dict[str, Any]) -> LiveStudio:
    """Let a version with a head answer, which is trained on the labels of now."""
    train(home, tiny_path, {"kind": "instant", "head": head})
    promote(home, "p", 3)
    live_studio = open_live_studio(home)
    review.wait_for_pool(live_studio, "p")
    return live_studio


def found(live_studio: LiveStudio, *kinds: str) -> list[Finding]:
    listed = [review.review(live_studio, "p", kind).findings for kind in kinds]  # type: ignore[arg-type]
    return [finding for findings in listed for finding in findings]


@pytest.mark.parametrize(
    ("head", "why"),
    [(LINEAR, "the examples of version 3 do not vote"), (FEW_VOTE, "10 of 20 examples vote")],
)
def test_it_is_said_once_that_no_effect_is_told_and_nothing_is_asked_again(
    home: Studio,
    tiny_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    head: dict[str, Any],
    why: str,
) -> None:
    """“Still being computed” stood there for ever, and the page asked every two seconds."""
    monkeypatch.setattr(watched_module, "_AT_ONCE", 5)
    live_studio = answering(home, tiny_path, head)
    listed = review.review(live_studio, "p", watched_texts=WatchedTextCache(live_studio))
    assert listed.effects  # else the page asks again
    words = f"What a remedy does to answers shows after the next training: {why}."
    assert listed.notes.count(words) == 1
    assert not any("being computed" in note for note in listed.notes)


def test_what_was_mended_elsewhere_is_not_listed_until_the_next_training(
    home: Studio, tiny_path: Path
) -> None:
    """The model went on as if nothing had changed, and so did the list: to be mended again."""
    twin = "Where is my parcel?"
    given = Repair("add", (), (intent_ids(home)["refund"],), value=twin)
    apply_repair(home, "p", given, "planted-1")
    live_studio = answering(home, tiny_path, LINEAR)
    ids = {finding.id for finding in found(live_studio, "conflict") if twin in texts_of(finding)}
    assert len(ids) == 1
    label(home, twin, "parcel")
    assert not ids & {finding.id for finding in found(live_studio, "conflict")}
    gone = Repair("delete", (rows(home)["please refund the order"].id,))
    apply_repair(home, "p", gone, "deleted-1")
    everything = found(live_studio, "label", "doubt", "conflict", "duplicate", "confusion")
    assert all("please refund the order" not in texts_of(finding) for finding in everything)


def texts_of(finding: Finding) -> set[str]:
    return {text.text for text in finding.texts}


def test_labels_of_examples_that_do_not_vote_are_judged_by_those_that_do(
    home: Studio, tiny_path: Path
) -> None:
    """Of 16,400 examples 5,000 vote; a wrong label of the others was found by nothing."""
    live_studio = answering(home, tiny_path, FEW_VOTE)
    record, live = open_live(live_studio, "p")
    held = held_examples(live)
    assert (len(held.rows), len(held.others), held.foreign) == (10, 10, 0)
    evidence = evidence_of(live_studio, record, live, held)
    texts = [text for text, _ in held.others.values()]
    best = evidence.judges.scores(live.pipeline.encoder.encode(texts)).argmax(1)
    planted, says = texts[0], evidence.columns[best[0]]
    name = next(name for name, key in intent_ids(home).items() if key != says)
    label(home, planted, name)
    labels = {row.text: row.labels for row in rows(home).values()}
    wrong = {
        text
        for text, column in zip(texts, best.tolist(), strict=True)
        if evidence.columns[column] not in (labels[text] or ())
    }
    doubted = found(live_studio, "label", "doubt")
    assert planted in wrong
    assert {one.texts[0].text for one in doubted} & set(texts) == wrong
    [mine] = [one for one in doubted if one.texts[0].text == planted]
    assert mine.texts[0].intents == labels[planted]
    assert {text.id for text in mine.texts[1:]} <= {e.id for e in evidence.exemplars}
    notes = review.review(live_studio, "p").notes
    words = "Wrong labels are looked for in all 20 examples, other faults in the 10 that vote."
    assert words in notes


def test_of_very_many_examples_it_is_said_in_how_many_wrong_labels_are_looked_for(
    home: Studio, tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.services.review.evidence.beyond._MOST", 4)
    notes = review.review(answering(home, tiny_path, FEW_VOTE), "p").notes
    words = "Wrong labels are looked for in 14 of 20 examples, other faults in the 10 that vote."
    assert words in notes
