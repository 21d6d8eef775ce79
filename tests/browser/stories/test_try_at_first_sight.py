"""Try at first sight: what a vote is, what "sure" is, and advice that fits the text."""

from collections.abc import Callable
from urllib.parse import quote

from playwright.sync_api import Page, Route, expect

from app.services.explaining.words import SCORE, VOTES
from tests.builders.held_answers import reroute
from tests.builders.served_studio import Served

CLEAR = "the wifi does not reach my bedroom"
OUTSIDE = "play some jazz on the kitchen speaker"


def address(text: str) -> str:
    return f"/try?project=sample&text={quote(text)}"


def test_a_vote_and_how_sure_an_answer_is_are_two_things(
    visit: Callable[..., Page], studio: Served
) -> None:
    """ "99 %" stood beside "100.7", no word parted them, and "near twins share their vote"."""
    page = visit(studio, address(CLEAR))
    answer = page.locator("[data-role=answer]")
    expect(answer.locator(".answer")).to_contain_text("99 % sure")
    reason = answer.locator("[data-role=reason]")
    expect(reason).to_contain_text(f"{VOTES} {SCORE} Below the line no intent is answered.")
    expect(reason).not_to_contain_text("twins")
    expect(reason.locator("[data-role=score]")).to_contain_text("Score, in points")
    expect(reason.locator("[data-role=sure]")).to_have_text(
        "99 % sure is not the score: of 100 answers with such a score, about 99 are right."
    )
    # Three intents "under 1 %", which had nothing to do with the text, were the next likely ones.
    expect(answer).not_to_contain_text("under 1 %")
    page.get_by_label("Text to try").fill(OUTSIDE)
    expect(answer.locator(".answer .chip")).to_have_text("out of scope")
    expect(answer.locator("[data-role=sure]")).to_have_count(0)


def test_two_intents_for_one_text_come_with_a_reason(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The most similar example has another label than the closest intent; no word said why."""
    reason = "the answer goes by all examples together, not by the most similar one alone."
    [refused] = studio.ask("/projects/sample/predict", {"texts": [OUTSIDE]})
    leading = refused["prediction"]["decision"]["leading"]
    [label] = refused["landing"]["nearest"]["intents"]
    assert label != leading
    page = visit(studio, address(OUTSIDE))
    nearest = page.locator("[data-role=nearest]")
    expect(nearest).to_contain_text(f"It is labelled {label}; {leading} is closest: {reason}")
    page.get_by_label("Text to try").fill(CLEAR)
    expect(nearest).to_contain_text("wifi_coverage")
    expect(nearest).not_to_contain_text(reason)  # both name one intent

    def relabelled(route: Route) -> None:
        [answer] = route.fetch().json()
        answer["landing"]["nearest"]["intents"] = ["roaming"]
        route.fulfill(json=[answer])

    reroute(page, "**/predict", relabelled)
    page.reload()
    expect(nearest).to_contain_text(f"It is labelled roaming, not wifi_coverage: {reason}")
    page.unroute_all(behavior="wait")
