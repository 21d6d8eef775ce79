"""Two browsers work on the same project at once, over a network that loses requests and answers."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Page, Route, expect

from app.bootstrap import open_studio
from app.settings import Settings
from storage import projects
from storage.log import versions
from storage.queries import dataset
from tests.builders.held_answers import reroute
from tests.builders.served_studio import Served, run

N = 200
_SHOWN = """() => {
  const text = document.querySelector('[data-role=utterance]');
  return text.offsetParent === null ? '' : text.dataset.id;
}"""


@dataclass
class Labeller:
    """Somebody at a browser, who remembers every decision."""

    page: Page
    decided: dict[str, str] = field(default_factory=dict)

    def label(self, most: int) -> int:
        """Label up to so many utterances; stop where none is shown."""
        for done in range(most):
            shown = self.page.evaluate(_SHOWN)
            if not shown:
                return done
            assert shown not in self.decided
            key = "12"[len(self.decided) % 2]
            self.page.keyboard.press(key)
            self.decided[shown] = key
        return most


def test_two_people_label_everything_exactly_once(
    visit: Callable[..., Page], serve: Callable[..., Served], tmp_path: Path
) -> None:
    studio = prepared(serve(empty=True), tmp_path)
    one, other = (Labeller(visit(studio, "/label?project=p")) for _ in range(2))
    for person in (one, other):
        person.page.wait_for_selector("[data-role=utterance]:not(:empty)")
    lose_answers(other.page)
    for _ in range(3):
        one.label(12)
        other.label(12)
    other.page.context.set_offline(True)
    assert other.label(10) == 10
    expect(other.page.locator("[data-role=saved]")).to_contain_text("kept here")
    one.label(30)
    other.page.context.set_offline(False)
    label_the_rest(one, other)
    for person in (one, other):
        expect(person.page.locator("[data-role=saved]")).to_have_text("all saved")
    studio.stop()
    check_the_log(studio, one, other)


def test_decisions_outlive_a_killed_studio_and_a_closed_tab(
    visit: Callable[..., Page], serve: Callable[..., Served], tmp_path: Path
) -> None:
    studio = prepared(serve(empty=True), tmp_path)
    person = Labeller(visit(studio, "/label?project=p"))
    person.page.wait_for_selector("[data-role=utterance]:not(:empty)")
    person.label(5)
    studio.kill()
    person.label(5)
    expect(person.page.locator("[data-role=saved]")).to_contain_text("kept here")
    context = person.page.context
    person.page.close()
    studio.start()
    page = context.new_page()
    page.goto(f"{studio.base}/label?project=p&token={studio.token}")
    expect(page.locator("[data-role=saved]")).to_have_text("saved as you go")
    expect(page.locator("[data-role=left]")).to_have_text("190 wait for a label")
    studio.stop()
    opened = open_studio(Settings(home=studio.home))
    with opened.database.read() as connection:
        rows = list(dataset.utterances(connection, projects.find(connection, "p").id))
    opened.database.close()
    assert {row.id for row in rows if row.labels} == set(person.decided)


def label_the_rest(one: Labeller, other: Labeller) -> None:
    """Go on until nothing is left in either browser."""
    for _ in range(200):
        if len(one.decided) + len(other.decided) == N:
            return
        if one.label(7) + other.label(7) == 0:
            for person in (one, other):
                again = person.page.get_by_role("button", name="Look again")
                if again.is_visible():
                    again.click()
            one.page.wait_for_timeout(200)
    raise AssertionError(f"{len(one.decided)} and {len(other.decided)} of {N} were labelled")


def prepared(studio: Served, folder: Path) -> Served:
    file = folder / "texts.txt"
    file.write_text("\n".join(f"utterance number {n}" for n in range(N)), encoding="utf-8")
    run(studio.home, "new", "p")
    run(studio.home, "import", "p", str(file))
    for name in ("first", "second"):
        studio.ask("/projects/p/intents", {"name": name})
    return studio


def lose_answers(page: Page) -> None:
    """Let every third message of decisions arrive, and its answer be lost."""
    sent = Counter[str]()

    def lose(route: Route) -> None:
        sent["ops"] += 1
        if sent["ops"] % 3 == 0:
            route.fetch()
            route.abort()
        else:
            route.continue_()

    reroute(page, "**/ops", lose)


def check_the_log(studio: Served, *people: Labeller) -> None:
    opened = open_studio(Settings(home=studio.home))
    with opened.database.read() as connection:
        project = projects.find(connection, "p")
        number = {
            one.id: str(place + 1)
            for place, one in enumerate(dataset.intents(connection, project.id))
        }
        changes = list(versions.changes_up_to(connection, project.id, project.head_revision))
        held = {row.id: row.labels for row in dataset.utterances(connection, project.id)}
    opened.database.close()
    times = Counter(change.subject_id for change in changes if change.field == "labels")
    decided = {**people[0].decided, **people[1].decided}
    assert len(decided) == sum(len(person.decided) for person in people) == N
    assert set(times.values()) == {1}
    assert {key: number[labels[0]] for key, labels in held.items() if labels} == decided


def test_a_text_that_somebody_else_has_changed_is_shown_beside_what_was_typed(
    visit: Callable[..., Page], serve: Callable[..., Served], tmp_path: Path
) -> None:
    """Nothing is overwritten before both texts were seen, and nothing has to be typed again."""
    studio = prepared(serve(empty=True), tmp_path)
    page = visit(studio, "/data?project=p")
    key = page.locator("tr[data-id]").first.get_attribute("data-id")
    shown = page.locator(f'tr[data-id="{key}"] .editable')
    shown.click()
    dialog = page.get_by_role("dialog", name="Edit the text")
    field = dialog.get_by_label("Text", exact=True)
    field.fill("what I typed")
    theirs = {"filter": {"ids": [key]}, "kind": "text", "value": "what they wrote", "expected": 1}
    studio.ask("/projects/p/edits", theirs)
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.locator(".toast.bad")).to_contain_text("A text was changed meanwhile.")
    told = "Somebody else has changed it to “what they wrote”."
    expect(dialog.locator("p.note")).to_have_text(told)
    expect(field).to_have_value("what I typed")
    expect(shown).to_have_text("what they wrote")
    dialog.get_by_role("button", name="Save").click()
    expect(shown).to_have_text("what I typed")
    expect(page.get_by_role("dialog")).to_have_count(0)
