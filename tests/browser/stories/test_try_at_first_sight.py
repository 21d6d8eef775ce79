"""Try at first sight: what a vote is, what "sure" is, and advice that fits the text."""

import re
from collections.abc import Callable
from urllib.parse import quote

from playwright.sync_api import Page, Route, expect

from app.services.explaining.words import SCORE, UNCLEAR, VOTES
from tests.builders.held_answers import reroute
from tests.builders.served_studio import Served

CLEAR = "the wifi does not reach my bedroom"
SEVERAL = "my internet is down and I want a new sim card"
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
    limit = "With fewer points than the limit, no intent is answered."
    expect(reason).to_contain_text(VOTES)
    expect(reason.locator("[data-role=scale]")).to_have_text(f"{SCORE} {limit}")
    expect(reason).not_to_contain_text("twins")
    # “limit 24.5” stood beside the score: which side is good was not said.
    score = reason.locator("[data-role=score]")
    expect(score).to_contain_text(re.compile(r"\d above the limit of \d+\.\d: enough"))
    expect(reason.locator("[data-role=sure]")).to_have_text(
        "99 % sure: of 100 answers with such a score, about 99 are right."
    )
    # Three intents "under 1 %", which had nothing to do with the text, were the next likely ones.
    expect(answer).not_to_contain_text("under 1 %")
    page.get_by_label("Text to try").fill(OUTSIDE)
    expect(answer.locator(".answer .chip")).to_have_text("out of scope")
    expect(score).to_contain_text(re.compile(r"\d below the limit of \d+\.\d: too little"))
    expect(answer.locator("[data-role=sure]")).to_have_count(0)
    # “Similarity 24.7 of 100” beside “15.7 of the 24.5 needed”: points alone tell a refusal.
    expect(answer.locator("[data-role=nearest]")).to_be_visible()
    expect(answer).not_to_contain_text("of 100")


