"""The files of a package with the changes of their arrays applied, and the limits they break."""

from collections.abc import Iterable, Mapping, Sequence

from core.platforms.agent import Agent
from core.platforms.arrays import ArrayEdits
from core.platforms.readers.dialogflow_cx import counted_in
from core.platforms.writing import LIMITS, new_file, recounted


def changed_files(agent: Agent, arrays: Iterable[ArrayEdits]) -> dict[str, bytes]:
    """Return the new content by name of the files that change."""
    by_file: dict[str, list[ArrayEdits]] = {}
    for edits in arrays:
        if edits.is_changed:
            by_file.setdefault(edits.file, []).append(edits)
    texts = {name: _applied(agent, edits) for name, edits in by_file.items()}
    if agent.platform == "dialogflow-cx":
        _recount(agent, by_file, texts)
    return {name: text.encode() for name, text in texts.items()}


def _applied(agent: Agent, edits: Sequence[ArrayEdits]) -> str:
    text = edits[0].text
    if not text:
        return new_file(agent.platform, edits[0].appended)
    pieces, at = list[str](), 0
    for one in sorted(edits, key=lambda one: one.start):
        pieces += [text[at : one.start], one.rendered()]
        at = one.end
    return "".join([*pieces, text[at:]])


def _recount(agent: Agent, by_file: Mapping[str, list[ArrayEdits]], texts: dict[str, str]) -> None:
    for name, edits in by_file.items():
        counting = counted_in(name, tuple(agent.documents))
        if counting is not None:
            text = texts.get(counting, agent.documents[counting])
            texts[counting] = recounted(text, sum(one.grows_by for one in edits))


def limits_broken(
    agent: Agent, arrays: Iterable[ArrayEdits], placed: Sequence[str]
) -> dict[str, list[str]]:
    """Return what the platform refuses, where it is of our making: the rest came from there.

    `placed` are the texts that are added.
    """
    limits = LIMITS[agent.platform]
    broken = {
        f"new texts of over {limits.longest_phrase:,} characters": [
            text for text in placed if len(text) > limits.longest_phrase
        ],
        f"files with over {limits.most_phrases:,} phrases": [
            one.file for one in arrays if one.grows_by > 0 and one.size > limits.most_phrases
        ],
    }
    return {what: found for what, found in broken.items() if found}
