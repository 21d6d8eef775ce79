"""Read Dockerfiles as far as the project's own go."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "assets" / "deploy"


@dataclass(frozen=True)
class Instruction:
    """One instruction, such as `COPY`, with all that follows it."""

    name: str
    words: str

    @property
    def listed(self) -> list[str]:
        """The words of a JSON list, as of an entry point."""
        return json.loads(self.words[self.words.index("[") :])


def instructions(name: str) -> list[Instruction]:
    """Read a Dockerfile; its comments are left out."""
    lines = (FOLDER / name).read_text("utf-8").replace("\\\n", " ").splitlines()
    said = [line.split(None, 1) for line in lines if line.strip() and not line.startswith("#")]
    return [Instruction(*words) for words in said]


def last(name: str, instruction: str) -> Instruction:
    """Return the last instruction of a kind, which counts."""
    return [one for one in instructions(name) if one.name == instruction][-1]


def sources(name: str) -> list[str]:
    """Return what is copied from the repository."""
    copied = [one.words.split() for one in instructions(name) if one.name == "COPY"]
    return [path for words in copied if words[0][:7] != "--from=" for path in words[:-1]]


def sent(name: str) -> set[str]:
    """Return what the ignore file beside a Dockerfile lets through to the builder."""
    lines = (FOLDER / f"{name}.dockerignore").read_text("utf-8").splitlines()
    assert lines[0] == "*"
    return {line[1:] for line in lines if line[0] == "!"}


def asked_for_health(name: str) -> tuple[int, str]:
    """Return the port and the path that the health check of an image asks."""
    found = re.search(r"http://127\.0\.0\.1:(\d+)(/[\w/]+)", last(name, "HEALTHCHECK").words)
    assert found is not None
    return int(found[1]), found[2]
