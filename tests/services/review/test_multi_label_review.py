"""The review where a text may have several intents, or none."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.services.data.importing import ImportRequest, import_file
from app.services.live.server_state import open_live_studio
from app.services.review import review
from app.services.trying.answers import answer_texts
from app.services.what_if import repairs
from app.services.what_if.preview import preview
from app.services.what_if.repairs import Repair
from app.services.what_if.watched_texts import WatchedTextCache
from core.errors import Conflict, NotFound
from storage.queries import dataset, utterances
from tests.builders.multi_label_project import POOL, TESTS, started, train, write


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
    # A list without a finding looked as if no set had an intent too many or too few.
    assert any("“answer differs from the label”" in note for note in found.notes)
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
