"""What a training is said to take, before it is started."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from app.services.data.projects import create_project
from app.services.studio import Studio
from app.services.training import estimate as estimates
from app.services.training.estimate import Size, estimate, in_words, late_words
from app.services.training.jobs import project_jobs
from app.services.training.runs import TrainingRequest, start_training
from core.errors import InvalidInput
from core.recipes.labels import ConvfitRecipe, InstantRecipe, chosen_epochs
from core.recipes.read import read_recipe
from core.training.from_labels.held_out import held_out_parts
from core.training.from_labels.inputs import RunInputs
from core.training.from_labels.tuning import tuning_rows
from core.types import Exemplar, Intent
from storage import jobs
from storage.database import Transaction, open_database
from storage.jobs import JobOutcome, Progress
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset, utterances
from storage.records import ProjectRecord
from storage.tables import job
from tests.builders.tiny_encoder import HashingEncoder

SETTINGS: list[dict[str, object]] = [
    {},
    {"folds": 2},
    {"folds": 5, "epochs": 3},
    {"folds": 5, "names": False},
    {"calibration": "leave-one-out"},
    {"epochs": 1},
    {"tuned_on": 20},
    {"tuned_on": 35, "folds": 2},
]


def fill(studio: Studio, n: int, intents: int = 4) -> None:
    """n labelled utterances, as many unlabelled ones in train, and some in test."""
    project = create_project(studio, "p")
    made = [edits.create_intent(f"i{i}") for i in range(intents + 1)]
    rows = [
        edits.create_utterance(f"u{i}", f"t{i}", "train", "f", [made[i % intents].subject_id])
        for i in range(n)
    ]
    rows += [edits.create_utterance(f"x{i}", f"x{i}", "train", "f", None) for i in range(n)]
    rows += [edits.create_utterance("y", "y", "test", "f", [made[intents].subject_id])]
    with studio.database.write() as connection:
        events.record(connection, project.id, Action("import", "local"), [*made, *rows])


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_rows_tuned_are_those_that_a_run_plans(settings: dict[str, object]) -> None:
    """Of `folds` each is one more tuning: 5 folds take about 5 times as long as no calibration."""
    recipe = read_recipe("convfit", settings)
    assert isinstance(recipe, ConvfitRecipe)
    exemplars = tuple(Exemplar(f"u{i}", f"t{i}", (f"i{i % 4}",)) for i in range(40))
    inputs = RunInputs(exemplars, tuple(Intent(f"i{i}") for i in range(4)), HashingEncoder())
    parts = [(recipe, inputs)]
    parts += [(part.recipe, part.inputs) for part in held_out_parts(recipe, inputs)]
    planned = sum(chosen_epochs(len(rows), r) * len(rows) for r, rows in map(_tuned, parts))
    assert estimates.rows_tuned(recipe, Size(40, 4)) == pytest.approx(planned)


def _tuned(part: tuple[ConvfitRecipe, RunInputs]) -> tuple[ConvfitRecipe, list[str]]:
    return part[0], tuning_rows(*part)[0]


def test_what_follows_the_steps_counts_even_in_a_small_project() -> None:
    """Storing and comparing take seconds whatever the size: the time left had left them out."""
    recipe = read_recipe("convfit", {"precision": "float32"})
    assert isinstance(recipe, ConvfitRecipe)
    small, large = (
        estimates.share_after_steps(recipe, Size(rows, 17), 85) for rows in (340, 3_400)
    )
    assert small == pytest.approx(5.03 / 30.5, rel=0.05)
    assert large < small
    assert estimates.share_after_steps(InstantRecipe(), Size(340, 17), 85) == 0.0


@pytest.mark.parametrize(("quick", "seconds"), [(True, 0.0025), (False, 0.0061)])
def test_a_processor_that_is_quick_in_bfloat16_is_said_to_take_less(
    monkeypatch, *, quick: bool, seconds: float
) -> None:
    monkeypatch.setattr(estimates, "lists_bfloat16", lambda: quick)
    after = estimates.share_after_steps(ConvfitRecipe(), Size(1_000, 10), 0)
    told = estimates.share_after_steps(ConvfitRecipe(precision="float32"), Size(1_000, 10), 0)
    assert told / after == pytest.approx(seconds / 0.0061)


def test_folds_are_in_the_estimate(studio: Studio) -> None:
    fill(studio, 100)
    loo, one, five = (
        estimate(studio, "p", "convfit", settings).seconds - estimates.START_SECONDS
        for settings in ({"calibration": "leave-one-out"}, {}, {"folds": 5})
    )
    assert one / loo == pytest.approx(1.4, abs=0.02)
    assert five / loo == pytest.approx(5, abs=0.05)
    with pytest.raises(InvalidInput):
        estimate(studio, "p", "convfit", {"folds": 0})


def test_the_sentence_counts_exemplars_alone(studio: Studio) -> None:
    """Unlabelled rows of the training split and intents of tests alone had been counted."""
    fill(studio, 40)
    found = estimate(studio, "p", "instant", {})
    assert "compares with 40 examples of 4 intents, not tuned to them" in found.sentence
    assert found.seconds == pytest.approx(8.0 + 0.003 * 40)
    with studio.database.read() as connection:
        assert utterances.taught(connection, 1, "single-label") == (40, 4)


def ran(studio: Studio, seconds: float) -> None:
    """Let the newest job have taken so long."""
    with studio.database.write() as connection:
        newest = jobs.list_all(connection, 1)[0]
        began = datetime.fromisoformat(newest.started_at)
        ended = (began + timedelta(seconds=seconds)).isoformat()
        connection.execute(sa.update(job).where(job.c.id == newest.id).values(finished_at=ended))


def test_a_stopped_training_tells_its_pace(home: Studio) -> None:
    """A run said 33 minutes left; cancelled, the page said "about 2 minutes" as before it."""
    request = TrainingRequest("p", "convfit", {})
    plain = estimates.usual_seconds(read_recipe("convfit", {}), Size(20, 4))
    start_training(home, request)
    with home.database.write() as connection:
        begun = jobs.claim(connection, jobs.list_all(connection, 1)[0].id)
        jobs.report(connection, begun.id, 1, Progress(0.1, "learning", 3 * plain))
        jobs.finish(connection, begun.id, 1, JobOutcome("cancelled"))
    ran(home, plain)
    assert estimate(home, "p", "convfit", {}).seconds == pytest.approx(4 * plain)
    [shown] = project_jobs(home, "p", 1)
    assert (shown.state, shown.eta_seconds) == ("cancelled", None)  # on pages it has nothing left


def test_an_earlier_training_tells_the_speed_of_its_own_size(home: Studio) -> None:
    """Its time had been held against the labels of now, so more data made the guess too short."""
    recipe = read_recipe("convfit", {"epochs": 3, "learning_rate": 1e-3})
    expected = estimates.usual_seconds(recipe, Size(20, 4))
    ran(home, 2 * expected)
    for settings in ({}, {"folds": 3}):
        plain = estimates.usual_seconds(read_recipe("convfit", settings), Size(20, 4))
        assert estimate(home, "p", "convfit", settings).seconds == pytest.approx(2 * plain)
    with home.database.write() as connection:
        key = dataset.intent_named(connection, 1, "refund").id
        rows = [
            edits.create_utterance(f"n{i}", f"new {i}", "train", "f", [key]) for i in range(500)
        ]
        events.record(connection, 1, Action("import", "local"), rows)
    plain = estimates.usual_seconds(read_recipe("convfit", {}), Size(520, 4))
    assert estimate(home, "p", "convfit", {}).seconds == pytest.approx(2 * plain)
    ran(home, 1_000 * expected)
    assert estimate(home, "p", "convfit", {}).seconds == pytest.approx(5 * plain)


def test_a_training_of_another_kind_tells_nothing(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seconds of loading for `instant` had made a tuning of minutes look three times shorter."""
    monkeypatch.setattr(estimates, "waiting_work", lambda: 0.0)
    with home.database.write() as connection:
        newest = jobs.list_all(connection, 1)[0]
        connection.execute(sa.delete(job).where(job.c.id == newest.id))
    plain = estimates.usual_seconds(read_recipe("convfit", {}), Size(20, 4))
    found = estimate(home, "p", "convfit", {})
    assert found.seconds == pytest.approx(plain)
    assert found.time.endswith("(longer while other programs run)")
    assert estimate(home, "p", "instant", {}).time.endswith(
        "(going by the last one on this computer)"
    )


