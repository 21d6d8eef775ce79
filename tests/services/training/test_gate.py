"""The gate: what keeps a fresh model from answering by itself, and what it says."""

import dataclasses
from pathlib import Path

import pytest

from app.jobs.context import JobContext
from app.services.answering.stored import load_model
from app.services.data.erasing import erase_texts
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import change_gate, create_project
from app.services.live import catching_up
from app.services.live.models import LiveModels
from app.services.studio import Studio
from app.services.training import runs
from app.services.training.gate import Gate, _in_use, as_it_would_answer, judge_candidate
from app.services.versions.comparison import gate
from app.services.versions.comparison_views import ModelComparison, PinChange
from core.encoders.packed.encoder import TransformerEncoder
from core.metrics.paired import paired_difference
from core.pipeline import IntentPipeline
from storage import jobs, models, pinned_texts, projects
from storage.log import edits, events, versions
from storage.log.events import Action
from storage.queries import dataset
from storage.records import ProjectRecord
from tests.builders.stub_pipeline import StubPipeline, start, store_model, trained
from tests.builders.trained_home import Idle, do, rows, version

TEACHING = {
    "give me my money back": "refund",
    "I want a refund": "refund",
    "where is my parcel": "parcel",
    "track my parcel": "parcel",
}
NOTHING = ModelComparison(
    "p@2", "p@1", "nothing", 0, None, None, None, (0, 0), 0, (), (), (), 0, ()
)


def compared(fixed: int, broken: int, n: int, *pins: PinChange) -> ModelComparison:
    difference = paired_difference(fixed, broken, n)
    return dataclasses.replace(NOTHING, basis="test split", difference=difference, pins=pins)


def pin(before: str, after: str) -> PinChange:
    return PinChange("my text", ("refund",), (before,) if before else (), (after,) if after else ())


@pytest.mark.parametrize(
    ("fixed", "broken", "promote", "says"),
    [
        (
            0,
            20,
            False,
            "The loss of accuracy is real, not luck: "
            "\u221220.0 points (\u221227.5 to \u221211.7 in 95 of 100 cases)",
        ),
        (3, 5, True, "beyond luck: \u22122.0 points (\u22127.7 to +3.8 in 95 of 100 cases)"),
        (
            20,
            0,
            True,
            "The gain of accuracy is real, not luck: "
            "+20.0 points (+11.7 to +27.5 in 95 of 100 cases)",
        ),
        (0, 0, True, "no loss of accuracy beyond luck: +0.0 points"),
    ],
)
def test_accuracy_lost_beyond_noise_is_refused_with_its_interval(fixed, broken, promote, says):
    """Of 100 texts, 20 lost: 20 of 102 +- 1.96 x sqrt(21 - 20^2 / 102) / 102, 19.6 +- 7.9."""
    verdict = gate(compared(fixed, broken, 100))
    assert verdict.promote is promote
    assert says in " ".join(verdict.reasons)


@pytest.mark.parametrize(
    ("before", "after", "promote"),
    [
        ("refund", "parcel", False),
        ("refund", "", False),
        ("refund", "refund", True),
        ("parcel", "refund", True),
        ("parcel", "parcel", True),  # it was broken before: the candidate is no worse
    ],
)
def test_a_pin_that_breaks_is_refused_however_much_is_gained(before, after, promote) -> None:
    verdict = gate(compared(50, 0, 100, pin(before, after)))
    assert verdict.promote is promote
    if not promote:
        said = after or "out of scope"
        assert verdict.reasons == (f"It breaks the pin 'my text': {said} instead of refund.",)


def test_where_nothing_can_be_compared_the_reasons_say_so() -> None:
    verdict = gate(NOTHING)
    assert verdict.promote
    assert verdict.reasons[0] == "There are no pins to break."
    assert "no texts to compare on" in verdict.reasons[1]


def judged(
    studio: Studio, pipeline: object, broken: list | None = None, *, may_promote: bool = True
) -> Gate:
    with studio.database.write() as connection:
        project = projects.find(connection, "p")
        frozen = versions.cut(connection, project, "now")
    if isinstance(pipeline, IntentPipeline):
        pipeline = as_it_would_answer(studio, project, frozen, pipeline)
    facts = {"metrics": {}, "pins": {"kept": 0, "broken": broken or []}}
    return judge_candidate(studio, project, frozen, pipeline, facts, may_promote=may_promote)


