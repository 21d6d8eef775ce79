"""How long a blast radius takes: `python -m tests.benchmarks.bench_blast --home DIR --labelled F`.

A project learns from all of a labelled file and watches 10,000 other texts, of made-up embeddings.
Each kind of repair is previewed as a page asks for it, before anything was changed and again after
some labels were; nothing is saved by a preview. Times are of the service, in milliseconds.
"""

import argparse
import csv
import json
import random
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from app.bootstrap import open_studio
from app.services.data.history import undo_action
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.studio import Studio
from app.services.what_if import preview, repairs
from app.services.what_if.repairs import Repair
from app.services.what_if.watched_texts import WatchedTextCache
from app.settings import Settings
from storage import projects
from storage.log import events
from storage.queries import dataset
from tests.benchmarks.browser_homes import (
    PROJECT,
    command,
    generated,
    make_up_embeddings,
    prepare,
)

POOL = 10_000
_TURNS = 10


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--labelled", type=Path, required=True)
    given = parser.parse_args()
    home = prepare(given.home, partial(_build, file=given.labelled))
    studio = open_studio(Settings(home=home))
    try:
        sys.stdout.write(json.dumps(_measured(WatchedTextCache(open_live_studio(studio)))) + "\n")
    finally:
        studio.database.close()


def _build(home: Path, file: Path) -> None:
    command(home, "new", PROJECT)
    command(home, "import", PROJECT, str(file.absolute()))
    command(home, "train", PROJECT, "--recipe", "instant")
    rows = home / "pool.csv"
    with rows.open("w", encoding="utf-8", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(("text", "split"))
        out.writerows((text, "pool") for text, _ in generated(POOL))
    command(home, "import", PROJECT, str(rows))
    studio = open_studio(Settings(home=home))
    try:
        make_up_embeddings(studio)
    finally:
        studio.database.close()


def _measured(watched_texts: WatchedTextCache) -> dict[str, object]:
    chance = random.Random(0)
    live_studio = watched_texts.live_studio
    _catch_up(live_studio)
    started = time.perf_counter()
    preview.preview(watched_texts, PROJECT, [])
    found: dict[str, object] = {"preparation_s": round(time.perf_counter() - started, 1)}
    prepared = watched_texts.kept.anchor
    found |= {"exemplars": len(prepared.voters), "watched": len(prepared.texts)}
    found["untouched"] = _times(watched_texts, chance)
    relabels = [
        repair for kind, repair in _repairs(live_studio.studio, chance) if kind == "relabel"
    ]
    keys = [f"bench-{turn:04}" for turn in range(5)]
    for key, repair in zip(keys, relabels, strict=False):
        repairs.apply_repair(live_studio.studio, PROJECT, repair, key)
    found["after_five_repairs"] = _times(watched_texts, chance)
    for key in reversed(keys):
        undo_action(live_studio.studio, PROJECT, key)
    return found


def _catch_up(live_studio: LiveStudio) -> None:
    """Wait until the model has all that was imported since its training."""
    with live_studio.studio.database.read() as connection:
        project = projects.find(connection, PROJECT)
        head = events.head(connection, project.id)
    while (live := live_studio.models.get(project.id)) is None or live.revision < head:
        time.sleep(0.5)


def _times(watched_texts: WatchedTextCache, chance: random.Random) -> dict[str, dict[str, float]]:
    taken: dict[str, list[float]] = {}
    for kind, repair in _repairs(watched_texts.live_studio.studio, chance):
        started = time.perf_counter()
        preview.preview(watched_texts, PROJECT, [repair])
        taken.setdefault(kind, []).append(1000 * (time.perf_counter() - started))
    return {
        kind: {
            "median": round(float(np.median(ms)), 1),
            "p95": round(float(np.percentile(ms, 95)), 1),
        }
        for kind, ms in taken.items()
    }


def _repairs(studio: Studio, chance: random.Random) -> Iterator[tuple[str, Repair]]:
    """Each kind in turn, so that none is measured only while the machine was busy."""
    with studio.database.read() as connection:
        project = projects.find(connection, PROJECT)
        intents = [intent.id for intent in dataset.intents(connection, project.id)]
        rows = [row for row in dataset.utterances(connection, project.id, "train") if row.labels]
    of = {key: [row.id for row in rows if row.labels == (key,)] for key in intents}
    for turn in range(_TURNS):
        row, (source, into) = chance.choice(rows), chance.sample(intents, 2)
        yield "relabel", Repair("relabel", (row.id,), (into,))
        yield "delete", Repair("delete", (row.id,))
        yield "move", Repair("move", (row.id,), value="test")
        yield "add", Repair("add", intents=(into,), value=f"a text nobody wrote, number {turn}")
        yield "merge", Repair("merge", intent=source, value=into)
        yield "rename", Repair("rename", intent=source, value=f"new name {turn}")
        half = tuple(chance.sample(of[source], max(1, len(of[source]) // 2)))
        yield "split", Repair("split", half, intent=source, value=f"new part {turn}")


if __name__ == "__main__":
    main()
