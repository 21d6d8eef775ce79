"""Watson Assistant's skill in JSON: a list of intents, each with its examples.

Facts: RasaHQ/rasa `demo_watson_v2.json`, IBM's reference of the Assistant v1 API. Counterexamples
are texts that fit no intent. Places of mentions are taken to be in UTF-16 units.
"""

from core.platforms.agent import OUT_OF_SCOPE, Agent, Home, Phrase
from core.platforms.gathering import Gathering
from core.platforms.json_places import Node
from core.platforms.packages import Package
from core.platforms.utf16 import to_characters
from core.templates.slots import Slot

_KNOWN = ("text", "mentions")


def read_watson(package: Package, name: str) -> Agent:
    """Read a skill."""
    found = Gathering("watson", package)
    root = found.parse(name)
    for entity in root.under("entities"):
        values = entity.under("values")
        found.values[entity.text("entity")] = {
            one.text("value"): one.strings("synonyms")
            for one in values
            if one.text("type") != "patterns"
        }
        for one in values:
            if one.text("type") == "patterns":
                found.lose("patterns of values", one.text("value"))
    for intent in root.under("intents"):
        title = intent.text("intent")
        found.intents[title] = intent.text("description")
        _examples(found, name, title, intent.array("examples"))
    _examples(found, name, OUT_OF_SCOPE, root.array("counterexamples"))
    if nodes := root.under("dialog_nodes"):
        for node in nodes:
            found.lose("dialog nodes", node.text("dialog_node"))
    return found.agent()


def _examples(found: Gathering, name: str, intent: str, array: Node | None) -> None:
    if array is None:
        return
    found.homes[intent, ""] = Home(name, array)
    for index, one in enumerate(array.items):
        text = one.text("text")
        slots = []
        for mention in one.under("mentions"):
            places = mention.under("location")
            ends = [place.value for place in places if type(place.value) is int]
            if len(ends) == len(places) == 2:
                start, end = to_characters(text, *ends)
                slots.append(Slot(start, end, mention.text("entity")))
        marks, fields = found.fitting(text, slots), one.fields(_KNOWN)
        found.add(Phrase(text, intent, name, array, index, marks, fields=fields))
