"""Train offers two choices and ends with a verdict; Versions begins with what a designer needs."""

import re
from collections.abc import Callable
from itertools import cycle

from playwright.sync_api import Page, Route, expect

from tests.builders.held_answers import reroute
from tests.builders.served_studio import Served

# Pairs of shares of the header and the page that were seen to differ in three seconds.
_SHARES_DIFFER = """async () => {
  const told = place => document.querySelector(place)?.textContent;
  const pairs = [];
  const look = () => {
    const both = [told('[data-role=running-job] b'), told('[aria-label=Training] .row.below b')];
    if (both[0] !== both[1]) pairs.push(both.join(' and '));
  };
  const watcher = new MutationObserver(look);
  watcher.observe(document.body, {childList: true, subtree: true, characterData: true});
  await new Promise(wake => setTimeout(wake, 3000));
  watcher.disconnect();
  return [...new Set(pairs)];
}"""


def test_two_choices_say_what_they_do_and_how_long_they_take(
    visit: Callable[..., Page], twice: Served
) -> None:
    """Seven recipes stood side by side, in a researcher's words and without times."""
    page = visit(twice, "/train?project=sample")
    quick, best = (page.get_by_role("radio", name=name) for name in ("Quick", "Best"))
    expect(best).to_have_attribute("aria-checked", "true")
    chosen = best.evaluate("one => getComputedStyle(one).backgroundColor")
    for choice, recipe in ((quick, "Instant"), (best, "ConvFiT")):
        expect(choice).to_contain_text("examples of 17 intents")
        expect(choice.locator("[data-role=time]")).to_contain_text("About ")
        expect(choice).to_have_attribute("title", f"Method: {recipe}")
        expect(choice).not_to_contain_text(recipe)
    expect(quick).to_contain_text("going by the last one on this computer")
    expect(best).to_contain_text("other programs")  # nothing like it was trained here
    # The same time stood beside the button, too.
    expect(page.locator("[data-role=estimate]")).to_have_text("Your labels stay as they are.")
    expect(page.get_by_role("radio")).to_have_count(2)
    best.hover()  # a chosen card looked unchosen under the pointer
    expect(best).to_have_css("background-color", chosen)
    page.get_by_text("More ways", exact=True).click()
    small = page.get_by_role("radio", name="Small")
    expect(small).to_contain_text("1 MB a version")
    expect(small).not_to_contain_text("on this computer")  # none was ever trained here
    expect(page.locator("[data-role=not-here]")).to_contain_text("there are none yet")


def test_settings_are_in_plain_words_beside_the_button_that_trains(
    visit: Callable[..., Page], twice: Served
) -> None:
    """“Names” stood there twice, beside “Seed” and “Epochs”; Retrain scrolled out of sight."""
    page = visit(twice, "/train?project=sample", viewport={"width": 1280, "height": 500})
    # "3 labels since training" stood there after four decisions, one of them out of scope.
    outlook = page.locator("[data-role=outlook]")
    counts = r"^Learns from [\d,]+ of your [\d,]+ labels \([\d,]+ are test texts"
    expect(outlook).to_have_text(re.compile(counts))
    expect(outlook).not_to_contain_text("unless it answers worse")  # the tick below says it
    form = page.locator("#settings-convfit")
    form.get_by_text("Settings of the training", exact=True).click()
    expect(form).to_contain_text("For “Best” only.")
    names = form.get_by_label("Learn from intent names, too")
    expect(names).to_be_checked()
    expect(form.get_by_label("Seed")).to_be_hidden()
    back = page.get_by_role("button", name="Back to defaults")
    expect(back).to_be_hidden()
    form.get_by_label("Rounds over your examples").fill("1")
    names.uncheck()
    # It was ticked with 300 unlabelled texts, though it takes 500.
    unlabelled = form.get_by_label("Learn from unlabelled texts, too")
    expect(unlabelled).to_be_disabled()
    expect(unlabelled).not_to_be_checked()
    expect(form).to_contain_text("Not yet: it takes 500 unlabelled texts, and there are ")
    form.get_by_text("For researchers", exact=True).click()
    last = form.get_by_label("Projection size")
    last.fill("64")
    for control in (page.get_by_role("button", name="Retrain"), back, last):
        expect(control).to_be_in_viewport()
    back.click()
    expect(back).to_be_hidden()
    expect(names).to_be_checked()
    expect(last).to_have_value("")
    page.get_by_text("More ways", exact=True).click()
    small = page.get_by_role("radio", name="Small")
    expect(small).to_have_attribute("title", "Method: Adapter")


