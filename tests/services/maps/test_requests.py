from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from app.bootstrap import workplace_of
from app.jobs.worker import work
from app.services import embedding
from app.services.answering.opened import find_space, open_space
from app.services.data.importing import ImportRequest, import_file
from app.services.data.intents import add_intent
from app.services.data.projects import create_project
from app.services.live.live_studio import open_live_studio
from app.services.maps import layouts as module
from app.services.maps.requests import compare_maps, map_colours, map_points, start_layout
from app.services.maps.views import ColourView
from app.services.studio import Studio
from core.encoders.packed.encoder import TransformerEncoder
from core.errors import InvalidInput, NotFound
from core.maps.alignment import normalise
from core.maps.layouts import pca_layout
from storage import jobs, projects
from storage.computed import layouts, vectors
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset, utterances
from tests.builders.trained_home import POOL, change, do, rows_of
from tests.conftest import SENTENCES


def coloured(
    studio: Studio, model: int | None, by: str, ids: Sequence[str] | None = None
) -> ColourView:
    return map_colours(open_live_studio(studio), "p", model, by, ids)


def named(studio: Studio, model: int | None, by: str, ids=None) -> dict[str, str]:
    """Name of each point's colour, by text."""
    view = coloured(studio, model, by, ids)
    rows = rows_of(studio)
    points = ids or map_points(studio, "p", model).ids
    assert view.codes.dtype == np.uint16
    assert len(view.codes) == len(points)
    counts = np.bincount(view.codes, minlength=len(view.legend))
    assert view.counts == tuple(counts.tolist())
    return {
        rows[key][0]: view.legend[code].name
        for key, code in zip(points, view.codes.tolist(), strict=True)
        if key in rows
    }


def test_a_map_by_pca_encodes_what_is_missing_and_is_the_projection(
    home: Studio, tiny: TransformerEncoder
) -> None:
    view = map_points(home, "p", 1)
    rows = rows_of(home)
    assert view.ids == tuple(sorted(rows))
    assert (view.model, view.method, view.stored, view.missing) == (1, "pca", False, 0)
    embeddings = tiny.encode([rows[key][0] for key in view.ids])
    np.testing.assert_allclose(view.xy, normalise(pca_layout(embeddings)), atol=1e-3)
    with home.database.read() as connection:
        project = projects.find(connection, "p")
        ids, _ = vectors.of_project(connection, project.id, tiny.fingerprint, tiny.dim)
        assert view.revision == project.head_revision
    assert tuple(ids) == view.ids
    assert map_points(home, "p", 1).order == view.order
    np.testing.assert_array_equal(map_points(home, "p", 1).xy, view.xy)


