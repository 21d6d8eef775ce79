"""The table of faults in docs/topics/reliability.md, made of what the tests say of themselves.

    python -m tests.faults.table

A module of tests names its faults in `FAULTS`; its tests tell what they measured by the fixture
`measured`, and a run with `--keep-measured` stores it in measured.json beside this file.
"""

import importlib
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "topics" / "reliability.md"
MEASURED = HERE / "measured.json"
_FIGURE = re.compile(r"(?<![\w])\d+(?:,\d{3})*(?:\.\d+)?")
_HEAD = """# Reliability

Each line names a fault of the machine or of its surroundings, how the tests cause it, and what the
studio promises while it lasts and afterwards. `make test` causes each fault a few times,
`make fire` hundreds of times. Do not edit this page: `python -m tests.faults.table` writes it from
the constants `FAULTS` in `tests/faults`. The last column tells what a run with `--keep-measured`
measured, and the file of the tests.

"""


@dataclass(frozen=True, slots=True)
class Fault:
    """One line of the table.

    Attributes:
        order: Its place among the 22 faults that every storage of labels should stand; above 22
            are further ones.
        name: What goes wrong.
        made: How the tests make it happen.
        promised: What holds all the same.
        figures: How the keys of what was measured of it begin; "" for all of its file.
    """

    order: float
    name: str
    made: str
    promised: str
    figures: str = ""


def modules(folder: Path = HERE) -> Iterator[str]:
    """Yield the dotted names of a folder's modules of tests, in the order of their paths."""
    for path in sorted(folder.rglob("test_*.py")):
        yield ".".join(path.relative_to(HERE.parents[1]).with_suffix("").parts)


def named_in(folder: Path, constant: str) -> list[tuple[Any, str]]:
    """Return what a folder's modules name in a constant, each with its path, in order."""
    found = [
        (line, name.replace(".", "/") + ".py")
        for name in modules(folder)
        for line in getattr(importlib.import_module(name), constant, ())
    ]
    return sorted(found, key=lambda line: (line[0].order, line[0].name))


def lines() -> list[tuple[Fault, str]]:
    """Return each fault with the path of the tests that make it, in the table's order."""
    return named_in(HERE, "FAULTS")


def page(measured: Mapping[str, Mapping[str, str]]) -> str:
    """Return the page; `measured` has the sentences of each file by their key."""
    rows = [
        "| | fault | how the tests cause it | what is promised | what was measured |",
        "|---" * 5 + "|",
    ]
    for fault, path in lines():
        number = f"{fault.order:g}" if fault.order <= 22 else ""
        sentences = measured.get(path, {})
        told = " ".join(
            summed([s for key, s in sentences.items() if key.startswith(fault.figures)])
        )
        seen = f"{told} (`{path}`)".strip()
        rows.append(f"| {number} | {fault.name} | {fault.made} | {fault.promised} | {seen} |")
    return _HEAD + "\n".join(rows) + "\n"


def summed(sentences: Sequence[str]) -> list[str]:
    """Put sentences of the same words together: counts are added, of seconds the most are told."""
    by_words: dict[str, list[list[str]]] = {}
    for sentence in sentences:
        by_words.setdefault(_FIGURE.sub("{}", sentence), []).append(_FIGURE.findall(sentence))
    return [
        words.format(*(_together(figures) for figures in zip(*rows, strict=True)))
        for words, rows in by_words.items()
    ]


def _together(figures: Sequence[str]) -> str:
    if len(figures) == 1:
        return figures[0]
    if any("." in figure for figure in figures):
        return max(figures, key=float)
    return f"{sum(int(figure.replace(',', '')) for figure in figures):,}"


def kept() -> dict[str, dict[str, str]]:
    """Return what was measured, by file and key."""
    read: dict[str, dict[str, str]] = json.loads(MEASURED.read_text(encoding="utf-8"))
    return read


def keep(measured: Mapping[str, Mapping[str, str]]) -> None:
    """Store what a run measured beside what others did, and write the page."""
    before = kept() if MEASURED.exists() else {}
    there = {path for _, path in lines()}
    merged = {
        path: dict(sorted({**before.get(path, {}), **measured.get(path, {})}.items()))
        for path in sorted({*before, *measured} & there)
    }
    MEASURED.write_text(json.dumps(merged, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(merged), encoding="utf-8")


if __name__ == "__main__":
    keep({})
    sys.stdout.write(f"{PAGE}\n")
