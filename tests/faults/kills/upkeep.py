"""Upkeep of a home, to be killed at each write: a bundle taken in, `doctor --prune`, `--repair`."""

import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import sqlalchemy as sa

from app.services import upkeep
from app.services.pruning import prune
from app.services.versions.bundles import export_model, import_bundle
from core.errors import Conflict
from storage import models, projects
from storage.artifacts import ArtifactStore
from storage.computed import vectors
from storage.database import open_database
from storage.log.erased_remains import has_remains
from storage.tables import job
from tests.faults.kills.acts import Act, back_up, opened, texts_of
from tests.faults.shims.write_points import do
from tests.faults.stored.test_doctor import (
    delete_blob,
    interrupt_erasure,
    leave_checkpoint,
    leave_file,
    open_to_all,
    zero_embedding,
)
from tests.services.test_pruning import OLD, aged, counts, ended_job

_TEXTS, _LABELLED = 22, 21
_COPIES = ("studio.db.before-0001", "studio.db.before-0002")


def _bundle(home: Path) -> Path:
    return home.parent / "taken-in.zip"


def have_bundle(home: Path) -> None:
    """Export the model once for all homes of a test, in a fork, which alone needs torch."""
    if not _bundle(home).exists():
        assert do(lambda: _export(home)).error is None


def _export(home: Path) -> None:
    studio = opened(home)
    export_model(studio, "p", _bundle(home))
    studio.database.close()


def take_in(home: Path) -> None:
    _one_thread()
    tempfile.tempdir = str(home.parent)  # of this fork: what a kill leaves there goes with the test
    studio = opened(home)
    with suppress(Conflict):  # said of a bundle that is there already
        import_bundle(studio, _bundle(home), "q")
    studio.database.close()


def _one_thread() -> None:
    import torch

    torch.set_num_threads(1)  # the threads of the process that was forked are not there


def _taken_in(home: Path) -> list[int]:
    """Return the versions of the bundle's project; [] where there is none."""
    database = open_database(home / "studio.db")
    with database.read() as connection:
        known = {one.name: one.id for one in projects.list_all(connection)}
        every = models.list_all(connection, known["q"]) if "q" in known else []
        champion = models.champion(connection, known["q"]) if "q" in known else None
        damaged = ArtifactStore(home / "artifacts").damaged(connection)
    database.close()
    assert damaged == {}
    assert "q" not in known or (champion is not None and champion.number == 1)
    return [version.number for version in every]


def _taken_in_once(home: Path) -> None:
    assert _taken_in(home) == [1]


def _taken_in_or_not(home: Path) -> None:
    assert _taken_in(home) in ([], [1])


def grow_old(home: Path) -> None:
    """Leave some of everything that ages: a job's traces, embeddings, copies, a file."""
    studio = opened(home)
    failed = ended_job(studio, "failed")
    aged(studio.places.log(failed))
    with studio.database.write() as connection:
        connection.execute(sa.update(job).where(job.c.id == failed).values(finished_at=OLD))
        one = np.ones(2, np.float32)
        vectors.put_many(connection, "an encoder that is gone", {"0" * 64: one, "1" * 64: one})
    studio.database.close()
    for name in _COPIES:
        aged(home / name)
    leave_file(home)


def prune_now(home: Path) -> None:
    studio = opened(home)
    prune(studio, now=True)
    studio.database.close()


def _pruned(home: Path) -> None:
    _nothing_lost(home)
    studio = opened(home)
    assert set(counts(studio, now=False).values()) == {0}
    with studio.database.read() as connection:
        assert studio.artifacts.leftovers(connection) == []
    studio.database.close()
    left = [name for name in _COPIES if (home / name).exists()]
    assert len(left) == 1  # the newest copy stays


def _nothing_lost(home: Path) -> None:
    """All texts and labels are there, and each version has its files."""
    rows = texts_of(home)
    assert len(rows) == _TEXTS
    assert sum(row.labels is not None for row in rows.values()) == _LABELLED
    database = open_database(home / "studio.db")
    with database.read() as connection:
        assert [version.number for version in models.list_all(connection, 1)] == [1]
        assert ArtifactStore(home / "artifacts").damaged(connection) == {}
    database.close()


def be_damaged(home: Path) -> None:
    """Back up; then lose a stored file that the backup holds, and leave what a kill leaves."""
    back_up(home)
    for spoil in (
        delete_blob,
        zero_embedding,
        interrupt_erasure,
        leave_file,
        leave_checkpoint,
        open_to_all,
    ):
        spoil(home)


def repair(home: Path) -> None:
    _one_thread()
    studio = opened(home)
    upkeep.examine(studio, repair=True)
    studio.database.close()


def _never_half(home: Path) -> None:
    """A file is there as a whole, or it is not there yet."""
    assert ArtifactStore(home / "artifacts").changed()[1] == []
    assert len(texts_of(home)) == _TEXTS


def _repaired(home: Path) -> None:
    _nothing_lost(home)
    assert not has_remains(home)
    assert list((home / "checkpoints").iterdir()) == []
    assert home.stat().st_mode & 0o077 == 0
    studio = opened(home)
    with studio.database.read() as connection:
        assert vectors.remove_changed(connection, only_count=True) == 0
        assert studio.artifacts.leftovers(connection) == []
    studio.database.close()


UPKEEP = (
    Act("bundle", take_in, _taken_in_once, _taken_in_or_not, have_bundle),
    Act("prune", prune_now, _pruned, _nothing_lost, grow_old),
    Act("repair", repair, _repaired, _never_half, be_damaged),
)
