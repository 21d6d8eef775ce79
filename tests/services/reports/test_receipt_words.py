"""The words of a receipt's first page, which somebody reads who knows no model."""

from pathlib import Path
from typing import Any

from app.services.live.live_studio import open_live_studio
from app.services.reports.receipt_words import key_figures, sentences_of, steps_of
from app.services.reports.receipts import find_receipt, keep_receipt, receipt_page
from app.services.studio import Studio
from tests.builders.trained_home import train

VOTE, OTHER, NONE = (
    {"cosine": 0.9, "vote": 0.4, "example": {"intents": intents}}
    for intents in (["refund"], ["parcel"], [])
)
ASKED: dict[str, Any] = {
    "rule": "best",
    "answer": ["refund"],
    "confidence": 0.934,
    "runner_up": {"intent": "parcel"},
    "margin": 0.05,
    "reasons": [
        {
            "votes": [VOTE, VOTE],
            "n_others": 18,
            "load_bearing": {"examples": [1, 2, 3], "words": "The answer rests on 3 examples."},
        }
    ],
    "speaking": ["parcel", "refund"],
}


def test_the_first_page_of_a_receipt_is_for_people_who_know_no_model() -> None:
    """ "Of the 5 most similar that count here, 3 ..." was understood by no manager."""
    assert sentences_of(ASKED) == (
        "It compares the text with 20 examples. The 2 that weigh most in "
        "this answer are all labelled refund.",
        "The next intent, parcel, is close behind.",
        "The answer rests on 3 examples.",
    )
    # "Clearly behind" stood beside "without this 1 example it would be parcel".
    assert sentences_of({**ASKED, "margin": 0.9})[1] == "The next intent is parcel."
    bearing = {"examples": [1, 2, 3, 4], "words": "The answer rests on 4 examples."}
    firm = {**ASKED, "margin": 0.9, "reasons": [{**ASKED["reasons"][0], "load_bearing": bearing}]}
    assert sentences_of(firm)[1] == "The next intent, parcel, is clearly behind."
    # "The next intent, moving_home, is clearly behind" of a text that has nothing to do with it.
    far = {**ASKED, "margin": 0.9, "speaking": ["refund"]}
    assert sentences_of(far)[1] == "No other intent comes near."
    ways = {"by_file": 20, "one_by_one": 0, "together": 0}
    assert "20 examples, all with a label from a file." in sentences_of(ASKED, ways)[0]
    assert [one["value"] for one in key_figures(ASKED, [{"value": "9"}] * 3)] == [
        "93 of 100",
        "9",
        "9",
    ]
    three = [{**ASKED["reasons"][0], "votes": [VOTE, VOTE, OTHER]}]
    assert sentences_of({**ASKED, "reasons": three})[0].endswith(
        "Of the 3 that weigh most in this answer, 2 are labelled refund."
    )
    refused = {**ASKED, "rule": "out-of-scope", "answer": []}
    assert not any("93" in one for one in sentences_of(refused))
    figures = [{"value": "96.2 %"}, {"value": "100 %"}]
    assert key_figures(refused, figures) == (figures[0],)
    assert "add the text as an example" in steps_of(refused)[1]
    # A receipt said "pin" where Try said "add".
    assert steps_of(ASKED, "add")[0].startswith("If refund is right, add the text as an example")
    assert steps_of(ASKED, "pin")[0].startswith("If refund is right, pin the answer")
    assert "with another label" in steps_of(ASKED, "relabel")[0]
    assert steps_of(refused)[0].startswith("If it should be refused, add the text as out of scope")


def test_of_several_intents_a_text_may_have_none_and_is_not_out_of_scope() -> None:
    """“If  is right, pin the answer” and “too unlike all examples”, of another kind of project."""
    several = {**ASKED, "task": "multi-label", "answer": []}
    labelled = {**several, "rule": "exact"}
    assert steps_of(labelled, "pin")[0].startswith("If “no intent” is right, pin the answer")
    reason = {**ASKED["reasons"][0], "votes": [NONE, NONE]}
    refused = {**several, "rule": "no-intent", "reasons": [reason]}
    assert sentences_of(refused) == (
        "It gives no intent: none is likely enough, and a wrong one would be worse than none.",
        "It compares the text with 20 examples. The 2 that weigh most in "
        "this answer are all labelled no intent.",
    )
    assert steps_of(refused)[0] == "If it should be refused, add the text as no intent."
    outside = {**refused, "task": "single-label", "rule": "out-of-scope"}
    assert sentences_of(outside)[1].endswith("are all labelled out of scope.")
    assert steps_of(outside)[0] == "If it should be refused, add the text as out of scope."


def test_of_a_text_with_a_label_of_its_own_no_vote_is_told_as_its_reason() -> None:
    """It was labelled parcel, and “the next intent, parcel, is close behind” stood beside it."""
    exact = {**ASKED, "rule": "exact", "answer": ["parcel"]}
    assert sentences_of(exact) == (
        "A person has labelled just this text, so the answer is that label.",
    )
    assert key_figures(exact, [{"value": "9"}]) == ({"value": "9"},)


def test_a_head_without_votes_is_not_told_as_a_sum_of_them(home: Studio, tiny_path: Path) -> None:
    """“312 other examples, added up +530.0” stood below five examples of “+0.0”."""
    train(home, tiny_path, {"kind": "instant", "head": {"kind": "linear"}})
    made = keep_receipt(open_live_studio(home), "p", "please give my money back", model=3)
    content = find_receipt(home, made.id).content
    [reason] = content["explanation"]["reasons"]
    assert {vote["vote"] for vote in reason["votes"]} == {0.0}
    page = receipt_page(content, "2026-05-03T10:00:00+00:00", "", {})
    assert "The most similar examples, for <bdi>" in page
    assert page.count('class="amount">') == 1  # the score
    assert "added up" not in page
    assert not any("weigh most" in one for one in sentences_of(content["explanation"]))
    assert sentences_of({**ASKED, "reasons": [{**ASKED["reasons"][0], "votes": []}]})[0] == (
        "The next intent, parcel, is close behind."
    )
