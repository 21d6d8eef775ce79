"""A template of Lex takes any value: writing onto a bot looks for equal ones, of any number."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.platforms.agent import Phrase
from core.platforms.arrays import ArrayEdits
from core.platforms.json_places import Node, parse
from core.platforms.overlay import Labelled, overlay
from core.platforms.reading import read_agent
from core.templates.slots import Slot
from tests.core.platforms.exports import EXPORTS, write_export

BOOK = "shop/BotLocales/en_US/Intents/book/Intent.json"
MANY = 5_000


class CountedPhrases(list[Phrase]):
    """Phrases that count how often somebody reads through them."""

    times = 0

    def __iter__(self) -> Iterator[Phrase]:
        """Count a walk."""
        self.times += 1
        return super().__iter__()


def test_thousands_of_templates_are_written_onto_thousands_by_reading_each_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each new text read all templates of its intent, and the language of all phrases: 5,000 on
    5,000 took minutes.
    """
    said = [{"utterance": f"fly to {{city}} by road {number}"} for number in range(MANY)]
    book = {**json.loads(EXPORTS["lex"][BOOK]), "sampleUtterances": said}
    monkeypatch.setitem(EXPORTS, "lex", {**EXPORTS["lex"], BOOK: json.dumps(book)})
    agent = read_agent(write_export("lex", tmp_path))
    phrases = CountedPhrases(agent.phrases)
    agent = replace(agent, phrases=phrases)
    ways = [f"fly to Rome by {way} {number}" for way in ("road", "sea") for number in range(MANY)]
    new = [Labelled(text, ("book",), (Slot(7, 11, "city"),)) for text in ways[::2]]
    asked, read = 0, Node.text

    def counted(node: Node, key: str) -> str:
        nonlocal asked
        asked += key == "utterance"
        assert asked <= MANY, "templates are read again for each new text"
        return read(node, key)

    monkeypatch.setattr(Node, "text", counted)
    found = overlay(agent, new)
    (there,) = [one for one in found.losses if "another's template" in one.what]
    assert (found.added, there.count) == (MANY // 2, MANY // 2)
    assert asked == MANY
    assert phrases.times < 10


def test_what_is_added_and_taken_out_counts_among_the_strings_that_will_be_there() -> None:
    text = '[{"utterance": "a {x}"}, {"utterance": "a {x}"}, {"utterance": "b {x}"}]'
    edits = ArrayEdits("Intent.json", text, parse(text, "Intent.json"))
    asked = ("a {x}", "b {x}", "c {x}")
    assert [edits.has("utterance", one) for one in asked] == [True, True, False]
    edits.remove(0)
    assert edits.has("utterance", "a {x}")  # it stands there twice
    moved = edits.remove(1)
    edits.remove(1)
    assert not edits.has("utterance", "a {x}")
    edits.append(moved)
    edits.append({"utterance": "c {x}"})
    assert [edits.has("utterance", one) for one in ("a {x}", "c {x}")] == [True, True]
