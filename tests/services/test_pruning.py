"""What is old and needed by nothing is counted, then deleted; what is needed stays."""

import dataclasses
import os
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa

from app.services.pruning import prune
from app.services.reports.sharing import create_share, list_shares
from app.services.studio import Studio
from app.services.upkeep import examine
from storage import jobs, models
from storage.computed import layouts, vectors
from storage.jobs import JobOutcome
from storage.people.shares import Shared
from storage.queries import dataset
from storage.tables import job, layout, receipt, vector
from tests.builders.trained_home import lay_out_here, opened

OLD = "2020-01-01T00:00:00.000+00:00"
YEARS_AGO = 1_600_000_000


def aged(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("old", encoding="utf-8")
    os.utime(file, (YEARS_AGO, YEARS_AGO))
    return file


def ended_job(studio: Studio, state: str) -> str:
    with studio.database.write() as connection:
        made = jobs.claim(connection, jobs.enqueue(connection, "train", {}, 1).id)
        jobs.keep_curve(connection, made.id, 1, {"loss": [[1, 2]]})
        if state != "running":
            jobs.finish(connection, made.id, 1, JobOutcome(state))
    return made.id


def filled(studio: Studio) -> dict[str, Any]:
    """Give the home some of everything that ages, and make all of it old."""
    lay_out_here(studio, "p", 1)
    lay_out_here(studio, "p", 2)
    ids = {state: ended_job(studio, state) for state in ("failed", "cancelled", "running")}
    with studio.database.read() as connection:
        ids["version"] = str(models.list_all(connection, 1)[1].job_id)
    logs = {state: aged(studio.places.log(ids[state])) for state in ids}
    copies = [aged(studio.places.home / f"studio.db.before-{n}") for n in ("0001", "0002")]
    os.utime(copies[1], (YEARS_AGO + 1, YEARS_AGO + 1))
    with studio.database.write() as connection:
        row = {"id": "f" * 32, "project_id": 1, "content": {}, "actor": "a", "created_at": OLD}
        connection.execute(sa.insert(receipt).values(row))
        hashes = [
            r.text_hash for r in connection.execute(sa.text("SELECT text_hash FROM utterance"))
        ]
        encoder = sorted(models.encoder_fingerprints(connection))[0]
        connection.execute(sa.delete(vector))
        one = np.ones(2, np.float32)
        vectors.put_many(connection, encoder, {hashes[0]: one, "0" * 64: one})
        vectors.put_many(connection, "an encoder that is gone", {hashes[0]: one})
        connection.execute(sa.update(layout).values(created_at=OLD))
        connection.execute(sa.update(job).values(finished_at=OLD))
    return {"ids": ids, "logs": logs, "copies": copies}


def counts(studio: Studio, *, now: bool) -> dict[str, int]:
    return {one.kind: one.count for one in prune(studio, now=now)}


def test_what_is_old_is_counted_and_then_deleted(home: Studio) -> None:
    made = filled(home)
    with home.database.read() as connection:
        champion = models.champion(connection, 1)
        rows = list(dataset.utterances(connection, 1))
    expected = {
        "curves and logs of jobs without a version": 4,  # failed, cancelled, two layouts
        "maps of versions out of use": 1,
        "embeddings of texts or encoders that are gone": 2,
        "log files of jobs without a version": 1,
        "copies from before an upgrade": 1,
    }
    counted = counts(home, now=False)
    assert counted.pop("curves and logs of jobs without a version") >= 2
    del expected["curves and logs of jobs without a version"]
    assert counted == expected
    counted_again = counts(home, now=False)
    assert all(file.exists() for file in (*made["logs"].values(), *made["copies"]))
    assert counts(home, now=True) == counted_again
    assert set(counts(home, now=True).values()) == {0}
    assert not made["logs"]["failed"].exists()
    assert made["logs"]["cancelled"].exists()  # it can be resumed
    assert made["logs"]["running"].exists()
    assert made["logs"]["version"].exists()
    assert [copy.exists() for copy in made["copies"]] == [False, True]
    with home.database.read() as connection:
        left = [record.model_version_id for record in connection.execute(sa.select(layout))]
        assert jobs.get(connection, made["ids"]["failed"]).curve is None
        assert jobs.get(connection, made["ids"]["running"]).curve == {"loss": [[1, 2]]}
        versions = models.list_all(connection, 1)
        assert jobs.get(connection, str(versions[1].job_id)).curve
        assert list(dataset.utterances(connection, 1)) == rows
        assert connection.execute(sa.select(receipt.c.id)).scalars().all() == ["f" * 32]
        assert layouts.find(connection, 1, champion.id, "umap") is not None
    assert left == [champion.id]
    assert all(check.healthy for check in examine(home) if check.subject in ("artifacts", "data"))


def test_receipts_end_only_where_a_setting_says_so(home: Studio) -> None:
    """A link to a receipt that was gone stood in the list of open links, and opened nothing."""
    filled(home)
    link = create_share(home, "p", Shared("receipt", "f" * 32, None)).share
    report = create_share(home, "p", Shared("report", "1", None)).share
    counts(home, now=True)
    assert {one.id for one in list_shares(home, "p")} == {link.id, report.id}
    home.database.close()
    other = opened(home.places.home)
    settings = other.settings.model_copy(update={"keep_receipts_days": 30})
    limited = dataclasses.replace(other, settings=settings)
    assert counts(limited, now=True)["receipts"] == 1
    with other.database.read() as connection:
        assert connection.execute(sa.select(receipt.c.id)).scalars().all() == []
    assert [one.id for one in list_shares(other, "p")] == [report.id]
    other.database.close()