def test_a_candidate_is_judged_by_the_test_split_and_the_pins(studio: Studio, tiny) -> None:
    tests = {f"{text} {i}": name for text, name in TEACHING.items() for i in range(4)}
    project = start(studio, tests)
    assert judged(studio, StubPipeline({})).reasons == ("It is the first version.",)
    broken = judged(studio, StubPipeline({}), [{"text": "hi"}])
    assert (broken.promote, broken.reasons) == (False, ("It breaks the pin 'hi'.",))
    store_model(studio, project, trained(tiny, TEACHING))
    right = {**tests, "a pin": "parcel"}
    assert judged(studio, StubPipeline(right)).promote
    wrong = judged(studio, StubPipeline(dict.fromkeys(tests, "neither")))
    assert not wrong.promote
    assert "in 95 of 100 cases" in wrong.reasons[0]
    waits = judged(studio, StubPipeline(right), may_promote=False)
    assert (waits.promote, waits.reasons[-1]) == (False, "A person decides.")
    with studio.database.write() as connection:
        key = dataset.intent_named(connection, project.id, "parcel").id
        pinned_texts.add(connection, project.id, "where is my parcel", [key], "local")
    refused = judged(studio, StubPipeline(right, otherwise="refund"))
    assert not refused.promote
    assert refused.reasons == ("It breaks the pin 'where is my parcel': refund instead of parcel.",)


def test_a_candidate_is_judged_with_the_limit_that_a_person_set(studio: Studio, tiny) -> None:
    """Judged by its own limit, one that answers as before was told to lose 1.5 points."""
    project = start(studio, {f"{text} {i}": name for text, name in TEACHING.items() for i in "ab"})
    live = trained(tiny, TEACHING)
    store_model(studio, project, live)
    strict_calibration = dataclasses.replace(live.calibration, threshold=10.0)
    strict = dataclasses.replace(live, calibration=strict_calibration)
    assert not judged(studio, strict).promote  # it refuses everything
    with studio.database.write() as connection:
        limit = {"limit": -10.0, "limits": {}, "method": "votes"}  # nothing is refused
        projects.change_fence(connection, project.id, limit)
    found = judged(studio, strict)
    assert found.promote
    assert "no loss of accuracy beyond luck: +0.0 points" in found.reasons[1]


def test_a_candidate_is_judged_with_the_intents_that_it_answers_by_name(
    studio: Studio, labelled_csv: Path, tiny_path: Path
) -> None:
    """A first version waited for a pin that it keeps in use, and later ones were called worse."""
    home = dataclasses.replace(studio, executor=Idle())
    create_project(home, "p")
    import_file(home, ImportRequest("p", labelled_csv))
    with home.database.write() as connection:
        hours = edits.create_intent("opening_hours")
        rows = [
            hours,
            edits.create_utterance("t", "opening hours", "test", "f", [hours.subject_id]),
        ]
        events.record(connection, 1, Action("create intent", "local"), rows)
        pinned_texts.add(connection, 1, "opening hours", [hours.subject_id], "local")
    for number in (1, 2):
        job = do(home, runs.start_training(home, by_quick(tiny_path)).id)
        assert job.result["promoted"], job.result["gate"]
        assert version(home, number).pins == {"kept": 1, "broken": []}
        answer = load_model(home, f"p@{number}").predict(["opening hours"])[0].decision
        assert answer.intents == ("opening_hours",)


@pytest.mark.parametrize("asked", [None, True, False])
def test_a_first_version_answers_at_once_unless_its_training_said_no(
    studio: Studio, labelled_csv: Path, tiny_path: Path, *, asked: bool | None
) -> None:
    """An agent was told that its version waits for a person, and it answered everybody."""
    home = dataclasses.replace(studio, executor=Idle())
    create_project(home, "p")
    import_file(home, ImportRequest("p", labelled_csv))
    request = dataclasses.replace(by_quick(tiny_path), gate=asked)
    job = do(home, runs.start_training(home, request).id)
    waits = asked is False
    assert job.result["promoted"] is not waits
    assert job.result["gate"] == ["It is the first version.", *["A person decides."] * waits]
    with home.database.read() as connection:
        assert (models.champion(connection, 1) is None) is waits


