"""Which intents have enough labels, by the live model; labels of groups tell nothing."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.labelling import enough
from app.services.labelling.enough import EnoughLabels, EnoughView, list_enough
from app.services.live import row_answers
from app.services.live.joining import base_of
from app.services.live.live_model import LiveModel
from app.services.live.live_studio import LiveStudio, open_live, open_live_studio
from app.services.studio import Studio
from app.services.training.runs import TrainingRequest
from core.calibration.calibration import Calibration
from core.calibration.fence import FamiliarityMeasure, Fence, with_exemplars
from core.heads.votes.fit import VoteHead, fit_votes
from core.types import Exemplar, FloatArray, ScoreArray
from storage import projects
from storage.log import edits, events
from storage.log.events import Action
from storage.log.label_origins import labelled_singly
from storage.queries import dataset
from tests.builders.trained_home import train_here

TOPICS = {"card": "my card number {} is lost", "bill": "why is the bill of month {} so high"}


@pytest.fixture
def live(studio: Studio, tmp_path: Path) -> LiveStudio:
    """Two intents that nobody would confuse, with 16 labels of a file and 12 of it."""
    create_project(studio, "p")
    path = tmp_path / "p.csv"
    rows = [f"{words.format(n)},{name}" for name, words in TOPICS.items() for n in range(16)]
    path.write_text("\n".join(["text,intent", *rows[:28]]) + "\n", encoding="utf-8")
    import_file(studio, ImportRequest("p", path))
    train_here(studio, TrainingRequest("p", "instant", {}))
    return open_live_studio(studio)


def named(live: LiveStudio) -> dict[str, EnoughLabels]:
    with live.studio.database.read() as connection:
        names = dataset.intent_names(connection, 1)
    view = list_enough(live, "p")
    assert view.ready
    return {names[one.intent]: one for one in view.intents}


def test_an_intent_whose_newest_labels_were_known_has_enough(live: LiveStudio) -> None:
    assert list_enough(live, "p") == EnoughView(ready=False, intents=())  # nobody waits for it
    live.models.get(1)
    found = named(live)
    card, bill = found["card"], found["bill"]
    assert (card.judged, card.known, card.is_enough) == (15, 15, True)
    assert card.reason == (
        "You can stop labelling it: by all other labels the model finds it for all of its last 15 "
        "texts."
    )
    assert (bill.judged, bill.is_enough, bill.reason) == (12, False, "")


def test_an_intent_whose_newest_texts_are_refused_has_not_enough(live: LiveStudio) -> None:
    """“You can stop labelling it” was said of 15 texts that were all answered “out of scope”."""
    model = live.models.get(1)
    assert model is not None
    with live.studio.database.read() as connection:
        order = labelled_singly(connection, 1)
    for limit, is_enough in ((-1e9, True), (1e9, False)):
        pipeline = replace(model.pipeline, calibration=Calibration(1.0, limit, 0.05))
        judged = enough._judged(live.studio, replace(model, pipeline=pipeline), order)
        [card] = [one for one in judged if one.judged == 15]
        assert (card.known, card.is_enough, bool(card.reason)) == (15, is_enough, is_enough)


def test_a_tuned_encoder_is_judged_by_the_labels_given_since_it_learned(live: LiveStudio) -> None:
    """It had learned them, and was told to have known all 15 before they were given."""
    model = live.models.get(1)
    assert model is not None
    model.version.lineage["base"] = "p@1"  # as of a version that goes on from a tuned one
    assert named(live) == {}
    with live.studio.database.write() as connection:
        rows = {one.name: one for one in dataset.intents(connection, 1)}
        for n in range(16):
            words = f"my card number {100 + n} is lost"
            made = edits.create_utterance(f"since-{n}", words, "train", "x", (rows["card"].id,))
            events.record(connection, 1, Action("label", "local", origin="page"), [made])
    live.models.get(1)
    assert {name: one.judged for name, one in named(live).items()} == {"card": 15}
    assert named(live)["card"].is_enough


def test_labels_that_were_given_together_are_left_out(live: LiveStudio) -> None:
    with live.studio.database.write() as connection:
        project_id = projects.find(connection, "p").id
        [intent] = [one for one in dataset.intents(connection, project_id) if one.name == "bill"]
        texts = [f"another bill {n}" for n in range(3)]
        made = [edits.create_utterance(text, text, "pool", "x", None) for text in texts]
        events.record(connection, project_id, Action("import", "local", origin="import x"), made)
        rows = {one.text: one for one in dataset.utterances(connection, project_id)}
        labels = [edits.edit(rows[text], "labels", [intent.id]) for text in texts]
        events.record(connection, project_id, Action("label", "local", origin="group"), labels[:2])
        events.record(connection, project_id, Action("label", "local", origin="page"), labels[2:])
        singly = labelled_singly(connection, project_id)
    assert [text for text in texts if text in singly] == [texts[2]]
    assert len(singly) == 28 + 1


def targets_of(exemplars: tuple[Exemplar, ...]) -> ScoreArray:
    return np.array([["a" in e.intents, "b" in e.intents] for e in exemplars], dtype=np.float64)


def voted(live: LiveModel, exemplars: tuple[Exemplar, ...], rows: FloatArray) -> LiveModel:
    """A model of two intents, a and b, in which some examples vote; it refuses none."""
    head = fit_votes(rows, targets_of(exemplars), ("a", "b"), 0.1, 0.1)
    pipeline = replace(live.pipeline, head=head, exemplars=exemplars, embeddings=rows, exact={})
    pipeline = replace(pipeline, calibration=Calibration(1.0, -9.0, 0.05))
    ids = frozenset(one.id for one in exemplars)
    base = base_of(pipeline, ("a", "b"))
    return replace(live, pipeline=pipeline, base=base, hot=ids, late=frozenset())


def test_a_limit_by_distance_measures_no_text_by_itself(home: Studio) -> None:
    """Each example is nearest to itself, so such a limit seemed to refuse none."""
    _, live = open_live(open_live_studio(home), "p")
    exemplars = tuple(Exemplar(f"{i}{n}", f"{i} {n}", (i,)) for i in "ab" for n in range(16))
    rows = np.zeros((32, 34), dtype=np.float32)
    rows[np.arange(32), np.arange(32)] = np.sqrt(0.1)
    rows[:16, 32] = rows[16:, 33] = np.sqrt(0.9)  # the cosine of two texts of an intent is 0.9
    shapes = with_exemplars(rows, targets_of(exemplars), np.eye(34))
    measure = FamiliarityMeasure(Fence("nearest", (0.0,) * 3, (1.0,) * 3), shapes)
    model = voted(live, exemplars, rows)
    given_at = {one.id: at for at, one in enumerate(exemplars)}
    for limit, is_enough in ((0.88, True), (0.92, False)):  # with itself the mean is 0.933
        calibration = Calibration(1.0, limit, 0.05, familiarity_measure=measure)
        fenced = replace(model, pipeline=replace(model.pipeline, calibration=calibration))
        judged = enough._judged(home, fenced, given_at)
        assert [(one.judged, one.known, one.is_enough) for one in judged] == [
            (15, 15, is_enough)
        ] * 2


def test_what_was_made_of_a_text_does_not_tell_that_the_model_knew_it(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three synthetic copies voted on the three texts of which they had been made."""
    _, live = open_live(open_live_studio(home), "p")
    said = [Exemplar(f"a{n}", f"text {n}", ("a",)) for n in range(3)]
    made = [Exemplar(f"s{n}", f"text {n} again", ("a",), f"a{n}") for n in range(3)]
    others = [Exemplar(f"b{n}", f"other {n}", ("b",)) for n in range(7)]
    exemplars = (*said, *made, *others)
    # A copy lies where its source does, and nothing else is near: without both, the 6 of 13 labels
    # are fewer than the 7.
    rows = np.eye(10, dtype=np.float32)[[0, 1, 2, 0, 1, 2, *range(3, 10)]]
    model = voted(live, exemplars, rows)
    given_at = {one.id: at for at, one in enumerate(exemplars)}

    def known() -> dict[str, tuple[int, int]]:
        judged = enough._judged(home, model, given_at)
        return {one.intent: (one.judged, one.known) for one in judged}

    assert known() == {"a": (3, 0), "b": (7, 7)}
    monkeypatch.setattr(row_answers, "SOLVED_AT_ONCE", 12)
    head = model.pipeline.head
    assert isinstance(head, VoteHead)
    rootless = replace(model.pipeline, head=replace(head, root=None))
    model = replace(model, pipeline=rootless)  # too many to be solved anew: no text is judged so
    assert known() == {"b": (7, 7)}


def test_a_text_is_judged_as_soon_as_its_copies_can_be_left_out(
    live: LiveStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prepared previews told what it is without them, and until the next label nobody looked."""
    monkeypatch.setattr(row_answers, "SOLVED_AT_ONCE", 5)
    with live.studio.database.write() as connection:
        source = next(one for one in dataset.utterances(connection, 1) if "bill" in one.text)
        copy = replace(source, id="s", text=f"{source.text} again", synthetic=source.id)
        events.record(connection, 1, Action("augment", "local"), [edits.create(copy)])
    live.models.get(1)
    kept = live.models.kept[1]
    assert kept.model is not None
    fresh = base_of(kept.model.pipeline, kept.model.columns)  # as after very many changes
    kept.model = replace(kept.model, base=fresh, changes={})
    assert named(live)["bill"].judged == 11
    live.models.solved(1)
    assert named(live)["bill"].judged == 12
