"""A served studio: what it logs, and how it ends while people work."""

import json
import threading
import urllib.error
from http.client import HTTPException
from pathlib import Path

from app.services.data.projects import create_project
from app.services.studio import Studio
from storage import projects
from storage.database import open_database
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset
from tests.builders.served_studio import Served, has_ended
from tests.waiting import wait_until

PEOPLE, TEXTS_EACH = 3, 400


def filled(studio: Studio) -> list[str]:
    """Add a project of unlabelled texts and close the studio; return the ids of the texts."""
    create_project(studio, "p")
    ids = [f"text-{number}" for number in range(PEOPLE * TEXTS_EACH)]
    with studio.database.write() as connection:
        project = projects.find(connection, "p")
        rows = [edits.create_utterance(key, f"say {key}", "pool", "test", None) for key in ids]
        events.record(connection, project.id, Action("import", "local"), rows)
    studio.database.close()
    return ids


def label(served: Served, ids: list[str], saved: list[str]) -> None:
    """Label texts one by one until the server is gone; `saved` gets those it confirmed."""
    for key in ids:
        body = [{"key": f"key-of-{key}", "kind": "label", "id": key, "create": ["asks"]}]
        try:
            [outcome] = served.ask("/projects/p/ops", body)
        except (OSError, HTTPException, urllib.error.URLError):
            return
        assert outcome["state"] == "saved"
        saved.append(key)


def test_a_server_that_is_stopped_keeps_what_it_confirmed(studio: Studio) -> None:
    home, ids = studio.places.home, filled(studio)
    served = Served(home, forked=True, more=("--log", "json")).start()
    saved: list[str] = []
    parts = [ids[number::PEOPLE] for number in range(PEOPLE)]
    people = [threading.Thread(target=label, args=(served, part, saved)) for part in parts]
    for person in people:
        person.start()
    wait_until(lambda: len(saved) >= 30, "30 texts are saved")
    assert served.process is not None
    served.process.terminate()
    assert has_ended(served.process, 15)
    for person in people:
        person.join()
    assert 30 <= len(saved) < len(ids)
    _all_are_stored(home, saved)
    _each_has_its_line(served, len(saved))


def _all_are_stored(home: Path, saved: list[str]) -> None:
    database = open_database(home / "studio.db")
    with database.read() as connection:
        project = projects.find(connection, "p")
        labelled = {row.id for row in dataset.utterances(connection, project.id) if row.labels}
    database.close()
    assert set(saved) <= labelled


def _each_has_its_line(served: Served, n_saved: int) -> None:
    printed = served.output.read_text(encoding="utf-8")
    lines = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    ops = [line for line in lines if line["route"] == "/api/projects/{project}/ops"]
    assert len({line["id"] for line in ops}) == len(ops) >= n_saved
    assert {(line["method"], line["status"], line["person"]) for line in ops} == {
        ("POST", 200, "local")
    }
    assert "key-of-" not in printed
