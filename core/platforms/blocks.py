"""Lines of a text, and a block of them with lines taken out and added."""

import re
from collections.abc import Callable, Iterable, Iterator

from core.platforms.arrays import ArrayEdits

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_BREAKS = re.compile("\n+")
_LONGEST = 100_000
"""Characters of a text of several lines that are read; it is too long anyway."""


def lines_of(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start and end of each line with its break, and the line without it."""
    at = 0
    while at < len(text):
        match = _LINE.match(text, at)
        end = len(text) if match is None else match.end()
        yield at, end, text[at:end].rstrip("\r\n")
        at = end


def column_of(line: str) -> int:
    """Return the number of blanks before what stands on a line."""
    return len(line) - len(line.lstrip())


def with_blocks(
    lines: Iterable[tuple[int, str]], awaited: Callable[[], int | None]
) -> Iterator[tuple[int, str]]:
    """Yield numbered lines, those of a text of several lines as one with the number of its first.

    Before each line, `awaited` returns the column behind which such a text begins, or None.
    """
    first, held, size, margin = 0, list[str](), 0, 0
    for number, line in lines:
        if held and (not line.strip() or column_of(line) > margin):
            size += len(line)
            held += [line.rstrip("\r\n")] * (size < _LONGEST)
            continue
        if held:
            yield first, "\n".join(held)
            held = []
        column = awaited() if line.strip() else None
        if column is not None and column_of(line) > column:
            first, held, size, margin = number, [line.rstrip("\r\n")], len(line), column
        else:
            yield number, line
    if held:
        yield first, "\n".join(held)


def text_of_block(block: str, *, folds: bool) -> str:
    """Return a text of several lines as YAML reads it, without its indentation."""
    lines = block.split("\n")
    margin = column_of(lines[0])
    text = "\n".join(line[min(margin, column_of(line)) :].rstrip() for line in lines).strip()
    return _BREAKS.sub(lambda breaks: breaks[0][1:] or " ", text) if folds else text


class BlockEdits(ArrayEdits):
    """Changes of a block of phrases, in which each element is a line."""

    __slots__ = ()

    def rendered(self) -> str:
        """Return the lines that stay or are written anew, and those that are added behind them."""
        pieces, at = list[str](), self.start
        for index in sorted(self._removed | self._rewritten.keys()):
            item = self._items[index]
            is_gone = index in self._removed
            start, end = self._line(index) if is_gone else (item.start, item.end)
            pieces += [self.text[at:start], "" if is_gone else self._edited(index)]
            at = end
        pieces.append(self.text[at : self.end])
        kept = "".join(pieces)
        if not self.appended:
            return kept
        before = kept[-1:] or self.text[max(0, self.start - 1) : self.start]
        line_end, pad = self._line_end, self._pad()
        is_open = bool(before) and before not in "\r\n"
        added = "".join(f"{pad}{one}{line_end}" for one in self.appended)
        return kept + line_end * is_open + added

    def _line(self, index: int) -> tuple[int, int]:
        """Return the start of an element's line, and its end behind the break."""
        item = self._items[index]
        least = self._items[index - 1].end if index else self.start
        start = max(self.text.rfind(sign, least, item.start) for sign in "\r\n") + 1
        match = _LINE.match(self.text, item.end)
        return start or least, item.end if match is None else match.end()

    def _pad(self) -> str:
        """Return the indentation of the lines; of none yet, that below the heading."""
        if self._items:
            item = self._items[0]
            return self.text[self._line(0)[0] : item.start]
        above = self.text[: self.start].rstrip("\r\n")
        heading = above[max(above.rfind("\n"), above.rfind("\r")) + 1 :]
        below = "" if heading.lstrip("\ufeff \t").startswith("#") else "  "
        return heading[: len(heading) - len(heading.lstrip())] + below
