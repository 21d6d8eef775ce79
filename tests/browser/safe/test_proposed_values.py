"""Of the values that are proposed for a text, a right one is marked and a wrong one is not."""

import re
from collections.abc import Callable
from urllib.parse import quote

from playwright.sync_api import Page, expect

from tests.builders.served_studio import Served


def test_of_two_values_of_a_text_one_is_refused(visit: Callable[..., Page], studio: Served) -> None:
    """One box stood before the text: both or none."""
    text = "send 20 euros on 24 December"
    studio.ask("/projects/sample/texts", {"texts": [{"text": text}]})
    page = visit(studio, "/slots?project=sample")
    proposals = page.get_by_role("region", name="Proposals")
    proposals.get_by_role("button", name="Untick all").click()
    line = proposals.get_by_role("listitem").filter(has_text=text)
    whole = line.get_by_role("checkbox", name=text)
    amount = line.get_by_role("checkbox", name=re.compile("^20 euros"))
    date = line.get_by_role("checkbox", name=re.compile("^24 December"))
    for box in (whole, amount, date):
        expect(box).not_to_be_checked()
    whole.check()
    expect(amount).to_be_checked()
    date.uncheck()
    expect(whole).to_be_checked(indeterminate=True)
    proposals.get_by_role("button", name="Mark 1 value in 1 text").click()
    expect(page.get_by_text("1 value marked.")).to_be_visible()
    [found] = studio.ask(f"/projects/sample/utterances?text={quote(text)}")["rows"]
    assert [text[one["start"] : one["end"]] for one in found["slots"]] == ["20 euros"]
