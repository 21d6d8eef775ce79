"""The Try page acts: add, relabel and pin, each with its effect in the same place and with Undo."""

import re
from collections.abc import Callable
from urllib.parse import quote

from playwright.sync_api import Page, Route, expect

from app.services.explaining.words import SCORE, VOTES
from tests.builders.held_answers import reroute
from tests.builders.served_studio import Served

TEXT = "xylophone quartz 0 0 0"
UTTERANCES = "/projects/sample/utterances?size=1"
# Shows the boxes of a label that may have several of sixty intents; one is ticked.
_BOXES = """async () => {
  const {LabelChoice} = await import('/studio/js/try/label_choice.js');
  const open = Array.from({length: 60}, (_, at) => ({id: `${at}`, name: `intent ${at}`}));
  const intents = {multi: true, open, openSorted: open, nothing: 'no intent'};
  const said = {words: 'Its label', name: 'Sixty intents', key: 'sixty'};
  document.querySelector('.page').append(new LabelChoice(intents, ['7'], said).element);
}"""


def test_an_answer_is_mended_where_it_is_read(visit: Callable[..., Page], studio: Served) -> None:
    """A wrong answer on Try could only be pinned; to mend it one had to go to another page."""
    total = studio.ask(UTTERANCES)["total"]
    page = visit(studio, f"/try?project=sample&text={quote(TEXT)}")
    answer = page.locator("[data-role=answer]")
    effect = answer.locator("[data-role=effect]")
    expected = page.get_by_label("Expected intent")
    expected.select_option(label="roaming")
    page.get_by_role("button", name="Add as example", exact=True).click()
    expect(effect).to_contain_text(f"Added “{TEXT}” as an example of roaming.")
    expect(effect.locator(".chip")).to_have_text(["out of scope", "roaming"])
    expect(effect.locator("[data-role=radius]")).to_contain_text("unlabelled")
    effect.get_by_text("Show them", exact=True).click()
    expect(effect.locator(".turns")).to_contain_text("Checked on 306 test and ")
    expect(answer.locator("[data-role=known]")).to_contain_text("In your project already")
    assert studio.ask(UTTERANCES)["total"] == total + 1

    voter = answer.locator(".vote", has_text=TEXT)
    expect(answer.get_by_role("button", name="Relabel")).to_have_count(0)  # the answer is right
    expected.select_option(label="Out of scope")
    voter.get_by_role("button", name="Relabel").click()
    answer.get_by_label("Label of the example").select_option(label="Out of scope")
    page.get_by_role("button", name="Save label").click()
    expect(effect).to_contain_text("Relabelled 1 text")
    expect(effect.locator(".chip")).to_have_text(["roaming", "out of scope"])
    effect.get_by_role("button", name="Undo").click()
    expect(answer.locator("[data-role=known] .chip")).to_have_text(["roaming"])
    expect(effect).to_have_count(0)

    expected.select_option(label="Out of scope")
    page.get_by_role("button", name="Pin", exact=True).click()
    expect(effect).to_contain_text("the pin is broken")
    pins = page.locator("[data-role=pins] li", has_text=TEXT)
    expect(pins).to_contain_text("must get out of scope")
    expect(effect.get_by_text("Pinned")).to_have_count(1)
    expect(page.locator(".toast", has_text="Pinned")).to_have_count(0)  # it covered the figures
    effect.get_by_role("button", name="Undo").click()
    expect(pins).to_have_count(0)


