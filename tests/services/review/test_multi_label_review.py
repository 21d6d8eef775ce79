"""The review where a text may have several intents, or none."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.services.data.importing import ImportRequest, import_file
from app.services.live.live_studio import open_live, open_live_studio
from app.services.review import examples, review
from app.services.review.evidence.gathering import evidence_of
from app.services.review.evidence.held import held_examples
from app.services.review.examples import likely_errors
from app.services.review.findings import Evidence
from app.services.trying.answers import answer_texts
from app.services.what_if import repairs
from app.services.what_if.preview import preview
from app.services.what_if.repairs import Repair
from app.services.what_if.watched_texts import WatchedTextCache
from core.errors import Conflict, NotFound
from core.nearby.search import Nearby
from core.review.label_errors import DoubtedIntent, doubted_intents
from core.types import ScoreArray
from storage.queries import dataset, utterances
from tests.builders.multi_label_project import LABELLED, POOL, TESTS, started, train, write


def test_what_a_repair_changes_is_told_for_sets_of_intents(tmp_path: Path, tiny_path: Path) -> None:
    studio = started(tmp_path / "home", tmp_path)
    train(studio, tiny_path, {"kind": "instant"})
    live_studio = open_live_studio(studio)
    with studio.database.read() as connection:
        by = utterances.intent_ids(connection, 1)
        rows = {r.text: r for r in dataset.utterances(connection, 1)}
    texts = [*POOL, *(text for text, _ in TESTS)]

    def answers() -> dict[str, str]:
        said = answer_texts(live_studio, "p", texts)
        chosen = {a.prediction.text: sorted(a.prediction.decision.intents) for a in said}
        return {text: " and ".join(names) or "no intent" for text, names in chosen.items()}

    before = answers()
    found = review.review(live_studio, "p")
    assert all(one.kind not in ("greedy", "confusion") for one in found.findings)
    for number, repair in enumerate(
        [
            Repair("relabel", (rows["cancel it"].id,), (by["card"], by["thanks"])),
            Repair("relabel", tuple(rows[t].id for t in ("thank you", "many thanks to you")), ()),
            Repair("delete", (rows["thanks a lot"].id, rows["my name is john smith"].id)),
        ]
    ):
        [told] = preview(WatchedTextCache(live_studio), "p", [repair])
        repairs.apply_repair(studio, "p", repair, f"repair-{number}")
        after = answers()
        changed = {text for text in texts if before[text] != after[text]}
        assert {turn.text: turn.after for turn in told.turns} == {t: after[t] for t in changed}
        assert told.watched == (len(POOL), len(TESTS), 0)
        before = after
    studio.database.close()


def test_one_intent_of_a_set_is_replaced_or_added(tmp_path: Path) -> None:
    """Moved from card to thanks, {cancel, card} became {thanks}; added to card, just {card}."""
    text = "cancel my card please"
    studio = started(tmp_path / "home", tmp_path)
    with studio.database.read() as connection:
        by = utterances.intent_ids(connection, 1)
        [record] = utterances.by_text(connection, 1, text)

    def intents() -> set[str]:
        with studio.database.read() as connection:
            labels = utterances.by_ids(connection, 1, [record.id])[record.id].labels or ()
        return {name for name, key in by.items() if key in labels}

    moved = Repair("relabel", (record.id,), (by["thanks"],), by["card"])
    repairs.apply_repair(studio, "p", moved, "moved-01")
    assert intents() == {"cancel", "thanks"}
    with pytest.raises(Conflict, match="A text is not labelled 'card' any more"):
        repairs.apply_repair(studio, "p", moved, "moved-02")
    added = Repair("add", (), (by["card"],), by["card"], text)
    repairs.apply_repair(studio, "p", added, "added-01")
    assert intents() == {"cancel", "card", "thanks"}
    for unknown in (replace(moved, intent="thnks"), replace(added, intent="thnks")):
        with pytest.raises(NotFound, match="no intent 'thnks'"):  # of `add` it was ignored
            repairs.apply_repair(studio, "p", unknown, "unknown-01")
    whole = Repair("add", (), (by["card"],), value=text)  # Try gives the whole set
    repairs.apply_repair(studio, "p", whole, "added-02")
    assert intents() == {"card"}
    studio.database.close()


def test_what_is_worth_a_label_is_proposed_as_a_set(tmp_path: Path, tiny_path: Path) -> None:
    """“cancel” 97 %, “card” 96 % counted as unsure, and each key gave one of the two alone."""
    studio = started(tmp_path / "home", tmp_path)
    train(studio, tiny_path, {"kind": "instant"})
    live_studio = open_live_studio(studio)
    review.wait_for_pool(live_studio, "p")
    with studio.database.read() as connection:
        names = dataset.intent_names(connection, 1)
    said = {a.prediction.text: a.prediction.decision for a in answer_texts(live_studio, "p", POOL)}
    found = review.review(live_studio, "p", "next").findings
    assert found
    for one in found:
        whole = [r.repair.intents for r in one.remedies if r.repair and not r.asks]
        first, second = ({names[key] for key in label} for label in whole)
        assert set(said[one.texts[0].text].intents) in (first, second)
        [open_] = first ^ second
        assert one.why.startswith("The model answers ")
        assert f"It is unsure of “{open_}”: " in one.why
    studio.database.close()


def test_no_merge_is_proposed_into_an_intent_that_stands_beside_another(
    tmp_path: Path, tiny_path: Path
) -> None:
    """All texts of urgent have card, too, and card won them: a key merged urgent into card."""
    studio = started(tmp_path / "home", tmp_path)
    urgent = [("the card at once", "card|urgent"), ("my card is gone now", "card|urgent")]
    more = [(f"my card number {n} is broken", "card") for n in range(30)]
    path = write(tmp_path / "urgent.csv", urgent + more)
    import_file(studio, ImportRequest("p", path))
    train(studio, tiny_path, {"kind": "instant"})
    found = review.review(open_live_studio(studio), "p", "thin").findings
    assert found
    assert all(r.repair is None for one in found for r in one.remedies)
    studio.database.close()


def test_an_intent_too_many_and_one_too_few_are_found_in_a_set(
    tmp_path: Path, tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """{card, thanks} with a wrong thanks was never listed while card led, nor was a set's gap."""
    studio = started(tmp_path / "home", tmp_path)
    with studio.database.read() as connection:
        by = utterances.intent_ids(connection, 1)
        ids = {r.text: r.id for r in dataset.utterances(connection, 1)}

    def keys(*names: str) -> tuple[str, ...]:
        return tuple(sorted(by[name] for name in names))

    planted = {
        "where is the card": keys("card", "thanks"),
        "please cancel this card": keys("cancel"),
        "many thanks to you": keys("cancel"),
    }
    for text, label in planted.items():
        repairs.apply_repair(studio, "p", Repair("relabel", (ids[text],), label), f"plant {text}")
    train(studio, tiny_path, {"kind": "instant"})
    live_studio = open_live_studio(studio)
    record, live = open_live(live_studio, "p")
    evidence = evidence_of(live_studio, record, live, held_examples(live))
    truth = {text: keys(*filter(None, cell.split("|"))) for text, cell in LABELLED}
    labels = [truth[one.text] for one in evidence.exemplars]
    right = np.array([[key in label for key in evidence.columns] for label in labels], dtype=float)
    scores = 0.1 + 0.8 * right
    texts = [one.text for one in evidence.exemplars]
    scores[texts.index("many thanks to you"), evidence.columns.index(by["cancel"])] = 0.2
    near = [
        [at for at, label in enumerate(labels) if label == own and at != row][:2]
        for row, own in enumerate(labels)
    ]
    evidence = replace(
        evidence,
        doubted=scores,
        near=Nearby(np.array(near), np.ones((len(near), 2), np.float32)),
    )
    found = {one.texts[0].text: one for one in likely_errors(evidence)}
    assert {one.kind for one in found.values()} == {"label"}
    told = {
        text: (
            one.title,
            one.measure,
            [(r.words, r.repair.intents) for r in one.remedies if r.repair and r.repair.intents],
        )
        for text, one in found.items()
    }
    assert told == {
        "where is the card": (
            "Not “thanks”?",
            "none of 2 similar: thanks",
            [("Take away “thanks”", keys("card"))],
        ),
        "please cancel this card": (
            "“card”, too?",
            "2 of 2 similar: card",
            [("Add “card”", keys("cancel", "card"))],
        ),
        # Its score of cancel is 0.2, not quite as low as without it: thanks is doubted first.
        "many thanks to you": (
            "“cancel”, or “thanks”?",
            "2 of 2 similar: thanks",
            [("Label it “thanks”", keys("thanks")), ("Add “thanks”", keys("cancel", "thanks"))],
        ),
    }
    assert found["where is the card"].why == (
        "None of the 2 most similar examples is labelled “thanks”. The others vote against it."
    )
    removal = found["many thanks to you"].remedies[2]
    assert (removal.words, removal.repair) == (
        "Label it no intent",  # “Take away “cancel”” did so without a word: it is the only one
        Repair("relabel", (ids["many thanks to you"],)),
    )
    _turns_likely_doubts_alone(evidence, monkeypatch, keys("cancel", "thanks"))
    # The effects of at most ten repairs are told at once: of a text of nine doubts none was.
    monkeypatch.setattr("app.services.review.examples._MOST_DOUBTED", 1)
    fewer = {one.texts[0].text: one.title for one in likely_errors(evidence)}
    assert fewer["many thanks to you"] == "“thanks”, too?"
    clean = replace(evidence, head=replace(evidence.head, targets=right), labels=tuple(labels))
    assert likely_errors(clean) == []
    studio.database.close()


def _turns_likely_doubts_alone(
    evidence: Evidence, monkeypatch: pytest.MonkeyPatch, wanted: tuple[str, ...]
) -> None:
    """One press turned the doubts that are not likely, too: here that of cancel."""
    with monkeypatch.context() as patched:
        patched.setattr(examples, "doubted_intents", _sure_of_what_lacks)
        found = likely_errors(evidence)
    [surest] = [one for one in found if one.title == "“thanks”, too?"]
    words = [remedy.words for remedy in surest.remedies[:2]]
    assert (surest.kind, words) == ("label", ["Add “thanks”", "Label it no intent"])
    assert surest.texts[0].suggested == wanted


def _sure_of_what_lacks(
    honest: ScoreArray, targets: ScoreArray, near: Nearby
) -> list[DoubtedIntent]:
    """Judge intents as a review does, and be confident of those alone that a text lacks."""
    found = doubted_intents(honest, targets, near)
    return [replace(one, confident=not one.surplus) for one in found]
