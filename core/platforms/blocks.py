"""Lines of a text, and a block of them with lines taken out and added."""

import re
from collections.abc import Iterator

from core.platforms.arrays import ArrayEdits
from core.platforms.json_places import Node

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")


def lines_of(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start and end of each line with its break, and the line without it."""
    at = 0
    while at < len(text):
        match = _LINE.match(text, at)
        end = len(text) if match is None else match.end()
        yield at, end, text[at:end].rstrip("\r\n")
        at = end


class BlockEdits(ArrayEdits):
    """Changes of a block of phrases, in which each element is a line."""

    __slots__ = ()

    def rendered(self) -> str:
        """Return the lines that stay, and those that are added behind them."""
        pieces, at = list[str](), self.start
        for index, item in enumerate(self._items):
            start, end = self._line(item)
            if index in self._removed:
                pieces.append(self.text[at:start])
                at = end
        pieces.append(self.text[at : self.end])
        kept = "".join(pieces)
        before = kept or self.text[: self.start]
        if self.appended and before and before[-1] not in "\r\n":
            kept += self._line_end
        return kept + "".join(f"{self._pad()}{one}{self._line_end}" for one in self.appended)

    def _line(self, item: Node) -> tuple[int, int]:
        start = max(self.text.rfind(sign, 0, item.start) for sign in "\r\n") + 1
        match = _LINE.match(self.text, item.end)
        return start, item.end if match is None else match.end()

    def _pad(self) -> str:
        """Return the indentation of the lines; of none yet, that below the heading."""
        if self._items:
            item = self._items[0]
            return self.text[self._line(item)[0] : item.start]
        above = self.text[: self.start].rstrip("\r\n")
        heading = above[max(above.rfind("\n"), above.rfind("\r")) + 1 :]
        below = "" if heading.lstrip("\ufeff \t").startswith("#") else "  "
        return heading[: len(heading) - len(heading.lstrip())] + below
