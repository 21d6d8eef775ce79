"""LUIS's text form `.lu`: intents as headings, phrases as bullets, values in braces.

Facts: Microsoft's "Language Understanding file format". `{@city=Boston}` marks a value and
`{@city}` alone makes a pattern; `{@city:to=Boston}` gives a role. `None` is out of scope. Where a
file says `> !# @enableSections = true`, the headings below one are parts of its intent.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from core.errors import InvalidInput
from core.platforms.agent import OUT_OF_SCOPE, ROLE, Agent, Home, Phrase
from core.platforms.blocks import lines_of
from core.platforms.gathering import Gathering
from core.platforms.json_places import Node
from core.platforms.packages import Package
from core.platforms.readers.flat import NONE
from core.templates.slots import Slot, SlottedText

ENDING = ".lu"
_HEADING = re.compile(r"(#+)\s*(.*)")
_PARTS = re.compile(r"^>\s*!#\s*@\s*enableSections\s*=\s*true\s*$", re.MULTILINE)
_APART = re.compile(r"^>\s*!#\s*@\s*enableMergeIntents\s*=\s*false\s*$", re.MULTILINE)
_BULLET = re.compile(r"[-*+]\s*(.*)")
_OPENS = re.compile(r"\{\s*+@?([^{}=:@]++)(?::([^{}=:]++))?=\s*+")
_LIST = re.compile(r"@\s*list\s+([^\s=]+)[^=]*=")
_VALUE = re.compile(r"\A(.*):()")
_WITH_SYNONYMS = re.compile(r"\A(.*?):\s(.*)")
"""A value may have colons of its own: behind one that ends it stands a blank or nothing."""
_REFERENCE = re.compile(r"\[[^\[\]]*\]\([^()]*\)")
_ESCAPED = "{}[]()\\@|"
_MEANS = re.compile(r"[{}\[\]()\\|]")
_BREAKS = re.compile("[\r\n]")
_FENCE = chr(96) * 3  # three backticks
_UTF8 = "Save it as UTF-8."
_HINT = "A phrase is a line such as “- fly to {@city=Boston}” below “# BookFlight”."


@dataclass(slots=True)
class _Listed:
    """A list entity that is being read: `- value :`, and further in below it `- synonym`."""

    values: dict[str, tuple[str, ...]]
    _value: str = ""
    _column: int = 0

    def keep(self, line: str) -> None:
        """Keep a line; what stands behind the colon of a value are synonyms, too."""
        bullet = _BULLET.fullmatch(line.strip())
        if bullet is None:
            return
        column, said = len(line) - len(line.lstrip()), bullet[1].strip()
        is_below = bool(self._value) and column > self._column
        value = _VALUE.fullmatch(said) or (None if is_below else _WITH_SYNONYMS.fullmatch(said))
        if value is not None:
            self._value, self._column = value[1].strip(), column
            self.values.setdefault(self._value, ())
            said = value[2]
        words = tuple(word.strip() for word in said.split(",") if word.strip())
        if self._value:
            known = self.values[self._value]
            self.values[self._value] = tuple(dict.fromkeys((*known, *words)))


@dataclass(slots=True)
class _Titles:
    """Names of intents by their headings, of which a deeper one may be a part of the one above."""

    has_parts: bool
    is_joined: bool
    _above: str = ""

    def of(self, heading: re.Match[str]) -> tuple[str, bool]:
        """Return the name of a heading's intent, and whether the heading is a part of it."""
        title = heading[2].strip()
        is_part = self.has_parts and len(heading[1]) > 1 and bool(self._above)
        if title.startswith("?") or not is_part:
            self._above = "" if title.startswith("?") else title
            return title, False
        return self._above if self.is_joined else f"{self._above}.{title}", True


def is_lu(package: Package) -> bool:
    """Whether a file ends in `.lu`."""
    return any(name.lower().endswith(ENDING) for name in package.files)


def read_lu(package: Package) -> Agent:
    """Read the phrases of all files.

    Raises:
        InvalidInput: A line cannot be read, a file is not UTF-8, or there is no phrase.
    """
    found = Gathering("lu", package)
    for name in package.files:
        if name.lower().endswith(ENDING):
            found.documents[name] = _text(package, name)
            found.files[name] = 0
            _read_file(found, name)
    return found.agent()


def _text(package: Package, name: str) -> str:
    """Decode a file; a byte order mark, which editors on Windows write, stays in it."""
    try:
        return package.files[name].decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{name} is not UTF-8, at byte {error.start + 1}.", _UTF8) from error


def _read_file(found: Gathering, name: str) -> None:
    block: Node | None = None  # of the current intent; other sections have none
    intent = ""
    listed: _Listed | None = None  # of the current list of values
    text = found.documents[name]
    titles = _Titles(bool(_PARTS.search(text)), not _APART.search(text))
    for number, (start, end, line) in _telling(text):
        bare = line.lstrip("\ufeff").strip()
        if (heading := _HEADING.fullmatch(bare)) is not None:
            intent, block = _section(found, name, titles.of(heading), end)
            listed = None
        elif bare[0] == "[":
            _lose(found, bare)
        elif bare[0] in "@$":
            block, listed = None, _declared(found, bare)
        elif listed is not None:
            listed.keep(line)
        elif block is not None:
            blanks = len(line) - len(line.lstrip())
            item = Node(start + blanks, start + len(line.rstrip()), bare)
            if _phrase(found, Home(name, block), intent, item, f"{name}, row {number}"):
                block.end = end


