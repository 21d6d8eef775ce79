"""The phrases of what a platform or another tool exported, as rows of an import."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias, get_args

from core.formats.beside import kept_json
from core.formats.containers import find_container
from core.formats.rows import (
    LANGUAGE_CODE,
    ImportedRow,
    ReadOptions,
    RowProblem,
    accept,
    check_characters,
    parts_of,
)
from core.formats.tools.recognising import find_tool
from core.formats.tools.tool import ToolFile, place_in
from core.platforms.agent import Agent, Platform
from core.platforms.reading import find_agent

_JOINING: tuple[Platform, ...] = ("rasa", "rasa-json")
_PLATFORMS: tuple[Platform, ...] = get_args(Platform)


Export: TypeAlias = Agent | ToolFile
"""An agent's package, or the file of another tool."""


def export_in(path: Path, options: ReadOptions) -> Export | None:
    """Recognise an export, if the options let a file or folder be one; a workbook is none.

    Raises:
        InvalidInput: It is damaged, hostile, or the package of an agent that holds no phrase.
    """
    if find_container(path) is not None:
        return None
    if (found := find_tool(path, options.format)) is not None:
        return found
    return find_agent(path) if options.format in ("auto", *_PLATFORMS) else None


def export_rows(export: Export, options: ReadOptions) -> Iterator[ImportedRow | RowProblem]:
    """Yield the phrases of an export, in the order of its files.

    Raises:
        InvalidInput: A row cannot be read, or has characters that no text can hold.
    """
    found = _agent_rows(export, options) if isinstance(export, Agent) else export.rows(options)
    return map(unlabelled, found) if options.intent_column == "" else found


def unlabelled(row: ImportedRow | RowProblem) -> ImportedRow | RowProblem:
    """Return a row without its label."""
    return replace(row, intents=None) if isinstance(row, ImportedRow) else row


def _agent_rows(agent: Agent, options: ReadOptions) -> Iterator[ImportedRow | RowProblem]:
    known = agent.intents if options.several and agent.platform in _JOINING else ()
    for number, phrase in enumerate(agent.phrases, start=1):
        place = place_in(phrase.file, number)
        if len(phrase.text) > options.longest_text:
            yield accept(ImportedRow(phrase.text, line=number), place, options.longest_text)
            continue
        for written in (phrase.text, phrase.intent, *(slot.name for slot in phrase.slots)):
            check_characters(place, written)
        language = phrase.language.replace("_", "-")  # Lex writes `en_US`
        row = ImportedRow(
            text=phrase.text,
            intents=parts_of(phrase.intent, known) if phrase.intent else (),
            split=phrase.split or options.default_split,
            line=number,
            slots=phrase.slots if options.slots else (),
            language=language if LANGUAGE_CODE.fullmatch(language) else "",
            kept=kept_json(agent.platform, phrase.fields or {}) or "",
        )
        yield accept(row, place, options.longest_text)
