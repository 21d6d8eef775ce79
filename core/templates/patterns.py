"""Find dates, times, amounts of money and numbers in English texts by patterns."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.templates.slots import Slot

_MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    "|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_DIGITS = r"\d+(?:,\d{3}){0,9}(?:\.\d+)?"
_DAY = r"(?:the )?[0-3]?\d(?:st|nd|rd|th)?"
_YEAR = r"(?:19|20)\d\d"
_UNITS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen"
    "|sixteen|seventeen|eighteen|nineteen"
)
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_SPOKEN = rf"(?:(?:{_TENS})(?:-(?:{_UNITS}))?|{_UNITS}|hundred|thousand|million)"
_COUNT = rf"(?:{_DIGITS}|{_SPOKEN}(?: {_SPOKEN}){{0,31}})"
"""One way to read each number, of few words and groups: a row of numbers is read to no end."""
_CURRENCY = "(?:dollars?|euros?|pounds?|cents?|pence|yen|francs?|usd|eur|gbp|chf|jpy|bucks)"
_HALVES = r"(?:a\.m\.|p\.m\.|[ap]m\b)"
_NEAR = "(?:next|this|last|coming)"

_RULES = (
    ("date", True, r"\b\d{4}-[01]\d-[0-3]\d\b"),
    ("date", True, rf"\b[0-3]?\d([./])[01]?\d\1(?:{_YEAR}|\d\d)\b"),
    ("date", True, rf"\b{_MONTH} {_DAY}(?:,? {_YEAR})?\b"),
    ("date", True, rf"\b{_DAY}(?: of)? {_MONTH}(?:,? {_YEAR})?\b"),
    ("date", True, rf"\b(?:{_NEAR} )?{_WEEKDAY}\b"),
    ("date", True, rf"\b(?:the day after )?(?:today|tonight|tomorrow|yesterday)\b|\b{_NEAR} "
     r"(?:week(?:end)?|month|year)\b"),
    ("time", True, rf"\b[0-2]?\d:[0-5]\d(?: ?{_HALVES}|\b)"),
    ("time", True, rf"\b(?:[01]?\d|(?:{_UNITS})(?: (?:{_TENS}|{_UNITS}))?) ?"
     rf"(?:{_HALVES}|o'clock\b)"),
    ("time", True, r"\b(?:noon|midday|midnight)\b"),
    ("money", True, rf"[$€£¥] ?{_DIGITS}(?: (?:hundred|thousand|million|billion)\b)?"),
    ("money", True, rf"\b{_COUNT} {_CURRENCY}\b|\b{_DIGITS} ?[€£$]"),
    ("date", False, rf"\b{_MONTH}\b(?: {_YEAR}\b)?|\b{_YEAR}\b"),
    ("time", False, rf"\b(?:half|quarter) (?:past|to) (?:{_UNITS}|\d\d?)\b"),
    ("time", False, r"\b(?:morning|afternoon|evening|night)\b"),
    ("number", False, rf"\b{_COUNT}(?:st|nd|rd|th)?\b"),
)  # fmt: skip
"""Kind, whether the pattern alone is sufficient, and the pattern; the first match wins."""
_COMPILED = tuple((kind, sure, re.compile(rule, re.IGNORECASE)) for kind, sure, rule in _RULES)


@dataclass(frozen=True, slots=True)
class PatternValue:
    """A value found by a pattern, named `date`, `time`, `money` or `number`.

    `sure` is False for ambiguous values: "10:30" is a time, but "may" can be a verb.
    """

    slot: Slot
    sure: bool


def find_patterns(text: str) -> list[PatternValue]:
    """Find dates, times, money and numbers without overlaps, in text order."""
    values = list[PatternValue]()
    for kind, sure, pattern in _COMPILED:
        matches = (match for match in pattern.finditer(text) if match.group().strip())
        slots = (Slot(*match.span(), kind) for match in matches)
        values += [PatternValue(slot, sure) for slot in slots if _is_free(slot, values)]
    return sorted(values, key=lambda value: value.slot)


def _is_free(slot: Slot, values: Sequence[PatternValue]) -> bool:
    return all(slot.end <= taken.slot.start or taken.slot.end <= slot.start for taken in values)
