"""What several tests need: an open studio, a tiny encoder, a small labelled set."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

import app.ui.navigation  # noqa: F401 - imports Gradio in half the time, before any test does
from app.bootstrap import open_studio
from app.services.studio import Studio
from app.settings import Settings
from core.encoders.packed.encoder import TransformerEncoder
from tests.builders.tiny_encoder import tiny_folder
from tests.builders.unpacked_bundle import Elsewhere
from tests.ended_threads import await_threads
from tests.storage.copied_tables import copying_tables

# A property holds or does not, however long an example takes; `.ci/run` draws the same ones each
# time, so that a change is judged by itself. Whoever develops sees new ones with every run.
settings.register_profile("fresh", deadline=None)
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile(os.environ.get("PROPERTY_TESTS", "fresh"))
if settings().derandomize:
    # Words of the product are drawn, too, but of the modules that this process has imported so far:
    # the same test drew others beside other tests. New runs go on to draw them.
    providers._get_local_constants = lambda: providers._local_constants

pytest_plugins = ("tests.served_in_memory",)


LONGEST_FIRST = (
    "browser/stories/test_sample.py",
    "test_types.py",
    "browser/stories/test_unlabelled.py",
    "faults/test_jobs.py",
    "browser/late_answers/test_map.py",
    "browser/stories/test_conversations.py",
    "browser/stories/traffic/test_raw_texts.py",
    "browser/test_accessibility.py",
)
"""Files that take a minute or more: of two workers neither is to end alone."""


gc.disable()  # until all tests are collected: imports make many objects, and none is garbage


def pytest_collection_finish() -> None:
    """Leave what was imported out of every later collection, and collect seldom: each took 3 s."""
    gc.enable()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    places = {here / name: place for place, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


@pytest.fixture(scope="session", autouse=True)
def ended_threads() -> Iterator[None]:
    """Let no thread compute while Python ends: the process would abort."""
    yield
    await_threads()


@pytest.fixture(scope="session", autouse=True)
def copied_tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Copy the tables of each new home: 4 ms of processor instead of 80."""
    with copying_tables(tmp_path_factory.mktemp("tables") / "studio.db"):
        yield


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    opened = open_studio(Settings(home=tmp_path / "home"))
    yield opened
    opened.database.close()


@pytest.fixture(scope="session")
def tiny_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_folder(tmp_path_factory.mktemp("tiny") / "encoder")


@pytest.fixture(scope="session")
def tiny(tiny_path: Path) -> TransformerEncoder:
    from core.encoders.loading import load_folder

    return load_folder(tiny_path)


@pytest.fixture(scope="session")
def labelled_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "labelled.csv"
    rows = [f"{text},{intent}" for intent, texts in SENTENCES.items() for text in texts]
    path.write_text("text,intent\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def few_texts_teach(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take 60 texts for many, and no loss for worse: a random encoder learns by chance."""
    from core.recipes import labels
    from core.training.from_labels import rounds

    monkeypatch.setattr(labels, "_FEWEST_TEXTS", 60)
    monkeypatch.setattr(rounds, "_CHANCE", 0.0)


@pytest.fixture(scope="session")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Elsewhere]:
    """Where programs run that have the libraries, and not this project."""
    place = Elsewhere(tmp_path_factory.mktemp("elsewhere"))
    yield place
    place.close()


SENTENCES = {
    "refund": [
        "I want my money back",
        "please refund the order",
        "give me a refund now",
        "how do I get my money back",
        "refund my payment please",
    ],
    "parcel": [
        "where is my parcel",
        "my parcel has not arrived",
        "track the parcel for me",
        "when does the parcel come",
        "the parcel is late",
    ],
    "password": [
        "I forgot my password",
        "reset the password please",
        "my password does not work",
        "change my password",
        "how do I set a new password",
    ],
    "greeting": ["hello there", "good morning", "hi", "hey you", "good evening to you"],
}
