"""Train proposes no way that lost, and its rule and its verdict use the same words."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from app.bootstrap import open_studio
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.live.live_studio import open_live_studio
from app.services.studio import Studio
from app.services.training.runs import TrainingRequest
from app.services.trying.pins import set_pin
from app.settings import Settings
from tests.builders.served_studio import Served, StudioPool
from tests.builders.trained_home import train_here


def by_best(route: Route) -> None:
    """Answer that version 2 was trained by Best."""
    jobs = route.fetch().json()
    for job in jobs:
        if job["result"].get("model", "").endswith("@2"):
            job["recipe"] = "convfit"
    route.fulfill(json=jobs)


def test_a_way_that_lost_last_time_is_not_proposed_again(
    visit: Callable[..., Page], twice: Served
) -> None:
    """Best was chosen beforehand above “Worse than version 1”, which was said of it."""

    page = visit(twice, "/")
    page.route("**/projects/sample/jobs*", by_best)
    page.goto(f"{twice.base}/train?project=sample")
    quick, best = (page.get_by_role("radio", name=name) for name in ("Quick", "Best"))
    expect(page.locator("[data-role=advice]")).to_contain_text("Worse than version 1")
    # “Last time it was not better than the live version” named none of the two.
    lost = page.locator("[data-role=lost]")
    expect(best.locator(lost)).to_have_text(
        "This made version 2. Worse than version 1: keep version 1 live."
    )
    expect(quick).to_have_attribute("aria-checked", "true")
    best.click()
    expect(best).to_have_attribute("aria-checked", "true")


def test_no_way_is_said_to_have_lost_against_itself(
    visit: Callable[..., Page], twice: Served
) -> None:
    """Best “was not better than the live version”, which Best had made: the user had chosen it."""
    live = {"champion": 1, "candidate": 2}

    page = visit(twice, "/")
    page.route("**/projects/sample/jobs*", by_best)
    page.route(
        "**/projects/sample/status",
        lambda route: route.fulfill(json=route.fetch().json() | live),
    )
    page.goto(f"{twice.base}/train?project=sample")
    lost = page.locator("[data-role=lost]")
    expect(lost).to_have_count(1)
    live |= {"champion": 2, "candidate": None}
    expect(lost).to_have_count(0)
    live |= {"champion": 1}  # rolled back: no version waits, and both are compared all the same
    expect(page.get_by_role("radio", name="Best").locator(lost)).to_contain_text(
        "Worse than version 1"
    )


def test_the_rule_and_the_verdict_say_the_same(visit: Callable[..., Page], twice: Served) -> None:
    """“Not better” stood beside a rule by which a version takes over if nothing drops."""

    words = "About as good as version 1: keep version 1, as nothing speaks for a change."

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
    expect(page.get_by_label("unless it answers worse")).to_be_visible()
    # The verdict said which one to keep, and no button stood out, on both pages.
    for path, buttons in (("train", "[data-role=verdict]"), ("versions", "[data-version='2']")):
        page.goto(f"{twice.base}/{path}?project=sample")
        part = page.locator(buttons)
        expect(part.locator("[data-role=advice]")).to_have_text(words)
        use = part.get_by_role("button", name="Use version 2")
        expect(use).not_to_have_class("primary")
        keep = part.get_by_role("button", name="Keep version 1, leave version 2 unused")
        expect(keep).to_have_class("primary")


def test_a_training_is_as_old_as_its_version(visit: Callable[..., Page], twice: Served) -> None:
    """Train counted from a training's start: “4 min ago” beside Versions' “now”."""

    def hours_long(route: Route) -> None:
        jobs = route.fetch().json()
        for job in jobs:
            job["created_at"] = "2020-01-01T00:00:00+00:00"
        route.fulfill(json=jobs)

    page = visit(twice, "/")
    page.route("**/projects/sample/jobs*", hours_long)
    page.goto(f"{twice.base}/train?project=sample")
    expect(page.locator("main [data-role=since]").first).to_be_visible()
    ages = page.locator("main [data-role=since]").all()
    assert not [one for one in ages if str(one.get_attribute("datetime")).startswith("2020")]


def test_a_chart_of_accuracy_says_what_it_is_not_for(
    visit: Callable[..., Page], twice: Served
) -> None:
    """A rising line was read as the result."""

    def drawn(route: Route) -> None:
        jobs = route.fetch().json()
        for job in jobs:
            job["curve"] = {"accuracy while tuning": [[1, 0.5, 64], [2, 0.75, 64]]}
        route.fulfill(json=jobs)

    page = visit(twice, "/")
    page.route("**/projects/sample/jobs*", drawn)
    page.goto(f"{twice.base}/train?project=sample")
    page.get_by_text("How the training went").click()
    lead = page.locator("[data-role=curve-accuracy] [data-role=lead]")
    expect(lead).to_contain_text("The line should rise.")
    expect(lead).to_contain_text("decide by the result at the end, not by this line")


def test_whether_a_better_version_takes_over_is_kept(
    visit: Callable[..., Page], twice: Served
) -> None:
    """A tick that nobody saves would let a person wait for a version that never answers."""
    page = visit(twice, "/train?project=sample")
    box = page.get_by_label("unless it answers worse")
    was = box.is_checked()
    for wanted in (not was, was):
        with page.expect_response(lambda answer: answer.request.method == "PATCH") as saved:
            box.set_checked(wanted)
        assert saved.value.ok
        assert twice.ask("/projects/sample/status")["auto_promote"] is wanted
        page.reload()
        expect(box).to_be_checked(checked=wanted)


def test_without_a_new_label_another_training_is_not_the_first_act(
    visit: Callable[..., Page], twice: Served
) -> None:
    """A blue Retrain asked for a training that could learn nothing."""
    new = 0

    def counted(route: Route) -> None:
        route.fulfill(json=route.fetch().json() | {"candidate": None, "hot": new, "model": "ready"})

    page = visit(twice, "/")
    page.route("**/projects/sample/status", counted)
    page.goto(f"{twice.base}/train?project=sample")
    start, told = (
        page.get_by_role("button", name="Retrain"),
        page.locator("[data-role=nothing-new]"),
    )
    expect(told).to_contain_text("Nothing is new since version 1: it knows all your labels.")
    expect(start).not_to_have_class("primary")
    page.get_by_role("radio", name="Best").click()
    expect(told).to_contain_text("“Best” may still answer better.")
    # It stood there, too, where Best had made version 2 of the same labels.
    page.route("**/projects/sample/jobs*", by_best)
    page.reload()
    page.get_by_role("radio", name="Best").click()
    expect(told).to_contain_text("“Best” made version 2 of these labels.")
    new = 3
    expect(start).to_have_class("primary")
    expect(told).to_be_hidden()
    page.unroute_all(behavior="wait")


@pytest.fixture
def pinned(tmp_path: Path, labelled_csv: Path) -> Studio:
    """A project without a version, whose pin an example contradicts."""
    studio = open_studio(Settings(home=tmp_path / "home", device="cpu"))
    create_project(studio, "held")
    import_file(studio, ImportRequest("held", labelled_csv))
    set_pin(open_live_studio(studio), "held", "where is my parcel", [])
    return studio


def test_train_says_beforehand_that_a_broken_pin_holds_the_first_version_back(
    visit: Callable[..., Page], pinned: Studio, tmp_path: Path, studios: StudioPool
) -> None:
    """“The first version answers when it is ready” stood there, and then nothing answered."""
    pinned.database.close()
    ready = "The first version answers when it is ready."
    with studios.serving(tmp_path / "home") as served:
        page = visit(served, "/train?project=held")
        outlook = page.locator("[data-role=outlook]")
        expect(outlook).to_contain_text(
            f"{ready} If it breaks a promised answer (pin), nothing answers until you use it."
        )
        served.ask("/projects/held/pins", {"text": "where is my parcel", "intents": None})
        page.reload()
        expect(outlook).to_contain_text(ready)
        expect(outlook).not_to_contain_text("pin")


@pytest.fixture
def held_back(pinned: Studio, tmp_path: Path, studios: StudioPool) -> Iterator[Served]:
    """A project whose first version breaks a pin, by what an example says, and waits."""
    train_here(pinned, TrainingRequest("held", "instant", {}))
    pinned.database.close()
    with studios.serving(tmp_path / "home") as served:
        yield served


def test_a_first_version_that_is_held_back_says_so_and_can_be_used(
    visit: Callable[..., Page], held_back: Served
) -> None:
    """Train said nothing of a first version that broke a pin, and offered another training."""
    page = visit(held_back, "/train?project=held")
    result = page.get_by_role("region", name="Result")
    expect(result.get_by_role("heading")).to_have_text("Version 1 (Quick) is trained")
    expect(result.locator("[data-role=waits]")).to_have_text(
        "It breaks the pin 'where is my parcel'. Nothing answers before you use it."
    )
    page.goto(f"{held_back.base}/label?project=held")
    page.get_by_role("link", name="Decide on v1").click()
    result.get_by_role("button", name="Use version 1").click()
    expect(page.get_by_text("Version 1 is live.")).to_be_visible()
    expect(result).to_be_hidden()
    assert held_back.ask("/projects/held/status")["champion"] == 1
