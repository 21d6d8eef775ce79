"""A loss of power after each act on the disk: what was not synced is gone, and nothing else."""

from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import event

from storage import database as opening
from storage.artifacts import ArtifactStore
from storage.database import open_database
from tests.builders.served_studio import copy_home
from tests.faults.kills import acts
from tests.faults.kills.acts import Act, soundness
from tests.faults.shims.forgetful_disk import ForgetfulDisk
from tests.faults.shims.write_points import do
from tests.faults.table import Fault

FAULTS = (
    Fault(
        12,
        "Power cut",
        "Writes are recorded; after each sync, rename, link and commit, the home is laid out as a "
        "disk leaves it that forgot what was not synced: once without, once with the new names",
        "No row without its file, no file of another content than its name; a restored or upgraded "
        "home stays one",
    ),
    Fault(
        11,
        "A file without its row, or a row without its file",
        "The same, between the files' sync and the row's commit",
        "Files without a row are swept; a row without its file never comes to be",
        figures="training",
    ),
)
# A backup lies outside the home.
CHOSEN = tuple(act for act in acts.ACTS if act.name not in ("backup", "grouping", "traffic"))


def damage_of(home: Path) -> list[str]:
    if not (home / "studio.db").exists():
        return []
    database = open_database(home / "studio.db")
    with database.read() as connection:
        found = ArtifactStore(home / "artifacts").damaged(connection)
    database.close()
    return [*found, *opening.damage(home / "studio.db")]


def watched(home: Path, act: Act) -> list[str]:
    """Do an act, and return the moments after which a power cut would have left damage."""
    disk, bad = ForgetfulDisk(home), []
    if home.exists():
        disk.keep_all()
    left = home.with_name(f"{home.name}-left")

    def cut(name: str) -> None:
        if looking:
            return
        looking.append(1)
        disk.moments.append(name)
        for renamed in (False, True):
            bad.extend(
                f"after {name} {len(disk.moments)}: {line}" for line in look(renamed=renamed)
            )
        looking.clear()

    def look(*, renamed: bool) -> list[str]:
        return damage_of(disk.leave(left, renamed=renamed))

    looking: list[int] = []
    disk.watch(cut)
    event.listen(sa.Engine, "commit", lambda _: cut("commit"))
    act.do(home)
    cut("end")
    looking.append(1)
    bad += [f"at the end: {line}" for line in soundness(disk.leave(left, renamed=False))]
    act.after(disk.leave(left, renamed=False))
    return [f"{len(disk.moments)} moments", *bad]


@pytest.mark.parametrize("act", CHOSEN, ids=lambda act: act.name)
def test_a_power_cut_at_any_moment_leaves_no_row_without_its_file(
    template: Path, tmp_path: Path, act: Act, measured: Callable[[str, str], None]
) -> None:
    """A new folder's own name was not synced: with it the files of a model could go."""
    home = copy_home(template, tmp_path / "home")
    act.prepare(home)
    ended = do(lambda: watched(home, act))
    assert ended.error is None
    moments, *bad = ended.value
    assert bad == []
    measured(act.name, f"{act.name}: {moments}, 0 damaged.")
