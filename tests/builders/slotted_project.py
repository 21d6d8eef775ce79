"""A project in whose utterances somebody marked the values."""

from app.services.data.projects import create_project
from app.services.studio import Studio
from core.templates.slots import Slot
from storage.log import edits, events
from storage.log.events import Action
from storage.records import Change, UtteranceRecord

CITIES = ("berlin", "paris", "oslo", "rome", "new york")
SAID = {
    "flight": ("fly me to {}", "I want to fly to {} now"),
    "weather": ("how is the weather in {}", "will it rain in {}"),
    "hotel": ("a hotel in {} please", "book a room in {}"),
}
POOL = ("is it cold in oslo", "rooms in rome", "good morning", "hello there", "thank you")
TESTED = ("fly me to madrid", "will it rain in paris")


def city_in(text: str, city: str) -> tuple[Slot, ...]:
    start = text.find(city)
    return () if start < 0 else (Slot(start, start + len(city), "city"),)


def with_values(studio: Studio, name: str = "p", *, marked: bool = True) -> None:
    """Create a project of 30 labelled texts with cities, of five of the pool, and two to test."""
    project = create_project(studio, name)
    made = {intent: edits.create_intent(intent) for intent in SAID}
    found: list[Change] = list(made.values())
    for intent, frames in SAID.items():
        for frame in frames:
            for city in CITIES:
                text = frame.format(city)
                slots = city_in(text, city) if marked else ()
                found.append(_row(name, len(found), text, made[intent].subject_id, slots))
    found += [_row(name, len(found) + at, text, None, ()) for at, text in enumerate(POOL)]
    found += [
        _row(name, len(found) + at, text, made["flight"].subject_id, (), "test")
        for at, text in enumerate(TESTED)
    ]
    with studio.database.write() as connection:
        events.record(connection, project.id, Action("import", "local"), found)


def _row(
    name: str, n: int, text: str, intent: str | None, slots: tuple[Slot, ...], split: str = ""
) -> Change:
    labels = None if intent is None else (intent,)
    split = split or ("pool" if intent is None else "train")
    record = UtteranceRecord(
        f"{name}-{n:03}", text, split, "f", labels, skipped=False, flagged="", slots=slots
    )
    return edits.create(record)