def test_a_version_that_is_not_better_is_advised_against_wherever_it_is_judged(
    visit: Callable[..., Page], twice: Served
) -> None:
    """Its report said "Ready to use", and the comparison neither advised nor decided anything."""
    advice = "Worse than version 1: keep version 1 live."
    page = visit(twice, "/train?project=sample")
    expect(page.locator("[data-role=advice]")).to_have_text(advice)
    expect(page.locator("[data-key=candidate]")).to_have_count(0)  # it is decided here
    page.goto(f"{twice.base}/versions?project=sample")
    waiting = page.locator("[data-role=models] > li[data-version='2']")
    expect(waiting.locator("[data-role=advice]")).to_have_text(advice)
    heading = page.get_by_role("heading", name="Version 1 is live, version 2 waits for you")
    expect(heading).to_be_visible()  # "Version 1 is live" stood over version 2
    # The verdict on version 1 stood above version 2 without a word of which it is.
    expect(page.locator("[data-role=stands]")).to_have_text(re.compile("^Version 1: "))
    # “92.5 % when trained” stood beside “91.8 % today”.
    expect(waiting).to_contain_text(re.compile(r"Right answers: [\d.]+ % today, .* when trained"))
    expect(
        waiting.get_by_role("button", name="Keep version 1, leave version 2 unused")
    ).to_have_class("primary")
    expect(waiting.get_by_role("button", name="Use version 2")).not_to_have_class("primary")
    page.goto(f"{twice.base}/reports/sample/2")
    expect(page.locator(".ready .lead")).to_contain_text(advice)
    page.goto(f"{twice.base}/versions?project=sample&candidate=2&champion=1")
    verdict = page.locator("[data-role=verdict]")
    expect(verdict.locator("[data-role=advice]")).to_have_text(advice)
    expect(
        verdict.get_by_role("button", name="Keep version 1, leave version 2 unused")
    ).to_have_class("primary")


def test_a_version_that_was_put_to_use_is_not_advised_against_any_more(
    visit: Callable[..., Page], twice: Served
) -> None:
    """It was live, and its blue button said "Keep version 2, leave version 2 unused"."""
    found = twice.ask("/projects/sample/versions")
    for model in found["models"]:
        model["champion"] = model["number"] == 2
    found["states"] = {"1": "former champion", "2": "champion"}
    page = visit(twice, "/versions?project=sample")
    second = page.locator("[data-role=models] > li[data-version='2']")
    expect(second.locator("[data-role=advice]")).to_be_visible()
    reroute(page, "**/models/2/promote", lambda route: route.fulfill(json={}))
    reroute(page, "**/projects/sample/versions", lambda route: route.fulfill(json=found))
    second.get_by_role("button", name="Use version 2").click()
    expect(second.locator("[data-role=state]")).to_contain_text("Live")
    expect(second.locator("[data-role=advice]")).to_have_count(0)
    expect(second.get_by_role("button", name=re.compile("^Keep"))).to_have_count(0)


