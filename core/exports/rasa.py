"""Rasa's training data, domain and test stories in YAML, and its older JSON.

Facts: Rasa's "Training Data Format", "Domain" and "Testing Your Assistant". A text of several
intents has the name `a+b`; what is out of scope is the intent `out_of_scope`, as Rasa advises.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, cast

from core.exports.content import Expectation, Files, Fitted
from core.exports.dialogflow import plain_json
from core.formats.beside import kept_fields
from core.formats.rows import ImportedRow
from core.platforms.agent import ROLE
from core.platforms.readers.rasa_extras import extra_of_each, extras_of
from core.platforms.readers.rasa_yaml import example_line, yaml_name, yaml_text
from core.platforms.writing import NewPhrase, written
from core.templates.slots import SlottedText

OUT = "out_of_scope"
_VERSION = 'version: "3.1"'
_OF_MARK = ("start", "end", "entity", "role")
_BREAKS = re.compile(r"[\r\n\x85\u2028\u2029]")


def _name(intents: Sequence[str]) -> str:
    return "+".join(intents) or OUT


def rasa(given: Fitted) -> Files:
    """Write training data, the domain that declares it, and a test story for each pin."""
    grouped: dict[str, list[ImportedRow]] = {name: [] for name in given.intents}
    for row in given.rows:
        grouped.setdefault(_name(row.intents or ()), []).append(row)
    files = {
        "data/nlu.yml": _lines([*_examples(given, grouped), *_values(given)]),
        "domain.yml": _lines(_domain(given, [name for name in grouped if grouped[name]])),
    }
    stories = rasa_tests(given) if given.pins else {}
    return files | {f"tests/{name}": content for name, content in stories.items()}


def _lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _examples(given: Fitted, grouped: dict[str, list[ImportedRow]]) -> list[str]:
    roles = dict.fromkeys((slot for slot in given.kinds if "." in slot), ROLE)
    lines = [_VERSION, "nlu:"]
    for name, rows in grouped.items():
        said = list[str]()
        for row in rows:
            extras = extras_of(kept_fields(row, "rasa"))
            line = example_line(SlottedText(row.text, row.slots), roles, extras)
            if line is None:
                given.left.add("texts with signs that the file gives another meaning", row.text)
                continue
            if _BREAKS.search(row.text):
                given.lost.add("line breaks inside texts: written as blanks", row.text[:200])
            said.append(f"    {line}")
        if said:
            lines += [f"- intent: {yaml_name(name)}", "  examples: |", *said]
    return lines


def _values(given: Fitted) -> list[str]:
    """Return look-up tables of the values, and their synonyms."""
    lines = list[str]()
    for kind, values in given.values.items():
        known = [value for value in values if _fits(given, value)]
        if known:
            lines += [f"- lookup: {yaml_name(kind)}", "  examples: |"]
            lines += [f"    - {value}" for value in known]
        for value in known:
            if said := [one for one in values[value] if _fits(given, one)]:
                lines += [f"- synonym: {yaml_name(value)}", "  examples: |"]
                lines += [f"    - {one}" for one in said]
    return lines


def _fits(given: Fitted, value: str) -> bool:
    if example_line(SlottedText(value, ()), {}) == f"- {value}":
        return True
    given.lost.add("values that the file cannot hold", value[:200])
    return False


def _domain(given: Fitted, intents: Sequence[str]) -> list[str]:
    lines = [_VERSION, "intents:", *(f"- {yaml_name(name)}" for name in intents)]
    roles: dict[str, list[str]] = {}
    for slot in given.kinds:
        entity, _, role = slot.partition(".")
        roles.setdefault(entity, []).extend([role] if role else [])
    if roles:
        lines.append("entities:")
    for entity, known in roles.items():
        if not known:
            lines.append(f"- {yaml_name(entity)}")
            continue
        lines += [
            f"- {yaml_name(entity)}:",
            "    roles:",
            *(f"    - {yaml_name(one)}" for one in known),
        ]
    return lines


def rasa_tests(given: Fitted) -> Files:
    """Write a test story for each pin."""
    lines = [_VERSION, "stories:"]
    for number, pin in enumerate(given.pins, start=1):
        lines += _story(number, pin)
    return {"test_stories.yml": _lines(lines)}


def _story(number: int, pin: Expectation) -> list[str]:
    name = _name(sorted(pin.intents))
    return [
        f"- story: pin {number}",
        "  steps:",
        f"  - user: {yaml_text(pin.text)}",
        f"    intent: {yaml_name(name)}",
    ]


def rasa_json(given: Fitted) -> Files:
    """Write the older form in JSON."""
    examples = []
    for row in given.rows:
        said = SlottedText(row.text, row.slots)
        new = NewPhrase(said, _name(row.intents or ()), "", {})
        example = cast("dict[str, Any]", written("rasa-json", new))
        kept = kept_fields(row, "rasa-json")
        besides = extra_of_each(said, extras_of(kept))
        kept.pop("entities", None)
        for mark, more in zip(example["entities"], besides, strict=True):
            mark |= {key: value for key, value in more.items() if key not in _OF_MARK}
        examples.append(example | kept)
    synonyms = [
        {"value": value, "synonyms": list(said)}
        for values in given.values.values()
        for value, said in values.items()
        if said
    ]
    data = {
        "common_examples": examples,
        "entity_synonyms": synonyms,
        "lookup_tables": [
            {"name": kind, "elements": list(values)} for kind, values in given.values.items()
        ],
    }
    return {f"{given.name}.json": plain_json({"rasa_nlu_data": data})}
