"""A project of several intents a text, trained in the test's own process."""

from pathlib import Path

from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.studio import Studio
from storage import jobs, projects
from storage.log import versions
from tests.builders.trained_home import do, opened

LABELLED: list[tuple[str, str]] = [
    ("cancel my card please", "cancel|card"),
    ("I want to cancel the card", "cancel|card"),
    ("please cancel this card", "cancel|card"),
    ("cancel it", "cancel"),
    ("please cancel that", "cancel"),
    ("I would like to cancel", "cancel"),
    ("my card does not work", "card"),
    ("where is the card", "card"),
    ("the card is broken", "card"),
    ("thank you", "thanks"),
    ("thanks a lot", "thanks"),
    ("many thanks to you", "thanks"),
    ("on the third of may", "|"),
    ("my name is john smith", "|"),
    ("at half past nine", "|"),
    ("on the first of june", "|"),
]
TESTS: list[tuple[str, str]] = [
    ("cancel the broken card", "cancel|card"),
    ("thanks for this", "thanks"),
    ("on the second of june", "|"),
]
POOL = ["please cancel", "a new card", "thanks", "on the ninth of may", "cancel the card now"]


def write(path: Path, rows: list[tuple[str, str]]) -> Path:
    """Write texts and their cells of intents as a CSV."""
    lines = [f"{text},{cell}" for text, cell in rows]
    path.write_text("text,intent\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def started(home: Path, folder: Path, *, tests: bool = True) -> Studio:
    """Open a studio with the project "p" of the texts above."""
    studio = opened(home)
    create_project(studio, "p", "multi-label")
    import_file(studio, ImportRequest("p", write(folder / "labelled.csv", LABELLED)))
    if tests:
        import_file(studio, ImportRequest("p", write(folder / "tests.csv", TESTS), split="test"))
    pool = write(folder / "pool.csv", [(text, "") for text in POOL])
    import_file(studio, ImportRequest("p", pool))
    return studio


def train(studio: Studio, base: Path, recipe: dict[str, object]) -> dict[str, object]:
    """Train a version and return the metrics that its job tells."""
    with studio.database.write() as connection:
        project = projects.find(connection, "p")
        frozen = versions.cut(connection, project, "before training")
        payload = {
            "dataset_version_id": frozen.id,
            "recipe": recipe,
            "base": str(base),
            "gate": None,
        }
        job = jobs.enqueue(connection, "train", {**payload, "device": "cpu"}, project.id)
    ended = do(studio, job.id)
    assert ended.state == "succeeded", ended.message
    return dict((ended.result or {})["metrics"])
