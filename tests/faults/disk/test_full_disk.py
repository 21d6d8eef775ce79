"""A disk that is full at any write: told in words, nothing half saved, and reading goes on."""

import os
import resource
import shlex
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from app.failures import failure_in_words
from app.services.data.importing import ImportRequest, import_file
from core.errors import DiskFull, InvalidInput
from core.files import write_atomically
from tests.builders.served_studio import copy_home
from tests.faults.kills import acts
from tests.faults.kills.acts import ACTS, Act, soundness
from tests.faults.kills.upkeep import UPKEEP
from tests.faults.shims.write_points import WritePoints, do, every, full, over_quota
from tests.faults.table import Fault

FAULTS = (
    Fault(
        2,
        "The database's disk is full or over quota",
        "At the n-th write of SQLite, sync or rename, and at all later ones, ENOSPC or EDQUOT",
        "The act is refused as 'disk full', nothing of it is half there, reading goes on, and with "
        "room again the same act completes",
        figures="writes",
    ),
    Fault(
        3,
        "A file may not grow further",
        "RLIMIT_FSIZE of 256 KiB in the process of a command",
        "Refused in words; no row without its file; the database is not called damaged",
        figures="limit",
    ),
    Fault(
        4,
        "The disk is full on export; no inode is left",
        "ENOSPC at the sync; a device that is full; a tmpfs of 1 MiB or of 12 inodes",
        "The old file is untouched, and the message names the disk",
        figures="export",
    ),
)
FILLED = (*ACTS, *UPKEEP)
ERRORS = {"ENOSPC": full, "EDQUOT": over_quota}
QUICK, PARTS = 3, 4


def fill_at(template: Path, act: Act, folder: Path, point: int, error: str) -> None:
    home = act.prepared(template, folder / f"{act.name}-{point}-{error}")
    ended = do(lambda: act.do(home), WritePoints(point, ERRORS[error], lasting=True))
    job_failed = act.is_job and ended.value == 0 and ended.error is None
    if not job_failed and ended.error is not None:
        assert isinstance(failure_in_words(ended.error), DiskFull), (point, repr(ended.error))
        assert "damaged" not in str(ended.error)
    act.between(home)
    if act.is_job:  # a person asks for it again
        return
    second = do(lambda: act.do(home))
    assert second.error is None, (point, second.error)
    act.after(home)
    assert soundness(home) == []


@pytest.fixture(scope="module")
def count(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Act], int]:
    """Count the writes of each act once."""
    folder = tmp_path_factory.mktemp("counted")

    @cache
    def counted(act: Act) -> int:
        home = act.prepared(template, folder / act.name)
        return len(do(lambda: act.do(home), WritePoints(0, full)).acts)

    return counted


@pytest.mark.quick
@pytest.mark.parametrize("act", FILLED, ids=lambda act: act.name)
def test_a_full_disk_at_some_writes_leaves_nothing_half_done(
    template: Path, tmp_path: Path, act: Act, count: Callable[[Act], int]
) -> None:
    for turn, point in enumerate(every(count(act), QUICK)):
        fill_at(template, act, tmp_path, point, list(ERRORS)[turn % 2])


@pytest.mark.fire
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("act", FILLED, ids=lambda act: act.name)
def test_a_full_disk_at_every_write_leaves_nothing_half_done(
    template: Path,
    tmp_path: Path,
    act: Act,
    part: int,
    count: Callable[[Act], int],
    measured: Callable[[str, str], None],
) -> None:
    points = range(1 + part, count(act) + 1, PARTS)
    for turn, point in enumerate(points):
        fill_at(template, act, tmp_path, point, list(ERRORS)[turn % 2])
    sentence = f"{act.name}: {len(points)} points, refused in words or done."
    measured(f"writes {act.name} {part}", sentence)


def test_a_disk_without_room_for_a_backup_is_no_damage_of_it(
    template: Path, tmp_path: Path
) -> None:
    """A restore told of a damaged backup, and whoever had only that one gave it up."""
    restore = next(act for act in ACTS if act.name == "restore")
    home = restore.prepared(template, tmp_path / "home")
    acted = do(lambda: restore.do(home), WritePoints(0, full)).acts
    shutil.rmtree(home)
    at = 1 + acted.index("fsync")
    for strike in (full, over_quota):
        ended = do(lambda strike=strike: restore.do(home), WritePoints(at, strike, lasting=True))
        assert isinstance(ended.error, DiskFull)
    assert do(lambda: restore.do(home)).error is None


def limited(home: Path) -> object:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, 1 << 18))
    many = home.with_suffix(".txt")
    studio = acts.opened(home)
    return import_file(studio, ImportRequest("p", many))


def test_a_file_that_may_not_grow_is_no_damage(template: Path, tmp_path: Path) -> None:
    """SQLite says "disk I/O error" of a limit or a quota, and it was called damage."""
    home = copy_home(template, tmp_path / "home")
    home.with_suffix(".txt").write_text("".join(f"text number {n}\n" for n in range(9_000)))
    ended = do(lambda: limited(home))
    assert isinstance(ended.error, DiskFull)
    assert soundness(home) == []
    assert len(acts.texts_of(home)) == 22


def test_an_export_to_a_full_disk_keeps_the_old_file(tmp_path: Path) -> None:
    old = tmp_path / "old.csv"
    old.write_text("old")
    ended = do(lambda: write_atomically(old, [b"new"]), WritePoints(2, full))
    assert "space" in str(ended.error)
    assert (old.read_text(), [path.name for path in tmp_path.iterdir()]) == ("old", ["old.csv"])


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    """An export to `/dev/full` or `/dev/null` by root made an ordinary file of the device."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(pipe, [b"some ", b"bytes"])
    assert os.read(reading, 100) == b"some bytes"
    os.close(reading)
    assert pipe.is_fifo()
    if os.geteuid() == 0:
        device = tmp_path / "full"
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
        with pytest.raises(InvalidInput, match="No space left"):
            write_atomically(device, [b"x" * 100_000])
        assert device.is_char_device()


@pytest.mark.parametrize("options", ["size=1m", "size=64m,nr_inodes=12"], ids=["bytes", "inodes"])
def test_a_small_disk_is_told_by_every_command(tmp_path: Path, options: str) -> None:
    """A real small disk, where the machine lets a test mount one."""
    texts, disk = tmp_path / "texts.txt", tmp_path / "disk"
    disk.mkdir()
    texts.write_text("".join(f"text number {n} of a long list\n" for n in range(20_000)))
    commands = [["new", "p"], ["import", "p", str(texts)], ["projects"]]
    program = (
        "from app.cli import main\n"
        f"for words in {commands[:2]}: print('code', main(['--home', '{disk}/home', *words]))\n"
        f"for n in range(9):\n try: open(f'{disk}/{{n}}', 'w').close()\n except OSError: pass\n"
        f"print('code', main(['--home', '{disk}/home', *{commands[2]}]))\n"
    )
    mounted = f"mount -t tmpfs -o {options} none {disk} || exit 42; exec {sys.executable} -c"
    command = ["unshare", "-Urm", "sh", "-c", f"{mounted} {shlex.quote(program)}"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    try:
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True
        )
    except FileNotFoundError:
        pytest.skip("there is no unshare here")
    if done.returncode == 42 or "unshare" in done.stderr:
        pytest.skip("this machine lets no test mount a disk")
    codes = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("code ")]
    assert "Traceback" not in done.stderr, done.stderr
    assert "The disk" in done.stderr
    # A command that reads needs no room, and two inodes.
    assert codes[1:] == (["0", "2"] if "inodes" in options else ["2", "0"]), done.stderr
