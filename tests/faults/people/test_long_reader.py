"""Somebody reads for long while others label: nobody waits, and the log does not grow for ever."""

from collections.abc import Callable
from pathlib import Path

from app.services.labelling.decisions import Operation, decide
from storage.queries import dataset
from tests.builders.served_studio import copy_home
from tests.faults.kills.acts import opened
from tests.faults.table import Fault

FAULTS = (
    Fault(
        8,
        "A reader stays for long under labelling",
        "A read transaction is held open during 100 decisions",
        "All are saved, the reader sees one moment, and once it ends the log is written from its "
        "beginning again",
    ),
)
DECISIONS = 100


def test_a_long_reader_stops_nobody_and_its_log_is_used_again(
    template: Path, tmp_path: Path, measured: Callable[[str, str], None]
) -> None:
    home = copy_home(template, tmp_path / "home")
    studio, log = opened(home), home / "studio.db-wal"
    with studio.database.read() as connection:
        row = next(r for r in dataset.utterances(connection, 1) if r.text == "please label this")

    def flag(count: int, name: str) -> None:
        for number in range(count):
            operation = Operation(f"{name}-{number}", "flag", row.id, note=f"{name} {number}")
            assert decide(studio, "p", [operation])[0].state == "saved"

    with studio.database.read() as connection:
        before = next(r for r in dataset.utterances(connection, 1) if r.id == row.id)
        flag(DECISIONS, "during")
        still = next(r for r in dataset.utterances(connection, 1) if r.id == row.id)
    assert still == before
    grown = log.stat().st_size
    flag(DECISIONS, "after")
    assert log.stat().st_size <= grown + (8 << 20)
    flag(DECISIONS, "later")
    assert log.stat().st_size <= grown + (8 << 20)
    studio.database.close()
    measured("log", f"{3 * DECISIONS} decisions saved, a log of at most {grown >> 20} MiB.")