def test_too_many_missing_texts_are_left_to_a_job(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.services.embedding.AT_ONCE", 4)
    view = map_points(home, "p", 1)
    assert (len(view.ids), view.missing) == (20, 5)
    ended = do(home, start_layout(home, "p", 1, "pca").id)
    expected = {"number": 1, "method": "pca", "n": 25, "precision": "float32"}
    assert ended.result == expected
    view = map_points(home, "p", 1)
    assert (len(view.ids), view.missing) == (25, 0)


def test_without_a_number_a_map_shows_the_champion(home: Studio) -> None:
    with home.database.read() as connection:
        space = find_space(connection, "p", None)
    assert map_points(home, "p").model == space.number in (1, 2)


def test_labels_colour_the_map_at_once_and_texts_keep_their_places(home: Studio) -> None:
    before = map_points(home, "p", 1)
    found = named(home, 1, "intent")
    for intent, texts in SENTENCES.items():
        assert {found[text] for text in texts} == {intent}
    assert {found[text] for text in POOL} == {"unlabelled"}
    with home.database.read() as connection:
        project = projects.find(connection, "p")
        refund = dataset.intent_named(connection, project.id, "refund").id
    change(home, POOL[0], "labels", [refund])
    change(home, POOL[1], "labels", [])
    found = named(home, 1, "intent")
    assert [found[text] for text in POOL[:3]] == ["refund", "out of scope", "unlabelled"]
    after = map_points(home, "p", 1)
    assert after.revision == before.revision + 2
    assert after.order == before.order
    np.testing.assert_array_equal(after.xy, before.xy)


@pytest.mark.parametrize("by", ["intent", "agreement"])
def test_skipped_texts_are_counted_apart_from_unlabelled_ones(home: Studio, by: str) -> None:
    """The legend said 1,819 unlabelled and the page Data 1,818: one had been skipped."""
    change(home, POOL[0], "skipped", value=True)
    view = coloured(home, 2, by)
    counts = {one.name: n for one, n in zip(view.legend, view.counts, strict=True)}
    with home.database.read() as connection:
        on_data = utterances.counts(connection, 1).unlabelled
    assert counts["unlabelled"] == on_data == len(POOL) - 1
    assert counts["skipped"] == 1


def test_skipped_texts_are_told_apart_beside_an_intent_called_unlabelled(home: Studio) -> None:
    """They were looked for among the texts of that intent."""
    add_intent(home, "p", "unlabelled", "")
    change(home, POOL[0], "skipped", value=True)
    view = coloured(home, 2, "intent")
    counts = [(one.name, n) for one, n in zip(view.legend, view.counts, strict=True)]
    assert counts[-2:] == [("unlabelled", len(POOL) - 1), ("skipped", 1)]


def test_colours_of_intents_are_those_given_or_of_their_position(home: Studio) -> None:
    with home.database.write() as connection:
        project = projects.find(connection, "p")
        record = dataset.intent_named(connection, project.id, "parcel")
        edit = edits.edit(record, "color", "#123456")
        events.record(connection, project.id, Action("edit", "local"), [edit])
    legend = {entry.name: entry.colour for entry in coloured(home, 1, "intent").legend}
    assert legend["parcel"] == "#123456"
    assert len(set(legend.values())) == len(legend) == 6


def test_an_intent_renamed_since_training_is_still_what_the_model_means(home: Studio) -> None:
    before, agreed = named(home, 1, "prediction"), named(home, 1, "agreement")
    assert list(agreed.values()).count("agrees") > 10
    with home.database.write() as connection:
        project = projects.find(connection, "p")
        rename = edits.rename_intent(connection, project.id, "refund", "money back")
        events.record(connection, project.id, Action("rename", "local"), [rename])
    after = named(home, 1, "prediction")
    expected = {k: "money back" if v == "refund" else v for k, v in before.items()}
    assert after == expected
    assert named(home, 1, "agreement") == agreed


def test_agreement_holds_labels_against_answers(home: Studio) -> None:
    answers = named(home, 2, "prediction")
    found = named(home, 2, "agreement")
    rows = rows_of(home)
    for text, labels in rows.values():
        if labels is None:
            expected = "unlabelled"
        elif answers[text] == "out of scope":
            expected = "labelled, but refused"  # "out of scope" counted 51 here, 27 by intent
        else:
            expected = "agrees" if answers[text] in labels else "differs"
        assert found[text] == expected


def test_splits_states_and_times_have_their_colours(home: Studio) -> None:
    text = SENTENCES["parcel"][0]
    assert set(named(home, 1, "split").values()) == {"examples", "in no set"}
    assert named(home, 1, "split")[POOL[0]] == "in no set"
    change(home, text, "flagged", "odd")
    change(home, POOL[0], "skipped", value=True)
    change(home, POOL[1], "labels", [])
    states = named(home, 1, "label state")
    assert states[text] == "flagged"
    assert [states[t] for t in POOL[:3]] == ["skipped", "out of scope", "unlabelled"]
    assert states[SENTENCES["refund"][0]] == "labelled"
    view = coloured(home, 1, "time")
    assert view.counts == (20, 5)  # two imports
    names = [entry.name for entry in view.legend]
    assert names == sorted(set(names))


def test_many_imports_share_eight_spans_of_time(home: Studio) -> None:
    for at in range(20):
        with home.database.write() as connection:
            project = projects.find(connection, "p")
            row = edits.create_utterance(f"late{at}", f"late text {at}", "pool", "f", None)
            events.record(connection, project.id, Action(f"import {at}", "local"), [row])
    view = coloured(home, 1, "time", map_points(home, "p", 1).ids)
    assert 2 <= len(view.legend) <= 8
    assert sum(view.counts) == 45


def test_points_that_were_deleted_since_the_map_was_drawn_say_so(home: Studio) -> None:
    ids = map_points(home, "p", 1).ids
    gone = ids[3]
    with home.database.write() as connection:
        project = projects.find(connection, "p")
        row = dataset.utterance_by_id(connection, project.id, gone)
        events.record(
            connection, project.id, Action("delete", "local"), [edits.delete_utterance(row)]
        )
    view = coloured(home, 1, "split", ids)
    assert view.legend[view.codes[3]].name == "not known"
    assert view.counts[-1] == 1
    assert len(coloured(home, 1, "split").codes) == 24


def test_a_layout_is_a_job_whose_places_are_stored(home: Studio) -> None:
    with pytest.raises(NotFound, match=r"no tsne map of p@2 yet"):
        map_points(home, "p", 2, "tsne")
    job = start_layout(home, "p", 2, "tsne")
    assert start_layout(home, "p", 2, "tsne").id == job.id
    assert start_layout(home, "p", 1, "tsne").id != job.id
    ended = do(home, job.id)
    expected = {"number": 2, "method": "tsne", "n": 25, "precision": "float32"}
    assert (ended.state, ended.result) == ("succeeded", expected)
    view = map_points(home, "p", 2, "tsne")
    assert (len(view.ids), view.stored, view.missing) == (25, True, 0)
    assert 0.0 <= view.xy.min() <= view.xy.max() <= 1.0
    change(home, POOL[0], "text", "an entirely other question")
    again = map_points(home, "p", 2, "tsne")
    assert (len(again.ids), again.missing) == (24, 1)
    assert named(home, 2, "split", again.ids)[POOL[1]] == "in no set"
    place = dict(zip(view.ids, view.xy.tolist(), strict=True))
    assert set(again.ids) < set(view.ids)
    assert len({tuple(place[key]) for key in again.ids}) == 24


def test_a_cancelled_layout_leaves_nothing(home: Studio) -> None:
    job = start_layout(home, "p", 1, "tsne")
    with home.database.write() as connection:
        claimed = jobs.claim(connection, job.id)
        jobs.request_cancel(connection, job.id)
    assert work(workplace_of(home), claimed) == 0
    with home.database.read() as connection:
        assert jobs.get(connection, job.id).state == "cancelled"
        assert layouts.newest(connection, 1, "tsne") is None


def test_answers_are_computed_once_for_a_version_and_its_texts(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    coloured(home, 1, "prediction")
    with home.database.read() as connection:
        space = find_space(connection, "p", 1)
    head = type(open_space(home, space).pipeline.head)
    monkeypatch.setattr(head, "scores", None)
    change(home, POOL[0], "flagged", "a new revision")
    coloured(home, 1, "agreement")
    assert embedding.read_points(home, space.project).revision == space.project.head_revision


@pytest.mark.parametrize(
    ("verb", "error", "message", "hint"),
    [
        (lambda s: map_points(s, "q"), NotFound, "no project 'q'", "Did you mean|lists them"),
        (lambda s: map_points(s, "p", 9), NotFound, "no model version 9", "Versions page"),
        (lambda s: map_points(s, "p", 1, "mds"), InvalidInput, "no map by 'mds'", "pca, umap"),
        (lambda s: coloured(s, 1, "age"), InvalidInput, "by 'age'", "agreement"),
        (lambda s: start_layout(s, "p", 1, "mds"), InvalidInput, "no map by 'mds'", "pca, umap"),
        (lambda s: start_layout(s, "empty"), InvalidInput, "'empty' has no texts", "Import"),
        (lambda s: compare_maps(s, "p", 1, 9), NotFound, "no model version 9", "Versions page"),
        (lambda s: compare_maps(s, "p", 1, 2, "tsne"), NotFound, "no tsne map of p@1", "Start"),
    ],
)
def test_what_cannot_be_shown_is_said_with_the_next_step(
    home: Studio, verb, error, message: str, hint: str
) -> None:
    create_project(home, "empty")
    with pytest.raises(error, match=message) as caught:
        verb(home)
    assert any(word in caught.value.hint for word in hint.split("|"))


@pytest.mark.slow
def test_a_project_without_a_model_is_shown_by_the_untuned_encoder(
    studio: Studio, labelled_csv: Path
) -> None:
    create_project(studio, "p")
    import_file(studio, ImportRequest("p", labelled_csv))
    view = map_points(studio, "p")
    assert (view.model, view.missing, len(view.ids)) == (0, 0, 20)
    assert view.order == map_points(studio, "p", 0).order
    assert set(named(studio, None, "intent").values()) == set(SENTENCES)
    with pytest.raises(InvalidInput, match="it gives no answers"):
        coloured(studio, None, "prediction")


def test_texts_that_come_while_a_map_is_laid_out_do_not_break_it(
    home: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An import between reading points and embeddings ended the job: a text had no hash."""
    more = tmp_path / "more.csv"
    more.write_text("text\na text that came late\n", encoding="utf-8")
    read = module.read_embedded

    def read_late(studio: Studio, *others: object) -> embedding.Embedded:
        import_file(studio, ImportRequest("p", more))
        with studio.database.read() as connection:
            fresh = projects.find(connection, "p")
        return read(studio, fresh, *others[1:])  # type: ignore[arg-type]

    monkeypatch.setattr(module, "read_embedded", read_late)
    monkeypatch.setattr(module, "umap_layout", lambda rows, **_: pca_layout(rows))
    ended = do(home, start_layout(home, "p", 1, "umap").id)
    assert ended.state == "succeeded"
    assert ended.result is not None
    assert ended.result["n"] == 25  # without the text that came late
