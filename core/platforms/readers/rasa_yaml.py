"""Rasa's training data in YAML, in any number of files: examples are lines of a block of text.

Facts: RasaHQ/rasa `rasa_yaml.py`, `entities_parser.py`. Lines are read and moved as they are
written, so that every other byte stays: a library that writes YAML again keeps comments and order,
but neither quotes nor how a block is indented.
"""

import json
import re
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from core.errors import InvalidInput
from core.platforms.agent import ROLE, Agent, Home, Phrase
from core.platforms.blocks import column_of, lines_of, text_of_block, with_blocks
from core.platforms.gathering import Gathering, Losses
from core.platforms.json_places import Node
from core.platforms.packages import Package
from core.platforms.readers.rasa_extras import Extra, extra_of_each, told_besides
from core.templates.slots import Slot, SlottedText

RASA_EXAMPLE = 'An example is a line such as "- fly to [Boston](city)" below "- intent: flight".'
RASA_ENDINGS = (".yml", ".yaml")

_HEADING = re.compile(r"(?:##\s*|-\s+)(intent|synonym|lookup|regex)\s*:\s*(.*)")
_TOP = re.compile(r"\A(\w+)\s*:")
_EXAMPLES = re.compile(r"examples\s*:\s*([|>]?)[-+]?")
_BULLET = re.compile(r"[-*+]\s+(.*)")
_DASH = re.compile(r"-\s*(.+)")
_METADATA = re.compile(r"metadata\s*:")
_ENTITY = re.compile(r"\[([^\[\]]+)\](?:\(([^()]+)\)|(\{[^{}]*\}))")
_PLAIN_ENTITY = re.compile(r"[^()\[\]:]+")
_NLU = re.compile(rb"^nlu[ \t]*:", re.MULTILINE)
_BREAKS = re.compile("[\r\n\x85\u2028\u2029]")
_NO_YAML = re.compile("[\0-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufffe\uffff]")
_PLAIN_NAME = re.compile(r"[^\W\d][\w./+-]*")
_NO_NAMES = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"(?=\s*(?:#|\Z))')
_SINGLE = re.compile(r"'((?:[^']|'')*+)'(?=\s*(?:#|\Z))")
_REMARK = re.compile(r"(?<!\s)\s++#")
_COMMENTS = ("#", "<!--")
_READ = ("entity", "role")
_EXPECTED = ("version", "nlu")
_BLOCKS = ("|", "|-", "|+", ">", ">-", ">+")
_SAMPLE = 1 << 20


