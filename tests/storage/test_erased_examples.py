"""What an erasure takes out of stored versions."""

import json

from core.bundle.facts import as_json
from core.text import hidden_key
from storage.erased_examples import without_texts
from storage.log.scrubbing import scrubber_of

SAID = "أين بطاقتي؟"


def test_the_key_that_an_earlier_release_stored_goes_with_its_text() -> None:
    """It is the whole text, with its mark; keys are without it by now."""
    rows = [{"id": "1", "text": SAID, "intents": ["card"]}]
    contents = {
        "exemplars.jsonl": "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows),
        "exact.json": as_json({SAID: ["card"], "hello": ["hi"]}),
        "learned.json": as_json([hidden_key(SAID), hidden_key("hello")]),
        "facts.json": "{}",
    }
    changed = without_texts(contents, frozenset({SAID}), scrubber_of([SAID]))
    assert json.loads(changed["exact.json"]) == {"hello": ["hi"]}
    assert json.loads(changed["learned.json"]) == [hidden_key("hello")]
    assert SAID not in changed["exemplars.jsonl"]