def test_a_busy_computer_is_told_before_a_training(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ "About 3 minutes" took seven: other programs had most of the processor.

    With as many of them as processors it takes twice as long, and nothing said so.
    """
    fill(studio, 40)
    told = []
    for others in (0.75, 1.5, 25.0):
        monkeypatch.setattr(estimates, "waiting_work", lambda others=others: others)
        told.append(estimate(studio, "p", "convfit", {"epochs": 100}).time)
    assert [estimates.busy_factor(), "because" in told[0]] == [10.0, False]
    seconds = estimate(studio, "p", "convfit", {"epochs": 100}).seconds
    # "Up to 4 minutes while it is as busy as now (longer while other programs run)" was garbled.
    most = in_words(2.5 * seconds)
    assert told[1] == (
        f"about {in_words(seconds)}, or up to {most} because other programs are running"
    )
    assert f", or up to {in_words(10 * seconds)} because" in told[2]


def test_a_training_that_outlasts_what_was_told_says_so(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ "2 to 8 minutes" were told, it took 17.7, and nothing but the time left said so."""
    monkeypatch.setattr(estimates, "waiting_work", lambda: 0.0)
    fill(studio, 40)
    queued = start_training(studio, TrainingRequest("p", "convfit", {"epochs": 100}))
    told = estimate(studio, "p", "convfit", {"epochs": 100}).seconds
    assert queued.payload["told_seconds"] == pytest.approx(told)
    started = datetime(2026, 11, 28, 12, tzinfo=UTC)
    payload = {**queued.payload, "told_seconds": 480.0}
    running = replace(
        queued, state="running", attempt=1, started_at=started.isoformat(), payload=payload
    )

    def late(minutes: float, left: float | None, **other: object) -> str:
        moment = started + timedelta(minutes=minutes)
        return late_words(replace(running, eta_seconds=left, **other), moment)  # type: ignore[arg-type]

    assert late(2, 360.0) == late(9, None) == ""
    # "2 minutes so far, 9 minutes were told" stood there: nothing seemed to be late.
    assert late(2, 900.0) == (
        "Longer than expected: 2 minutes so far and about 15 minutes to go; 8 minutes were told."
    )
    monkeypatch.setattr(estimates, "waiting_work", lambda: 2.0)
    assert late(11, None) == (
        "Longer than expected: 11 minutes so far; 8 minutes were told; other programs use the "
        "processor, too."
    )
    assert late(11, None, attempt=2) == late(11, None, state="succeeded") == ""
    assert late(11, None, payload={}) == ""  # of an earlier release


def test_others_write_while_the_texts_of_a_training_are_counted(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were counted in the transaction that queues it: with 100,000 texts nobody could label.

    What changed meanwhile counts: the labels are checked when the training is queued.
    """
    fill(studio, 8)
    other = open_database(studio.places.database)
    with other.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA busy_timeout=10")
    change = ["UPDATE utterance SET flagged = 'odd' WHERE id = 'x0'"]

    def counted(_connection: Transaction, _project: ProjectRecord) -> int:
        with other.write() as writing:
            writing.exec_driver_sql(*change)
        return 8

    monkeypatch.setattr(estimates, "count_usable", counted)
    queued = start_training(studio, TrainingRequest("p", "convfit", {}))
    assert queued.payload["told_seconds"] > 0
    change[:] = ["UPDATE utterance SET labels = NULL"]
    with pytest.raises(InvalidInput, match="training needs two"):
        start_training(studio, TrainingRequest("p", "convfit", {}))
    other.close()
    assert [one.id for one in project_jobs(studio, "p")] == [queued.id]


def test_a_recipe_of_an_older_studio_is_passed_over(home: Studio) -> None:
    with home.database.write() as connection:
        for record in jobs.list_all(connection):
            payload = {**record.payload, "recipe": {"kind": "convfit", "gone": 1}}
            connection.execute(sa.update(job).where(job.c.id == record.id).values(payload=payload))
    plain = estimates.usual_seconds(read_recipe("convfit", {}), Size(20, 4))
    assert estimate(home, "p", "convfit", {}).seconds == pytest.approx(plain)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "5 seconds"),
        (12, "10 seconds"),
        (54, "55 seconds"),
        (55, "a minute"),
        (89, "a minute"),
        (91, "2 minutes"),
        (3_600, "60 minutes"),
        (5_400, "1.5 hours"),
    ],
)
def test_times_are_said_as_a_person_would(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


def test_jobs_of_a_project_come_newest_first_and_alone(home: Studio) -> None:
    create_project(home, "other")
    with home.database.write() as connection:
        jobs.enqueue(connection, "train", {"recipe": {"kind": "instant"}}, 2)
    found = project_jobs(home, "p")
    assert [(view.recipe, view.project, view.state) for view in found] == [
        ("convfit", "p", "succeeded"),
        ("instant", "p", "succeeded"),
    ]
    assert [view.state for view in project_jobs(home, "other")] == ["queued"]
    assert len(project_jobs(home, "p", 1)) == 1


def test_many_jobs_of_others_hide_none(home: Studio) -> None:
    """Of the newest two hundred jobs of the studio none may be this project's."""
    create_project(home, "other")
    with home.database.write() as connection:
        for _ in range(201):
            made = jobs.enqueue(connection, "train", {"recipe": {"kind": "instant"}}, 2)
            jobs.request_cancel(connection, made.id)  # not more wait than may
    assert [view.recipe for view in project_jobs(home, "p")] == ["convfit", "instant"]


def test_many_maps_hide_no_training(home: Studio) -> None:
    """After twenty maps the Train page knew no last training, and had no Resume."""
    with home.database.write() as connection:
        for _ in range(20):
            made = jobs.enqueue(connection, "layout", {}, 1)
            jobs.request_cancel(connection, made.id)
    assert {view.kind for view in project_jobs(home, "p")} == {"layout"}
    trainings = project_jobs(home, "p", kind="train")
    assert [view.recipe for view in trainings] == ["convfit", "instant"]