def test_the_result_is_a_verdict_with_better_and_worse_texts_and_promote_first(
    visit: Callable[..., Page], twice: Served
) -> None:
    """A candidate had been compared in figures, with the decision at the side."""
    page = visit(twice, "/train?project=sample")
    result = page.get_by_role("region", name="Result")
    verdict = result.locator("[data-role=verdict]")
    # "About as good", "Not better" and "may be luck" were three verdicts.
    expect(verdict.locator(".badge")).to_have_text("▼")
    expect(verdict.get_by_text("orse than version 1")).to_have_count(1)
    # Nothing on the page said which of the two was made in which way.
    heading = result.get_by_role("heading").first
    expect(heading).to_have_text(re.compile(r"Version 2 \(Quick\) is trained, against version 1"))
    expect(verdict).to_contain_text("Version 2 answers")
    expect(verdict).not_to_contain_text("interval")
    for role in ("better", "worse"):
        expect(result.locator(f"[data-role={role}] li").first).to_contain_text("Answered ")
    expect(result.get_by_text("judged on")).to_have_count(0)
    buttons = verdict.get_by_role("button")
    expect(buttons.first).to_have_text("Use version 2")
    buttons.first.click()
    expect(page.locator("[data-role=champion]")).to_contain_text("v2")
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator("[data-role=champion]")).to_contain_text("v1")


def test_a_figure_of_a_training_says_why_that_of_today_is_another(
    visit: Callable[..., Page], twice: Served
) -> None:
    """ "94.1 % when trained" stood on Train beside 95.3 % in the header, without a word why."""
    page = visit(twice, "/train?project=sample")
    figure = page.locator("[data-role=figure]")
    expect(figure).to_contain_text(re.compile(r"Right answers: .* when trained"))
    expect(figure).to_contain_text("Labels given since are not counted in it.")
    status = twice.ask("/projects/sample/status")
    now = {"share": 0.5, "right": 50, "n": 100, "micro_f1": None, "kept_out": None, "outside_n": 0}
    now["causes"] = ["12 changes since training"]
    live = {**status, "champion": 2, "candidate": None, "model": "ready", "checking": False}
    reroute(page, "**/projects/sample/status", lambda it: it.fulfill(json={**live, "now": now}))
    page.reload()
    expect(figure).to_contain_text("Right answers: 50.0 % today, 50 of 100 test texts answered")
    expect(figure).to_contain_text("; since then: 12 changes since training.")
    # The top of the page counted 51 changes, and this line 46: five were still being checked.
    expect(figure).not_to_contain_text("Newer labels")
    live["checking"] = True
    page.reload()
    expect(figure).to_contain_text("Newer labels are being counted. The figures here are without")
    page.unroute_all(behavior="wait")
    page.goto(f"{twice.base}/versions?project=sample")
    expect(page.get_by_role("region", name="Versions")).to_contain_text(
        "Figures “when trained” are without the labels given since"
    )


def test_a_version_can_be_used_from_its_comparison(
    visit: Callable[..., Page], twice: Served
) -> None:
    """Whoever had compared two versions had to look for the button above."""
    page = visit(twice, "/versions?project=sample&candidate=2&champion=1")
    verdict, champion = (page.locator(f"[data-role={role}]") for role in ("verdict", "champion"))
    expect(verdict).to_be_visible()
    # The verdict and its buttons stood in the list, too.
    expect(page.get_by_role("button", name="Use version 2")).to_have_count(1)
    expect(page.locator("[data-role=advice]")).to_have_count(1)
    expect(page.get_by_text(verdict.locator("p").first.inner_text())).to_have_count(1)
    verdict.get_by_role("button", name="Use version 2").click()
    expect(champion).to_contain_text("v2")
    expect(verdict).to_be_hidden()
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(champion).to_contain_text("v1")


def test_tricky_wording_is_told_only_where_it_is_harder(
    visit: Callable[..., Page], twice: Served
) -> None:
    """Texts called hard were right more often than all: 87.0 % beside 81.4 %."""
    page = visit(twice, "/versions?project=sample")
    tricky = {"borderline_n": 10.0, "answered_right": 0.814}

    def with_tricky(route: Route) -> None:
        found = route.fetch().json()
        for model in found["models"]:
            model["metrics"] |= tricky
        route.fulfill(json=found)

    for share, count in ((0.87, 0), (0.7, 1)):
        tricky["borderline_accuracy"] = share
        reroute(page, "**/projects/sample/versions", with_tricky)
        page.reload()
        line = page.locator("li[data-version='1']")
        expect(line.get_by_role("button", name="Report")).to_be_visible()
        expect(line.locator("[data-role=borderline]")).to_have_count(count)
        page.unroute_all(behavior="wait")
    expect(line.locator("[data-role=borderline]")).to_contain_text(
        "Misleading wording, when trained: 7 of 10 test texts right; all test texts: 81.4 %"
    )


