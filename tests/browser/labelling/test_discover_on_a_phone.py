"""Discover at the width of a phone: nothing is cut, and nothing lies over another thing."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.builders.served_studio import Served

_CUT = """() => [...document.querySelectorAll('.content *')]
  .filter(one => one.checkVisibility() && !one.closest('.hidden-text') && one.clientWidth > 2)
  .filter(one => {
    const {left, right} = one.getBoundingClientRect();
    const hides = getComputedStyle(one).overflowX !== 'visible';
    return right > innerWidth + 1 || left < -1 || (hides && one.scrollWidth > one.clientWidth + 1);
  })
  .map(one => `${one.tagName} ${one.className} ${one.textContent.slice(0, 50)}`)"""
_OVER = """() => {
  const parts = 'button, .button, select, input, summary, h2, h3, p, a, label, .badge, .chip';
  const shown = [...document.querySelectorAll(`.content :is(${parts})`)]
    .filter(one => one.checkVisibility() && !one.matches('.hidden-text'))
    .map(one => ({one, box: one.getBoundingClientRect()}));
  const apart = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) < 1 ||
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) < 1;
  return shown.flatMap(({one, box}) =>
    shown
      .filter(({one: other}) => one !== other && !one.contains(other) && !other.contains(one))
      .filter(other => !apart(box, other.box))
      .map(other => `${one.textContent.slice(0, 30)} / ${other.one.textContent.slice(0, 30)}`),
  );
}"""


def test_on_a_phone_nothing_of_discover_is_cut_or_covered(
    visit: Callable[..., Page], talked: Served
) -> None:
    """What a group is about ended in "…" behind 45 characters."""
    phone = {"width": 390, "height": 844}
    page = visit(talked, "/discover?project=sample", viewport=phone)
    listed = page.locator("[data-role=groups] button[data-key^=group]")
    expect(listed.first).to_be_visible()
    assert page.evaluate(_CUT) == []
    assert page.evaluate(_OVER) == []
    listed.nth(5).click()
    expect(page.locator("[data-role=typical] li").first).to_be_visible()
    assert page.evaluate(_CUT) == []
    assert page.evaluate(_OVER) == []
    page.goto(f"{talked.base}/discover?project=sample&tab=traffic")
    expect(page.get_by_role("heading", name="What people ask for")).to_be_visible()
    assert page.evaluate(_CUT) == []
    assert page.evaluate(_OVER) == []
