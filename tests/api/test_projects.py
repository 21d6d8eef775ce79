"""Projects over REST and commands: what to do next, new names, deletions that can be undone."""

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.cli import main
from app.services.data.intents import add_intent
from app.services.live.live_studio import LiveStudio, open_live


def test_a_project_is_renamed_deleted_and_restored(client: TestClient, labelled: str) -> None:
    assert client.patch(f"/api/projects/{labelled}", json={"name": "q"}).status_code == 204
    assert client.get("/api/project-names").json() == ["q"]
    assert client.get(f"/api/projects/{labelled}/status").status_code == 404
    before = client.get("/api/projects").json()
    deleted = client.delete("/api/projects/q").json()
    assert deleted["name"] == "q"
    assert client.get("/api/projects").json() == []
    assert client.get("/api/deleted-projects").json() == [deleted]
    assert client.delete("/api/projects/q").status_code == 404
    answer = client.post(f"/api/deleted-projects/{deleted['id']}/restore")
    assert answer.json() == {"name": "q"}
    assert client.get("/api/projects").json() == before
    assert client.get("/api/deleted-projects").json() == []


def test_decisions_do_not_go_to_another_project_that_has_the_name_by_now(
    client: TestClient, labelled: str
) -> None:
    """Those of an open tab were told as conflicts and dropped, or saved in the other project."""
    base = f"/api/projects/{labelled}"
    told = {"Project-Number": str(client.get(f"{base}/status").json()["id"])}
    row = client.get(f"{base}/utterances", params={"state": "unlabelled"}).json()["rows"][0]
    sent = [{"key": "k" * 12, "kind": "skip", "id": row["id"], "seen": None}]
    client.patch(base, json={"name": "former"})
    client.post("/api/projects", json={"name": labelled})
    kept = client.post(f"{base}/ops", json=sent, headers=told)
    assert (kept.status_code, kept.json()["message"]) == (
        404,
        f"The project '{labelled}' is another one than before.",
    )
    # A program that tells no number is answered as ever.
    [outcome] = client.post(f"{base}/ops", json=sent).json()
    assert outcome["state"] == "conflict"
    [outcome] = client.post("/api/projects/former/ops", json=sent, headers=told).json()
    assert outcome["state"] == "saved"


def test_redo_names_the_undo_that_it_takes_back(client: TestClient, labelled: str) -> None:
    """It took back whatever was undone last, by anybody."""
    base, shown = f"/api/projects/{labelled}", list[int]()
    for name in ("x", "y"):
        client.post(f"{base}/intents", json={"name": name, "description": ""})
    for _ in range(2):
        client.post(f"{base}/undo")
        shown.append(client.get(f"{base}/status").json()["redo_id"])
    assert client.post(f"{base}/redo", json={"newest": shown[0]}).status_code == 409
    for number in reversed(shown):
        done = client.post(f"{base}/redo", json={"newest": number}).json()
        assert done["redone"]["id"] == number
    assert client.get(f"{base}/status").json()["redo_id"] is None


def test_what_cannot_be_done_is_refused_in_words(client: TestClient, labelled: str) -> None:
    client.post("/api/projects", json={"name": "q"})
    taken = client.patch("/api/projects/q", json={"name": labelled})
    assert (taken.status_code, taken.json()["hint"]) == (409, "Choose another name.")
    assert client.patch("/api/projects/q", json={"name": "a/b"}).status_code == 422
    assert client.post("/api/deleted-projects/77/restore").status_code == 404
    assert client.post(f"/api/deleted-projects/{10**30}/restore").status_code == 422


def test_each_project_has_its_next_step(client: TestClient, labelled: str) -> None:
    client.post("/api/projects", json={"name": "q"})
    first, second = client.get("/api/projects").json()
    assert first["next"]["action"] == "Train the first version"
    assert first["steps"] == {"imported": True, "labelled": True, "trained": False}
    assert second["next"] == {
        "kind": "import",
        "action": "Import texts",
        "reason": "This project has no texts yet.",
        "page": "data",
        "query": {},
    }


def test_a_running_server_answers_by_the_new_name(live_studio: LiveStudio, trained: str) -> None:
    """The model that the server had in memory still called itself by the former name."""
    home = str(live_studio.studio.places.home)

    def name_of_model(project: str) -> str:
        return str(open_live(live_studio, project)[1].pipeline.model_version)

    assert name_of_model(trained) == f"{trained}@1"
    assert main(["--home", home, "project", "rename", trained, "renamed"]) == 0
    assert name_of_model("renamed") == "renamed@1"
    add_intent(live_studio.studio, "renamed", "another")
    assert name_of_model("renamed") == "renamed@1"


def asked(capsys: pytest.CaptureFixture[str], home: Path, *arguments: object) -> Any:
    capsys.readouterr()
    assert main(["--home", str(home), *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_commands_rename_delete_and_bring_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    asked(capsys, home, "new", "support")
    assert asked(capsys, home, "project", "rename", "support", "help desk") == {
        "project": "help desk",
        "was": "support",
    }
    gone = asked(capsys, home, "project", "delete", "help desk")
    assert gone["project"] == "help desk"
    assert asked(capsys, home, "projects")["projects"] == []
    listed = asked(capsys, home, "project", "restore")["deleted"]
    assert listed == [{"id": gone["key"], "name": "help desk"}]
    assert asked(capsys, home, "project", "restore", gone["key"]) == {"project": "help desk"}
    assert [row["name"] for row in asked(capsys, home, "projects")["projects"]] == ["help desk"]


def test_wrong_names_are_refused_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    for name in ("support", "sales"):
        asked(capsys, home, "new", name)
    for wrong, words in (
        (("rename", "support", "sales"), "There is a project 'sales' already."),
        (("rename", "support", "a/b"), "'a/b' cannot name a project."),
        (("rename", "suport", "x"), "Did you mean 'support'?"),
        (("delete", "suport"), "Did you mean 'support'?"),
        (("restore", 999), "The project was deleted."),
    ):
        assert main(["--home", str(home), "project", *map(str, wrong)]) == 2
        assert words in capsys.readouterr().err