def test_going_forth_and_back_can_be_undone(visit: Callable[..., Page], twice: Served) -> None:
    """ "Use version 2" on Train offered Undo; on Versions neither it nor going back did."""
    page = visit(twice, "/versions?project=sample")
    champion, told = page.locator("[data-role=champion]"), page.locator(".toast").last
    forth, back = ("Use version 2", "v2"), ("Roll back to version 1", "v1")
    for act, after, before in ((*forth, "v1"), (*forth, ""), (*back, "v2"), (*back, "")):
        page.get_by_role("button", name=act).click()
        expect(champion).to_contain_text(after)
        if before:
            told.get_by_role("button", name="Undo").click()
            expect(champion).to_contain_text(before)


def test_what_runs_is_what_is_chosen_and_the_button_keeps_its_place(
    visit: Callable[..., Page], twice: Served
) -> None:
    """Coming back while Quick ran showed Best as chosen; choosing Quick moved the button."""
    page = visit(twice, "/train?project=sample")
    quick, best = (page.get_by_role("radio", name=name) for name in ("Quick", "Best"))
    start = page.get_by_role("button", name="Retrain")
    expect(start).to_be_enabled()
    place = "button => button.offsetTop - button.closest('section').offsetTop"
    before = start.evaluate(place)  # within the form: the result above it may come meanwhile
    quick.click()
    expect(quick).to_have_attribute("aria-checked", "true")
    expect(page.locator("[data-role=estimate]")).to_contain_text("labels stay")
    assert start.evaluate(place) == before
    [*_, first] = twice.ask("/projects/sample/jobs")
    running = {**first, "recipe": "instant", "state": "running", "finished_at": None}
    reroute(page, "**/projects/sample/jobs*", lambda route: route.fulfill(json=[running]))
    page.reload()
    expect(quick).to_have_attribute("aria-checked", "true")
    expect(best).to_have_attribute("aria-checked", "false")


def test_header_and_page_tell_one_share_of_a_training(
    visit: Callable[..., Page], twice: Served
) -> None:
    """They asked one after the other, and the bar was up to 1 % ahead of the header."""
    page = visit(twice)
    [*_, first] = twice.ask("/projects/sample/jobs")
    late = "Longer than expected: 11 minutes so far; 8 minutes were told."
    slow = {"eta_seconds": 2_760.0, "slowed": True, "late": late}
    job = {**first, **slow, "state": "running", "stage": "learning"}
    shares = cycle(place / 100 for place in range(10, 60))

    def asked(route: Route) -> None:
        found = route.fetch().json() | {"job": {**job, "progress": next(shares)}}
        route.fulfill(json=found)

    def listed(route: Route) -> None:
        route.fulfill(json=[{**job, "progress": next(shares)}])

    reroute(page, "**/projects/sample/status", asked)
    reroute(page, "**/projects/sample/jobs*", listed)
    page.goto(f"{twice.base}/train?project=sample")
    page.wait_for_selector("[role=progressbar]")
    expect(page.get_by_text("46 min left, while other programs run")).to_be_visible()
    expect(page.locator("[data-role=late]")).to_have_text(late)
    differ = page.evaluate(_SHARES_DIFFER)
    page.unroute_all(behavior="wait")
    assert differ == []


