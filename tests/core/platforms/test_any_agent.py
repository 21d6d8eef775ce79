"""Whatever an agent says, and however its file is written: only what was relabelled differs."""

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from core.platforms.overlay import Labelled, overlay
from core.platforms.packages import write_package
from core.platforms.reading import read_agent
from core.text import is_blank, normalise

_TEXTS = st.text(
    st.one_of(
        st.sampled_from('abc "\\/{}[]:,\r\n\t🛫💶é\u0301\u05e9\u05dc\u05d5\u05dd\u200f\u2028'),
        st.characters(exclude_categories=["Cs", "Cc"]),
    ),
    min_size=1,
    max_size=30,
).filter(lambda text: not is_blank(text) and any(sign.isalnum() for sign in text))
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


_SAYINGS = st.text(
    st.one_of(
        st.sampled_from('abc "\\/{}:,#-\t🛫💶é\u0301\u05e9\u05dc\u05d5\u05dd\u200f'),
        st.characters(
            exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters="[]\ufffe\uffff"
        ),
    ),
    min_size=1,
    max_size=30,
).filter(lambda text: not is_blank(text) and any(sign.isalnum() for sign in text))


def _rasa(phrases: list[tuple[str, str]], indent: str, end: str, quote: str) -> str:
    lines = ['version: "3.1"', "nlu:", "# what people say"]
    for name in _INTENTS:
        lines += [f"{indent}- intent: {quote}{name}{quote}", f"{indent}  examples: |"]
        lines += [f"{indent}    - {text}" for text, of in phrases if of == name]
    lines += [f"{indent}- synonym: x", f"{indent}  examples: |", f"{indent}    - y"]
    return end.join(lines) + end


@settings(max_examples=80, deadline=None)
@given(
    phrases=st.lists(
        st.tuples(_SAYINGS.map(str.strip), st.sampled_from(_INTENTS)),
        min_size=1,
        max_size=8,
        unique_by=lambda one: normalise(one[0]),
    ),
    indent=st.sampled_from(["", "  "]),
    end=st.sampled_from(["\n", "\r\n"]),
    quote=st.sampled_from(["", "'", '"']),
    data=st.data(),
)
def test_only_relabelled_lines_of_rasa_differ(
    phrases: list[tuple[str, str]], indent: str, end: str, quote: str, data: st.DataObject
) -> None:
    text = _rasa(phrases, indent, end, quote)
    with TemporaryDirectory() as folder:
        path = Path(folder, "nlu.yml")
        path.write_bytes(text.encode())
        agent = read_agent(path)
        assert {(one.text, one.intent) for one in agent.phrases} == set(phrases)
        rows = [Labelled(one.text, (one.intent,), one.slots) for one in agent.phrases]
        assert overlay(agent, rows).changed == {}
        wanted = {said: data.draw(st.sampled_from(_INTENTS)) for said, _ in phrases}
        found = overlay(agent, [Labelled(said, (of,)) for said, of in wanted.items()])
        k = sum(wanted[said] != of for said, of in phrases)
        assert (found.moved, found.kept, found.losses) == (k, len(phrases) - k, ())
        out = Path(folder, "out.yml")
        write_package(agent.package, found.changed, out)
        again = read_agent(out)
        assert {one.text: one.intent for one in again.phrases} == wanted
        # the same lines, of which k stand elsewhere
        before, after = (
            one.decode().splitlines(keepends=True) for one in (text.encode(), out.read_bytes())
        )
        assert sorted(before) == sorted(after)
        stays = [f"{indent}    - {said}{end}" for said, of in phrases if wanted[said] == of]
        moved = {f"{indent}    - {said}{end}" for said, of in phrases if wanted[said] != of}
        assert [one for one in before if one not in moved] == [
            one for one in after if one not in moved
        ]
        assert set(stays) <= set(after)
        parsed = yaml.safe_load(out.read_bytes())["nlu"] if _is_yaml(text) else []
        for name, part in zip(_INTENTS, parsed, strict=False):
            assert part["intent"] == name
            said = [one[2:].strip() for one in part["examples"].split("\n") if one.strip()]
            assert sorted(said) == sorted(one for one, of in wanted.items() if of == name)


def _is_yaml(text: str) -> bool:
    try:
        yaml.safe_load(text)
    except yaml.YAMLError:
        return False
    return not re.search("[\x85]", text)
