"""Pins: texts whose answer a person expects, and how models answered them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from app.services.live.live_studio import LiveStudio
from core.errors import Conflict, InvalidInput
from core.text import is_blank, is_storable, label_words, normalise, text_hash
from core.types import Prediction, Task
from storage import models, pinned_texts, projects
from storage.people import acts
from storage.people.acts import Act
from storage.queries import dataset
from storage.records import IntentRecord, ModelVersionRecord, PinRecord

Verdict = Literal["kept", "broken"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """How a model version answered a pin when it was trained."""

    version: int
    verdict: Verdict
    answer: str


@dataclass(frozen=True, slots=True)
class PinView:
    """A pin with what the live model answers; all in words.

    Attributes:
        answer: None without a model.
        kept: Whether the answer is the expected one; None without a model, or if `stale`.
        stale: Whether an expected intent is archived or deleted, so that no model is judged by it.
        intents: Ids of the expected intents; none for out of scope.
    """

    text: str
    expected: str
    answer: str | None
    kept: bool | None
    stale: bool
    intents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PinHistory:
    """A pin, and how the versions since it was set answered it, oldest first."""

    pin: PinView
    intents: tuple[str, ...]
    actor: str
    at: str
    judgements: tuple[Judgement, ...]


@dataclass(frozen=True, slots=True)
class SeenPin:
    """The pin of a text as somebody saw it: the ids of its intents, None for no pin."""

    intents: tuple[str, ...] | None


def set_pin(
    live_studio: LiveStudio,
    project: str,
    text: str,
    intents: Sequence[str],
    seen: SeenPin | None = None,
) -> None:
    """Expect exactly these intents, by id, for a text; trained models are judged by it.

    Without an intent, the text must be out of scope, or have no intent.

    Raises:
        Conflict: An intent is archived, or the pin is not the one that was seen.
        InvalidInput: The text is empty or cannot be stored, or a single-label pin has several
            intents.
        NotFound: There is no such intent.
    """
    if is_blank(text) or not is_storable(text):
        raise InvalidInput("A pin needs a text.", "Type one first.")
    with live_studio.studio.database.write() as connection:
        found = projects.find(connection, project)
        if found.task == "single-label" and len(set(intents)) > 1:
            raise InvalidInput("A pin expects one intent.", "Choose one, or out of scope.")
        _check_seen(pinned_texts.list_all(connection, found.id), text, seen)
        for key in intents:
            expected = dataset.intent_by_id(connection, found.id, key)
            if expected.archived:
                raise Conflict(
                    f"The intent '{expected.name}' is archived.",
                    "Bring it back, or choose another.",
                )
        actor = live_studio.studio.settings.actor
        pinned_texts.add(connection, found.id, text, set(intents), actor)
        names = [dataset.intent_by_id(connection, found.id, key).name for key in set(intents)]
        about = f"“{normalise(text)}” to {label_words(sorted(names), found.task)}"
        acts.note(connection, found.id, Act("pin", actor, about))


def remove_pin(
    live_studio: LiveStudio, project: str, text: str, seen: SeenPin | None = None
) -> None:
    """Remove a text's pin.

    Raises:
        Conflict: The pin is not the one that was seen.
    """
    with live_studio.studio.database.write() as connection:
        project_id = projects.find(connection, project).id
        _check_seen(pinned_texts.list_all(connection, project_id), text, seen)
        pinned_texts.remove(connection, project_id, text)
        actor = live_studio.studio.settings.actor
        acts.note(connection, project_id, Act("remove pin", actor, f"“{normalise(text)}”"))


def _check_seen(pins: Sequence[PinRecord], text: str, seen: SeenPin | None) -> None:
    """Raise Conflict if the pin of a text is not the one that was seen."""
    if seen is None:
        return
    key = text_hash(text)
    now = next((set(one.intents) for one in pins if text_hash(one.text) == key), None)
    if now != (None if seen.intents is None else set(seen.intents)):
        raise Conflict(
            f"The pin of “{normalise(text)[:80]}” was changed meanwhile.",
            "Nothing was done. Look at the pin as it is now.",
        )


def load_pins(live_studio: LiveStudio, project: str) -> list[PinView]:
    """Return all pins, each with what the live model answers."""
    with live_studio.studio.database.read() as connection:
        found = projects.find(connection, project)
        records = pinned_texts.list_all(connection, found.id)
        intents = {i.id: i for i in dataset.intents(connection, found.id)}
    live = live_studio.models.get(found.id) if records else None
    answers = [] if live is None else live.pipeline.predict([r.text for r in records])
    pairs = zip_longest(records, answers)
    return [_pin_view(record, found.task, intents, said) for record, said in pairs]


def _pin_view(
    record: PinRecord, task: Task, intents: Mapping[str, IntentRecord], said: Prediction | None
) -> PinView:
    expected = [intents.get(key) for key in record.intents]
    names = sorted("?" if intent is None else intent.name for intent in expected)
    stale = any(intent is None or intent.archived for intent in expected)
    words = label_words(names, task)
    answer, kept = None, None
    if said is not None:
        answer = said.decision.words
        kept = None if stale else set(said.decision.intents) == set(names)
    return PinView(record.text, words, answer, kept, stale, record.intents)


def load_pin_history(live_studio: LiveStudio, project: str) -> list[PinHistory]:
    """Return all pins by text, with the versions made after the pin was last set.

    Raises:
        NotFound: There is no such project.
    """
    with live_studio.studio.database.read() as connection:
        project_id = projects.find(connection, project).id
        records = {record.text: record for record in pinned_texts.list_all(connection, project_id)}
        versions = models.list_all(connection, project_id)
    return [_history(one, records[one.text], versions) for one in load_pins(live_studio, project)]


def _history(view: PinView, record: PinRecord, versions: list[ModelVersionRecord]) -> PinHistory:
    since = [version for version in versions if version.created_at >= record.at]
    judged = [_judgement(version, record) for version in since if _judges(version)]
    return PinHistory(view, record.intents, record.actor, record.at, tuple(judged))


def _judges(version: ModelVersionRecord) -> bool:
    """Whether a version was judged by pins; an imported one was not."""
    return bool(version.pins.get("kept", 0) or version.pins.get("broken"))


def _judgement(version: ModelVersionRecord, record: PinRecord) -> Judgement:
    key = text_hash(record.text)
    for broken in version.pins.get("broken", ()):
        if text_hash(broken["text"]) == key:
            return Judgement(version.number, "broken", " and ".join(broken["answer"]))
    return Judgement(version.number, "kept", "")
