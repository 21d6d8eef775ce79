"""Logs of conversations to import, and a project that has one."""

import json
from pathlib import Path

from app.services.conversations.logs import DialogueImport, import_dialogues
from app.services.data.projects import create_project
from app.services.studio import Studio

TOPICS = ("refund", "parcel", "password", "card", "weather", "music")


def conversation(topic: str, n: int) -> list[str]:
    return [
        f"hello, I ask about the {topic} {n}",
        f"what about your {topic}?",
        f"it is late, number {n}",
        f"I will see to the {topic} {n}",
    ]


def write_log(path: Path, n_each: int = 4) -> Path:
    lines = [json.dumps(conversation(topic, n)) for topic in TOPICS for n in range(n_each)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def with_conversations(studio: Studio, folder: Path, n_each: int = 4, name: str = "p") -> None:
    """Create a project with a log of 6 x n conversations of four turns."""
    create_project(studio, name)
    import_dialogues(studio, DialogueImport(name, write_log(folder / "log.jsonl", n_each)))
