"""Transcripts of talks: WebVTT and SubRip, or plain text with turns such as “Customer: hello”."""

import html
import re
from collections import Counter
from collections.abc import Container, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path

from core.errors import InvalidInput
from core.formats.decoding import read_lines, unreadable
from core.formats.detect import CUE_ENDINGS, find_format
from core.formats.rows import FilePlace, unreadable_line
from core.traffic.speakers import is_role

_NAMED = re.compile(r"(?:-\s*)?(?P<name>[^\W\d_][^:<>?!]{0,39}):(?:\s+(?P<text>.*))?")
_MOST_WORDS = 4
"""Of a speaker's name: “The number of my order is: 5” is no speaker."""
_TIMING = re.compile(r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2}[.,]\d{1,3})\s*-->")
_VOICE = re.compile(r"<v(?:\.[^\s<>]*+)?\s++([^<>]+)>")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<\d[\d:.]*>")
_LOOKED_AT = 50
_FIRST_YEAR, _LAST_YEAR = 2000, 2999


@dataclass(slots=True)
class SpokenTurn:
    """What somebody said in a talk, and how long after its beginning; `speaker` "" is not named."""

    speaker: str
    offset: timedelta
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The lines of the turn as one."""
        return " ".join(part for part in self.parts if part)


def is_transcript(path: Path, encoding: str) -> bool:
    """Whether a file is a transcript: by its ending, or as half its lines name a speaker."""
    if path.suffix.lower() != ".txt":
        return _has_cues(path)
    with closing(read_lines(path, encoding)) as lines:
        first = list(islice((line.strip() for line in lines if line.strip()), _LOOKED_AT))
    named = [line for line in first if _named(line)[0]]
    is_one = bool(named) and 2 * len(named) >= len(first)
    return is_one and find_format(path, encoding) == "text"


def read_turns(path: Path, encoding: str) -> Iterator[SpokenTurn]:
    """Yield the turns of a talk in order; a line or cue without a speaker goes on with the last.

    So does a cue of the same speaker: captions are cut every few seconds. In plain text all turns
    are said as the talk begins.

    Raises:
        InvalidInput: The file cannot be read, or no turn of it says who speaks.
    """
    turn: SpokenTurn | None = None
    is_named = False
    has_cues = _has_cues(path)
    for offset, speaker, text in _said(path, encoding, _speakers(path, encoding)):
        goes_on = turn is not None and has_cues and speaker == turn.speaker
        if turn is None or (speaker and not goes_on):
            if turn is not None:
                yield turn
            turn = SpokenTurn(speaker, offset)
            is_named = is_named or bool(speaker)
        turn.parts.append(text)
    if turn is None or not is_named:
        fault = "says nowhere who speaks" if turn else "has no turns with times"
        raise InvalidInput(f"{path} {fault}.", "Begin each turn like <v Customer> or “Customer: ”.")
    yield turn


def read_beginning(began: str) -> datetime:
    """Read the time at which a talk began; without a zone it has none.

    Raises:
        InvalidInput: It is no time.
    """
    try:
        found = datetime.fromisoformat(began.strip())
    except ValueError:
        found = datetime.min  # noqa: DTZ901 - it is refused
    if not _FIRST_YEAR <= found.year <= _LAST_YEAR:
        hint = "Write it like 2026-11-26 14:30."
        raise InvalidInput(f"'{began[:40]}' is no time at which a talk began.", hint)
    return found


def _has_cues(path: Path) -> bool:
    return path.suffix.lower() in CUE_ENDINGS


def _speakers(path: Path, encoding: str) -> Container[str]:
    """Return the words before a colon that name a speaker.

    They are a role, a marked voice, or begin two turns; where no voice is marked, it is enough to
    be written like a name. “my order number is: 5” goes on with what was said before.
    """
    begun, voices, has_cues = Counter[str](), set[str](), _has_cues(path)
    for line in map(str.strip, read_lines(path, encoding)):
        if has_cues:
            voices.update(html.unescape(name).strip() for name in _VOICE.findall(line))
        begun[_named(_without_tags(line))[0]] += 1
    return {
        name
        for name, n in begun.items()
        if n > 1 or name in voices or is_role(name) or (not voices and _is_like_a_name(name))
    }


def _is_like_a_name(words: str) -> bool:
    return not any(word[0].islower() for word in words.split())


def _said(
    path: Path, encoding: str, speakers: Container[str]
) -> Iterator[tuple[timedelta, str, str]]:
    """Yield when a piece was said, by whom if that is told, and the piece."""
    has_cues = _has_cues(path)
    offset = None if has_cues else timedelta()
    for number, written in enumerate(read_lines(path, encoding), start=1):
        if fault := unreadable(written):
            raise unreadable_line(FilePlace(path, number, 1), fault)
        line = written.strip()
        timing = _TIMING.match(line) if has_cues else None
        if timing is not None:
            hours, minutes, seconds = timing.groups(default="0")
            told = float(seconds.replace(",", "."))
            offset = timedelta(hours=int(hours), minutes=int(minutes), seconds=told)
        elif not line:
            offset = None if has_cues else offset  # the cue ends
        elif offset is not None:  # else the head, a note, a style or the number of a cue
            for speaker, text, whole in _pieces(line) if has_cues else [(*_named(line), line)]:
                is_known = whole is None or speaker in speakers
                yield (offset, speaker, text) if is_known else (offset, "", whole or "")


def _pieces(line: str) -> Iterator[tuple[str, str, str | None]]:
    """Yield who speaks and what, in a line of a cue: in voices, or after a name.

    After a name comes the whole, too: it may be no speaker's.
    """
    before, *voices = _VOICE.split(line)
    if plain := _without_tags(before):
        yield (*_named(plain), plain)
    for speaker, text in zip(voices[::2], voices[1::2], strict=True):
        yield html.unescape(speaker).strip(), _without_tags(text), None


def _named(line: str) -> tuple[str, str]:
    found = _NAMED.fullmatch(line)
    if found is None or len(found["name"].split()) > _MOST_WORDS:
        return "", line
    return found["name"].strip(), (found["text"] or "").strip()


def _without_tags(text: str) -> str:
    return html.unescape(_TAG.sub("", text)).strip()
