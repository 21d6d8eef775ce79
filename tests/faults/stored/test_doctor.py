"""`doctor` names each damage of a home, and `--repair` mends what can be mended without loss."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from app.cli import main
from storage.log.erased_remains import note_remains
from tests.builders.served_studio import copy_home
from tests.faults.kills import acts
from tests.faults.shims.changed_cells import opened_raw
from tests.faults.shims.write_points import do
from tests.faults.table import Fault

FAULTS = (
    Fault(
        36,
        "`doctor` meets each damage",
        "A blob deleted, one changed, a row changed behind the log's back, a stored embedding "
        "zeroed, an interrupted erasure, a leftover file, an orphaned checkpoint, an open home, a "
        "training that nobody works on",
        "Each is named; `--repair` mends the last six, and the others stay as they were",
    ),
)


def delete_blob(home: Path) -> None:
    next(p for p in (home / "artifacts").rglob("*") if p.is_file()).unlink()


def change_blob(home: Path) -> None:
    file = next(p for p in (home / "artifacts").rglob("*") if p.is_file())
    content = file.read_bytes()
    file.unlink()
    file.write_bytes(content[:-1] + b"?")


def change_row(home: Path) -> None:
    """Change a label as a faulty program does: indexes know of it, the log does not."""
    raw = opened_raw(home / "studio.db")
    raw.execute("UPDATE utterance SET labels = NULL WHERE text = 'good morning'")
    raw.close()


def rename_intent(home: Path) -> None:
    raw = opened_raw(home / "studio.db")
    raw.execute("UPDATE intent SET name = 'other' WHERE name = 'refund'")
    raw.close()


def lose_event(home: Path) -> None:
    raw = opened_raw(home / "studio.db")
    query = "SELECT sql FROM sqlite_master WHERE name = 'event_no_delete'"
    [trigger] = raw.execute(query).fetchone()
    raw.execute("DROP TRIGGER event_no_delete")
    raw.execute("DELETE FROM event WHERE revision = (SELECT max(revision) FROM event)")
    raw.execute(trigger)
    raw.close()


def zero_embedding(home: Path) -> None:
    raw = opened_raw(home / "studio.db")
    raw.execute(
        "UPDATE vector SET value = zeroblob(length(value)) WHERE text_hash = "
        "(SELECT text_hash FROM utterance WHERE text = 'good morning')"
    )
    raw.close()


def interrupt_erasure(home: Path) -> None:
    note_remains(home, [], [])


def leave_file(home: Path) -> None:
    left = home / "artifacts" / "ab" / ".part-left"
    left.parent.mkdir(exist_ok=True)
    left.write_bytes(b"half")
    old = time.time() - 7_200
    os.utime(left, (old, old))


def leave_checkpoint(home: Path) -> None:
    (home / "checkpoints" / "0123456789ab").mkdir(parents=True)


def open_to_all(home: Path) -> None:
    home.chmod(0o755)


@pytest.fixture
def home(template: Path, tmp_path: Path) -> Path:
    home = copy_home(template, tmp_path / "home")

    def end_jobs() -> None:  # no training is to begin by a repair
        studio = acts.opened(home)
        with studio.database.write() as connection:
            connection.exec_driver_sql("UPDATE job SET state = 'failed' WHERE state = 'queued'")
        studio.database.close()

    assert do(end_jobs).error is None
    return home


def findings(home: Path, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, dict]:
    capsys.readouterr()
    main(["--home", str(home), "doctor", "--json", *words])
    return {one["subject"]: one for one in json.loads(capsys.readouterr().out)["findings"]}


@pytest.mark.parametrize(
    ("spoil", "subject", "words", "mends"),
    [
        (delete_blob, "artifacts", "is missing", False),
        (change_blob, "artifacts", "was changed", False),
        (change_row, "data", "differs from its log: text 'good morning'", False),
        (rename_intent, "data", "differs from its log: intent 'other'", False),
        (lose_event, "data", "differs from its log: text 'and this, too'", False),
        (zero_embedding, "embeddings", "1 stored embedding changed", True),
        (interrupt_erasure, "erasing", "interrupted", True),
        (leave_file, "artifacts", "1 file that nothing needs", True),
        (leave_checkpoint, "jobs", "1 checkpoint that nothing needs", True),
        (open_to_all, "privacy", "others on this machine can open", True),
    ],
)
def test_a_damage_is_named_and_mended_where_nothing_is_lost(
    home: Path,
    capsys: pytest.CaptureFixture[str],
    spoil: Callable[[Path], None],
    subject: str,
    words: str,
    mends: bool,  # noqa: FBT001 - a column of the table above
) -> None:
    assert findings(home, capsys)[subject]["healthy"]
    spoil(home)
    found = findings(home, capsys)[subject]
    assert words in found["detail"]
    assert found["mends"] is mends
    assert found["healthy"] is (mends and subject in ("artifacts", "jobs"))
    findings(home, capsys, "--repair")
    after = findings(home, capsys)[subject]
    assert after["healthy"] is mends
    assert (words in after["detail"]) is not mends


def test_beside_a_damaged_database_all_is_checked_that_needs_none(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It said of the stored files only that they were not looked at."""
    with (home / "studio.db").open("r+b") as stream:
        stream.write(b"\0" * 100)
    change_blob(home)
    interrupt_erasure(home)
    open_to_all(home)
    n_files = sum(file.is_file() for file in (home / "artifacts").glob("??/*"))
    found = findings(home, capsys, "--repair")
    assert found["artifacts"]["detail"].startswith(f"{n_files} files read, 1 changed (")
    assert not found["artifacts"]["healthy"]
    assert (found["erasing"]["healthy"], found["erasing"]["mends"]) == (False, False)
    assert found["privacy"]["detail"].endswith("now only you can")
    assert home.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("number", [1, 20])
def test_an_older_database_is_examined_before_it_is_upgraded(
    home: Path, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    """It was upgraded first: whoever looked before going back to the old release could not."""
    acts.to_schema(home, number)
    delete_blob(home)
    interrupt_erasure(home)
    before = {file: file.read_bytes() for file in home.rglob("*") if file.is_file()}
    found = findings(home, capsys)
    assert before == {file: file.read_bytes() for file in home.rglob("*") if file.is_file()}
    assert f"of an older release (schema {number:04}): the next" in found["database"]["detail"]
    assert (found["database"]["healthy"], found["database"]["mends"]) == (True, True)
    assert "1 damaged: " in found["artifacts"]["detail"]
    assert found["artifacts"]["detail"].endswith(" is missing")
    assert "interrupted" in found["erasing"]["detail"]
    for left_out in ("data", "embeddings", "merged groups", "jobs"):
        assert found[left_out]["detail"].endswith("the database, which is of an older release")
        assert (found[left_out]["healthy"], found[left_out]["mends"]) == (False, True)
    assert main(["--home", str(home), "doctor"]) == 2
    assert "Start the studio, which upgrades the database" in capsys.readouterr().err
    findings(home, capsys, "--repair")
    assert [file.name for file in home.glob("*.before-*")] == [f"studio.db.before-{number:04}"]
    after = findings(home, capsys)
    assert after["database"]["detail"] == "ok"
    assert after["data"]["healthy"]
    assert "is missing" in after["artifacts"]["detail"]
