"""Read 100,000 texts by the reader of each platform and tool: seconds and memory, each alone.

`python -m tests.benchmarks.files.bench_readers [TEXTS] [FORMAT ...]`. The files are written by the
studio's own writers, with a marked value in every third text. At most 20 s and 500 MB are allowed.
"""

import sys
import tempfile
import time
from pathlib import Path
from typing import get_args

from core.exports.content import Content
from core.exports.packing import write_handover
from core.exports.targets import TARGETS, Target, hand_over
from core.formats.reading import read_rows
from core.formats.rows import ImportedRow, ReadOptions
from core.memory import peak_bytes
from core.templates.slots import Slot
from tests.benchmarks.files.apart import figures_of, tell

_INTENTS = 150
_CITIES = ("Boston", "Köln", "🛫 Rome", "Paris", "Lagos")
_MOST_SECONDS, _MOST_MB = 20, 500


def run(n_texts: int, targets: list[Target]) -> int:
    """Print the figures of each format; return 1 if one is over what is allowed."""
    over = 0
    with tempfile.TemporaryDirectory() as folder:
        content = _content(n_texts)
        for target in targets:
            chosen = TARGETS[target]
            found = hand_over(content, target)
            name = f"{target}{chosen.ending}" if chosen.single else f"{target}.zip"
            path = Path(folder, name)
            write_handover(found.files, chosen, path)
            figures = figures_of(__spec__.name, "--read", str(path))
            over |= figures["processor_seconds"] > _MOST_SECONDS or figures["peak_mb"] > _MOST_MB
            size = round(path.stat().st_size / 1e6, 1)
            tell({"format": target, "file_mb": size, "written": found.written, **figures})
            path.unlink()
    return int(over)


def read(path: Path) -> None:
    """Read a file to its end, and print seconds and the process's peak memory.

    On a machine with other work the processor's seconds tell more than those of the clock.
    """
    start, busy = time.perf_counter(), time.process_time()
    options = ReadOptions(slots=True)
    count = sum(isinstance(row, ImportedRow) for row in read_rows(path, options))
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    figures = {
        "read": count,
        "seconds": round(seconds, 1),
        "processor_seconds": round(busy, 1),
        "peak_mb": round(peak_bytes() / 1e6),
    }
    tell(figures)


def _content(n_texts: int) -> Content:
    names = [f"intent_{at}" for at in range(_INTENTS)]
    rows = []
    for at in range(n_texts):
        city = _CITIES[at % len(_CITIES)]
        text = f"please book the flight number {at} to {city} for me"
        start = text.index(city)
        slots = (Slot(start, start + len(city), "city"),) if at % 3 == 0 else ()
        labels = (names[at % _INTENTS],)
        rows.append(ImportedRow(text, labels, "train", f"id-{at}", slots=slots))
    return Content(
        "shop", "en", dict.fromkeys(names, ""), rows, {"city": dict.fromkeys(_CITIES, ())}
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        read(Path(sys.argv[2]))
        sys.exit(0)
    known = [one for one in get_args(Target) if not TARGETS[one].tests]
    wanted = [one for one in known if one in sys.argv[2:]] or known
    sys.exit(run(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000, wanted))
