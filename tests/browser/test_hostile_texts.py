"""A script that somebody posts as an utterance, a name or a description is text in every view."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page

from app.bootstrap import open_studio
from app.services.data.importing import ImportRequest, import_file
from app.services.data.intents import add_intent, change_intent, load_overview
from app.services.data.projects import create_project
from app.services.training.runs import TrainingRequest
from app.settings import Settings
from tests.builders.hostile.mixed_scripts import TURNED, TURNS
from tests.builders.served_studio import Served, StudioPool, copy_home
from tests.builders.trained_home import group_here, train_here

BOMB = (
    '"><img src=x onerror="window.ran=1"><script>window.ran=2</script>'
    f"<svg onload='window.ran=3'></svg>{TURNED}"
)
PROJECT = '"><img src=x onerror=window.ran=4>'
SOURCE = '"><img src=x onerror=window.ran=6>'
TOPICS = ("billing", "parcels", "passwords")
SAID = (("billing", "2026-02-02"), ("parcels", "2026-02-09"))
"""What people asked about a week ago, and what they ask about now."""


@pytest.fixture(scope="module")
def hostile_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A studio in which everything that a person can name is markup, with two models of it."""
    folder = tmp_path_factory.mktemp("hostile")
    studio = open_studio(Settings(home=folder / "home", device="cpu"))
    create_project(studio, PROJECT)
    rows = [
        {
            "text": f"{BOMB} {split} {number} about {topic}",
            "intents": [f"{BOMB} {topic}"],
            "split": split,
        }
        for topic in TOPICS
        for split in ("train", "test")
        for number in range(5)
    ]
    rows += [{"text": f"{BOMB} what about {word}"} for word in ("money", "trucks", "logins")]
    file = folder / "rows.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    import_file(studio, ImportRequest(PROJECT, file))
    for intent in load_overview(studio, PROJECT)[1]:
        change_intent(studio, PROJECT, intent.id, {"description": BOMB})
    train_here(studio, TrainingRequest(PROJECT, "instant", {}))
    add_intent(studio, PROJECT, f"{BOMB} new", BOMB)
    train_here(studio, TrainingRequest(PROJECT, "instant", {}))
    group_here(studio, PROJECT)
    studio.database.close()
    return folder / "home"


@pytest.fixture
def page(
    visit: Callable[..., Page], hostile_home: Path, tmp_path: Path, studios: StudioPool
) -> Iterator[Page]:
    with studios.serving(copy_home(hostile_home, tmp_path / "home")) as studio:
        page = visit(studio)
        pin = {"text": BOMB, "intents": [first(studio)]}
        studio.ask(f"/projects/{quote(PROJECT, safe='')}/pins", pin)
        studio.ask(f"/projects/{quote(PROJECT, safe='')}/traffic", {"texts": said()})
        yield page


def said() -> list[dict[str, str]]:
    """Traffic of two weeks, from two sources, of which one is markup; no text of it is new."""
    return [
        {
            "text": f"{BOMB} train {n % 5} about {topic}",
            "time": f"{day}T10:{n:02d}:00Z",
            "source": (SOURCE, "app")[n % 2],
        }
        for topic, day in SAID
        for n in range(40)
    ]


def first(studio: Served) -> str:
    overview = studio.ask(f"/projects/{quote(PROJECT, safe='')}/overview")
    return str(overview["intents"][0]["id"])


def go(page: Page, name: str, more: str = "") -> None:
    base = page.url.partition("?")[0].rsplit("/", 1)[0]
    page.goto(f"{base}/{name}?project={quote(PROJECT)}{more}")
    page.wait_for_selector(".studio h1")


def nothing_ran(page: Page, shown: str) -> None:
    """The text was shown as it is, no element was made of it, no script ran, nothing is turned."""
    page.wait_for_selector(f"text={shown}")
    page.wait_for_timeout(200)
    assert page.evaluate("window.ran") is None
    assert page.locator("img[src=x], svg[onload], script:text('window.ran')").count() == 0
    assert not TURNS & set(page.evaluate("document.body.innerText"))


def test_no_view_runs_a_posted_script(page: Page, tmp_path: Path) -> None:
    nothing_ran(page, "onerror=window.ran=4")
    looks_at_data(page, tmp_path)
    looks_at_the_card(page)
    looks_at_the_map(page)
    looks_at_groups(page)
    looks_at_training(page)
    looks_at_an_answer(page)
    looks_at_versions(page)


def test_no_later_page_runs_a_posted_script(page: Page, tmp_path: Path) -> None:
    """Review, Slots, what people said, History and conversations were visited by no such test."""
    looks_at_review(page)
    looks_at_reshaping(page)
    looks_at_slots(page)
    looks_at_traffic(page)
    looks_at_conversations(page, tmp_path)
    looks_at_history(page)


def looks_at_data(page: Page, tmp_path: Path) -> None:
    go(page, "data")
    nothing_ran(page, "what about trucks")
    assert page.get_by_text("invoice [RLO]fdp.exe").count() > 5
    page.locator("button.editable").first.click()
    nothing_ran(page, "Edit the text")
    page.keyboard.press("Escape")
    page.locator(".intents button").first.click()
    nothing_ran(page, "What belongs to it")
    page.keyboard.press("Escape")
    page.get_by_label("Pick all of this page").check()
    nothing_ran(page, "picked")
    file = tmp_path / "'><img src=x onerror=window.ran=5>.csv"
    file.write_text(
        f'text,intent\n"{BOMB.replace(chr(34), "")} again","{BOMB.replace(chr(34), "")} x"\n'
    )
    page.get_by_label("File to import").set_input_files(file)
    nothing_ran(page, "1 new text, labelled.")


