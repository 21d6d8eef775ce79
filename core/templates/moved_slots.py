"""Move marked values to their new places when the text of an utterance changes."""

import unicodedata
from difflib import SequenceMatcher

from core.templates.slots import Slot, SlottedText
from core.text import normalise, stands_alone

_LONGEST_COMPARED = 1_000
"""Characters of either text; comparing longer ones character by character takes too long."""


def carried(utterance: SlottedText, text: str) -> SlottedText:
    """Copy the slots of an utterance to a changed text.

    A slot is kept where a piece shared by both texts contains its value, or where its value occurs
    just once in the new text. Other slots are dropped.
    """
    shared = _shared(utterance.text, text)
    slots = list[Slot]()
    for slot in utterance.slots:
        value = utterance.value(slot)
        starts = [b + slot.start - a for a, b, n in shared if a <= slot.start and slot.end <= a + n]
        starts += [text.index(value)] if text.count(value) == 1 else []
        places = (Slot(start, start + len(value), slot.name) for start in starts)
        fitting = (place for place in places if _whole(utterance, slot, text, place))
        slots += [place for place in fitting if not any(_meet(place, other) for other in slots)][:1]
    return SlottedText(text, tuple(sorted(slots)))


def normalised(utterance: SlottedText) -> SlottedText:
    """Return an utterance as stored (NFC, no outer white space), with its slots moved.

    A slot whose border separates a letter from its accent is dropped.
    """
    text, raw = normalise(utterance.text), utterance.text
    if text == raw:
        return utterance
    lead = len(raw) - len(raw.lstrip())
    slots = list[Slot]()
    for slot in utterance.slots:
        before, upto = (_composed(raw[lead : max(lead, at)]) for at in (slot.start, slot.end))
        kept = text.startswith(before) and (text.startswith(upto) or upto.startswith(text))
        end = min(len(upto), len(text))
        if kept and len(before) < end:
            slots.append(Slot(len(before), end, slot.name))
    return SlottedText(text, tuple(slots))


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _shared(old: str, new: str) -> list[tuple[int, int, int]]:
    """Return the pieces that two texts share: start in the old, start in the new, length."""
    if max(len(old), len(new)) > _LONGEST_COMPARED:
        return []
    small = old.lower(), new.lower()
    if (len(small[0]), len(small[1])) == (len(old), len(new)):
        old, new = small  # values that differ only in case are the same
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    return [(block.a, block.b, block.size) for block in blocks]


def _meet(one: Slot, other: Slot) -> bool:
    return one.start < other.end and other.start < one.end


def _whole(utterance: SlottedText, was: Slot, text: str, now: Slot) -> bool:
    """Whether a value is a whole word if it was one before: Boston is not in Bostonians."""
    before = _letters(utterance.text, was)
    return all(had or not has for had, has in zip(before, _letters(text, now), strict=True))


def _letters(text: str, slot: Slot) -> tuple[bool, bool]:
    """Whether a letter or digit of the same word directly precedes and follows a slot."""
    before = text[slot.start - 1 : slot.start] if slot.start else ""
    behind = text[slot.end : slot.end + 1]
    return _goes_on(before), _goes_on(behind)


def _goes_on(sign: str) -> bool:
    return sign.isalnum() and not stands_alone(sign)
