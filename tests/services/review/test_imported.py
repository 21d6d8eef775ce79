"""Review and Home of a project whose version was imported from another one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.review import review
from app.services.review.findings import KINDS, Finding
from app.services.studio import Studio
from app.services.versions.bundles import Handover, export_model, import_bundle
from core.errors import NotFound
from storage import projects
from storage.queries import dataset
from tests.builders.trained_home import train

OWN = [("Where is my parcel?", "refund"), ("where is my parcel", "parcel"), ("hello you", "parcel")]
LEFT_OUT = (
    "Version 1 was imported with 20 examples of another project, left out here: "
    "train to learn from your own."
)


@pytest.fixture
def taken(home: Studio, tmp_path: Path) -> Studio:
    """A project `q` with three labelled texts of its own."""
    path = tmp_path / "own.csv"
    path.write_text("text,intent\n" + "\n".join(map(",".join, OWN)) + "\n", encoding="utf-8")
    create_project(home, "q")
    import_file(home, ImportRequest("q", path))
    return home


def bring(home: Studio, bundle: Path, version: str, *, without_texts: bool) -> LiveStudio:
    export_model(home, version, bundle, Handover(without_texts=without_texts))
    import_bundle(home, bundle, "q")
    live_studio = open_live_studio(home)
    review.wait_for_pool(live_studio, "q")
    return live_studio


def every(live_studio: LiveStudio) -> Iterator[Finding]:
    for kind in KINDS:
        yield from review.review(live_studio, "q", kind).findings


def ids_of(finding: Finding) -> set[str]:
    repairs = [remedy.repair for remedy in finding.remedies if remedy.repair]
    return {text.id for text in finding.texts} | {key for one in repairs for key in one.ids}


@pytest.mark.parametrize("without_texts", [False, True])
def test_findings_are_about_texts_of_the_project_alone(
    taken: Studio, tmp_path: Path, *, without_texts: bool
) -> None:
    """They were about the other project’s texts, or “[3f2a…]”, and no repair could be done."""
    live_studio = bring(taken, tmp_path / "p.zip", "p@1", without_texts=without_texts)
    with taken.database.read() as connection:
        record = projects.find(connection, "q")
        own = {row.id: row.text for row in dataset.utterances(connection, record.id)}
    listed = list(every(live_studio))
    assert any(finding.kind == "conflict" for finding in listed)
    for finding in listed:
        assert ids_of(finding) <= own.keys()
        assert all(own[text.id] == text.text for text in finding.texts)
    found = review.review(live_studio, "q")
    assert LEFT_OUT in found.notes
    live = live_studio.models.get(record.id)
    assert live is not None
    with taken.database.read() as connection:
        record = projects.find(connection, "q")
    assert review.known_label_errors(live_studio, record, live) == found.counts["label"]
    with taken.database.read() as connection:
        by_name = {one.name: one.id for one in dataset.intents(connection, record.id)}
    border = review.walk(live_studio, "q", by_name["refund"], by_name["parcel"])
    assert {step.text.id for step in border.steps} <= own.keys()


def test_a_version_that_takes_in_no_label_is_said_to_know_no_text_of_the_project(
    taken: Studio, tmp_path: Path, tiny_path: Path
) -> None:
    train(taken, tiny_path, {"kind": "instant", "head": {"kind": "linear"}})
    live_studio = bring(taken, tmp_path / "p.zip", "p@3", without_texts=False)
    found = review.review(live_studio, "q")
    assert found.counts["label"] == found.counts["conflict"] == found.counts["doubt"] == 0
    assert LEFT_OUT in found.notes
    with pytest.raises(NotFound, match="has learned no example of this project"):
        review.walk(live_studio, "q", "", "")
