"""Who wrote the lines of a folder, and when: asked of git, where the folder is in a repository."""

import os
import re
import subprocess
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from core.text import plain_name
from storage.records import now

_FEW = 200
"""Lines that are asked for one by one; of more, the whole file is asked for."""
_SECONDS = 120
_LONGEST = 80
_HEAD = re.compile(r"(?P<commit>[0-9a-f]{40,64}) \d+ (?P<line>\d+)(?: \d+)?")
_UNCOMMITTED = re.compile(r"0+")
# What the repository's own settings would start is not started.
_GIT = ("git", "-c", "core.fsmonitor=false", "-c", "blame.ignoreRevsFile=")


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote a line; `at` is the time as `now` writes it, empty for lines not committed."""

    name: str
    at: str = ""


def authors_of(folder: Path, file: str, lines: Collection[int], otherwise: str) -> list[Author]:
    """Return the authors of some lines of a file, in order.

    It is `otherwise` for lines that were not committed, and where git cannot tell.
    """
    blamed = _blamed(folder, file, lines) if lines else {}
    return [blamed.get(line, Author(otherwise)) for line in lines]


def _blamed(folder: Path, file: str, lines: Collection[int]) -> dict[int, Author]:
    few = [f"-L{line},{line}" for line in sorted(lines)] if len(lines) <= _FEW else []
    command = [*_GIT, "-C", str(folder), "blame", "--porcelain", "--no-textconv", *few, "--", file]
    # A hook of git names another repository.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(command, capture_output=True, check=True, env=clean, timeout=_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return {}
    return dict(_read(done.stdout.decode("utf-8", errors="replace")))


def _read(blame: str) -> Iterator[tuple[int, Author]]:
    """Read git's own format: facts of a commit stand where it is named first."""
    facts: dict[str, dict[str, str]] = {}
    commit, line = "", 0
    for text in blame.split("\n"):
        if text.startswith("\t"):
            if not _UNCOMMITTED.fullmatch(commit):
                yield line, _author(facts[commit])
        elif head := _HEAD.fullmatch(text):
            commit, line = head["commit"], int(head["line"])
            facts.setdefault(commit, {})
        else:
            name, _, value = text.partition(" ")
            facts.setdefault(commit, {})[name] = value


def _author(facts: Mapping[str, str]) -> Author:
    name = plain_name(facts.get("author", "").replace("\0", ""))[:_LONGEST] or "somebody"
    try:
        at = datetime.fromtimestamp(int(facts["author-time"]), UTC).isoformat(
            timespec="milliseconds"
        )
    except (KeyError, ValueError, OverflowError, OSError):
        return Author(name)
    return Author(name, min(at, now()))
