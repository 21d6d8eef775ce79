"""What is new among added texts: subjects that neither a group nor an intent is about."""

from pathlib import Path

from app.services.data.importing import ImportRequest, import_file
from app.services.discover.stored import list_groups
from app.services.studio import Studio
from tests.builders.trained_home import grouped, raw_project

CITIES = ["Rome", "Oslo", "Lima", "Bern", "Paris", "London", "Berlin", "Madrid", "Cairo", "Tokyo"]
CITIES += ["Delhi", "Quito"]
LABELLED = [f"what is the weather in {city}" for city in CITIES]
SAID_AGAIN = [f"tell me the weather in {city} please" for city in CITIES]
OTHERWISE = [f"book me a flight to {city}" for city in CITIES]
OLD = [f"my card number {n} is lost" for n in range(30)]
OLD += [f"why is the bill so high in month {n}" for n in range(30)]


def bring(studio: Studio, path: Path, *lines: str) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    import_file(studio, ImportRequest("raw", path))


def test_a_subject_that_an_intent_is_about_is_not_new(studio: Studio, tmp_path: Path) -> None:
    """Its group had the badge “new” and stood before all else: no group was about it before."""
    idle = raw_project(studio, tmp_path, OLD)
    grouped(idle, n_groups=2)
    bring(idle, tmp_path / "labelled.csv", "text,intent", *(f"{t},weather" for t in LABELLED))
    bring(idle, tmp_path / "more.txt", *SAID_AGAIN, *OTHERWISE)
    grouped(idle)
    cards = list_groups(idle, "raw").groups
    told = {one.description: one.is_new for one in cards if one.id > 2}
    assert {is_new for words, is_new in told.items() if "flight" in words} == {True}
    assert {is_new for words, is_new in told.items() if "weather" in words} == {False}
    assert cards[0].is_new
