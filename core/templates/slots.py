"""Marked values in utterances, and the templates that remain without them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from core.errors import InvalidInput

SLOT = "{SLOT}"
"""The token for every value in a template of the paper (TaDSE Section 8)."""

Tokens = Literal["one", "distinct"]
"""Whether all values become the same token, or each slot its own: `{city}`."""


@dataclass(frozen=True, slots=True, order=True)
class Slot:
    """A value in a text, from character `start` (from 0) up to, not including, `end`."""

    start: int
    end: int
    name: str


@dataclass(frozen=True, slots=True)
class SlottedText:
    """A text with non-overlapping slots in text order; see `slotted`."""

    text: str
    slots: tuple[Slot, ...] = ()

    def value(self, slot: Slot) -> str:
        """Return the characters of the text in a slot."""
        return self.text[slot.start : slot.end]


def slotted(text: str, slots: Iterable[Slot]) -> SlottedText:
    """Sort slots by their place in a text.

    Raises:
        InvalidInput: A slot has no name, lies outside the text, holds only white space, or overlaps
            another; it is named.
    """
    ordered = tuple(sorted(slots))
    end = 0
    for slot in ordered:
        where = f"The slot '{slot.name}' at {slot.start} to {slot.end} of '{text[:60]}'"
        if not slot.name.strip() or any(sign in slot.name for sign in "{}"):
            raise InvalidInput(f"{where} has no usable name.", "Name it without { and }.")
        if not 0 <= slot.start < slot.end <= len(text) or not text[slot.start : slot.end].strip():
            raise InvalidInput(f"{where} holds no words.", "Mark the words of the value.")
        if slot.start < end:
            raise InvalidInput(f"{where} overlaps the one before.", "Mark each word once.")
        end = slot.end
    return SlottedText(text, ordered)


def template_of(utterance: SlottedText, tokens: Tokens = "one") -> str:
    """Replace the values by tokens; a text without slots is its template (TaDSE Section 3.1)."""
    parts, at = [], 0
    for slot in utterance.slots:
        parts += [utterance.text[at : slot.start], SLOT if tokens == "one" else f"{{{slot.name}}}"]
        at = slot.end
    return "".join([*parts, utterance.text[at:]])


def filled(utterance: SlottedText, values: Iterable[str]) -> SlottedText:
    """Replace the values of the slots, in order, and move the slots to match.

    Raises:
        ValueError: There are more or fewer values than slots.
    """
    text, slots, at = "", [], 0
    for slot, value in zip(utterance.slots, values, strict=True):
        text += utterance.text[at : slot.start]
        slots.append(Slot(len(text), len(text) + len(value), slot.name))
        text += value
        at = slot.end
    return slotted(text + utterance.text[at:], slots)
