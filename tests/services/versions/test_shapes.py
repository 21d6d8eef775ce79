"""Uniformity and alignment of versions: the same texts for all, best those that none has met."""

import pytest

from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.studio import Studio
from app.services.versions.shapes import shape_of, shapes_of
from core.encoders.packed.encoder import TransformerEncoder
from core.errors import NotFound
from core.metrics.geometry import alignment, uniformity
from tests.builders.trained_home import rows_of
from tests.conftest import SENTENCES

TESTS = {
    "refund": ["can I have my money", "I would like a refund", "money back please"],
    "parcel": ["is the parcel on its way", "my parcel is lost", "parcel where are you"],
}


def test_every_version_is_measured_on_the_same_texts(
    home: Studio, tiny: TransformerEncoder
) -> None:
    untuned, first, second = shapes_of(home, "p")
    assert [one.number for one in (untuned, first, second)] == [0, 1, 2]
    assert (untuned.model, untuned.recipe) == ("the untuned encoder", "")
    assert (first.recipe, second.recipe) == ("instant", "convfit")
    assert {one.basis for one in (untuned, first, second)} == {"20 examples"}
    labelled = {text: label[0] for text, label in rows_of(home).values() if label}
    rows = tiny.encode(list(labelled))  # `instant` keeps its base
    assert first.uniformity == pytest.approx(uniformity(rows), abs=1e-5)
    assert first.alignment == pytest.approx(alignment(rows, list(labelled.values())), abs=1e-5)
    assert second.uniformity < first.uniformity  # tuned to tell these very texts apart
    assert shape_of(home, "p", 2) == second
    with pytest.raises(NotFound):
        shape_of(home, "p", 7)


def test_a_test_split_comes_before_texts_that_versions_were_tuned_on(
    home: Studio, tmp_path
) -> None:
    """Alignment of training texts flatters whoever has drawn them together."""
    rows = [f"{text},{intent},test" for intent, texts in TESTS.items() for text in texts]
    path = tmp_path / "test.csv"
    path.write_text("text,intent,split\n" + "\n".join(rows) + "\n", encoding="utf-8")
    import_file(home, ImportRequest("p", path))
    assert shape_of(home, "p", 1).basis == f"{sum(map(len, SENTENCES.values()))} examples"
    more = [
        f"{text} {n},{intent},test"
        for intent, texts in TESTS.items()
        for text in texts
        for n in range(3)
    ]
    path.write_text("text,intent,split\n" + "\n".join(more) + "\n", encoding="utf-8")
    import_file(home, ImportRequest("p", path))
    found = shape_of(home, "p", 1)
    assert (found.n, found.basis) == (24, "24 labelled test texts")


def test_where_nothing_can_be_measured_the_reason_is_said(studio: Studio) -> None:
    create_project(studio, "bare")
    [found] = shapes_of(studio, "bare")
    assert (found.alignment, found.uniformity, found.n) == (None, None, 0)
    assert found.basis == "It takes two examples of one intent."
