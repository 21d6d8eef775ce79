"""The phrases of a platform's export as rows of an import."""

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from core.formats.containers import find_container
from core.formats.rows import (
    LONGEST_CELL,
    FilePlace,
    ImportedRow,
    ReadOptions,
    RowProblem,
    accept,
    check_characters,
    too_long_cell,
)
from core.platforms.agent import Agent, Platform
from core.platforms.reading import find_agent

_PLATFORMS: tuple[Platform, ...] = get_args(Platform)


def agent_in(path: Path, options: ReadOptions) -> Agent | None:
    """Read a platform's export, if the options let a file or folder be one; a workbook is none.

    Raises:
        InvalidInput: It is damaged, hostile, or holds no phrase.
    """
    if options.format not in ("auto", *_PLATFORMS) or find_container(path) is not None:
        return None
    return find_agent(path)


def agent_rows(agent: Agent, options: ReadOptions) -> Iterator[ImportedRow | RowProblem]:
    """Yield the phrases of an agent, in the order of its files; rows count from 1.

    Raises:
        InvalidInput: A phrase has characters that no text can hold.
    """
    for number, phrase in enumerate(agent.phrases, start=1):
        place = FilePlace(Path(phrase.file), number)
        if len(phrase.text) > LONGEST_CELL:
            raise too_long_cell(place)
        for written in (phrase.text, phrase.intent, *(slot.name for slot in phrase.slots)):
            check_characters(place, written)
        row = ImportedRow(
            text=phrase.text,
            intents=(phrase.intent,) if phrase.intent else (),
            split=phrase.split or options.default_split,
            line=number,
            slots=phrase.slots if options.slots else (),
        )
        yield accept(row, place, options.longest_text)
