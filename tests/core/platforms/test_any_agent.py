"""Whatever an agent says, and however its file is written: only what was relabelled differs."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from core.platforms.overlay import Labelled, overlay
from core.platforms.packages import write_package
from core.platforms.reading import read_agent

_TEXTS = st.text(
    st.one_of(
        st.sampled_from('abc "\\/{}[]:,\r\n\t🛫💶é\u0301\u05e9\u05dc\u05d5\u05dd\u200f\u2028'),
        st.characters(exclude_categories=["Cs", "Cc"]),
    ),
    min_size=1,
    max_size=30,
).filter(lambda text: bool(text.strip()) and any(sign.isalnum() for sign in text))
_INTENTS = ("refund", "book / fly", "größe+form", "empty")


def _watson(phrases: list[tuple[str, str]]) -> dict[str, Any]:
    return {
        "intents": [
            {"intent": name, "examples": [{"text": text} for text, of in phrases if of == name]}
            for name in _INTENTS
        ],
        "counterexamples": [],
    }


def _clu(phrases: list[tuple[str, str]]) -> dict[str, Any]:
    rows = [{"text": text, "intent": of, "language": "en", "entities": []} for text, of in phrases]
    return {"assets": {"intents": [{"category": name} for name in _INTENTS], "utterances": rows}}


def _luis(phrases: list[tuple[str, str]]) -> dict[str, Any]:
    rows = [{"intent": of, "text": text, "entities": []} for text, of in phrases]
    intents = [{"name": name} for name in _INTENTS]
    return {"luis_schema_version": "3.0.0", "intents": intents, "utterances": rows}


@settings(max_examples=120, deadline=None)
@given(
    phrases=st.lists(
        st.tuples(_TEXTS, st.sampled_from(_INTENTS)),
        min_size=1,
        max_size=8,
        unique_by=lambda one: one[0].strip(),
    ),
    make=st.sampled_from([_watson, _clu, _luis]),
    indent=st.sampled_from([None, 1, 2, "\t"]),
    plain=st.booleans(),
    end=st.sampled_from(["\n", "\r\n"]),
    data=st.data(),
)
def test_only_relabelled_phrases_differ(
    phrases: list[tuple[str, str]],
    make: Any,
    indent: int | str | None,
    plain: bool,  # noqa: FBT001 - drawn
    end: str,
    data: st.DataObject,
) -> None:
    text = json.dumps(make(phrases), indent=indent, ensure_ascii=plain).replace("\n", end) + end
    with TemporaryDirectory() as folder:
        path = Path(folder, "agent.json")
        path.write_bytes(text.encode())
        agent = read_agent(path)
        rows = [Labelled(one.text, (one.intent,), one.slots) for one in agent.phrases]
        assert overlay(agent, rows).changed == {}
        k = data.draw(st.integers(0, len(rows)))
        wanted = {
            row.text: data.draw(st.sampled_from(_INTENTS)) if at < k else row.intents[0]
            for at, row in enumerate(rows)
            if row.intents
        }
        found = overlay(agent, [Labelled(said, (of,)) for said, of in wanted.items()])
        assert found.moved == sum(wanted[one.text] != one.intent for one in agent.phrases)
        assert found.kept + found.moved == len(agent.phrases)
        out = Path(folder, "out.json")
        write_package(agent.package, found.changed, out)
        again = read_agent(out)
        assert {one.text: one.intent for one in again.phrases} == wanted
        back = overlay(again, rows).changed.get("out.json", out.read_bytes())
        assert json.loads(back) == json.loads(text) or make is _watson  # which keeps no order
        if make is not _watson:
            assert back == text.encode()
