"""What is photographed: every page in its important states, by the name of its picture."""

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page

SAID = "the wifi does not reach my bedroom"
ASKED = SAID.replace(" ", "+")
TRAFFIC = "/discover?project=sample&tab=traffic"
TO_IMPORT = "text,intent\n" + "\n".join(
    (
        "my box has no power,no_internet",
        "how do I pay with a card,billing",
        "what is the wifi password,wifi_password",
        "can I have a second router,second_router",
        "cancel everything,cancel_contract",
        "my box has no power,slow_internet",
        "tell me a joke,oos",
        "is there a shop near me,",
    )
)
SETTLING_MS = 700  # for fonts, charts and motion


@dataclass(frozen=True)
class Shot:
    """One state of a page.

    Attributes:
        path: Its address below the studio's.
        wanted: A selector of what it shows once it is filled.
        act: What a person does to bring it into this state.
        whole: Whether the picture shows the whole page, and not what fits the window.
    """

    path: str
    wanted: str
    act: Callable[[Page], None] | None = None
    whole: bool = True


def press(key: str) -> Callable[[Page], None]:
    """Return an act: press a key."""
    return lambda page: page.keyboard.press(key)


def open_fold(selector: str) -> Callable[[Page], None]:
    """Return an act: open a folded part."""
    return lambda page: page.locator(selector).first.click()


def preview_import(page: Page) -> None:
    """Give the Data page a file with every case."""
    file = {"name": "new texts.csv", "mimeType": "text/csv", "buffer": TO_IMPORT.encode()}
    page.get_by_label("File to import").set_input_files([file])
    page.wait_for_selector("[data-role=preview]")


def edit_an_intent(page: Page) -> None:
    """Open the dialog of an intent."""
    page.locator("section[aria-label=Intents] .intents button").first.click()
    page.wait_for_selector("dialog[open]")


def split_an_intent(page: Page) -> None:
    """Choose to split an intent, and the first of the groups."""
    page.locator("select[data-key=intent]").select_option(index=1)
    page.locator("select[data-key=how]").select_option("split")
    page.locator("[data-key='group 0'] input[type=checkbox]").first.check()
    page.wait_for_selector("[data-role=touched]")


def merge_an_intent(page: Page) -> None:
    """Choose two intents to merge."""
    page.locator("select[data-key=intent]").select_option(index=1)
    page.locator("select[data-key=how]").select_option("merge")
    page.locator("select[data-key=target]").select_option(index=2)
    page.wait_for_selector("[data-role=touched]")


def open_group(page: Page) -> None:
    """Open the first group, which on a phone takes the place of the list."""
    page.locator("[data-role=groups] button").first.click()
    page.locator("[data-role=typical] li").first.wait_for()


def type_an_example(page: Page) -> None:
    """Type a new example that conflicts with others."""
    page.get_by_label("An example of").select_option(label="slow_internet")
    page.get_by_label("New example").fill(SAID)
    page.wait_for_selector("[data-role=verdict]")


def move_the_line(page: Page) -> None:
    """Move the line of out of scope, so that answers change."""
    slider = page.get_by_label("Limit", exact=True)
    for _ in range(25):
        slider.press("ArrowRight")
    page.get_by_text("answers would change").wait_for()


def open_more_ways(page: Page) -> None:
    """Open the folded choices, and the settings of Best: Quick, which is proposed, has none."""
    page.get_by_role("radio", name="Best").click()
    page.get_by_text("More ways", exact=True).click()
    page.get_by_text("Settings of the training").locator("visible=true").click()


def type_many(page: Page) -> None:
    """Paste several texts."""
    page.get_by_label("Text to try").fill(f"{SAID}\nI want to pay less\nwho won the match\nhello")
    page.wait_for_selector("[aria-label='Many answers'] td")


def ask_why(page: Page) -> None:
    """Open the explanation of an answer."""
    page.locator("[data-role=why] summary").first.click()
    page.wait_for_selector("[data-role=why-not]")


def pin_it(page: Page) -> None:
    """Pin the text on the Try page; a round in another width has pinned it already."""
    page.get_by_role("region", name="Pins").get_by_role("heading").wait_for()
    pin = page.locator(".acts [data-key=pin]")
    if pin.is_enabled():
        pin.click()
    page.wait_for_selector("[data-role=pins] li")


def compare(page: Page) -> None:
    """Compare the second version with the live one."""
    page.locator("[data-version='2']").get_by_role("button", name="Compare").click()
    page.wait_for_selector("[data-role=verdict]")


def hand_over(page: Page) -> None:
    """Open the dialog that hands over the live version."""
    page.locator("[data-version='1']").get_by_role("button", name="Hand over").click()
    page.wait_for_selector("dialog[open]")


def link_a_report(page: Page) -> None:
    """Open the panel with the report's files and link."""
    page.locator("[data-version='1']").get_by_role("button", name="Report").click()
    page.get_by_text("A link that works only on this computer").click()
    page.get_by_role("button", name="Make a link").click()
    page.wait_for_selector("[data-role=link]")