def _telling(text: str) -> Iterator[tuple[int, tuple[int, int, str]]]:
    """Yield the lines that are neither blank nor a comment nor of an answer, with their numbers."""
    is_answer = False
    for number, place in enumerate(lines_of(text), start=1):
        bare = place[2].lstrip("\ufeff").strip()
        is_answer ^= bare.startswith(_FENCE)
        if bare and not is_answer and not bare.startswith((">", _FENCE)):
            yield number, place


def _section(
    found: Gathering, name: str, heading: tuple[str, bool], end: int
) -> tuple[str, Node | None]:
    """Return the intent of a heading and its block; a question that has an answer is none."""
    title, is_part = heading
    if title.startswith("?"):
        found.lose("questions with answers", title[1:].strip()[:200])
        return "", None
    intent = OUT_OF_SCOPE if title == NONE else title
    if intent:
        found.intents.setdefault(intent, "")
    block = Node(end, end, [])
    home = found.homes.setdefault((intent, ""), Home(name, block))
    if is_part and home.array is not None and not home.array.items:
        found.homes[intent, ""] = Home(name, block)  # below the heading above stand its parts
    return intent, block


def _declared(found: Gathering, line: str) -> _Listed | None:
    """Return the list that a line opens; another declaration is told of."""
    if (opens := _LIST.fullmatch(line)) is not None:
        return _Listed(found.values.setdefault(opens[1], {}))
    _lose(found, line)
    return None


def _lose(found: Gathering, line: str) -> None:
    what = "references to other files" if line[0] == "[" else "declared entities"
    found.lose(what, line[:200])


def _phrase(found: Gathering, home: Home, intent: str, item: Node, place: str) -> bool:
    """Keep a phrase; a pattern or a reference is told of, and stays."""
    bullet = _BULLET.fullmatch(str(item.value))
    if bullet is None:
        raise InvalidInput(f"{place}: '{str(item.value)[:60]}' is no phrase.", _HINT)
    if _REFERENCE.fullmatch(bullet[1]):
        _lose(found, bullet[1])
        return False
    marked = _marked(found, bullet[1], place)
    if marked is None:
        found.lose("patterns", bullet[1][:200])
        return False
    if home.array is None:
        return False
    text, slots = marked
    home.array.items.append(item)
    index = len(home.array.items) - 1
    found.add(Phrase(text, intent, home.file, home.array, index, found.fitting(text, slots)))
    return True


def _marked(found: Gathering, line: str, place: str) -> tuple[str, list[Slot]] | None:
    """Return a phrase without braces, and what they mark; None for a pattern."""
    text, slots, opened, at = list[str](), list[Slot](), list[tuple[int, str]](), 0
    roles = set[str]()
    while at < len(line):
        sign = line[at]
        if sign == "\\" and line[at + 1 : at + 2] in tuple(_ESCAPED):
            text.append(line[at + 1])
            at += 2
        elif sign == "{":
            if (match := _OPENS.match(line, at)) is None:
                return None
            name, role = match[1].strip(), (match[2] or "").strip()
            name = f"{name}.{role}" if role else name
            roles |= {name} if role else set()
            opened.append((len(text), name))
            at = match.end()
        elif sign == "}" and opened:
            start, name = opened.pop()
            if opened:
                found.lose("parts inside a marked value", line[:200])
            else:
                slots.append(Slot(start, len(text), name))
            at += 1
        else:
            text.append(sign)
            at += 1
    if opened:
        raise InvalidInput(f"{place}: a brace is opened and never closed.", _HINT)
    found.marks |= {one.name: ROLE for one in slots if one.name in roles - found.marks.keys()}
    return "".join(text), slots


def lu_line(said: SlottedText, whole: Collection[str] = frozenset()) -> str | None:
    """Return the line of a new phrase; None for the name of a slot that a brace cannot hold.

    A role stands behind the dot of a name, but of those in `whole`.
    """
    parts, at = list[str](), 0
    for slot in said.slots:
        entity, _, role = (slot.name, "", "") if slot.name in whole else slot.name.partition(".")
        name = f"{entity}:{role}" if role else entity
        if re.search(r"[{}=@:]", slot.name):
            return None
        parts += [_escaped(said.text[at : slot.start]), f"{{@{name}={_escaped(said.value(slot))}}}"]
        at = slot.end
    line = "".join([*parts, _escaped(said.text[at:])])
    return f"- {_BREAKS.sub(' ', line)}"


def _escaped(text: str) -> str:
    return _MEANS.sub(lambda found: "\\" + found[0], text)
