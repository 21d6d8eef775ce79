"""Intent names that mislead: the filter, the findings and the figures."""

from dataclasses import replace

import pytest

from app.services.answering.as_project import answer_by_names_alone
from app.services.answering.judging import borderline_figures
from app.services.data.projects import create_project
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.review.names import borderline_ids, misleading_names
from app.services.studio import Studio
from app.services.trying.answers import answer_texts
from app.services.what_if.repairs import Repair, changes_of
from core.encoders.packed.encoder import TransformerEncoder
from core.errors import NotFound
from core.intent_names import names_alone
from core.types import Intent
from storage import projects
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset

TEXTS = {
    "card_arrival": ["where is my delivery", "track the card", "when will the delivery be here"],
    "delivery_cost": ["what does it cost", "the delivery cost", "price of it"],
}


@pytest.fixture
def live_studio(studio: Studio) -> LiveStudio:
    project = create_project(studio, "p")
    made = {name: edits.create_intent(name) for name in TEXTS}
    rows = [
        edits.create_utterance(f"{name}-{at}", text, "train", "f", [made[name].subject_id])
        for name, texts in TEXTS.items()
        for at, text in enumerate([*texts, *(f"delivery {n}" for n in range(2))])
    ]
    with studio.database.write() as connection:
        events.record(connection, project.id, Action("import", "local"), [*made.values(), *rows])
    return open_live_studio(studio)


def test_the_filter_lets_through_what_speaks_with_anothers_name(live_studio: LiveStudio) -> None:
    found = set(borderline_ids(live_studio, "p"))
    assert found == {f"card_arrival-{at}" for at in (0, 2, 3, 4)}


def test_what_nobody_said_is_not_held_against_a_name(live_studio: LiveStudio) -> None:
    with live_studio.studio.database.write() as connection:
        key = projects.find(connection, "p").id
        [source] = (r for r in dataset.utterances(connection, key) if r.id == "card_arrival-0")
        made = replace(source, id="s", text="where is our delivery", synthetic=source.id)
        events.record(connection, key, Action("augment", "local"), [edits.create(made)])
    assert "s" not in borderline_ids(live_studio, "p")


def test_a_finding_tells_how_many_which_name_and_what_can_be_done(live_studio: LiveStudio) -> None:
    from app.services.review.names import misled_by_names
    from storage.queries import utterances

    with live_studio.studio.database.read() as connection:
        key = projects.find(connection, "p").id
        found, intents = misled_by_names(connection, key), dataset.open_intents(connection, key)
        sizes = utterances.counts(connection, key).by_intent
    [one] = misleading_names(found, intents, sizes)
    assert one.title == "The name “card_arrival” misleads"
    assert one.measure == "4 of 5"
    assert "“delivery_cost” (4 texts)" in one.why
    assert one.texts[0].note == "“delivery” is in the name “delivery_cost”"
    assert [remedy.asks for remedy in one.remedies] == ["name", "description", ""]
    describe = one.remedies[1].repair
    assert describe is not None
    repair = Repair("describe", intent=describe.intent, value=" when the card comes ")
    with live_studio.studio.database.read() as connection:
        project = projects.find(connection, "p")
        [change] = changes_of(connection, project, repair)
    assert (change.field, change.after) == ("description", "when the card comes")


def test_enough_borderline_texts_are_judged_apart() -> None:
    texts, names = ["where is my delivery"] * 20 + ["the card"] * 5, list(TEXTS)
    actual = ["card_arrival"] * 25
    predicted = ["delivery_cost"] * 15 + ["card_arrival"] * 10
    found = borderline_figures(texts, actual, predicted, names)
    assert found == {"borderline_accuracy": 0.25, "borderline_n": 20}
    assert borderline_figures(texts[1:], actual[1:], predicted[1:], names) == {}


def test_a_project_without_a_model_answers_by_its_names(
    live_studio: LiveStudio, tiny: TransformerEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.services.answering import as_project
    from app.services.answering.opened import Opened

    monkeypatch.setattr(as_project, "open_space", lambda studio, space: Opened(tiny))
    [found] = answer_texts(live_studio, "p", ["card arrival"])
    assert found.prediction.ranked[0].intent == "card_arrival"
    assert found.prediction.by_name
    assert found.prediction.model_version == "p, names alone"
    assert found.prediction.voice == pytest.approx(found.prediction.decision.score)
    assert found.votes_of_others == pytest.approx(0.0, abs=1e-12)
    assert "by its name alone, before any training" in found.sentence
    create_project(live_studio.studio, "empty")
    now, live = live_studio.models.open("empty")
    assert live is None
    assert answer_by_names_alone(live_studio.studio, now) is None
    with pytest.raises(NotFound, match="no trained model"):
        answer_texts(live_studio, "empty", ["card arrival"])


def test_names_alone_turn_away_what_is_near_to_none(tiny: TransformerEncoder) -> None:
    pipeline = names_alone(tiny, [Intent("refund"), Intent("greeting")])
    [found] = pipeline.predict(["refund"])
    assert found.decision.intents == ("refund",)
    assert found.reason.neighbours == ()
