"""The table of abuses in docs/topics/security.md, made of what the tests say of themselves.

    python -m tests.abuse.table

A module of tests names its abuses in `ABUSES`.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from tests.faults.table import named_in

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "topics" / "security.md"
_HEAD = """# Abuse

Each line names an attack, how the tests try it, and what the studio does about it. `make test`
tries a few cases of each, `make fire` many. [SECURITY.md](../../SECURITY.md) says who may attack.
Do not edit this page: `python -m tests.abuse.table` writes it from the constants `ABUSES` in
`tests/abuse`.

"""
N_CASES = 22
"""Abuse cases that every server of labels should stand; lines without a number are further ones."""


@dataclass(frozen=True, slots=True)
class Abuse:
    """One line of the table.

    Attributes:
        order: Its place among the 22 abuse cases; above 22 are further ones.
        name: What somebody tries.
        made: How the tests try it.
        promised: What holds.
        also: Other files with tests of it.
    """

    order: float
    name: str
    made: str
    promised: str
    also: tuple[str, ...] = ()


def lines() -> list[tuple[Abuse, str]]:
    """Return each abuse with the path of the tests that try it, in the table's order."""
    return named_in(HERE, "ABUSES")


def page() -> str:
    """Return the page."""
    rows = ["| | attack | how the tests try it | what the studio does | tests |", "|---" * 5 + "|"]
    for abuse, path in lines():
        number = f"{abuse.order:g}" if abuse.order <= N_CASES else ""
        tests = ", ".join(f"`{each}`" for each in (path, *abuse.also))
        rows.append(f"| {number} | {abuse.name} | {abuse.made} | {abuse.promised} | {tests} |")
    return _HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")
