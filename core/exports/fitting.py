"""Choose the texts that a format has a place for, under names that it allows."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from core.exports.content import Content, Expectation, Fitted, FormatLimits, FormatPlaces
from core.formats.rows import LANGUAGE_CODE, ImportedRow
from core.platforms.agent import OUT_OF_SCOPE, Loss
from core.platforms.gathering import Losses
from core.templates.slots import Slot

_SHOWN = 200
_BREAKS = re.compile("[\r\n]")
_LANGUAGES = 100
"""Languages that a loss names."""


def fit(content: Content, places: FormatPlaces) -> Fitted:
    """Return what of a project a format can hold; each text that it cannot is counted once."""
    left, lost = Losses(), Losses()
    rows = [row for row in content.rows if not _is_left(row, places, left)]
    names = allowed_names(content.intents, places.unfit, places.reserved)
    slot_names = {slot.name for row in rows for slot in row.slots} if places.marks else set()
    slots = allowed_names(sorted(slot_names | _valued(content, places)), places.unfit_in_slots)
    for what, given in (("intents", names), ("slots", slots)):
        for before, after in given.items():
            if before != after:
                written = f"{before} → {after}"
                words = f"names of {what}, which the platform writes otherwise"
                lost.add(words, written, most=len(given))  # all: whoever uses a name must change it
    kinds = {slots[name]: _kind(name, places) for name in slots}
    types = allowed_names(sorted(set(kinds.values())), places.unfit_in_slots)
    _tell(content, rows, places, lost)
    return Fitted(
        name=content.name,
        language=content.language,
        intents={names[name]: about for name, about in content.intents.items()},
        rows=[_fitted(row, names, slots) for row in rows],
        kinds={name: types[kind] for name, kind in kinds.items()},
        values=_values(content, places, types),
        pins=_pins(content, names, lost) if places.pins else [],
        left=left,
        lost=lost,
    )


def _is_left(row: ImportedRow, places: FormatPlaces, left: Losses) -> bool:
    """Whether a text has no place; it is counted under one reason."""
    if row.intents is None:
        reason = None if places.unlabelled else "texts without a label"
    elif len(row.intents) > 1 and not places.several:
        reason = "texts of several intents"
    elif not row.intents and not places.out_of_scope:
        reason = "texts out of scope"
    elif row.split == "test" and "test" not in places.splits:
        reason = "test texts, from which the platform would learn"
    else:
        reason = None
    if reason is not None:
        left.add(reason, row.text[:_SHOWN])
    return reason is not None


def losses_of(
    content: Content, rows: Iterable[ImportedRow], places: FormatPlaces
) -> tuple[Loss, ...]:
    """Return what a project loses in a file of these of its texts."""
    lost = Losses()
    _tell(content, rows, places, lost)
    return lost.told()


def _tell(
    content: Content, rows: Iterable[ImportedRow], places: FormatPlaces, lost: Losses
) -> None:
    """Count what the texts that are written lose."""
    for row in rows:
        _tell_text(content, row, places, lost)
    for name, about in content.intents.items():
        if about and not places.descriptions:
            lost.add("descriptions of intents", name)
    if content.pins and not places.pins:
        lost.add("pins, which the formats of tests write", count=len(content.pins))
    for name, values in content.values.items():
        if any(values.values()) and not places.values:
            lost.add("synonyms of values", name)


def _tell_text(content: Content, row: ImportedRow, places: FormatPlaces, lost: Losses) -> None:
    shown = row.text[:_SHOWN]
    if row.intents is not None and not places.labels:
        lost.add("labels of texts", shown)
    if row.slots and not places.marks:
        lost.add("marked values: written as plain words", shown)
    if not places.breaks and _BREAKS.search(row.text):
        lost.add("line breaks inside texts: written as blanks", shown)
    if row.language not in ("", content.language) and not places.languages:
        lost.add("languages of texts", row.language, most=_LANGUAGES)
    if row.synthetic and not places.synthetic:
        lost.add("which text a synthetic one was made from", shown)


def allowed_names(
    names: Iterable[str], unfit: re.Pattern[str] | None, reserved: Iterable[str] = ()
) -> dict[str, str]:
    """Return a name that is allowed for each, and no name twice, whatever its case."""
    given, taken = dict[str, str](), {name.casefold() for name in reserved}
    is_strict = unfit is not None or bool(taken)
    for name in names:
        plain = (unfit.sub("_", name) if unfit else name) or "_"
        chosen, number = plain, 1
        while is_strict and chosen.casefold() in taken:
            number += 1
            chosen = f"{plain}_{number}"
        taken.add(chosen.casefold())
        given[name] = chosen
    return given


def _valued(content: Content, places: FormatPlaces) -> set[str]:
    return set(content.values) if places.values else set()


def _kind(slot: str, places: FormatPlaces) -> str:
    return slot.partition(".")[0] or slot if places.roles else slot


def _fitted(row: ImportedRow, names: Mapping[str, str], slots: Mapping[str, str]) -> ImportedRow:
    marks = tuple(
        Slot(one.start, one.end, slots[one.name]) for one in row.slots if one.name in slots
    )
    intents = None if row.intents is None else tuple(names[name] for name in row.intents)
    language = row.language if LANGUAGE_CODE.fullmatch(row.language) else ""
    return replace(row, intents=intents, slots=marks, language=language)


def _pins(content: Content, names: Mapping[str, str], lost: Losses) -> list[Expectation]:
    """Return the pins whose intents are written."""
    kept = []
    for pin in content.pins:
        if names.keys() >= set(pin.intents):
            kept.append(replace(pin, intents=tuple(names[name] for name in pin.intents)))
        else:
            lost.add("pins of intents that are not written", pin.text[:_SHOWN])
    return kept


def _values(
    content: Content, places: FormatPlaces, types: Mapping[str, str]
) -> dict[str, dict[str, tuple[str, ...]]]:
    """Merge the values of slots of one type, ignoring the case of a value."""
    if not places.values:
        return {}
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for slot, values in content.values.items():
        known = found.setdefault(types[_kind(slot, places)], {})
        spelled = {value.casefold(): value for value in known}
        for value, synonyms in values.items():
            same = spelled.setdefault(value.casefold(), value)
            known[same] = tuple(dict.fromkeys((*known.get(same, ()), *synonyms)))
    return found


def refusals(fitted: Fitted, places: FormatPlaces) -> tuple[Loss, ...]:
    """Return the limits that would be broken, with every text or name that breaks one."""
    limits, broken = places.limits, dict[str, list[str]]()
    if limits.longest_phrase is not None:
        long = [one.text[:_SHOWN] for one in fitted.rows if len(one.text) > limits.longest_phrase]
        broken[f"texts of over {limits.longest_phrase:,} characters"] = long
    if limits.most_phrases is not None:
        many = _of_more(fitted, limits, limits.most_phrases)
        broken[f"intents of over {limits.most_phrases:,} texts in a language"] = many
    if limits.most_in_all is not None:
        counted = [row for row in fitted.rows if row.intents or limits.counts_outside]
        beyond = [row.text[:_SHOWN] for row in counted[limits.most_in_all :]]
        broken[f"texts beyond the first {limits.most_in_all:,}"] = beyond
    if limits.longest_name is not None:
        long = [name for name in fitted.intents if len(name) > limits.longest_name]
        broken[f"names of intents of over {limits.longest_name:,} characters"] = long
    if limits.most_intents is not None and len(fitted.intents) > limits.most_intents:
        beyond = list(fitted.intents)[limits.most_intents :]
        broken[f"intents beyond the first {limits.most_intents:,}"] = beyond
    return tuple(Loss(what, len(names), tuple(names)) for what, names in broken.items() if names)


def _of_more(fitted: Fitted, limits: FormatLimits, most: int) -> list[str]:
    """Return the intents with more texts than this in a language."""
    counts = Counter(
        (name, limits.locale(fitted.language_of(row)))
        for row in fitted.rows
        for name in row.intents or (OUT_OF_SCOPE,)
        if name or limits.counts_outside
    )
    many = dict.fromkeys(name for (name, _), n in counts.items() if n > most)
    return [name or "out of scope" for name in many]
