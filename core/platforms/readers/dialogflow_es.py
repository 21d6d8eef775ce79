"""Dialogflow ES: a zip with a file for each intent, and one for its phrases in each language.

Facts: RasaHQ/rasa `formats/dialogflow.py`, `data/examples/dialogflow`. A phrase is a list of
chunks; `alias` names the parameter, `meta` the type of value, and `@sys.ignore` marks nothing.
"""

import re

from core.platforms.agent import OUT_OF_SCOPE, Agent, Home, Phrase
from core.platforms.gathering import Gathering
from core.platforms.json_places import Node
from core.platforms.packages import Package
from core.templates.slots import Slot

_PHRASES = re.compile(r"(?P<intent>.+)_usersays_(?P<language>[A-Za-z]{2,3}(?:-[A-Za-z]+)?)\.json")
_ENTRIES = re.compile(r"(?:.*/)?entities/(?P<name>.+)_entries_[A-Za-z-]+\.json")
_KNOWN = ("data",)
_INTENT = re.compile(r"(?:.*/)?intents/.+\.json")


def is_dialogflow_es(package: Package) -> bool:
    """Whether files of phrases by language stand in a folder `intents`."""
    return any(_INTENT.fullmatch(name) and _PHRASES.fullmatch(name) for name in package.files)


def read_dialogflow_es(package: Package) -> Agent:
    """Read an agent."""
    found = Gathering("dialogflow-es", package)
    languages = sorted(
        {found_in["language"] for name in package.files if (found_in := _PHRASES.match(name))}
    )
    for name in package.files:
        if _INTENT.fullmatch(name) and not _PHRASES.fullmatch(name):
            _read_intent(found, name, languages)
        elif (entries := _ENTRIES.fullmatch(name)) is not None:
            found.add_values(entries["name"], found.parse(name).items)
    return found.agent()


def _read_intent(found: Gathering, name: str, languages: list[str]) -> None:
    node = found.parse(name)
    is_fallback = node.is_true("fallbackIntent")
    intent = OUT_OF_SCOPE if is_fallback else node.text("name")
    if not is_fallback:
        found.intents[intent] = node.text("description")
    for language in languages:
        file = f"{name.removesuffix('.json')}_usersays_{language}.json"
        if file not in found.package.files:
            found.homes.setdefault((intent, language), Home(file, None))
            continue
        array = found.parse(file)
        if (intent, language) not in found.homes or found.homes[intent, language].array is None:
            found.homes[intent, language] = Home(file, array)
        for index, one in enumerate(array.items):
            text, slots = _joined(found, one)
            marks = found.fitting(text, slots)
            found.add(
                Phrase(
                    text,
                    intent,
                    file,
                    array,
                    index,
                    marks,
                    language=language,
                    fields=one.fields(_KNOWN),
                )
            )


def _joined(found: Gathering, phrase: Node) -> tuple[str, list[Slot]]:
    text, slots = "", list[Slot]()
    for chunk in phrase.under("data"):
        piece, alias = chunk.text("text"), chunk.text("alias")
        if alias and chunk.text("meta") != "@sys.ignore":
            slots.append(Slot(len(text), len(text) + len(piece), alias))
            found.marks[alias] = chunk.text("meta")
            found.kinds[alias] = chunk.text("meta").removeprefix("@")
        text += piece
    return text, slots