SWAPPED = {"refund": "parcel", "parcel": "refund"}


def learned_wrong(studio: Studio, tiny: TransformerEncoder) -> tuple[ProjectRecord, StubPipeline]:
    """Store a live version that learned each label wrong, so that it answers no test text right.

    Return a candidate that answers half of the twenty right.
    """
    right = trained(tiny, TEACHING)
    texts = [f"{text} {n}" for text in TEACHING for n in range(5)]
    tests = {one.text: one.intent for one in right.predict(texts)}
    project = start(studio, tests)
    store_model(studio, project, trained(tiny, {t: SWAPPED[n] for t, n in TEACHING.items()}))
    with studio.database.write() as connection:
        limit = {"limit": -10.0, "limits": {}, "method": "votes"}  # nothing is refused
        projects.change_fence(connection, project.id, limit)
    half = {text: SWAPPED[name] if n % 2 else name for n, (text, name) in enumerate(tests.items())}
    return project, StubPipeline(half)


def mend_labels(studio: Studio, project: ProjectRecord) -> None:
    """Give the examples of the live version, after its training, the labels that are right."""
    with studio.database.write() as connection:
        keys = {name: dataset.intent_named(connection, project.id, name).id for name in SWAPPED}
        rows = [
            edits.create_utterance(f"e{n}", text, "train", "f", [keys[name]])
            for n, (text, name) in enumerate(TEACHING.items())
        ]
        events.record(connection, project.id, Action("label", "local"), rows)


def test_a_candidate_is_compared_with_what_answers_and_not_with_what_was_trained(
    studio: Studio, tiny
) -> None:
    """Of labels that had mended the live version the gate knew nothing: answers became worse."""
    project, half = learned_wrong(studio, tiny)
    assert judged(studio, half).promote
    mend_labels(studio, project)
    with studio.database.write() as connection:
        key = dataset.intent_named(connection, project.id, "parcel").id
        pinned_texts.add(connection, project.id, "where is my parcel", [key], "local")
    found = judged(studio, half)
    assert not found.promote
    assert found.reasons == (
        "It breaks the pin 'where is my parcel': refund instead of parcel.",
        "The loss of accuracy is real, not luck: "
        "\u221250.0 points (\u221268.1 to \u221222.8 in 95 of 100 cases).",
    )


def test_labels_that_a_candidate_did_not_get_do_not_speak_for_the_live_version(
    studio: Studio, tiny
) -> None:
    """They join the candidate, too, once it answers."""
    project, half = learned_wrong(studio, tiny)
    with studio.database.read() as connection:
        before = versions.find(connection, project.id, 1)
    mend_labels(studio, project)
    with studio.database.write() as connection:
        mended = versions.cut(connection, project, "mended")
        gone = [row for row in dataset.utterances(connection, project.id) if row.id < "f"]
        events.record(
            connection,
            project.id,
            Action("delete", "local"),
            [edits.delete_utterance(row) for row in gone],
        )
    facts = {"metrics": {}, "pins": {"kept": 0, "broken": []}}
    asked = (
        judge_candidate(studio, project, version, half, facts, may_promote=True)
        for version in (before, mended)
    )
    assert [one.promote for one in asked] == [True, False]


def test_an_act_that_was_undone_while_a_candidate_learned_fails_no_training(
    studio: Studio, tiny
) -> None:
    """Its data had labels of an intent that the undo took away: it said “Something broke”."""
    project, half = learned_wrong(studio, tiny)
    with studio.database.write() as connection:
        hours = edits.create_intent("opening_hours")
        text = edits.create_utterance("h", "when do you open", "train", "f", [hours.subject_id])
        events.record(connection, project.id, Action("split", "local"), [hours, text])
        frozen = versions.cut(connection, project, "split")
        assert events.undo(connection, project.id, "local") is not None
    facts = {"metrics": {}, "pins": {"kept": 0, "broken": []}}
    found = judge_candidate(studio, project, frozen, half, facts, may_promote=True)
    assert found.promote
    assert "+50.0 points" in found.reasons[1]


