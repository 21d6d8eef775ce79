"""Train proposes no way that lost, and its rule and its verdict use the same words."""

from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

from tests.builders.served_studio import Served


def test_a_way_that_lost_last_time_is_not_proposed_again(
    visit: Callable[..., Page], twice: Served
) -> None:
    """Best was chosen beforehand above “Worse than version 1”, which was said of it."""

    def by_best(route: Route) -> None:
        jobs = route.fetch().json()
        for job in jobs:
            if job["result"].get("model", "").endswith("@2"):
                job["recipe"] = "convfit"
        route.fulfill(json=jobs)

    page = visit(twice, "/")
    page.route("**/projects/sample/jobs", by_best)
    page.goto(f"{twice.base}/train?project=sample")
    quick, best = (page.get_by_role("radio", name=name) for name in ("Quick", "Best"))
    expect(page.locator("[data-role=advice]")).to_contain_text("Worse than version 1")
    expect(best.locator("[data-role=lost]")).to_have_text(
        "Last time it was not better than the live version."
    )
    expect(quick).to_have_attribute("aria-checked", "true")
    best.click()
    expect(best).to_have_attribute("aria-checked", "true")


def test_the_rule_and_the_verdict_say_the_same(visit: Callable[..., Page], twice: Served) -> None:
    """“Not better” stood beside a rule by which a version takes over if nothing drops."""

    words = "About as good as version 1: use either."

    def alike(route: Route) -> None:
        found = route.fetch().json()
        found["comparison"]["outcome"] = "alike"
        found["advice"] |= {"use": False, "words": words, "either": True}
        route.fulfill(json=found)

    page = visit(twice, "/")
    page.route("**/projects/sample/compare?*", alike)
    page.goto(f"{twice.base}/train?project=sample")
    expect(page.locator("[data-role=advice]")).to_contain_text("About as good as version 1")
    sign = page.locator("[data-role=verdict] .badge")  # "≈" had no meaning
    expect(sign).to_have_text("=")
    expect(sign).to_have_attribute("title", "About as good")
    expect(page.get_by_label("if it is better or about as good")).to_be_visible()
    # “Use either” stood beside a blue “Keep version 1, leave version 2 unused”, on both pages.
    for path, buttons in (("train", "[data-role=verdict]"), ("versions", "[data-version='2']")):
        page.goto(f"{twice.base}/{path}?project=sample")
        part = page.locator(buttons)
        expect(part.locator("[data-role=advice]")).to_have_text(words)
        for name in ("Use version 2", "Keep version 1, leave version 2 unused"):
            expect(part.get_by_role("button", name=name)).not_to_have_class("primary")
