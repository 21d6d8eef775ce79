"""Dialogflow ES: a zip with a file for each intent, and one for its phrases in each language.

Facts: RasaHQ/rasa `formats/dialogflow.py`, `data/examples/dialogflow`. A phrase is a list of
chunks; `alias` names the parameter, `meta` the type of value, and `@sys.ignore` marks nothing. An
intent that was downloaded alone, and those of early agents, have their phrases in the same file.
"""

import re

from core.platforms.agent import OUT_OF_SCOPE, Agent, Home, Phrase
from core.platforms.gathering import Gathering
from core.platforms.json_places import Node
from core.platforms.packages import Package
from core.templates.slots import Slot

_CODE = r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]+)*"
_PHRASES = re.compile(rf"(?P<intent>.+)_usersays_(?P<language>{_CODE})\.json")
_ENTRIES = re.compile(rf"(?:.*/)?entities/(?P<name>.+)_entries_{_CODE}\.json")
_KNOWN = ("data",)
_INSIDE = re.compile(rb'"userSays"\s*:')
"""The key, not a phrase of these words in another platform's export."""
_SAMPLE = 1 << 20
_MOST_ALONE = 2_000
"""Documents of a folder beyond which it is no folder of intents."""
_LOOKED_AT = 5
_INTENT = re.compile(r"(?:.*/)?intents/.+\.json")


def is_dialogflow_es(package: Package) -> bool:
    """Whether files of phrases by language stand in a folder `intents`, or phrases in intents."""
    if any(_INTENT.fullmatch(name) and _PHRASES.fullmatch(name) for name in package.files):
        return True
    documents = _documents(package)
    intents = [name for name in documents if _INTENT.fullmatch(name)] or documents
    return 0 < len(documents) <= _MOST_ALONE and any(
        _has_phrases(package, name) for name in intents[:_LOOKED_AT]
    )


def _documents(package: Package) -> list[str]:
    return [name for name in package.files if name.lower().endswith(".json")]


def _has_phrases(package: Package, name: str) -> bool:
    with package.stream(name) as stream:
        return _INSIDE.search(stream.read(_SAMPLE)) is not None


def read_dialogflow_es(package: Package) -> Agent:
    """Read an agent."""
    found = Gathering("dialogflow-es", package)
    languages = sorted(
        {found_in["language"] for name in package.files if (found_in := _PHRASES.match(name))}
    )
    agents = [name for name in package.files if name.rpartition("/")[2] == "agent.json"]
    language = found.parse(agents[0]).text("language") if len(agents) == 1 else ""
    alone = {name for name in _documents(package) if _has_phrases(package, name)}
    for name in package.files:
        if (_INTENT.fullmatch(name) or name in alone) and not _PHRASES.fullmatch(name):
            _read_intent(found, name, languages)
            if name in alone:
                _read_phrases(found, name, found.parse(name).array("userSays"), language)
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
        _add(found, intent, Home(file, found.parse(file)), language)


def _read_phrases(found: Gathering, name: str, array: Node | None, language: str) -> None:
    """Read the phrases that stand in the file of their intent."""
    if array is None:
        return
    node = found.parse(name)
    intent = OUT_OF_SCOPE if node.is_true("fallbackIntent") else node.text("name")
    _add(found, intent, Home(name, array), language)


def _add(found: Gathering, intent: str, home: Home, language: str) -> None:
    if (intent, language) not in found.homes or found.homes[intent, language].array is None:
        found.homes[intent, language] = home
    array = home.array or Node(0, 0, [])
    for index, one in enumerate(array.items):
        text, slots = _joined(found, one)
        marks = found.fitting(text, slots)
        found.add(
            Phrase(
                text,
                intent,
                home.file,
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
