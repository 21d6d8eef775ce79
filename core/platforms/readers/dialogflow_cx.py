"""Dialogflow CX: a folder for each intent, with a file of phrases for each language.

Facts: Google's page on JSON packages (`dialogflow/cx/docs/reference/json-export`). The intent's
file counts its phrases in all languages.
"""

import re

from core.platforms.agent import OUT_OF_SCOPE, Agent, Home, Phrase
from core.platforms.gathering import Gathering
from core.platforms.json_places import Node
from core.platforms.packages import Package
from core.templates.slots import Slot

_PHRASES = re.compile(
    r"(?P<folder>(?:.*/)?intents/[^/]+/)trainingPhrases/(?P<language>[^/]+)\.json"
)
_KNOWN = ("parts", "languageCode")
_INTENT = re.compile(r"(?P<folder>(?:.*/)?intents/[^/]+/)[^/]+\.json")
_ENTRIES = re.compile(r"(?:.*/)?entityTypes/(?P<name>[^/]+)/entities/[^/]+\.json")


def is_dialogflow_cx(package: Package) -> bool:
    """Whether phrases by language stand in folders of intents."""
    return any(_PHRASES.fullmatch(name) for name in package.files)


def read_dialogflow_cx(package: Package) -> Agent:
    """Read an agent; its flows and pages stay in the package."""
    found = Gathering("dialogflow-cx", package)
    phrases = [place for name in package.files if (place := _PHRASES.fullmatch(name))]
    languages = sorted({match["language"] for match in phrases})
    for name in package.files:
        if (place := _INTENT.fullmatch(name)) is not None:
            _read_intent(found, name, place["folder"], languages)
        elif (entries := _ENTRIES.fullmatch(name)) is not None:
            found.add_values(entries["name"], found.parse(name).under("entities"))
    return found.agent()


def _read_intent(found: Gathering, name: str, folder: str, languages: list[str]) -> None:
    node = found.parse(name)
    title = node.text("displayName")
    if not title:
        return
    is_fallback = node.is_true("isFallback")
    intent = OUT_OF_SCOPE if is_fallback else title
    if not is_fallback:
        found.intents[intent] = node.text("description")
    for one in node.under("parameters"):
        found.kinds.setdefault(one.text("id"), one.text("entityType").removeprefix("@"))
    found.declared[intent] = frozenset(one.text("id") for one in node.under("parameters"))
    for language in languages:
        file = f"{folder}trainingPhrases/{language}.json"
        if file not in found.package.files:
            found.homes.setdefault((intent, language), Home(file, None))
            continue
        array = found.parse(file).array("trainingPhrases")
        if array is None:
            continue
        found.homes[intent, language] = Home(file, array)
        for index, one in enumerate(array.items):
            text, slots = _joined(one)
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


def _joined(phrase: Node) -> tuple[str, list[Slot]]:
    text, slots = "", list[Slot]()
    for part in phrase.under("parts"):
        piece, parameter = part.text("text"), part.text("parameterId")
        if parameter:
            slots.append(Slot(len(text), len(text) + len(piece), parameter))
        text += piece
    return text, slots


def counted_in(phrases_file: str, names: tuple[str, ...]) -> str | None:
    """Return the file of the intent that counts the phrases of a file."""
    folder = phrases_file.rpartition("trainingPhrases/")[0]
    return next((n for n in names if n.startswith(folder) and "/" not in n[len(folder) :]), None)
