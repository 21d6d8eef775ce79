"""What Rasa's training data says of a mark beside its name, role and words, such as its value."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from core.templates.slots import SlottedText

Extra: TypeAlias = dict[str, Any]
"""What a mark says beside name and role, such as `value` and `group`; with `name` and `said`."""

_OF_MARK = ("name", "said")


def told_besides(marks: Sequence[Extra]) -> list[Extra]:
    """Return the marks in text order but those of a name and words of which nothing else is said.

    Of equal words with other values, each stands at its place among the others.
    """
    told = {(one["name"], one["said"]) for one in marks if len(one) > len(_OF_MARK)}
    return [one for one in marks if (one["name"], one["said"]) in told]


def extras_of(fields: Mapping[str, Any]) -> list[Extra]:
    """Return the extras among what is kept beside a text; what is none is left out."""
    listed = fields.get("entities")
    return [
        one
        for one in (listed if isinstance(listed, list) else ())
        if isinstance(one, dict) and all(isinstance(one.get(key), str) for key in _OF_MARK)
    ]


def extra_of_each(said: SlottedText, extras: Sequence[Extra]) -> list[Extra]:
    """Return what else is said of each mark of a text, by the extras of its name and words.

    As many extras as marks are given in order. Of any other number, each mark gets what all of them
    say; where they differ it is open which mark is meant, and none gets anything.
    """
    told: dict[tuple[str, str], list[Extra]] = {}
    for one in extras:
        more = {key: value for key, value in one.items() if key not in _OF_MARK}
        told.setdefault((one["name"], one["said"]), []).append(more)
    keys = [(slot.name, said.value(slot)) for slot in said.slots]
    shares = {key: iter(_shared(told.get(key, []), n)) for key, n in Counter(keys).items()}
    return [next(shares[key]) for key in keys]


def _shared(told: list[Extra], n_marks: int) -> list[Extra]:
    if len(told) == n_marks:
        return told
    is_agreed = bool(told) and all(one == told[0] for one in told)
    return [told[0] if is_agreed else {}] * n_marks
