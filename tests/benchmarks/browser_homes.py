"""Homes that the browser is measured on: generated projects, the sample, and a given data set."""

import csv
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from app.bootstrap import open_studio
from app.services.answering.opened import find_space, open_space
from app.services.data.bulk import BulkAct, Edit
from app.services.data.utterances import change_many
from app.services.embedding import Embedded, missing_texts, read_embedded, read_points
from app.services.studio import Studio
from app.settings import Settings
from core.types import FloatArray
from core.vectors import unit_rows
from storage import projects
from storage.computed import vectors
from storage.queries import utterances
from storage.queries.utterances import Filter
from tests.builders.trained_home import EVERY_TEXT

PROJECT = "bench"
ROWS = 100_000
POINTS = 50_000
_LABELLED = 1_200
"""Rows with a label; the others wait in the pool, as they would in a real project."""

_UNLABELLED = 500
"""Rows of a labelled file that lose their label, to be given one again."""

_SPREAD = 0.06
"""How far a made-up embedding lies from its intent's centre, for each dimension."""

_VERBS = ("cancel", "change", "check", "pay", "return", "track", "renew", "report", "find", "open")
_THINGS = ("order", "invoice", "contract", "router", "delivery", "password")
_OPENERS = ("", "hi,", "hello there,", "please", "good morning,", "sorry but", "listen,", "hey")
_FRAMES = (
    "I want to {verb} my {thing} {detail}",
    "how do I {verb} the {thing} {detail}?",
    "can somebody {verb} {thing} {number} {detail}",
    "the {thing} from {city} {trouble}, so {verb} it {detail}",
    "you told me on {day} that I could {verb} my {thing}, but it {trouble}",
    "why is it so hard to {verb} a {thing} {detail}?! it {trouble}",
    "{verb} {thing} {number}",
    "my {relative} asked me to {verb} the {thing} {number} {detail}, it {trouble} since {day}",
)
_DETAILS = ("", "today", "before friday", "without a fee", "by phone", "for my mother", "at once")
_TROUBLES = ("never came", "is broken", "shows an error", "was charged twice", "looks wrong")
_CITIES = ("Leeds", "Porto", "Łódź", "Graz", "Turku", "Lyon", "Cork", "Bergen", "Ghent", "Split")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "the 3rd", "the 21st", "easter sunday")
_RELATIVES = ("sister", "neighbour", "boss", "landlord", "daughter", "flatmate")


def generated(count: int, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Yield different texts with their intents; the same ones for the same seed."""
    chance = random.Random(seed)
    seen: set[str] = set()
    while len(seen) < count:
        verb, thing = chance.choice(_VERBS), chance.choice(_THINGS)
        words = {
            "verb": verb,
            "thing": thing,
            "detail": chance.choice(_DETAILS),
            "trouble": chance.choice(_TROUBLES),
            "city": chance.choice(_CITIES),
            "day": chance.choice(_DAYS),
            "relative": chance.choice(_RELATIVES),
            "number": str(chance.randrange(10_000, 1_000_000)),
        }
        text = f"{chance.choice(_OPENERS)} {chance.choice(_FRAMES).format(**words)}".strip()
        if text not in seen:
            seen.add(text)
            yield text, f"{verb} {thing}"


def prepare(home: Path, build: Callable[[Path], None]) -> Path:
    """Build a home, unless it was built completely before."""
    done = home / "built"
    if not done.exists():
        home.mkdir(parents=True, exist_ok=True)
        build(home)
        done.touch()
    return home


def many_rows(home: Path) -> None:
    """A project of 100,000 rows with an `instant` model."""
    _import_generated(home, ROWS)
    command(home, "train", PROJECT, "--recipe", "instant")


def many_points(home: Path) -> None:
    """A project of 50,000 rows whose embeddings are all known, most of them made up."""
    _import_generated(home, POINTS)
    command(home, "train", PROJECT, "--recipe", "instant")
    studio = open_studio(Settings(home=home))
    try:
        make_up_embeddings(studio)
    finally:
        studio.database.close()


def sample(home: Path) -> None:
    """The sample project with an `instant` model."""
    command(home, "sample", PROJECT)
    command(home, "train", PROJECT, "--recipe", "instant")


def of_file(file: Path) -> Callable[[Path], None]:
    """Return what builds a home of a labelled file: all of it taught, some then label-less."""
    return partial(_imported, file=file)


def _imported(home: Path, file: Path) -> None:
    command(home, "new", PROJECT)
    command(home, "import", PROJECT, str(file.absolute()))
    command(home, "train", PROJECT, "--recipe", "instant")
    studio = open_studio(Settings(home=home))
    try:
        _take_labels_away(studio)
    finally:
        studio.database.close()


def _take_labels_away(studio: Studio) -> None:
    """Leave some utterances without a label, so that there is something to decide."""
    with studio.database.read() as connection:
        found = utterances.find_all(connection, projects.find(connection, PROJECT).id, Filter())
    ids = tuple(record.id for record in found[:: len(found) // _UNLABELLED])
    change_many(studio, PROJECT, Filter(ids=ids), Edit("unlabel"), BulkAct(len(ids), EVERY_TEXT))


def command(home: Path, *words: str) -> None:
    """Run one command of the studio to its end."""
    whole = [sys.executable, "-m", "app.cli", "--home", str(home), *words]
    subprocess.run(whole, check=True, stdout=subprocess.DEVNULL)


def _import_generated(home: Path, count: int) -> None:
    file = home / "generated.csv"
    with file.open("w", encoding="utf-8", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(("text", "intent", "split"))
        for at, (text, intent) in enumerate(generated(count)):
            out.writerow((text, intent, "train") if at < _LABELLED else (text, "", "pool"))
    command(home, "new", PROJECT)
    command(home, "import", PROJECT, str(file))
    file.unlink()


def make_up_embeddings(studio: Studio) -> None:
    """Place texts that were not encoded around the centres of those that were."""
    with studio.database.read() as connection:
        space = find_space(connection, PROJECT, None)
    encoder = open_space(studio, space).encoder
    found = read_points(studio, space.project)
    known = read_embedded(studio, space.project, encoder)
    lacking = list(missing_texts(studio.database, space.project.id, found, known))
    rows = _around(_centres(known, found.columns.labels, found.columns.ids), len(lacking))
    with studio.database.write() as connection:
        by_hash = dict(zip(lacking, rows, strict=True))
        vectors.put_many(connection, encoder.fingerprint, by_hash)


def _centres(
    known: Embedded, labels: tuple[tuple[str, ...] | None, ...], ids: tuple[str, ...]
) -> FloatArray:
    """Mean embedding of each intent's labelled texts."""
    label_of = dict(zip(ids, labels, strict=True))
    groups: dict[str, list[int]] = {}
    for row, key in enumerate(known.ids):
        for intent in label_of[key] or ():
            groups.setdefault(intent, []).append(row)
    return np.stack([known.embeddings[rows].mean(0) for rows in groups.values()])


def _around(centres: FloatArray, count: int) -> FloatArray:
    generator = np.random.default_rng(0)
    noise = generator.standard_normal((count, centres.shape[1]), dtype=np.float32)
    return unit_rows(centres[generator.integers(len(centres), size=count)] + _SPREAD * noise)
