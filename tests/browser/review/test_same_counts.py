"""What a finding foretells and what stands beside the act once it is done are the same counts."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.builders.served_studio import Served

_OF_ONE = """async () => {
  const {turnsOf} = await import('/studio/js/shared/radius.js');
  const share = {n: 1, now: 1, then: 0};
  const blast = {told: '', turns: [], watched: [0, 2, 0], touched: [1], pins_broken: []};
  return turnsOf({...blast, left_out: 1, in_scope: share, outside: share}).textContent;
}"""
"""What a repair does where one text fits an intent, one fits none, and a third is left out."""
_REFUSED = """async () => {
  const {resultWords} = await import('/studio/js/shared/radius.js');
  const blast = {told: '', pins_broken: [], joined: 0, scope: [0, 3]};
  return resultWords({...blast, in_scope: {n: 1, now: 1, then: 0}});
}"""
"""What a repair does by which three unlabelled texts are refused that were not."""

_ASKED = """async counts => {
  const {mayHarm} = await import('/studio/js/review/harm.js');
  const blast = {fixed: 0, broken: 0, pins_fixed: [], pins_broken: [], ...counts};
  mayHarm({blast, repair: {kind: 'delete'}}, 'Delete this text');
  const dialog = document.querySelector('dialog[open]');
  const words = dialog.querySelector('p').textContent;
  dialog.close('');
  return words;
}"""
"""What is asked before a repair that harms."""


def numbers(words: str) -> dict[str, int]:
    """Return how many answers change, become right and wrong, and are right as two count as one."""
    found = {
        "changed": re.search(r"(\d+) answers? change", words),
        "right": re.search(r"(\d+) (?:becomes?|became) right", words),
        "wrong": re.search(r"(\d+) (?:becomes?|became) wrong", words),
        "joined": re.search(r"(\d+) more right, as the two count as one", words),
    }
    return {name: int(match[1]) if match else 0 for name, match in found.items()}


def test_a_merge_is_told_by_the_same_counts_before_and_after_it(
    visit: Callable[..., Page], studio: Served, foretold: None
) -> None:
    """“3 become right, 2 become wrong” came to “281 → 287 right”: six, of which nobody had said."""
    page = visit(studio, "/review?project=sample&kind=confusion")
    finding = page.locator("[data-role=finding]")
    merge = finding.locator(".remedy", has_text="Merge “wrong_charge” into “bill_question”")
    expect(merge.locator("[data-role=radius]")).to_contain_text("answers change: ")
    before = numbers(merge.inner_text())
    assert before["right"] > 0
    assert before["joined"] > 0
    # Of 55 answers that changed, eleven stood in the badges.
    parts = merge.locator("[data-role=radius] .badge").all_inner_texts()
    assert sum(int(words.split()[0]) for words in parts) == before["changed"]
    assert any("only change" in words for words in parts)
    merge.click()
    gain = page.locator("[data-role=newest] [data-role=gain]")
    expect(gain).to_contain_text("answers changed: ")
    done = gain.inner_text()
    assert numbers(done) == before
    share = re.search(r"(\d+) → (\d+) of \d+ right", done)
    assert share
    gained = before["right"] - before["wrong"] + before["joined"]
    assert int(share[2]) - int(share[1]) == gained
    page.keyboard.press("u")
    expect(page.locator("[data-role=newest]", has_text="Taken back")).to_be_visible()


def test_a_label_is_told_by_the_same_counts_before_and_after_it(
    visit: Callable[..., Page], studio: Served, foretold: None
) -> None:
    """“8 answers change” was not told after the act; the share of right answers alone was."""
    page = visit(studio, "/review?project=sample&kind=next")
    label = page.locator("[data-role=finding] .remedy", has_text="answer").first
    expect(label.locator("[data-role=radius]")).to_contain_text(re.compile("answers? changes?: "))
    before = numbers(label.inner_text())
    label.click()
    gain = page.locator("[data-role=newest] [data-role=gain]")
    expect(gain).to_contain_text(re.compile("answers? changed: "))
    assert numbers(gain.inner_text()) == before


def test_one_text_is_told_as_one(visit: Callable[..., Page], studio: Served) -> None:
    """“Of 1 test text 1 are right” and “1 more text were not checked” stood there."""
    assert visit(studio).evaluate(_OF_ONE) == (
        "Of 1 test text of an intent 1 is right, and 0 after it. "
        "Of 1 that fits none 1 is refused, and 0 after it. "
        "Checked on 2 test texts. 1 more text was not checked."
    )


def test_what_is_asked_before_harm_says_what_was_wrong_before(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“3 right answers become wrong, 2 right.” read as if two stayed right."""
    page = visit(studio)
    assert page.evaluate(_ASKED, {"broken": 3, "fixed": 2}) == (
        "3 right answers become wrong; 2 wrong ones become right."
    )
    assert (
        page.evaluate(_ASKED, {"broken": 1}) == "1 right answer becomes wrong, and none is mended."
    )


def test_texts_that_were_not_refused_before_are_newly_refused(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“Refused anew” read as if they had been refused before."""
    words = visit(studio, "/review?project=sample").evaluate(_REFUSED)
    assert words == "1 → 0 of 1 test text right, 3 unlabelled newly refused"
