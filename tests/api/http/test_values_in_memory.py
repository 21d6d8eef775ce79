"""Values that the server keeps in memory: those of older revisions go, however much is labelled."""

from collections import Counter
from pathlib import Path

from fastapi.testclient import TestClient

from app.services.live.live_studio import LiveStudio
from app.services.studio import Studio
from app.services.training.runs import TrainingRequest
from tests.builders.trained_home import train_here

ASKED = (
    "status",
    "review",
    "review?kind=next",
    "map/colours?method=pca&by=prediction&order=",
    "map/colours?method=pca&by=time&order=",
    "map/islands?method=pca&order=",
    "models/1/report.html",
    "models/1/shape",
    "timeline",
)

OF_EACH_VERSION = (
    "map/colours?method=pca&by=prediction&model={}&order=",
    "map/colours?method=pca&by=time&model={}&order=",
    "map/islands?method=pca&model={}&order=",
    "models/{}/report.html",
    "models/{}/shape",
)


def test_values_of_older_revisions_do_not_stay(
    client: TestClient, trained: str, live_studio: LiveStudio
) -> None:
    """Each label makes a revision, and of each revision a dozen values stayed for good."""

    def look(number: int) -> None:
        overview = client.get("/api/projects/p/overview").json()
        intent = overview["intents"][number % 2]["id"]
        repair = {"kind": "add", "intents": [intent], "value": f"a text of the day {number}"}
        act = {"key": f"add-{number:06}", "repair": repair}
        assert client.post("/api/projects/p/review/act", json=act).status_code == 200
        order = client.get("/api/projects/p/map?method=pca").json()["order"]
        for path in ASKED:
            answer = client.get(f"/api/projects/p/{path}{order if path.endswith('=') else ''}")
            assert answer.status_code == 200, (path, answer.text)
        assert client.post("/api/projects/p/fence/what-if").status_code == 200

    def kept() -> Counter[str]:
        return Counter(str(key[0]) for key in live_studio.studio.cache._entries)  # type: ignore[index]

    number = 0
    while number < 4 or (kept()["next"] < 2 and number < 40):
        look(number)  # unlabelled texts are evaluated again only some seconds after a label
        number += 1
    before = kept()
    for later in range(number, number + 4):
        look(later)
    once = Counter({"label ways": 1})  # of the version, and counted while nobody asks for anything
    assert kept() - before - once == Counter()
    assert {"nearby", "report", "effects", "pca", "answers"} <= before.keys()


def test_versions_that_are_asked_in_turns_keep_their_values(
    client: TestClient, studio: Studio, trained: str, tiny_path: Path, live_studio: LiveStudio
) -> None:
    train_here(studio, TrainingRequest(trained, "instant", {}, str(tiny_path)))
    train_here(studio, TrainingRequest(trained, "instant", {}, str(tiny_path)))
    entries = live_studio.studio.cache._entries

    def look() -> dict[object, int]:
        for number in (1, 2, 3):
            order = client.get(f"/api/projects/p/map?method=pca&model={number}").json()["order"]
            for path in OF_EACH_VERSION:
                asked = path.format(number) + (order if path.endswith("=") else "")
                answer = client.get(f"/api/projects/p/{asked}")
                assert answer.status_code == 200, (path, answer.text)
        compared = client.get("/api/projects/p/map/compare?before=1&after=2&method=pca")
        assert compared.status_code == 200
        return {key: id(entry) for key, entry in entries.items()}

    look()
    settled = look()
    assert look() == settled
    assert Counter(key[0] for key in settled)["report"] == 3  # type: ignore[index]