def test_a_text_that_was_erased_since_votes_in_no_champion_that_is_compared(home: Studio) -> None:
    """A training that was stopped went on after the erasure, and was judged by the text."""
    with home.database.write() as connection:
        project = projects.find(connection, "p")
        frozen = versions.cut(connection, project, "stopped")
    gone = rows(home)["hi"].id
    erase_texts(home, "p", ["hi"], now=True)
    found = LiveModels(home).as_champion("p", 1, frozen.revision)
    assert found is not None
    ids = {one.id for one in found[1].pipeline.exemplars}
    assert len(ids) == 19
    assert gone not in ids


def test_labels_of_a_large_champion_are_not_read_in_vain(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole log was read for one that is compared as it was trained."""
    with home.database.write() as connection:
        project = projects.find(connection, "p")
        frozen = versions.cut(connection, project, "now")
    monkeypatch.setattr(catching_up, "_IMMEDIATE", 19)
    monkeypatch.setattr(LiveModels, "as_champion", lambda *_: pytest.fail("they were read"))
    found = _in_use(home, project, version(home, 1), frozen)
    assert found.name == "p@1"
    assert len(found.open().exemplars) == 20


def by_quick(base: Path) -> runs.TrainingRequest:
    return runs.TrainingRequest("p", "instant", {}, str(base))


def test_what_a_candidate_answers_is_called_as_the_project_calls_it_now(
    studio: Studio, tiny
) -> None:
    """An intent that was renamed while it was learned is no other answer."""
    project = start(studio, {f"{text} again": name for text, name in TEACHING.items()})
    store_model(studio, project, trained(tiny, TEACHING))
    with studio.database.write() as connection:
        frozen = versions.find(connection, project.id, 1)
        change = edits.rename_intent(connection, project.id, "refund", "money back")
        events.record(connection, project.id, Action("rename", "local"), [change])
    answering = as_it_would_answer(studio, project, frozen, trained(tiny, TEACHING))
    facts = {"metrics": {}, "pins": {"kept": 0, "broken": []}}
    found = judge_candidate(studio, project, frozen, answering, facts, may_promote=True)
    assert found.promote
    assert "+0.0 points" in found.reasons[1]


def test_the_gate_opens_only_upon_the_champion_it_compared_with(studio: Studio, tiny) -> None:
    project = start(studio, {"t": "refund"})
    for _ in range(2):
        store_model(studio, project, trained(tiny, TEACHING))
    with studio.database.read() as connection:
        one, two = models.list_all(connection, project.id)
    assert Gate(one, promote=True, reasons=()).opens_for(one)
    assert not Gate(one, promote=True, reasons=()).opens_for(two)
    assert not Gate(one, promote=False, reasons=()).opens_for(one)
    assert Gate(None, promote=True, reasons=()).opens_for(None)
    assert not Gate(None, promote=True, reasons=()).opens_for(one)


def test_pins_of_intents_that_the_data_do_not_have_fail_no_training(home, tiny_path) -> None:
    """Made while the job waited, or archived: the training had ended in a KeyError."""
    with home.database.write() as connection:
        project = projects.find(connection, "p")
        frozen = versions.cut(connection, project, "before training")
        payload = {"dataset_version_id": frozen.id, "recipe": {"kind": "instant"}}
        payload |= {"base": str(tiny_path), "device": "cpu"}
        job = jobs.enqueue(connection, "train", payload, project.id)
        made = edits.create_intent("later")
        events.record(connection, project.id, Action("create intent", "local"), [made])
        pinned_texts.add(connection, project.id, "something new", [made.subject_id], "local")
        key = dataset.intent_named(connection, project.id, "parcel").id
        pinned_texts.add(connection, project.id, "where is my parcel", [key], "local")
    done = do(home, job.id)
    assert done.state == "succeeded", done.message
    with home.database.read() as connection:
        assert models.list_all(connection, 1)[-1].pins == {"kept": 1, "broken": []}


@pytest.mark.parametrize("asked", [None, True, False])
def test_the_project_says_whether_its_gate_promotes_unless_one_training_does(
    home, tiny_path, asked
) -> None:
    """Who unticked it during a training was told “then you decide”, and the version went live."""
    request = runs.TrainingRequest("p", "instant", {}, str(tiny_path), gate=asked)
    context = JobContext(home.places, home.database, runs.start_training(home, request))
    for auto in (True, False):
        change_gate(home, "p", auto_promote=auto)
        assert runs._may_promote(context) is (auto if asked is None else asked)