def test_review_says_that_the_first_training_runs(
    visit: Callable[..., Page], twice: Served
) -> None:
    """It said that there is no model yet, and offered to train; and it stayed so afterwards."""
    page = visit(twice, "/data?project=sample")
    status = twice.ask("/projects/sample/status")
    job = {"id": "j", "kind": "train", "state": "running", "progress": 0.2, "stage": "learning"}
    early = {**status, "champion": None, "job": {**job, "eta_seconds": None}}
    page.route("**/projects/sample/status", lambda route: route.fulfill(json=early))
    page.goto(f"{twice.base}/review?project=sample")
    expect(page.get_by_role("heading", name="The first training runs")).to_be_visible()
    expect(page.get_by_role("link", name="Follow the training")).to_be_visible()
    page.unroute_all(behavior="wait")
    expect(page.locator("[data-role=findings]")).to_be_visible()
    expect(page.get_by_role("heading", name="The first training runs")).to_have_count(0)


def test_versions_begin_with_what_is_live_and_fold_the_figures(
    visit: Callable[..., Page], twice: Served
) -> None:
    """A table of recipes, and charts that loaded every version before anybody asked."""
    page = visit(twice)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{twice.base}/versions?project=sample")
    first = page.locator("[data-role=models] > li[data-version='1']")
    second = page.locator("[data-role=models] > li[data-version='2']")
    expect(first.locator("[data-role=state]")).to_contain_text("Live")
    expect(second.locator("[data-role=changes]")).to_contain_text("since version 1: ")
    expect(second.locator("[data-role=changes]")).to_contain_text("no longer labelled")
    expect(second.get_by_role("button", name="Use version 2")).to_be_visible()
    expect(first.get_by_role("button", name="Hand over")).to_be_visible()
    hard = first.locator("[data-role=borderline]")
    if hard.count():
        expect(hard).to_be_hidden()
    assert not [url for url in asked if url.endswith(("/shape", "/api/plotly.js"))]
    page.get_by_text("Charts and figures for researchers").click()
    chart = page.locator("[data-role=accuracy-chart]")
    expect(chart.locator(".ytitle")).to_have_text("right (higher is better ↑)")
    expect(chart).to_contain_text("(live)")


def test_each_chart_says_what_one_reads_in_it_and_what_to_do(
    visit: Callable[..., Page], twice: Served
) -> None:
    """“Closeness” and “spread” told a designer neither which version is better nor what to do."""
    page = visit(twice, "/versions?project=sample")
    page.get_by_text("Charts and figures for researchers").click()
    words = page.locator("[data-role=accuracy-words]")
    expect(words).to_contain_text(
        "Each point is a version; higher is better. The axis does not begin at 0: read the figures."
        " Version 1 answered most texts right, "
    )
    chart = page.locator("[data-role=accuracy-chart][data-ready]")  # 1 point filled all its height
    low, high = chart.evaluate("chart => chart._fullLayout.yaxis.range")
    shares = chart.evaluate("chart => chart.data[0].y")
    assert high - low >= 10
    assert low + 1 < min(shares) <= max(shares) < high - 1
    expect(words).to_contain_text("label more texts like those that it answers wrongly")
    space = page.locator("[data-role=shapes]")
    expect(space.locator(".xtitle")).to_have_text("distance within an intent (← lower is better)")
    expect(space.locator(".ytitle")).to_have_text("crowding (lower is better ↓)")
    expect(space).to_contain_text("↙ better")
    expect(space).to_contain_text("version 1")
    expect(space).not_to_contain_text("convfit")
    expect(page.get_by_text("Choose a version by its right answers above")).to_be_visible()
    # "Further to the bottom left" named neither of two that lay top left and bottom right.
    reading = page.locator("[data-role=shapes-words]")
    expect(reading).to_have_text(re.compile(r"^Version [12] lies furthest left.*furthest down"))
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_text("Data snapshots: what each training learned from").click()
    row = page.locator("[data-role=data-versions] tbody tr").last
    expect(row.locator("td").nth(2)).to_contain_text("none: it is the first")
    before = "cell => getComputedStyle(cell, '::before').content"
    assert row.locator("td").nth(2).evaluate(before) == '"Changes: "'
    assert row.locator("td").last.evaluate(before) in ("none", "normal")  # a button without a name
