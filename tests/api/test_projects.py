"""Projects over REST: what to do next, a new name, and a deletion that can be undone."""

from fastapi.testclient import TestClient


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
