"""A JSON array with elements taken out, changed and added, in the style of those that are there."""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from core.platforms.json_places import Node
from core.text import is_storable


@dataclass(slots=True, eq=False)
class ArrayEdits:
    """Changes of one array of a file's text; without an array, the file is to be made.

    Attributes:
        appended: Elements as they are written elsewhere, or values to be written.
    """

    file: str
    text: str
    array: Node | None
    appended: list[str | dict[str, Any]] = field(default_factory=list)
    _removed: set[int] = field(default_factory=set)
    _relabelled: dict[int, tuple[Node, str]] = field(default_factory=dict)
    _rewritten: dict[int, str | dict[str, Any]] = field(default_factory=dict)
    _counted: dict[str, Counter[str]] = field(default_factory=dict)  # strings that were asked for

    @property
    def start(self) -> int:
        """Place of the array in the text."""
        return 0 if self.array is None else self.array.start

    @property
    def end(self) -> int:
        """Place behind the array."""
        return 0 if self.array is None else self.array.end

    @property
    def is_changed(self) -> bool:
        """Whether there is anything to write."""
        return bool(self.appended or self._removed or self._relabelled or self._rewritten)

    @property
    def grows_by(self) -> int:
        """How many elements more there will be; negative for fewer."""
        return len(self.appended) - len(self._removed)

    @property
    def size(self) -> int:
        """How many elements there will be."""
        return len(self._items) + self.grows_by

    def has(self, key: str, value: str) -> bool:
        """Whether one of the elements that there will be has a string under a key."""
        if key not in self._counted:  # read once, for thousands may be asked for
            kept = (one for at, one in enumerate(self._items) if at not in self._removed)
            found = Counter(one.text(key) for one in kept)
            found.update(_string(one, key) for one in self.appended)
            self._counted[key] = found
        return self._counted[key][value] > 0

    def append(self, element: str | dict[str, Any]) -> None:
        """Put an element behind the others."""
        self.appended.append(element)
        for key, found in self._counted.items():
            found[_string(element, key)] += 1

    def remove(self, index: int) -> str:
        """Take an element out, and return it as it is or was to be written."""
        if index not in self._removed:
            self._removed.add(index)
            for key, found in self._counted.items():
                found[self._items[index].text(key)] -= 1
        return self._edited(index)

    def relabel(self, index: int, label: Node, name: str) -> None:
        """Write another string in the place of one inside an element."""
        self._relabelled[index] = label, name

    def rewrite(self, index: int, element: str | dict[str, Any]) -> None:
        """Write another element in the place of one, with its new label if it gets one."""
        self._rewritten[index] = element

    def rendered(self) -> str:
        """Return the array as it is to be written."""
        items = self._items
        kept = [at for at in range(len(items)) if at not in self._removed]
        if not kept and not self.appended:
            return "[]"
        # A kept element keeps what stands before it, unless that is the bracket.
        parts = [self._between(at) * (at > kept[0]) + self._edited(at) for at in kept]
        like = self._raw(0) if items else ""
        for one in self.appended:
            parts.append(self._between(len(items) - 1) * bool(parts) + self._written(one, like))
        return self._lead() + "".join(parts) + self._tail()

    @property
    def _items(self) -> list[Node]:
        return [] if self.array is None else self.array.items

    def _raw(self, at: int) -> str:
        node = self._items[at]
        return self.text[node.start : node.end]

    def _edited(self, at: int) -> str:
        raw = self._raw(at)
        if at in self._rewritten:
            return self._written(self._rewritten[at], raw)
        if at not in self._relabelled:
            return raw
        label, name = self._relabelled[at]
        start = self._items[at].start
        return raw[: label.start - start] + self._dump(name) + raw[label.end - start :]

    def _between(self, at: int) -> str:
        """Return what stands before an element, or would if there were two."""
        items = self._items
        if at > 0:
            return self.text[items[at - 1].end : items[at].start]
        if items:  # a single one: what stands before it, behind the bracket
            return "," + (self._lead()[1:] or " " * (": " in self._raw(0)))
        return "," + (self._indent() if self._is_broken else " ")

    def _lead(self) -> str:
        if self._items:
            return self.text[self.start : self._items[0].start]
        return "[" + (self._indent() if self._is_broken else "")

    def _tail(self) -> str:
        if self._items:
            return self.text[self._items[-1].end : self.end]
        return (self._outer() if self._is_broken else "") + "]"

    @property
    def _is_broken(self) -> bool:
        return "\n" in self.text

    def _outer(self) -> str:
        """Return the line break and indentation of the line on which the array begins."""
        line = self.text[self.text.rfind("\n", 0, self.start) + 1 : self.start]
        return self._line_end + line[: len(line) - len(line.lstrip(" \t"))]

    @property
    def _line_end(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    def _indent(self) -> str:
        return self._outer() + "  "

    def _dump(self, value: str | dict[str, Any]) -> str:
        return json.dumps(value, ensure_ascii=self._is_escaped(value))

    def _is_escaped(self, value: str | dict[str, Any]) -> bool:
        """Whether signs beyond ASCII are escapes: as in the file, or for half of a pair."""
        if self.text.isascii() and "\\u" in self.text:
            return True
        return not is_storable(json.dumps(value, ensure_ascii=False))

    def _written(self, one: str | dict[str, Any], like: str) -> str:
        """Write a value as its neighbour `like` is written, on one line or indented."""
        if isinstance(one, str):
            return one
        plain = self._is_escaped(one)
        if "\n" not in like and (like or not self._is_broken):
            tight = (",", ":") if '":"' in like else (", ", ": ")
            return json.dumps(one, ensure_ascii=plain, separators=tight)
        pad = like[like.rfind("\n") + 1 : -1] if "\n" in like else self._indent().lstrip("\r\n")
        if '": [ {' in self.text:
            dump = as_google_writes(one, plain=plain)
        else:
            dump = json.dumps(one, ensure_ascii=plain, indent=_unit(like, pad))
        return dump.replace("\n", self._line_end + pad)


def _string(element: str | dict[str, Any], key: str) -> str:
    """Return the string under a key of an element that is added."""
    value = json.loads(element) if isinstance(element, str) else element
    return str(value[key])


def _unit(like: str, pad: str) -> str:
    """Return by how much the keys of an element are indented."""
    lines = like.splitlines()
    line = lines[1] if len(lines) > 1 else ""
    return line[: len(line) - len(line.lstrip(" \t"))][len(pad) :] or "  "


def as_google_writes(value: Any, pad: str = "", *, plain: bool = False) -> str:
    """Write JSON with `[ {` on one line, two blanks deeper for each object."""
    match value:
        case dict():
            deeper = pad + "  "
            lines = (
                f"{deeper}{json.dumps(key)}: {as_google_writes(one, deeper, plain=plain)}"
                for key, one in value.items()
            )
            return "{\n" + ",\n".join(lines) + f"\n{pad}}}"
        case list():
            return "[ " + ", ".join(as_google_writes(one, pad, plain=plain) for one in value) + " ]"
        case _:
            return json.dumps(value, ensure_ascii=plain)
