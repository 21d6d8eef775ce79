"""Databases of every earlier release, with data, are upgraded, and interrupted at every step."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import InvalidInput
from storage.database import open_database
from storage.migrations import steps
from tests.builders.served_studio import copy_home
from tests.faults.kills.acts import soundness, texts_of, to_schema
from tests.faults.shims.write_points import KILLED, do
from tests.faults.table import Fault

FAULTS = (
    Fault(
        15,
        "An upgrade is interrupted",
        "A database of each earlier release is made; the process is killed after each step to the "
        "newest schema",
        "The old schema or the new one, never half; the next start completes it, with all texts, "
        "labels and models; the copy from before is kept",
        figures="upgrade",
    ),
    Fault(
        16,
        "A newer database meets an older program",
        "A revision that is not known",
        "Refused in words, and nothing is changed",
        figures="newer",
    ),
)
EARLIER = range(1, len(steps.STEPS))
TEXTS = 22


def killed_after(home: Path, place: int) -> None:
    """Upgrade until a step is done, and die."""
    revision, upgrade = steps.STEPS[place]

    def last(operations: object) -> None:
        upgrade(operations)
        os.kill(os.getpid(), signal.SIGKILL)

    steps.STEPS = (*steps.STEPS[:place], (revision, last), *steps.STEPS[place + 1 :])
    open_database(home / "studio.db")


def upgraded(home: Path) -> None:
    open_database(home / "studio.db").close()
    rows = texts_of(home)
    assert len(rows) == TEXTS
    assert sum(row.labels is not None for row in rows.values()) == TEXTS - 1
    assert soundness(home) == []


@pytest.mark.parametrize("number", EARLIER)
def test_each_earlier_release_is_upgraded(template: Path, tmp_path: Path, number: int) -> None:
    home = copy_home(template, tmp_path / "home")
    to_schema(home, number)
    place = len(steps.STEPS) - 1 if number % 2 else number  # killed at the first or the last step
    assert do(lambda: killed_after(home, place)).code == KILLED
    upgraded(home)
    assert len(list(home.glob("studio.db.before-*"))) == 1


@pytest.mark.fire
def test_an_upgrade_is_interrupted_at_every_step(
    template: Path, tmp_path: Path, measured: Callable[[str, str], None]
) -> None:
    pairs = [(n, place) for n in EARLIER for place in range(n, len(steps.STEPS))]
    for number, place in pairs:
        home = copy_home(template, tmp_path / f"{number}-{place}")
        to_schema(home, number)
        assert do(lambda home=home, place=place: killed_after(home, place)).code == KILLED
        upgraded(home)
    measured("upgrade", f"{len(EARLIER)} schemas, {len(pairs)} interruptions, all data kept.")


def test_a_newer_database_is_refused(template: Path, tmp_path: Path) -> None:
    home = copy_home(template, tmp_path / "home")
    database = open_database(home / "studio.db")
    with database.write() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    database.close()
    before = (home / "studio.db").read_bytes()
    with pytest.raises(InvalidInput, match="of a newer studio"):
        open_database(home / "studio.db")
    assert (home / "studio.db").read_bytes() == before