def looks_at_the_card(page: Page) -> None:
    go(page, "label")
    page.wait_for_selector(".option")
    page.keyboard.press("w")
    nothing_ran(page, "votes for")
    page.keyboard.press("t")
    nothing_ran(page, "Set aside: 1")
    page.keyboard.press("m")
    page.locator("summary", has_text="billing").click()
    page.keyboard.press("/")
    page.keyboard.type("img")
    nothing_ran(page, "Create “img”")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    nothing_ran(page, "all saved")


def looks_at_the_map(page: Page) -> None:
    go(page, "map", "&method=pca")  # UMAP would compute for half a minute
    page.wait_for_selector(".map[data-ready=true]")
    page.get_by_label("Colour by").select_option("prediction")
    nothing_ran(page, "points")
    box = page.locator(".map").bounding_box()
    assert box is not None
    corners = [(80, 12), (box["width"] - 12, 12), (box["width"] - 12, box["height"] - 12)]
    page.mouse.move(box["x"] + 12, box["y"] + 12)
    page.mouse.down()
    for x, y in [*corners, (12, box["height"] - 12), (12, 12)]:
        page.mouse.move(box["x"] + x, box["y"] + y, steps=4)
    page.mouse.up()
    nothing_ran(page, "selected")
    x, y = page.evaluate("document.querySelector('.map').probe().points[0]")
    page.mouse.move(x, y)
    nothing_ran(page, "about")
    page.mouse.click(x, y)
    nothing_ran(page, "Nearest examples")


def looks_at_groups(page: Page) -> None:
    go(page, "discover")
    nothing_ran(page, "what about money")


def looks_at_training(page: Page) -> None:
    go(page, "train")
    nothing_ran(page, "Earlier trainings")


def looks_at_an_answer(page: Page) -> None:
    go(page, "try")
    nothing_ran(page, "must get")
    page.get_by_label("Text to try").fill(BOMB)
    nothing_ran(page, "votes for")
    page.get_by_label("Text to try").fill(f"{BOMB}\n{BOMB} again")
    nothing_ran(page, "2 texts")


def looks_at_versions(page: Page) -> None:
    go(page, "versions")
    nothing_ran(page, "is live")
    page.locator("[data-role=models]").get_by_text("More", exact=True).first.click()
    page.get_by_role("button", name="Where it comes from").first.click()
    nothing_ran(page, "Where version")
    page.get_by_text("Data snapshots: what each training learned from").click()
    page.get_by_role("button", name="What changed").click()
    nothing_ran(page, "From data snapshot")
    page.get_by_role("button", name="Compare").first.click()
    nothing_ran(page, "against version")


def looks_at_review(page: Page) -> None:
    go(page, "review")
    page.locator("[data-role=findings] button, [data-role=findings] .empty").first.wait_for()
    nothing_ran(page, "Findings")
    go(page, "review", "&tab=border")
    page.locator(".walk li, [data-role=walk] .empty").first.wait_for()
    nothing_ran(page, "Borders")
    go(page, "review", "&tab=add")
    page.get_by_label("New example").fill(f"{BOMB} again")
    page.get_by_label("An example of").select_option(index=1)
    page.locator("[data-role=verdict]").wait_for()
    nothing_ran(page, "Add an example")
    go(page, "review", "&tab=fence")
    page.locator("[data-role=fence] > *, [data-role=wishes] > *").first.wait_for()
    nothing_ran(page, "Which texts should be refused?")
    go(page, "review", "&tab=pins")
    page.locator("[data-role=promises] td").first.wait_for()
    nothing_ran(page, "Pins")


def looks_at_reshaping(page: Page) -> None:
    go(page, "review", "&tab=reshape")
    form = page.get_by_role("region", name="Reshape intents")
    form.locator("select[data-key=intent]").select_option(index=1)
    form.locator("select[data-key=how]").select_option("relabel")
    form.locator("li").first.wait_for()
    nothing_ran(page, "Reshape intents")


def looks_at_slots(page: Page) -> None:
    go(page, "slots")
    page.locator(".marking [data-word]").first.wait_for()
    nothing_ran(page, "Mark by hand")
    page.locator(".marking").focus()
    page.keyboard.press("End")
    page.keyboard.press("n")
    page.keyboard.type("city")
    page.keyboard.press("Enter")
    page.locator(".marking .slot").first.wait_for()
    nothing_ran(page, "Generate texts")  # with the book, once a value is marked


def looks_at_traffic(page: Page) -> None:
    go(page, "discover", "&tab=traffic")
    nothing_ran(page, "How much is answered")
    page.locator("[data-role=sources] td").first.wait_for()
    for change in page.locator("[data-role=changes] summary").all():
        change.click()  # nobody asks any more about one of the subjects
    page.locator("[data-role=changes] [data-role=said] li").first.wait_for()
    nothing_ran(page, "What people ask for")


def looks_at_conversations(page: Page, tmp_path: Path) -> None:
    log = tmp_path / "'><img src=x onerror=window.ran=7>.jsonl"
    log.write_text(json.dumps([BOMB, f"{BOMB} again"]) + "\n", encoding="utf-8")
    go(page, "data", "#conversations")
    page.get_by_label("Log of conversations to import").set_input_files(log)
    nothing_ran(page, "Import the log")
    page.get_by_role("button", name="Import the log").click()
    nothing_ran(page, "Read the conversations")
    page.get_by_text("Read the conversations").click()
    page.locator("[data-role=turn-answer] > *").first.wait_for()
    nothing_ran(page, "Conversation 1 of 1")


def looks_at_history(page: Page) -> None:
    go(page, "history")
    page.locator("[data-role=acts] tbody tr").first.wait_for()
    nothing_ran(page, "Everything that was done in this project")