@dataclass(slots=True)
class RasaScanner:
    """Reads a file line by line.

    Attributes:
        intent: Intent of the current examples; None in other parts of the file.
        literal: Whether each line of a block is an example, or a mapping with a text.
        waiting: Whether the next lines are the example announced by `text: |`.
        opens: Whether the line that was read begins a block of examples.
        indent: Blanks before the heading, of which the lines of a block have more.
        below: Column of metadata, while what is below is left out, or of a text of several lines.
        elsewhere: Whether the line is of another part than `nlu`, such as `stories`.
        losses: What of the file has no place in the studio.
        lookups: Values by entity.
        synonyms: Other words by value.
    """

    intent: str | None = None
    literal: bool = True
    waiting: bool = False
    opens: bool = False
    indent: int | None = None
    below: int | None = None
    elsewhere: bool = False
    losses: Losses = field(default_factory=Losses)
    lookups: dict[str, list[str]] = field(default_factory=dict)
    synonyms: dict[str, list[str]] = field(default_factory=dict)
    _folds: bool = False
    _listed: list[str] | None = None

    def whole(self, lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
        """Yield numbered lines for `example`, each after the one before is read; a text is one."""
        return with_blocks(lines, lambda: self.below if self.waiting else None)

    def example(self, line: str) -> str | None:
        """Return the example on a line of `whole`; headings change the state and give None.

        Raises:
            ValueError: The line is neither example nor heading.
        """
        bare = line.strip()
        self.opens = False
        if self.waiting and bare:
            self.waiting = False
            if self.below is None or column_of(line) > self.below:
                return text_of_block(line, folds=self._folds)
        if self._is_passed_over(line, bare):
            return None
        if not self._is_inside(line, bare) and self._is_heading(line, bare):
            return None
        if self.intent is None or bare.startswith(_COMMENTS):
            self._list(line, bare)
            return None
        bullet = self._bullet(line, bare)
        if self.literal and bullet is not None:
            return bullet[1]
        if self.literal:
            raise ValueError(bare)
        return self._of_mapping(bullet[1] if bullet else bare, line)

    def _is_passed_over(self, line: str, bare: str) -> bool:
        """Whether a line is metadata or below it."""
        if self.below is not None and self._is_below(line, bare):
            return True
        self.below = None
        if self.intent is None or self._is_inside(line, bare) or not _METADATA.match(bare):
            return False
        what = "intents" if self.literal else "examples"
        self.losses.add(f"metadata of {what}", self.intent)
        self.below = column_of(line)
        return True

    def _is_below(self, line: str, bare: str) -> bool:
        """Whether a line belongs to what is passed over: YAML lets a list begin below its key."""
        if not bare or column_of(line) > (self.below or 0):
            return True
        is_listed = column_of(line) == self.below and bare.startswith("-")
        return is_listed or bare.startswith("#")

    def _bullet(self, line: str, bare: str) -> re.Match[str] | None:
        """Return the match of an element; in a block of lines a dash needs no blank."""
        is_dash = self._is_inside(line, bare) and bare.startswith("-")
        return (_DASH if is_dash else _BULLET).fullmatch(bare)

    def _list(self, line: str, bare: str) -> None:
        """Keep a line of a lookup or of synonyms."""
        bullet = self._bullet(line, bare)
        if self._listed is not None and bullet is not None:
            self._listed.append(bullet[1].strip())

    def _is_inside(self, line: str, bare: str) -> bool:
        """Whether a line is one of the block, whatever it looks like."""
        is_block = bool(bare) and self.literal
        return is_block and self.indent is not None and column_of(line) > self.indent

    def _is_heading(self, line: str, bare: str) -> bool:
        is_markdown = bare.startswith("##")
        top = None if is_markdown else _TOP.match(line)
        if self.elsewhere and not is_markdown and not top:
            return True
        if match := _HEADING.fullmatch(bare):
            self._begin(match[1], match[2])
            return True
        if match := _EXAMPLES.fullmatch(bare):
            self.literal = self.opens = bool(match[1])
            self.indent = column_of(line) if self.literal else None
            return True
        if top and top[1] not in _EXPECTED:
            self.losses.add(f"the part “{top[1][:60]}”")
        if is_markdown or top:
            self.elsewhere = self.elsewhere if top is None else top[1] not in _EXPECTED
            self.intent = self.indent = self._listed = None
            return True
        return not bare or bare.startswith(_COMMENTS)

    def _begin(self, kind: str, name: str) -> None:
        """Begin the part of an intent, a lookup or synonyms; others are told of."""
        self.intent = _unquoted(name) if kind == "intent" else None
        self.literal, self.indent = True, None
        self.elsewhere, self._listed = False, None
        if kind in ("lookup", "synonym"):
            lists = self.lookups if kind == "lookup" else self.synonyms
            self._listed = lists.setdefault(_unquoted(name), [])
        elif self.intent is None:
            self.losses.add(f"parts of the kind “{kind}”", name[:200])

    def _of_mapping(self, pair: str, line: str) -> str | None:
        key, _, value = pair.partition(":")
        if key.strip() == "metadata":
            self.losses.add("metadata of examples", self.intent or "")
        if key.strip() != "text":
            return None
        self.waiting = value.strip() in _BLOCKS
        if self.waiting:
            self.below, self._folds = line.index("text"), ">" in value
        return None if self.waiting else _unquoted(value.strip())


def unmarked(example: str, place: object) -> tuple[str, list[Slot], list[Extra]]:
    """Return an example without its brackets, what they mark, and what else they say.

    A role joins the name.

    Raises:
        InvalidInput: It does not say which entity a value is of; the place is named.
    """
    text, slots, extras, at = "", list[Slot](), list[Extra](), 0
    for match in _ENTITY.finditer(example):
        text += example[at : match.start()]
        extras.append(_extra(match, place))
        slots.append(Slot(len(text), len(text) + len(match[1]), extras[-1]["name"]))
        text += match[1]
        at = match.end()
    return text + example[at:], slots, told_besides(extras)


def as_written(line: str, before: str) -> str:
    """Return a line in which the marks that stay are written as in the line before.

    A long fraction keeps its digits.
    """
    there = [(_extra(match, before), match[0]) for match in _ENTITY.finditer(before)]

    def written(match: re.Match[str]) -> str:
        said = _extra(match, line)
        at = next((at for at, (one, _) in enumerate(there) if one == said), None)
        return match[0] if at is None else there.pop(at)[1]

    return _ENTITY.sub(written, line)


def _extra(match: re.Match[str], place: object) -> Extra:
    """Return all that a mark says; its role joins the name."""
    if match[2]:
        name, _, value = match[2].partition(":")
        return ({"value": value} if value else {}) | {"name": name.strip(), "said": match[1]}
    try:
        said = json.loads(match[3])
        name, role = said["entity"], said.get("role", "")
    except (ValueError, KeyError, RecursionError) as error:
        fault = f"{place}: {match[0][:60]!r} does not say which entity it is."
        raise InvalidInput(fault, 'Write [Boston](city), or [Boston]{"entity": "city"}.') from error
    more = {key: one for key, one in said.items() if key not in _READ}
    return more | {"name": f"{name}.{role}" if role else str(name), "said": match[1]}


def _unquoted(name: str) -> str:
    """Return a name without quotes and without the comment behind it."""
    name = name.strip()
    if match := _QUOTED.match(name):
        try:
            return str(json.loads(match[0]))
        except ValueError:
            return name.strip('"')
    if match := _SINGLE.match(name):
        return match[1].replace("''", "'")
    return _REMARK.split(name, maxsplit=1)[0]


def yaml_text(text: str) -> str:
    """Return a text in quotes, with escapes for the signs that YAML does not take as they are."""
    quoted = json.dumps(text, ensure_ascii=False)
    return _ESCAPED.sub(lambda sign: f"\\u{ord(sign[0]):04x}", quoted)


def yaml_name(name: str) -> str:
    """Return a name as YAML reads it back: in quotes, unless it is plainly a text."""
    is_plain = _PLAIN_NAME.fullmatch(name) and name.casefold() not in _NO_NAMES
    return name if is_plain else yaml_text(name)


def marked_example(
    text: str,
    slots: Sequence[Slot],
    roles: Collection[str] = frozenset(),
    extras: Sequence[Extra] = (),
) -> str:
    """Write a text with its marked values; of a name in `roles`, a role stands behind the dot.

    `extras` are those of `unmarked`; `extra_of_each` tells to which marks they go.

    Raises:
        InvalidInput: It has brackets that Rasa would read as a marked value, or control signs.
    """
    parts, at = list[str](), 0
    besides = extra_of_each(SlottedText(text, tuple(slots)), extras)
    for slot, more in zip(slots, besides, strict=True):
        value, name = text[slot.start : slot.end], slot.name
        is_plain = name not in roles and _PLAIN_ENTITY.fullmatch(name) and name == name.strip()
        entity, _, role = name.partition(".") if name in roles else (name, "", "")
        kind = {"entity": entity} | ({"role": role} if role else {})
        said = json.dumps(kind | more, ensure_ascii=False)
        is_short = is_plain and not more
        parts += [text[at : slot.start], f"[{value}]({name})" if is_short else f"[{value}]{said}"]
        at = slot.end
    parts.append(text[at:])
    marked = "".join(parts)
    values = [found[1] for found in _ENTITY.finditer(marked)]
    if values != [text[slot.start : slot.end] for slot in slots]:
        raise InvalidInput(
            f"'{text[:60]}' has brackets that Rasa reads as a marked value.",
            "Reword it, or choose the format JSONL.",
        )
    if _NO_YAML.search(marked := _BREAKS.sub(" ", marked)):
        raise InvalidInput(
            f"'{text[:60]}' has control signs, with which no YAML can be read.",
            "Reword it, or choose the format JSONL.",
        )
    return marked


def example_line(
    said: SlottedText, marks: Mapping[str, str], extras: Sequence[Extra] = ()
) -> str | None:
    """Return the line of a new example without its indentation; None if YAML cannot hold it."""
    roles = [name for name, kind in marks.items() if kind == ROLE]
    try:
        return f"- {marked_example(said.text, said.slots, roles, extras)}"
    except InvalidInput:
        return None


def rasa_files(package: Package) -> list[str]:
    """Return the YAML files that hold training data."""
    found = []
    for name in package.files:
        if name.lower().endswith(RASA_ENDINGS):
            with package.stream(name) as stream:
                if _NLU.search(stream.read(_SAMPLE)):
                    found.append(name)
    return found


def is_rasa_yaml(package: Package) -> bool:
    """Whether a YAML file has a part `nlu`."""
    return bool(rasa_files(package))


def read_rasa_yaml(package: Package) -> Agent:
    """Read all examples, each with the place of its line.

    Raises:
        InvalidInput: A line cannot be read, or there is no example.
    """
    found = Gathering("rasa", package)
    lookups, synonyms = dict[str, list[str]](), dict[str, list[str]]()
    for name in rasa_files(package):
        text = package.text(name)
        found.documents[name] = text
        found.files[name] = 0
        _read_file(
            found, name, RasaScanner(losses=found.losses, lookups=lookups, synonyms=synonyms)
        )
    found.add_lookups(lookups, synonyms)
    return found.agent()


def _read_file(found: Gathering, name: str, scanner: RasaScanner) -> None:
    text, block = found.documents[name], Node(0, 0, None)
    starts = array("q", (start for start, _, _ in lines_of(text)))  # whole lines fill the memory
    starts.append(len(text))
    for number, line in scanner.whole(enumerate((line for _, _, line in lines_of(text)), start=1)):
        start, end = starts[number - 1], starts[number]
        place = f"{name}, row {number}"
        try:
            example = scanner.example(line)
        except ValueError as error:
            fault = f"{place}: '{str(error)[:60]}' is no example."
            raise InvalidInput(fault, RASA_EXAMPLE) from error
        if scanner.intent is not None:
            found.intents.setdefault(scanner.intent, "")
        if scanner.opens and scanner.intent is not None:
            block = Node(end, end, [])
            found.homes.setdefault((scanner.intent, ""), Home(name, block))
        if example is None or scanner.intent is None:
            continue
        where = Node(start, end, None)  # an example of several lines stays where it is
        if scanner.literal:
            where, bullet = block, column_of(line)
            block.items.append(Node(start + bullet, start + len(line), example))
            block.end = end
        _keep(found, Home(name, where), scanner.intent, example, place)


def _keep(found: Gathering, home: Home, intent: str, example: str, place: str) -> None:
    said, slots, extras = unmarked(example, place)
    for slot in slots if ROLE in example else ():
        if "." in slot.name:
            found.marks.setdefault(slot.name, ROLE)
    block = cast("Node", home.array)
    marks, index = found.fitting(said, slots), len(block.items) - 1
    fields = {"entities": extras} if extras else None
    found.add(Phrase(said, intent, home.file, block, index, marks, fields=fields))