def test_the_right_label_is_never_the_models_own_answer(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Try chose its own wrong answer as the right label, beside the one of the test set; and a
    long name stood beyond the edge of a phone.
    """
    tests = studio.ask("/projects/sample/utterances?size=306&split=test")["rows"]
    names = {one["id"]: one["name"] for one in studio.ask("/projects/sample/overview")["intents"]}
    given = studio.ask("/projects/sample/predict", {"texts": [row["text"] for row in tests]})
    text, label = next(
        (row["text"], row["labels"])
        for row, one in zip(tests, given, strict=True)
        if one["prediction"]["decision"]["intents"] != [names[id_] for id_ in row["labels"]]
    )
    phone = {"width": 390, "height": 844}
    page = visit(studio, f"/try?project=sample&text={quote(text)}", viewport=phone)
    expected = page.get_by_label("Expected intent")
    expect(expected).to_have_value(label[0] if label else "")
    page.get_by_label("Text to try").fill("a text that is nowhere yet")
    expect(expected.locator("option:checked")).to_have_text("Choose …")
    expected.evaluate("box => box.append(new Option('a name of an intent '.repeat(5)))")
    box = expected.bounding_box()
    assert box
    assert box["x"] + box["width"] <= 390


def test_one_click_says_that_an_answer_is_right(visit: Callable[..., Page], studio: Served) -> None:
    """A right answer had no act: both buttons were dim, and nothing said what they waited for.

    Later, Pin waited for a label under "if it is wrong", and two buttons stood for one deed.
    """
    text = "my internet is so slow 5"
    page = visit(studio, f"/try?project=sample&text={quote(text)}")
    answer = page.locator("[data-role=answer]")
    said = answer.locator(".answer .chip").inner_text()
    acts = answer.locator(".acts button:visible")
    expect(acts).to_have_text(["Right: add as example", "Pin"])
    expect(answer.locator(".primary")).to_have_text(["Right: add as example"])
    wrong = answer.locator(".chosen-label")
    expect(wrong).to_contain_text("Or, if it is wrong, the right label")
    pin = page.get_by_role("button", name="Pin", exact=True)
    pin.click()
    effect = answer.locator("[data-role=effect]")
    expect(effect).to_contain_text(f"Pinned “{text}” to {said}.")
    expect(acts).to_have_text(["Right: add as example", "Pinned"])
    expect(answer.locator(".primary")).to_have_text(["Right: add as example"])
    expect(wrong.locator("option:checked")).to_have_text("Choose …")
    effect.get_by_role("button", name="Undo").click()
    expect(acts).to_have_text(["Right: add as example", "Pin"])
    page.get_by_label("Expected intent").select_option(label="Out of scope")
    expect(acts).to_have_text(["Add as example", "Pin"])
    expect(answer.locator(".primary")).to_have_text(["Add as example"])
    page.reload()
    answer.get_by_role("button", name="Right: add as example").click()
    expect(effect).to_contain_text(f"Added “{text}” as an example of {said}.")
    expect(acts).to_have_text(["Right: pin it"])
    answer.get_by_role("button", name="Right: pin it").click()
    expect(effect).to_contain_text(f"Pinned “{text}” to {said}.")
    expect(acts).to_have_text(["Pinned"])
    effect.get_by_role("button", name="Undo").click()
    expect(page.locator("[data-role=pins] li", has_text=text)).to_have_count(0)

    page.get_by_label("Text to try").fill("vvv qqq kkk 17 18 19")
    expect(answer.locator(".answer .chip")).to_have_text("out of scope")
    expect(acts).to_have_text(["Right: add as out of scope", "Pin"])  # example of what?


def test_an_answer_that_breaks_a_pin_is_not_called_right(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The label of the pin is the one that is chosen beside an answer that breaks it."""
    text = "my internet is so slow 6"
    studio.ask("/projects/sample/pins", {"text": text, "intents": []})
    page = visit(studio, f"/try?project=sample&text={quote(text)}")
    answer = page.locator("[data-role=answer]")
    expect(answer.locator(".acts button:visible")).to_have_text(["Add as example", "Pinned"])
    expect(answer.locator(".chosen-label option:checked")).to_have_text("Out of scope")
    studio.ask("/projects/sample/pins", {"text": text})


def test_a_text_of_the_test_set_is_asked_about(visit: Callable[..., Page], studio: Served) -> None:
    [row] = studio.ask(f"{UTTERANCES}&split=test")["rows"]
    page = visit(studio, f"/try?project=sample&text={quote(row['text'])}")
    expect(page.locator("[data-role=known]")).to_contain_text("A test text")
    page.get_by_label("Expected intent").select_option(label="Out of scope")
    page.get_by_role("button", name="Add as example", exact=True).click()
    dialog = page.locator("dialog")
    expect(dialog).to_contain_text("This is a test text")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    assert studio.ask(f"{UTTERANCES}&split=test")["rows"] == [row]


def test_the_example_in_an_empty_field_fits_and_opens_no_quotation(
    visit: Callable[..., Page], studio: Served
) -> None:
    """A long text was cut off by the field, which left its quotation mark open."""
    page = visit(studio, "/try?project=sample")
    long = "my router was sent to the wrong address by you"
    field = page.get_by_label("Text to try")
    texts: list[str] = []

    def answer(route: Route) -> None:
        route.fulfill(json={"total": 2, "rows": [{"text": text} for text in texts]})

    reroute(page, re.compile("utterances.split=train"), answer)
    for rows, shown in (
        (['it says "error 7" on my router', long, "where is my router"], "where is my router"),
        (["abort", "bye now", "where is my router"], "where is my router"),
        (["abort", "bye now"], "bye now"),
        (["'hello' is all it says", long], "my router was sent to the …"),
    ):
        texts[:] = rows
        page.reload()
        expect(field).to_have_attribute("placeholder", f"For example: {shown}")


def test_typing_a_text_is_the_one_act_of_the_page(
    visit: Callable[..., Page], studio: Served
) -> None:
    """A blue "Label a few texts" stood under the field, though names answer before a training;
    and the form for replies looked like a second act, where there was no model to rank by.
    """
    page = visit(studio, "/")

    told: dict[str, int | None] = {"champion": None, "conversations": 1}

    def untrained(route: Route) -> None:
        route.fulfill(json={**route.fetch().json(), **told})

    reroute(page, "**/projects/sample/status", untrained)
    page.goto(f"{studio.base}/try?project=sample")
    main = page.locator("main")
    expect(main.locator("[data-role=first-act]")).to_have_text("Train")
    expect(main.locator(".primary")).to_have_count(0)
    replies = page.get_by_role("region", name="Which reply fits a conversation?")
    expect(main.locator("[data-role=answer]")).to_be_visible()
    expect(replies).to_have_count(0)
    told["champion"] = 1
    page.reload()
    expect(replies).to_be_visible()
    expect(replies.get_by_label("Conversation so far")).to_be_hidden()
    replies.locator("summary").click()
    expect(replies).to_contain_text("This uses your conversations, not your intents.")
    expect(replies.get_by_label("Conversation so far")).to_have_attribute(
        "placeholder", re.compile("For example: ")
    )
    rank = replies.get_by_role("button", name="Rank replies")
    expect(rank).to_be_disabled()  # there was nothing to rank for
    replies.get_by_label("Conversation so far").fill("hello")
    expect(rank).to_be_enabled()
    expect(replies.get_by_label("Replies to choose from")).to_have_accessible_description(
        "Leave it empty to rank every reply in your conversations."
    )
    page.unroute_all(behavior="wait")


def test_the_lines_in_sight_add_up_to_the_score(visit: Callable[..., Page], studio: Served) -> None:
    """94.8 points stood in sight beside a score of 100.7: the intent's share of labels was folded.

    And a heavy vote against the example's own label said no word why.
    """
    page = visit(studio, "/try?project=sample&text=the+wifi+does+not+reach+my+bedroom")
    reason = page.locator("[data-role=reason]")

    def adds_up() -> None:
        expect(reason.locator("[data-role=score]")).to_be_visible()
        amounts = reason.locator(".amount:visible").all_text_contents()
        *lines, score = (float(amount.replace("\N{MINUS SIGN}", "-")) for amount in amounts)
        assert len(lines) in (5 + 2, 6 + 2)  # and the most similar example, where its vote is weak
        assert round(sum(lines), 6) == score

    adds_up()
    expect(reason.locator("[data-role=surplus]")).to_have_count(0)

    def turned(route: Route) -> None:
        [answer] = route.fetch().json()
        answer["reasons"][0]["reason"]["neighbours"][0]["vote"] = -0.29249
        route.fulfill(json=[answer])

    reroute(page, "**/predict", turned)
    page.reload()
    expect(reason.locator("[data-role=surplus]")).to_have_count(1)
    expect(reason.locator(".vote").first).to_contain_text("Against its own label: ")
    adds_up()
    page.unroute_all(behavior="wait")


def test_the_most_similar_example_is_named_where_its_vote_is_weak(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Why told "a similarity of 94.5", and no text in sight had it."""
    text = "the wifi does not reach my bedroom"
    [answer] = studio.ask("/projects/sample/predict", {"texts": [text]})
    nearest = answer["landing"]["nearest"]
    votes = answer["prediction"]["neighbours"]
    assert nearest["cosine"] > max(one["cosine"] for one in votes)
    page = visit(studio, f"/try?project=sample&text={text.replace(' ', '+')}")
    line = page.locator("[data-role=nearest]")
    # It stood below the sum, without its vote.
    expect(line).to_contain_text("most similar")
    expect(line.locator(".amount")).to_have_count(1)
    expect(line).to_contain_text(nearest["text"])
    expect(line).to_contain_text(f"similarity {100 * nearest['cosine']:.1f}")
    expect(line).to_contain_text("Its vote is weaker than those above")
    # Beside every vote, a similarity read as a second score.
    expect(page.locator("[data-role=reason]").get_by_text("similarity")).to_have_count(1)
    # 335 examples were against the answer, and nothing said that this is so with most answers.
    expect(page.locator("[data-role=others]")).to_contain_text("so a minus is normal")
    page.locator("[data-role=why] summary").first.click()
    expect(page.locator("[data-role=why-body]")).to_contain_text(
        f"has a similarity of {100 * nearest['cosine']:.1f} of 100."
    )


def test_what_a_person_does_stands_under_the_answer(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The label stood far under the votes."""
    page = visit(
        studio,
        "/try?project=sample&text=my+internet+is+so+slow",
        viewport={"width": 1280, "height": 800},
    )
    answer = page.locator("[data-role=answer]")
    votes = answer.locator("[data-role=reason]")
    limit = "With fewer points than the limit, no intent is answered."
    expect(votes).to_contain_text(VOTES)
    expect(votes).to_contain_text(f"{SCORE} {limit}")
    expect(answer).to_contain_text("version 1")
    expect(answer).not_to_contain_text("sample@")
    add = page.get_by_role("button", name="Right: add as example")
    expect(add).to_be_in_viewport(ratio=1)
    acts, first = add.bounding_box(), votes.bounding_box()
    assert acts
    assert first
    assert acts["y"] + acts["height"] <= first["y"]
    n = studio.ask("/projects/sample/predict", {"texts": ["my internet is so slow"]})[0]["examples"]
    shown = votes.locator(".vote:is(:not([data-role]), [data-role=nearest])").count()
    expect(votes.locator("[data-role=others]")).to_contain_text(
        f"{n - shown} other examples together"
    )
    expect(votes.locator("[data-role=prior]")).to_contain_text("How common it is")
    why = page.get_by_role("region", name="Why")
    why.locator("summary").click()
    # Beside each example that the answer rests on was a button, as if it were to be changed.
    expect(why).to_contain_text("The answer rests on ")
    expect(page.get_by_role("button", name="Relabel")).to_have_count(0)
    page.get_by_label("Expected intent").select_option(label="roaming")
    expect(why.get_by_role("button", name="Relabel").first).to_be_visible()
    expect(votes.get_by_role("button", name="Relabel")).to_have_count(shown)
    computed = why.locator("[data-role=computed]")
    expect(computed.get_by_text("How this is computed")).to_be_visible()
    expect(why.locator("[data-role=heads]")).to_be_hidden()
    assert not re.search("gradients|regression|encoder", why.inner_text())


def test_a_refused_text_has_one_closest_intent(visit: Callable[..., Page], studio: Served) -> None:
    """Three nearest intents stood there, under "What votes for" an intent that is no answer."""
    text = "play some jazz on the kitchen speaker"
    [answer] = studio.ask("/projects/sample/predict", {"texts": [text]})
    leading = answer["prediction"]["decision"]["leading"]
    assert answer["prediction"]["decision"]["rule"] == "out-of-scope"
    page = visit(studio, f"/try?project=sample&text={quote(text)}")
    votes = page.locator("[data-role=reason]")
    expect(votes.get_by_role("heading").first).to_have_text(f"Not enough votes for {leading}")
    expect(page.locator("[data-role=landing-said]")).to_have_text(
        "Unlike all examples, so its place on this small map says nothing."
    )
    expect(page.locator("[data-role=landing-words]")).to_contain_text("The page Map draws")
    expect(page.locator("[data-role=nearest] .chip")).to_have_count(0)
    expect(page.get_by_role("button", name="Relabel")).to_have_count(0)


def test_the_second_click_of_a_double_click_pins_nothing(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Pinning comes where adding stood: a double click added, and then pinned."""
    page = visit(studio, "/try?project=sample&text=where+is+my+new+router+now")
    add = page.get_by_role("button", name="Right: add as example")
    add.evaluate(
        """async button => {
          const {x, y} = button.getBoundingClientRect();
          const click = (node, detail) => node.dispatchEvent(
            new MouseEvent('click', {bubbles: true, detail, clientX: x, clientY: y}));
          click(button, 1);
          const pin = () => [...document.querySelectorAll('[data-key=pin]')].at(-1);
          const wait = () => new Promise(wake => setTimeout(wake, 20));
          while (pin().textContent !== 'Right: pin it') await wait();
          click(pin(), 2);
        }"""
    )
    effect = page.locator("[data-role=effect]")
    expect(effect).to_contain_text("Added ")
    expect(page.get_by_role("button", name="Right: pin it")).to_be_enabled()
    expect(page.get_by_text("same as an example", exact=True)).to_be_visible()  # not “exact”
    effect.get_by_role("button", name="Undo").click()
    expect(effect).to_have_count(0)


def test_long_names_of_many_answers_stay_on_a_phone(
    visit: Callable[..., Page], studio: Served
) -> None:
    """They stood on one line, and left the screen."""
    page = visit(studio, "/try?project=sample", viewport={"width": 390, "height": 844})
    page.get_by_label("Text to try").fill("no signal\nmy bill is too high")
    cell = page.get_by_label("Many answers").locator("td.answered").first
    cell.locator(".chip").evaluate(
        "at => { (at.lastElementChild ?? at).textContent = 'a long name of an intent '.repeat(4); }"
    )
    assert cell.evaluate("at => at.scrollWidth <= at.clientWidth + 1")


def test_one_of_many_boxes_is_found_by_its_name_and_what_is_ticked_is_said(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Three rows of sixty boxes were in sight, and nothing told what was ticked below."""
    page = visit(studio, "/try?project=sample")
    page.evaluate(_BOXES)
    group = page.get_by_role("group", name="Sixty intents")
    boxes, legend = group.get_by_role("checkbox"), group.locator("legend")
    expect(boxes).to_have_count(61)
    expect(legend).to_have_text("Its label: intent 7")
    find = group.get_by_role("searchbox", name="Find an intent")
    find.fill("intent 4")
    expect(boxes).to_have_count(17)  # fifteen that fit, the ticked one, and no intent
    group.get_by_label("intent 42").check()
    find.fill("")
    expect(boxes).to_have_count(61)
    expect(legend).to_have_text("Its label: intent 7, intent 42")
    group.get_by_label("No intent").check()
    expect(legend).to_have_text("Its label")
