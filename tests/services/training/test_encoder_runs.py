"""Encoders from conversations: trained as jobs, killed, cancelled, resumed, and built upon."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.jobs import context as job_context
from app.services.answering.opened import Space, open_space
from app.services.answering.stored import load_model
from app.services.conversations.logs import list_logs
from app.services.conversations.reading import require_logs
from app.services.conversations.removing import remove_log
from app.services.conversations.replies import rank_replies
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.studio import Studio
from app.services.training import runs
from app.services.training.estimate import estimate
from app.services.training.jobs import cancel_job, job_view, resume_job
from app.services.training.runs import TrainingRequest, start_training
from app.services.upkeep import examine
from app.services.versions import comparison, registry
from app.services.versions.bundles import export_encoder, export_model
from app.services.versions.timeline import list_versions, timeline
from core.bundle.archive import verify_bundle
from core.encoders.loading import load_folder
from core.errors import Conflict, InvalidInput, NotFound
from core.training import checkpoints
from storage import models, projects
from storage.records import JobRecord
from tests.builders.conversation_logs import TOPICS, with_conversations
from tests.builders.trained_home import do, do_killed_at, opened, train, version

DIALOGUES: dict[str, object] = {
    "minutes": None,
    "batch_size": 8,
    "epochs": 8,
    "learning_rate": 1e-3,
    "frozen_layers": 0,
    "contexts": 2,
}
CONVERT: dict[str, object] = {
    "minutes": None,
    "batch_size": 8,
    "epochs": 1,
    "vocabulary": 200,
    "contexts": 2,
    "annealing": 5,
}


@pytest.fixture
def home(tmp_path: Path, labelled_csv: Path) -> Iterator[Studio]:
    """A project of twenty labels and 24 conversations of four turns; jobs wait to be done."""
    studio = opened(tmp_path / "home")
    with_conversations(studio, tmp_path)
    import_file(studio, ImportRequest("p", labelled_csv))
    yield studio
    studio.database.close()


def learn(studio: Studio, base: Path | str, kind: str = "dialogues", **more: object) -> JobRecord:
    settings = {**(DIALOGUES if kind == "dialogues" else CONVERT), **more}
    return start_training(studio, TrainingRequest("p", kind, settings, str(base)))


def test_stage_one_makes_an_encoder_that_stage_two_starts_from(
    home: Studio, tiny_path: Path
) -> None:
    job = learn(home, tiny_path)
    done = do(home, job.id)
    assert (done.state, done.result) == ("succeeded", {"model": "p@1", "kind": "encoder"})
    made = version(home, 1)
    assert (made.kind, made.dataset_version_id, made.metrics) == ("encoder", None, {})
    assert made.lineage["conversations"] == "24 conversations of 1 log"
    assert (made.lineage["n_pairs"], made.lineage["base"]) == (72, "encoder")
    losses = [loss for _, loss in done.curve["loss while ranking"]]
    assert losses[-1] < losses[0]
    for recipe in ({"kind": "instant"}, {"kind": "convfit", "epochs": 1}, {"kind": "adapter"}):
        train(home, "p@1", recipe)
        assert version(home, version_count(home)).kind == "intents"
    _, views = list_versions(home, "p")
    assert views[0].chain == ("encoder", "p@1 dialogues")
    assert views[2].chain == ("encoder", "p@1 dialogues", "p@3 convfit")
    assert views[0].dataset_version == "24 conversations of 1 log"
    assert [view.kind for view in views] == ["encoder", "intents", "intents", "intents"]
    found = registry.lineage(home, "p", 3)
    assert [parent.name for parent in found.parents] == ["p@1"]
    assert found.base_fingerprint == made.lineage["fingerprint"]
    assert registry.lineage(home, "p", 1).children == ("p@2", "p@3", "p@4")
    assert all(finding.healthy for finding in examine(home))


def version_count(studio: Studio) -> int:
    with studio.database.read() as connection:
        return len(models.list_all(connection, 1))


def test_an_encoder_is_no_champion_and_answers_nothing(home: Studio, tiny_path: Path) -> None:
    do(home, learn(home, tiny_path, epochs=1).id)
    train(home, tiny_path, {"kind": "instant"})
    with home.database.read() as connection:
        assert models.champion(connection, 1).number == 2  # the first that answers
    assert registry.model_states(home, "p") == {1: "encoder", 2: "champion"}
    refusals = [
        lambda: registry.promote(home, "p", 1),
        lambda: registry.discard(home, "p", 1),
        lambda: comparison.compare_models(home, "p", 1),
        lambda: load_model(home, "p@1"),
        lambda: export_model(home, "p@1", home.places.home / "out.zip"),
    ]
    for refused in refusals:
        with pytest.raises(InvalidInput, match="Version 1 is an encoder: it answers no intents"):
            refused()
    with home.database.read() as connection:
        space = Space(projects.find(connection, "p"), version(home, 1))
    with pytest.raises(InvalidInput, match="more than an encoder"):
        export_encoder(home, "p@2", home.places.home / "out.zip")
    opened_space = open_space(home, space, keep=False)  # its map can be looked at
    assert opened_space.pipeline is None
    assert opened_space.encoder.fingerprint == version(home, 1).lineage["fingerprint"]
    assert next(e.title for e in timeline(home, "p") if e.kind == "model") == "p@1 trained"
    assert registry.delete_model(home, "p", 1).forbidden is False


@pytest.mark.parametrize("kind", ["dialogues", "convert"])
def test_a_killed_training_ends_as_an_undisturbed_one(
    home: Studio, tiny_path: Path, kind: str
) -> None:
    whole = learn(home, tiny_path, kind, epochs=3)
    assert do(home, whole.id).state == "succeeded"
    job = learn(home, tiny_path, kind, epochs=3)
    ended = do_killed_at(home, job.id, step=20)
    assert (ended.state, ended.attempt) == ("succeeded", 2)
    first, second = version(home, 1), version(home, 2)
    assert first.lineage["fingerprint"] == second.lineage["fingerprint"]
    assert first.tree_sha256 == second.tree_sha256
    steps_drawn = [step for step, _ in ended.curve["loss while ranking"]]
    assert steps_drawn == sorted(set(steps_drawn))


def test_a_cancelled_training_can_go_on(home: Studio, tiny_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(job_context, "_REPORT_SECONDS", 0.0)
    assert do(home, learn(home, tiny_path).id).state == "succeeded"
    job = learn(home, tiny_path)
    keep = checkpoints.keep_checkpoint

    def cancel_after(folder: Path, checkpoint: checkpoints.Checkpoint) -> None:
        keep(folder, checkpoint)
        cancel_job(home, job.id)

    monkeypatch.setattr(checkpoints, "keep_checkpoint", cancel_after)
    assert do(home, job.id).state == "cancelled"
    assert job_view(home, job.id).resumable
    monkeypatch.setattr(checkpoints, "keep_checkpoint", keep)
    assert examine(home, repair=True)  # which sweeps leftovers, and leaves what can be resumed
    waiting = resume_job(home, job.id)
    assert (waiting.state, waiting.cancel_requested, waiting.max_attempts) == ("queued", False, 4)
    with pytest.raises(Conflict, match="was not cancelled"):
        resume_job(home, job.id)
    ended = do(home, job.id)
    assert (ended.state, ended.attempt, ended.message) == ("succeeded", 2, "")
    fingerprints = [version(home, n).lineage["fingerprint"] for n in (1, 2)]
    assert fingerprints[0] == fingerprints[1]
    assert not job_view(home, job.id).resumable


def test_what_kept_nothing_is_not_resumed(home: Studio, tiny_path: Path) -> None:
    job = learn(home, tiny_path)
    cancel_job(home, job.id)
    assert not job_view(home, job.id).resumable
    with pytest.raises(Conflict, match="kept nothing"):
        resume_job(home, job.id)


def test_convert_needs_no_base_and_serves_as_one(home: Studio) -> None:
    do(home, learn(home, "bundled", "convert").id)
    made = version(home, 1)
    assert (made.lineage["base"], made.lineage["base_fingerprint"]) == ("", None)
    train(home, "p@1", {"kind": "convfit", "epochs": 1, "frozen_layers": 0})
    train(home, "p@1", {"kind": "instant"})
    _, views = list_versions(home, "p")
    assert views[1].chain == ("p@1 convert", "p@2 convfit")
    out = home.places.home / "out.zip"
    export_model(home, "p@3", out)
    assert any(name.endswith("modeling_convert.py") for name in verify_bundle(out).files)
    assert load_model(home, "p@3").predict(["where is my parcel"])[0].ranked


def test_without_conversations_it_says_why(studio: Studio, labelled_csv: Path) -> None:
    create_project(studio, "p")
    import_file(studio, ImportRequest("p", labelled_csv))
    for ask in (
        lambda: start_training(studio, TrainingRequest("p", "dialogues", {})),
        lambda: estimate(studio, "p", "convert", {}),
        lambda: rank_replies(studio, "p", ["hello"], []),
    ):
        with pytest.raises(InvalidInput, match="no conversations to learn from"):
            ask()
    with pytest.raises(InvalidInput, match="contexts"):
        start_training(studio, TrainingRequest("p", "dialogues", {"contexts": 11}))
    with pytest.raises(NotFound):
        start_training(studio, TrainingRequest("q", "dialogues", {}))


def test_the_estimate_knows_turns_and_the_limit_of_time(home: Studio) -> None:
    found = estimate(home, "p", "dialogues", {"epochs": 100, "minutes": 1})
    assert "follows each of 72 turns in 24 conversations; about a minute" in found.sentence
    assert "answers nothing by itself" in found.sentence
    assert found.seconds == 68


def test_a_running_training_learns_from_the_logs_of_its_start(
    home: Studio, tiny_path: Path
) -> None:
    job = learn(home, tiny_path)
    [log] = list_logs(home, "p")
    with pytest.raises(Conflict, match=r"learns from 'log\.jsonl'"):
        remove_log(home, "p", log.id)
    cancel_job(home, job.id)
    remove_log(home, "p", log.id)
    with home.database.read() as connection, pytest.raises(InvalidInput, match="no conversations"):
        require_logs(connection, projects.find(connection, "p"))


def test_replies_are_ranked_by_the_newest_encoder(home: Studio, tiny_path: Path) -> None:
    do(home, learn(home, tiny_path, epochs=12).id)
    right = 0
    for topic in TOPICS:
        candidates = [f"what about your {other}?" for other in TOPICS]
        found = rank_replies(home, "p", [f"hello, I ask about the {topic} 2"], candidates)
        assert (found.encoder, found.trained, found.contexts, found.drawn) == (
            "p@1",
            True,
            2,
            False,
        )
        assert len(found.best) == 6
        right += found.best[0].text == f"what about your {topic}?"
    assert right == 6
    drawn = rank_replies(home, "p", ["hello", "how are you", "bye"], [], n=3)
    assert (drawn.drawn, drawn.candidates, len(drawn.best)) == (True, 30, 3)
    assert drawn.best == rank_replies(home, "p", ["hello", "how are you", "bye"], [], n=3).best
    with pytest.raises(InvalidInput, match="nothing to reply to"):
        rank_replies(home, "p", [" "], ["a"])


def test_a_hub_id_is_kept_with_its_owner(
    home: Studio, tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lineage, bundle and report told “multilingual-e5-small”, which no hub can find."""
    asked = "intfloat/multilingual-e5-small"
    monkeypatch.setattr(runs, "load_base", lambda *_: load_folder(tiny_path))
    job = start_training(home, TrainingRequest("p", "instant", {}, asked))
    assert do(home, job.id).state == "succeeded"
    assert version(home, 1).lineage["base"] == asked
