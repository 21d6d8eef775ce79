"""The letters of a PDF that Chromium printed, read without a library."""

import re
import zlib
from dataclasses import dataclass
from pathlib import Path

_OBJECT = re.compile(rb"(?:^|\s)(\d+) 0 obj\b(.*?)endobj", re.DOTALL)
_STREAM = re.compile(rb"(.*?)\bstream\r?\n(.*)endstream", re.DOTALL)
_FONT = re.compile(r"/F(\d+) (\d+) 0 R")
_LETTERS = re.compile(r"/ToUnicode (\d+) 0 R")
_SINGLE = re.compile(r"<(\w+)>\s*<(\w+)>")
_RANGE = re.compile(r"<(\w+)>\s*<(\w+)>\s*<(\w+)>")
_TOKEN = re.compile(
    r"/F(?P<font>\d+) [\d.]+ Tf"
    r"|/ActualText\s*(?:<FEFF(?P<signs>[0-9A-F]*)>|\((?P<plain>(?:\\.|[^\\)])*)\))"
    r"|<(?P<codes>[0-9A-F]+)>"
    r"|\b(?P<end>EMC)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PdfPart:
    """An object of a PDF: what describes it, and its stream, unpacked; empty without one."""

    head: str
    stream: str


def printed_letters(path: Path) -> str:
    """Return what a PDF says in the order in which it is drawn, without any white space.

    Where a line ends no space is printed.
    """
    parts = {int(key): _part(body) for key, body in _OBJECT.findall(path.read_bytes())}
    fonts = {
        name: _letters(parts[int(told[1])].stream)
        for one in parts.values()
        for name, number in _FONT.findall(one.head)
        if (told := _LETTERS.search(parts[int(number)].head))
    }
    said = [_said(one.stream, fonts) for one in parts.values() if " Tf" in one.stream]
    return "".join("".join(said).split())


def _part(body: bytes) -> PdfPart:
    if (found := _STREAM.match(body)) is None:
        return PdfPart(body.decode("latin-1"), "")
    head, stream = found.groups()
    if b"/FlateDecode" in head:
        stream = zlib.decompressobj().decompress(stream)
    return PdfPart(head.decode("latin-1"), stream.decode("latin-1"))


def _letters(table: str) -> dict[str, str]:
    """Read which letters each code of a font stands for; all its codes are equally long."""
    found = dict[str, str]()
    for block in re.findall(r"beginbfchar(.*?)endbfchar", table, re.DOTALL):
        found |= {code.upper(): _signs(signs) for code, signs in _SINGLE.findall(block)}
    for block in re.findall(r"beginbfrange(.*?)endbfrange", table, re.DOTALL):
        for first, last, sign in _RANGE.findall(block):
            for step in range(int(last, 16) - int(first, 16) + 1):
                code = f"{int(first, 16) + step:0{len(first)}X}"
                found[code] = chr(int(sign, 16) + step)
    return found


def _said(stream: str, fonts: dict[str, dict[str, str]]) -> str:
    """Read a page: codes by the font that is chosen, and letters that stand for the codes drawn."""
    said, letters, is_told = list[str](), dict[str, str](), False
    for token in _TOKEN.finditer(stream):
        if token["font"]:
            letters = fonts.get(token["font"], {})
        elif token["end"]:
            is_told = False
        elif token["codes"] is None:
            is_told = True
            said.append(_signs(token["signs"] or "") or token["plain"] or "")
        elif letters and not is_told:
            width, codes = len(next(iter(letters))), token["codes"].upper()
            parted = (codes[at : at + width] for at in range(0, len(codes), width))
            said += [letters.get(code, "") for code in parted]
    return "".join(said)


def _signs(signs: str) -> str:
    return bytes.fromhex(signs).decode("utf-16-be")