def open_the_charts(page: Page) -> None:
    """Unfold data versions and researchers' charts."""
    page.locator("[data-key='data versions']").click()
    page.locator("[data-key=charts]").click()
    page.wait_for_selector("[data-role=shapes] svg")


def follow_the_receipt(page: Page) -> None:
    """Open the receipt of the text on the Try page."""
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Open the receipt").click()
    address = opened.value.url
    opened.value.close()
    page.goto(address)
    page.wait_for_selector("h1")


def follow_the_report(page: Page) -> None:
    """Open the report about traffic."""
    page.locator("[data-key=report]").click()
    page.wait_for_selector("main h1")


PAGES = {
    "home": Shot("/", ".tiles a"),
    "data": Shot("/data?project=sample", "[data-role=utterances] tbody tr"),
    "import": Shot(
        "/data?project=sample", "[data-role=utterances] tbody tr", preview_import, whole=False
    ),
    "intent": Shot(
        "/data?project=sample", "[data-role=utterances] tbody tr", edit_an_intent, whole=False
    ),
    "conversations": Shot("/data?project=shop#conversations", "[data-role=logs] li"),
    "label": Shot("/label?project=sample&order=helps", ".option", whole=False),
    "discover": Shot("/discover?project=sample", "[data-role=groups] li"),
    "discover-group": Shot("/discover?project=sample", "[data-role=groups] li", open_group),
    "traffic": Shot(TRAFFIC, ".chart[data-ready=true]", open_fold("[data-role=changes] summary")),
    "traffic-report": Shot(TRAFFIC, "[data-key=report]", follow_the_report),
    "keys": Shot("/label?project=sample", ".option", press("?"), whole=False),
    "command-bar": Shot("/label?project=sample", ".option", press("Control+k"), whole=False),
    "review": Shot("/review?project=sample", "[data-role=findings] button"),
    "review-proposal": Shot("/review?project=sample&kind=proposal", "[data-role=findings] button"),
    "review-border": Shot("/review?project=sample&tab=border", ".walk li"),
    "review-merge": Shot("/review?project=sample&tab=reshape", ".field", merge_an_intent),
    "review-split": Shot("/review?project=sample&tab=reshape", ".field", split_an_intent),
    "review-add": Shot(
        "/review?project=sample&tab=add", "[data-role=collision] p", type_an_example
    ),
    "review-fence": Shot("/review?project=sample&tab=fence", ".figure"),
    "review-fence-moved": Shot("/review?project=sample&tab=fence", ".figure", move_the_line),
    "map": Shot("/map?project=sample", ".map[data-ready=true]", whole=False),
    "train": Shot("/train?project=sample", "[data-role=verdict]"),
    "train-settings": Shot("/train?project=sample", "[data-role=verdict]", open_more_ways),
    "try": Shot(f"/try?project=sample&text={ASKED}", ".vote"),
    "try-why": Shot(f"/try?project=sample&text={ASKED}", ".vote", ask_why),
    "try-outside": Shot("/try?project=sample&text=who+won+the+match+last+night", ".vote"),
    "try-many": Shot("/try?project=sample", ".empty", type_many),
    "versions": Shot("/versions?project=sample", "[data-role=models] > li"),
    "comparison": Shot("/versions?project=sample", "[data-role=models] > li", compare),
    "hand-over": Shot(
        "/versions?project=sample", "[data-role=models] > li", hand_over, whole=False
    ),
    "report-link": Shot("/versions?project=sample", "[data-role=models] > li", link_a_report),
    "charts": Shot("/versions?project=sample", "[data-role=models] > li", open_the_charts),
    "slots": Shot("/slots?project=travel", ".columns .sheet:not([hidden])"),
    "history": Shot("/history?project=sample", "[data-role=acts] tbody tr"),
    "report": Shot("/reports/sample/1", "h1"),
    "report-2": Shot("/reports/sample/2", "h1"),
    "receipt": Shot(f"/try?project=sample&text={ASKED}", ".vote", follow_the_receipt),
    "empty-data": Shot("/data?project=new", ".empty"),
    "empty-label": Shot("/label?project=new", ".empty"),
    "empty-discover": Shot("/discover?project=new", ".empty"),
    "no-traffic": Shot("/discover?project=shop&tab=traffic", ".empty, [data-role=nothing-sent]"),
    "empty-review": Shot("/review?project=new", ".empty"),
    "empty-map": Shot("/map?project=new", ".empty"),
    "empty-train": Shot("/train?project=new", "[data-role=first-act]"),
    "empty-try": Shot("/try?project=new", ".empty"),
    "empty-versions": Shot("/versions?project=new", ".empty"),
    "empty-slots": Shot("/slots?project=new", ".empty"),
    "no-slots": Shot("/slots?project=sample", ".empty"),
    "pinned": Shot(f"/try?project=sample&text={ASKED}", ".vote", pin_it),
    "review-pins": Shot("/review?project=sample&tab=pins", "[data-role=promises] td"),
}
"""Pictures of a studio with the sample and three more projects; what changes it comes last."""
EMPTY_HOME = {"first-home": Shot("/", ".empty")}