def test_where_familiarity_decides_points_are_not_said_to(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“With fewer points than the limit, no intent is answered” stood there for any measure."""

    def familiar(route: Route) -> None:
        found = route.fetch().json()
        for one in found:
            one["prediction"]["decision"]["familiarity"] = 1.5
        route.fulfill(json=found)

    page = visit(studio)
    reroute(page, "**/projects/sample/predict", familiar)
    page.goto(f"{studio.base}{address(CLEAR)}")
    scale = page.locator("[data-role=scale]")
    expect(scale).to_contain_text("goes by how familiar the text is")
    expect(scale).not_to_contain_text("fewer points")


def test_where_no_example_votes_none_is_told_to_make_up_the_score(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“312 other examples together +530.0” stood below five examples with “+0.0”."""

    def by_a_linear_head(route: Route) -> None:
        found = route.fetch().json()
        for reason in (why["reason"] for one in found for why in one["reasons"]):
            reason["prior"] = 0.0
            for near in reason["neighbours"]:
                near["vote"] = 0.0
        route.fulfill(json=found)

    page = visit(studio)
    reroute(page, "**/projects/sample/predict", by_a_linear_head)
    page.goto(f"{studio.base}{address(CLEAR)}")
    reason = page.locator("[data-role=reason]")
    expect(reason.get_by_role("heading").first).to_have_text(
        "wifi_coverage: the most similar examples"
    )
    expect(reason.locator(".vote").first).to_contain_text("“")
    expect(reason.locator("[data-role=others]")).to_have_count(0)
    expect(reason.locator(".amount")).to_have_count(1)  # the score
    expect(reason.locator("[data-role=scale]")).to_have_text(
        "With fewer points than the limit, no intent is answered."
    )


def test_words_are_not_coloured_where_two_measures_of_them_disagree(
    visit: Callable[..., Page], studio: Served
) -> None:
    """In “wake me up … play some jazz” the colours were senseless, and stood there all the same."""
    page = visit(studio, address(SEVERAL))
    why = page.get_by_role("region", name="Why")
    why.locator("summary").first.click()
    expect(why.locator("[data-role=unclear]")).to_have_text(UNCLEAR)
    words = why.locator("[data-role=words]")
    expect(words).to_be_hidden()
    why.get_by_text("Show the words all the same").click()
    expect(words).to_be_visible()
    page.get_by_label("Text to try").fill(CLEAR)
    expect(words).to_have_text(CLEAR)
    expect(words).to_be_visible()
    expect(why.locator("[data-role=unclear]")).to_have_count(0)


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


def test_advice_names_no_intent_that_has_nothing_to_do_with_the_text(
    visit: Callable[..., Page], studio: Served
) -> None:
    """ "Why not moving_home", "without them it would be router_setup" of wifi in the bedroom."""
    page = visit(studio, address(CLEAR))
    why = page.get_by_role("region", name="Why")
    why.locator("summary").first.click()
    section = why.locator("[data-role=why-not]")
    expect(section).to_contain_text(
        "No other intent comes near this text. Choose one to see what it would take."
    )
    rival = why.get_by_label("Why not this intent")
    expect(rival.locator("option:checked")).to_have_text("Choose …")
    names = rival.locator("option").all_inner_texts()[1:]
    assert names == sorted(names)  # they stood as they were made
    body = why.locator("[data-role=why-body]")
    expect(body).to_contain_text("without them it would be another intent.")
    expect(why.locator(".key span")).to_have_text(["wifi_coverage", "not wifi_coverage"])
    rival.select_option("moving_home")  # asked for, it is told, and that it is far-fetched
    expect(section).to_contain_text("Hardly any similar example is labelled moving_home.")
    page.get_by_label("Text to try").fill("30 minutes for a 1 gb file is that normal")
    expect(rival).to_have_value("slow_internet")
    expect(section).to_contain_text("Adding this text to slow_internet would make that the answer.")
    page.get_by_label("Text to try").fill(OUTSIDE)
    expect(section).to_contain_text("No intent comes near this text.")
    expect(body).not_to_contain_text("The answer rests on")  # without it any intent would be said


def test_a_label_that_no_neighbour_has_can_be_mended_beside_the_example(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    """Why showed an example with a wrong label, and to mend it one had to go elsewhere."""
    studio = serve()
    names = {one["name"]: one["id"] for one in studio.ask("/projects/sample/overview")["intents"]}
    asked = "/projects/sample/utterances?size=1&split=train&text=doesn%27t+reach+the+bedroom"
    [row] = studio.ask(asked)["rows"]
    wrong = {"kind": "relabel", "ids": [row["id"]], "intents": [names["roaming"]]}
    studio.ask("/projects/sample/review/act", {"key": "planted label", "repair": wrong})
    page = visit(studio, address("the wifi does not reach the bedroom"))
    answer = page.locator("[data-role=answer]")
    odd = answer.locator("[data-role=outvoted]")
    expect(odd).to_have_text("Texts like it are labelled wifi_coverage: is its label right?")
    answer.get_by_role("button", name="Relabel").click()
    choice = answer.get_by_label("Label of the example")
    expect(choice.locator("option:checked")).to_have_text("wifi_coverage")
    answer.get_by_role("button", name="Save label").click()
    expect(answer.locator("[data-role=effect]")).to_contain_text("Relabelled 1 text")
    expect(odd).to_have_count(0)


def test_a_receipt_advises_what_try_offers(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    """A receipt said "pin" where Try said "add" for the same text."""
    studio = serve()
    page = visit(studio, address(CLEAR))
    acts = page.locator("[data-role=answer] .acts button:visible")
    for offered, advised in (("Right: add as example", "add the text"), ("Right: pin it", "pin")):
        expect(acts.first).to_have_text(offered)
        made = studio.ask("/projects/sample/receipts", {"text": CLEAR})
        with page.context.new_page() as receipt:
            receipt.goto(f"{studio.base}{made['path']}")
            told = receipt.locator("li", has_text="If wifi_coverage is right")
            expect(told).to_contain_text(f"If wifi_coverage is right, {advised}")
        if "add" in offered:
            acts.first.click()
