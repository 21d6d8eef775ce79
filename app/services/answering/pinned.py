"""Which of today's pins a version breaks: one answer for header, Home, Versions, Train and report.

A pin that is gone, or whose intent is archived, counts nowhere; one that was set or changed after a
training is judged by what the version answers now.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.text import label_words
from core.types import Decision, Task
from storage import pinned_texts
from storage.database import Transaction
from storage.queries import dataset
from storage.records import ModelVersionRecord

_NAMED = 2


@dataclass(frozen=True, slots=True)
class OpenPin:
    """A pin that can be judged: its text, and the present names of the intents expected."""

    text: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BrokenPin:
    """A pin that a version breaks: what its text must get, and what it gets, in words."""

    text: str
    expected: str
    answer: str


BrokenPins = Mapping[OpenPin, BrokenPin]


def open_pins(connection: Transaction, project_id: int) -> tuple[OpenPin, ...]:
    """Return today's pins by text, without those that expect an archived or deleted intent."""
    found = pinned_texts.list_all(connection, project_id)
    if not found:
        return ()
    names = {key: one.name for key, one in dataset.open_intents(connection, project_id).items()}
    return tuple(
        OpenPin(pin.text, tuple(sorted(names[key] for key in pin.intents)))
        for pin in found
        if names.keys() >= set(pin.intents)
    )


def broken_by(pins: Sequence[OpenPin], answers: Sequence[Decision], task: Task) -> BrokenPins:
    """Return the pins that are broken by the answers to their texts."""
    return {
        pin: _broken(pin, one.intents, task)
        for pin, one in zip(pins, answers, strict=True)
        if set(one.intents) != set(pin.names)
    }


def broken_when_trained(version: ModelVersionRecord, task: Task) -> BrokenPins:
    """Return the pins that a version broke when it was trained, as they were then.

    Those of an imported version are of another project.
    """
    if version.lineage.get("imported"):
        return {}
    found = version.pins.get("broken", ())
    pins = [OpenPin(str(one["text"]), tuple(sorted(one["expected"]))) for one in found]
    return {pin: _broken(pin, one["answer"], task) for pin, one in zip(pins, found, strict=True)}


def _broken(pin: OpenPin, answer: Sequence[str], task: Task) -> BrokenPin:
    return BrokenPin(pin.text, label_words(pin.names, task), label_words(sorted(answer), task))


def broken_words(broken: Sequence[BrokenPin]) -> str:
    """Say what broken pins are about: "“text” must get A and gets B", two at most."""
    named = [f"“{one.text}” must get {one.expected} and gets {one.answer}" for one in broken]
    more = len(named) - _NAMED
    return "; ".join([*named[:_NAMED], *([f"{more:,} more"] if more > 0 else [])])
