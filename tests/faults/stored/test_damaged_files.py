"""Stored files are cut, changed or deleted; a write-ahead log is torn; a sweep races a training."""

import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import ArtifactDamaged
from storage.artifacts import record_tree
from storage.queries import dataset
from storage.soundness.artifact_owners import file_damage
from tests.builders.served_studio import copy_home
from tests.faults.kills import acts
from tests.faults.kills.acts import events_of, opened, soundness, texts_of
from tests.faults.shims.write_points import KILLED, die, do
from tests.faults.table import Fault

FAULTS = (
    Fault(
        10,
        "A stored model is cut, changed or deleted",
        "Each file of a version is cut at every 4 KiB, has a byte changed, or is deleted",
        "It is not opened; `doctor` names the version and the file",
        figures="files",
    ),
    Fault(
        19,
        "A sweep races a training that stores its files",
        "A thread sweeps without a grace period while versions are published",
        "No file with a row is removed",
        figures="sweep",
    ),
    Fault(
        31,
        "A torn write-ahead log",
        "The log of a killed process is cut at every 512 bytes, or a byte of a frame is changed",
        "The database opens; what was committed before the damage stands; no half action",
        figures="log",
    ),
)


def rewrite(file: Path, content: bytes | None) -> None:
    file.unlink()  # another home has a link to it
    if content is not None:
        file.write_bytes(content)


def spoilt(content: bytes) -> list[bytes | None]:
    cuts = [content[:size] for size in range(0, len(content), 4096)]
    middle = len(content) // 2
    changed = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    return [None, changed, *cuts]


def test_a_damaged_model_is_named_and_not_opened(
    template: Path, tmp_path: Path, measured: Callable[[str, str], None]
) -> None:
    home = copy_home(template, tmp_path / "home")
    files = [path for path in (home / "artifacts").rglob("*") if path.is_file()]
    studio, count = opened(home), 0
    for file in files:
        whole = file.read_bytes()
        for content in spoilt(whole)[:40]:
            rewrite(file, content)
            count += 1
            with studio.database.read() as connection:
                [(name, line)] = file_damage(connection, studio.artifacts).items()
                tree = connection.exec_driver_sql("SELECT tree_sha256 FROM model_version").scalar()
                with pytest.raises(ArtifactDamaged, match="missing or was changed"):
                    studio.artifacts.check_out(connection, str(tree), tmp_path / f"out-{count}")
            assert name == f"{file.parent.name}{file.name}"
            assert re.match(r"version \d of 'p': [\w/.-]+( |, )", line), line
            if content is not None:
                file.unlink()
            file.write_bytes(whole)
    studio.database.close()
    assert soundness(home) == []
    measured("files", f"{count} damages of {len(files)} files, all named.")


def test_a_sweep_takes_no_file_with_a_row(tmp_path: Path, template: Path) -> None:
    home = copy_home(template, tmp_path / "home")
    studio, stop = opened(home), threading.Event()

    def sweep() -> None:
        while not stop.is_set():
            with studio.database.write() as connection:
                studio.artifacts.sweep(connection, grace_seconds=60)

    thread = threading.Thread(target=sweep)
    thread.start()
    source = tmp_path / "source"
    source.mkdir()
    trees = []
    for number in range(30):
        (source / "same").write_bytes(b"the same bytes each time")
        (source / "other").write_bytes(b"%d" % number)
        files = studio.artifacts.put_files(source)
        with studio.database.write() as connection:
            trees.append(record_tree(connection, studio.artifacts, files))
            assert studio.artifacts.damaged(connection) == {}
    stop.set()
    thread.join()
    with studio.database.read() as connection:
        assert studio.artifacts.damaged(connection) == {}
    studio.database.close()


def label_twice_and_die(home: Path) -> None:
    studio = opened(home)
    with studio.database.read() as connection:
        dataset.intents(connection, 1)
        acts.label(home)  # its close leaves the log: this connection is open
        die()


def test_a_torn_log_loses_nothing_that_stands_before_the_damage(
    template: Path, tmp_path: Path, measured: Callable[[str, str], None]
) -> None:
    home = copy_home(template, tmp_path / "whole")
    assert do(lambda: label_twice_and_die(home)).code == KILLED
    log = (home / "studio.db-wal").read_bytes()
    assert len(log) > 8192
    states = set()
    damages = [log[:size] for size in range(0, len(log), 512)][::4]
    damages += [
        log[:at] + bytes([log[at] ^ 255]) + log[at + 1 :] for at in range(40, len(log), 4120)
    ]
    for number, content in enumerate(damages):
        copy = copy_home(home, tmp_path / f"torn-{number}")
        (copy / "studio.db-wal").write_bytes(content)
        (copy / "studio.db-shm").unlink(missing_ok=True)
        saved = events_of(copy, acts.DECISION)
        states.add(saved)
        assert (texts_of(copy)["please label this"].labels is not None) == bool(saved)
        assert len(texts_of(copy)) == 22
    assert soundness(copy) == []
    assert states <= {0, 1}
    measured("log", f"{len(damages)} damages of a log of {len(log):,} bytes: none half applied.")
