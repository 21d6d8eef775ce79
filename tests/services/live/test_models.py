"""The live model answers at any time as if its head were fitted anew on the labels of now."""

import dataclasses
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.services.data import utterances
from app.services.data.bulk import BulkAct, Edit
from app.services.data.history import redo_last, undo_last
from app.services.data.intents import change_intent, merge_intents
from app.services.live import catching_up, joining
from app.services.live.live_model import LiveModel
from app.services.live.models import LiveModels, ProjectModel
from app.services.studio import Studio
from app.services.versions.registry import promote
from core.heads.mixture import without_names
from core.heads.votes.fit import fit_votes
from storage import models, projects
from storage.log import edits, events, versions
from storage.log.events import Action
from storage.queries import dataset
from storage.queries import utterances as browse
from tests.builders.trained_home import EVERY_TEXT, opened, train
from tests.waiting import wait_until

QUERIES = [
    "where is my money",
    "good evening",
    "reset it now please",
    "zzz",
    "I want my money back",
]
KINDS = ["label", "out-of-scope", "unlabel", "text", "move", "delete"]
WHOLE = ["undo", "redo", "rename", "merge", "archive", "restore", "add"]
Steps = st.lists(
    st.tuples(st.sampled_from(KINDS * 2 + WHOLE), st.integers(0, 24), st.integers(0, 4)),
    min_size=1,
    max_size=8,
)


def step(studio: Studio, kind: str, row: int, choice: int) -> None:
    """Do one thing as a person would, if it can be done."""
    with studio.database.read() as connection:
        project = projects.find(connection, "p").id
        intents = dataset.intents(connection, project)
        ids = sorted(r.id for r in dataset.utterances(connection, project))
        name = f"new {events.head(connection, project)}"
    usable = [intent for intent in intents if not intent.archived]
    if kind in KINDS and ids and usable:
        values = {"label": usable[choice % len(usable)].id, "text": name}
        values["move"] = ("train", "test", "pool")[choice % 3]
        edit(studio, ids[row % len(ids)], kind, values.get(kind, ""))
    elif kind == "merge" and len(usable) > 1:
        pair = usable[choice % len(usable)].name, usable[(choice + 1) % len(usable)].name
        merge_intents(studio, "p", *pair)
    elif kind in ("undo", "redo", "add") or (kind in WHOLE and intents):
        # Whoever takes the import back has no intent left that could be renamed.
        step_whole(studio, kind, intents[choice % len(intents)].id if intents else "", name)


def step_whole(studio: Studio, kind: str, intent: str, name: str) -> None:
    match kind:
        case "undo":
            undo_last(studio, "p")
        case "redo":
            redo_last(studio, "p")
        case "add":
            add(studio, name)
        case "rename":
            change_intent(studio, "p", intent, {"name": name})
        case "archive" | "restore":
            change_intent(studio, "p", intent, {"archived": kind == "archive"})


def edit(studio: Studio, key: str, kind: str, value: str = "") -> None:
    utterances.change_many(
        studio, "p", browse.Filter(ids=(key,)), Edit(kind, value), BulkAct(1, EVERY_TEXT)
    )


def add(studio: Studio, name: str) -> str:
    """Bring in an utterance of an intent that nobody had."""
    made = edits.create_intent(name)
    row = edits.create_utterance(name, f"about {name}", "train", "f", [made.subject_id])
    with studio.database.write() as connection:
        project = projects.find(connection, "p").id
        events.record(connection, project, Action("add", "local"), [made, row])
    return made.subject_id


def exemplars(records) -> dict[str, tuple[str, tuple[str, ...]]]:
    return {
        r.id: (r.text, tuple(sorted(r.labels))) for r in records if r.split == "train" and r.labels
    }


def assert_as_fitted_anew(studio: Studio, found: LiveModel) -> None:
    with studio.database.read() as connection:
        project = projects.find(connection, "p").id
        now = exemplars(dataset.utterances(connection, project))
        names = dataset.intent_names(connection, project)
        revision = versions.get(connection, found.version.dataset_version_id).revision
        then = exemplars(versions.state_at(connection, project, revision).utterance_records())
        assert found.revision == events.head(connection, project)
    head = without_names(found.pipeline.head)  # names of intents without examples speak beside it
    known = zip(found.columns, head.intents, strict=True)
    assert all(names.get(key, name) == name for key, name in known)
    assert len(set(head.intents)) == len(head.intents)
    assert found.hot == {key for key, said in now.items() if then.get(key) != said}
    assert found.gone == then.keys() - now.keys()
    if not now:
        return
    said = {e.id: (e.text, e.intents) for e in found.pipeline.exemplars}
    assert said == {
        key: (text, tuple(sorted(names[k] for k in labels))) for key, (text, labels) in now.items()
    }
    rows = found.pipeline.encoder.encode([text for text, _ in now.values()])
    targets = np.array([[float(c in labels) for c in found.columns] for _, labels in now.values()])
    anew = fit_votes(rows, targets, head.intents, head.tau, head.ridge)
    asked = found.pipeline.encoder.encode(QUERIES)
    np.testing.assert_allclose(head.scores(asked), anew.scores(asked), atol=1e-6)


@pytest.fixture(scope="module")
def loaded(trained_home: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, LiveModel]:
    """The home's database alone, and its champion as loaded once."""
    folder = tmp_path_factory.mktemp("live") / "home"
    studio = opened(Path(shutil.copytree(trained_home, folder)))
    found = LiveModels(studio).get(1)
    studio.database.close()
    assert found is not None
    return folder / "studio.db", found


@pytest.fixture
def models_of(home: Studio, loaded: tuple[Path, LiveModel]) -> LiveModels:
    return LiveModels(home, kept={1: ProjectModel(loaded[1])})


@settings(deadline=None, max_examples=10, suppress_health_check=list(HealthCheck))
@given(steps=Steps, together=st.booleans())
def test_any_sequence_of_changes_gives_the_head_fitted_anew(
    loaded, tmp_path_factory, steps, together
) -> None:
    database, champion = loaded
    place = tmp_path_factory.mktemp("example")
    shutil.copy(database, place / "studio.db")
    studio = opened(place)
    known = LiveModels(studio, kept={1: ProjectModel(champion)})
    for one in steps:
        step(studio, *one)
        if not together:
            known.get(1)
    assert_as_fitted_anew(studio, known.get(1))
    studio.database.close()


def test_fifty_updates_in_a_row_lose_no_digits(home: Studio, models_of: LiveModels) -> None:
    random = np.random.default_rng(0)
    for _ in range(50):
        kind = str(random.choice(["label", "out-of-scope", "unlabel", "text", "undo"]))
        step(home, kind, int(random.integers(25)), int(random.integers(5)))
        models_of.get(1)
    assert_as_fitted_anew(home, models_of.get(1))


def ids_of(studio: Studio) -> list[str]:
    with studio.database.read() as connection:
        rows = dataset.utterances(connection, 1, "train")
        return [row.id for row in rows if row.labels]


def test_the_last_exemplars_leave_as_soon_as_another_comes(home, models_of) -> None:
    """Votes need one exemplar, so the last ones had stayed, and stayed for ever."""
    for key in ids_of(home):
        edit(home, key, "move", "test")
    emptied = models_of.get(1)
    assert (len(emptied.pipeline.exemplars), len(emptied.hot), len(emptied.gone)) == (20, 0, 20)
    add(home, "first again")
    found = models_of.get(1)
    assert [e.text for e in found.pipeline.exemplars] == ["about first again"]
    assert_as_fitted_anew(home, found)


def test_hot_counts_labels_that_vote_but_were_not_trained_on(home, models_of) -> None:
    """A label that was taken away does not vote, and so is no label since training."""
    first, second, third, *_ = ids_of(home)
    edit(home, first, "unlabel")
    assert (models_of.get(1).hot, models_of.get(1).gone) == (frozenset(), {first})
    edit(home, second, "text", "something else")
    edit(home, third, "flag", "why")
    assert (models_of.get(1).hot, models_of.get(1).waiting) == ({second}, frozenset())
    undo_last(home, "p")
    undo_last(home, "p")
    assert (models_of.get(1).hot, models_of.get(1).gone) == (frozenset(), {first})


def test_a_column_without_intent_becomes_that_of_a_new_one_of_its_name(home, models_of) -> None:
    """Of a bundle from elsewhere, say: two columns of one name would share its votes."""
    champion = models_of.kept[1].model
    bare = tuple("" if n == "refund" else k for k, n in _columns(champion))
    base = dataclasses.replace(champion.base, columns=bare)
    models_of.kept[1].model = dataclasses.replace(champion, base=base)
    add(home, "unrelated")
    found = models_of.get(1)
    assert found.columns[:-1] == champion.columns
    assert len(set(found.pipeline.head.intents)) == len(found.columns) == 5


def _columns(found: LiveModel) -> list[tuple[str, str]]:
    return list(zip(found.columns, found.pipeline.head.intents, strict=True))


def test_a_promoted_version_answers_next(home: Studio, models_of: LiveModels) -> None:
    before = models_of.get(1).version.number
    promote(home, "p", 3 - before)
    after = models_of.get(1)
    assert after.version.number == 3 - before
    assert_as_fitted_anew(home, after)


def test_threads_that_ask_while_labels_come_get_whole_answers(home, models_of) -> None:
    faults: list[BaseException] = []

    def ask() -> None:
        try:
            for _ in range(12):
                found = models_of.get(1)
                rows = len(found.pipeline.exemplars)
                assert rows == len(found.pipeline.head.weights) == len(found.pipeline.embeddings)
                assert np.isfinite(found.pipeline.scores(QUERIES[:1])).all()
        except BaseException as error:  # noqa: BLE001 - shown by the test
            faults.append(error)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for turn in range(12):
        step(home, ("label", "unlabel", "undo")[turn % 3], turn, turn)
    for thread in threads:
        thread.join()
    assert faults == []
    assert_as_fitted_anew(home, models_of.get(1))


def test_a_large_set_is_solved_beside_the_answers(home, models_of, monkeypatch) -> None:
    monkeypatch.setattr(catching_up, "SOLVED_AT_ONCE", 0)
    monkeypatch.setattr(catching_up, "_IMMEDIATE", 0)
    started = models_of.get(1).revision
    step(home, "text", 0, 0)
    assert models_of.get(1).revision == started
    wait_until(lambda: models_of.peek(1).revision != started, "the label has joined", 180)
    assert_as_fitted_anew(home, models_of.get(1))


@pytest.mark.parametrize("many", [0, 3])
def test_votes_solved_anew_after_many_changes_are_the_same(home, models_of, monkeypatch, many):
    monkeypatch.setattr(joining, "_MANY", many)
    monkeypatch.setattr(joining, "_LARGE_SHARE", 1_000)
    base = models_of.get(1).base
    for turn, kind in enumerate(["text", "label", "add", "rename", "unlabel", "undo", "text"]):
        step(home, kind, turn, turn)
        assert_as_fitted_anew(home, models_of.get(1))
    assert models_of.get(1).base.pipeline is not base.pipeline


def test_there_is_no_live_model_without_a_champion(studio: Studio) -> None:
    with studio.database.write() as connection:
        project = projects.create(connection, "empty")
        assert models.champion(connection, project.id) is None
    assert LiveModels(studio).get(project.id) is None


def test_where_a_subset_votes_the_others_were_trained_on_too(home: Studio, tiny_path) -> None:
    """The pipeline keeps those that vote alone, and any other had counted as new once touched."""
    train(home, tiny_path, {"kind": "instant", "head": {"kind": "votes", "max_exemplars": 10}})
    promote(home, "p", 3)
    known = LiveModels(home)
    found = known.get(1)
    voters = {e.id for e in found.pipeline.exemplars}
    assert (len(voters), len(found.taught)) == (10, 20)
    silent = next(key for key in ids_of(home) if key not in voters)
    edit(home, silent, "flag", "why")
    assert known.get(1).hot == frozenset()
    edit(home, silent, "text", "something else")
    assert known.get(1).hot == known.get(1).waiting == {silent}
    assert {e.id for e in known.get(1).pipeline.exemplars} == voters  # until the next training


def test_more_exemplars_than_memory_takes_wait_for_a_training(home, models_of, monkeypatch) -> None:
    monkeypatch.setattr(joining, "_MOST", 20)
    trained_at = models_of.get(1).revision
    add(home, "one too many")
    found = models_of.get(1)
    assert (len(found.pipeline.exemplars), found.hot) == (20, {"one too many"})
    assert found.waiting == {"one too many"}  # the page had said that it votes already
    assert (found.joined_at, found.shown_at({"one too many"})) == (trained_at, trained_at)
    assert found.shown_at({"another"}) == found.revision > trained_at
    edit(home, ids_of(home)[0], "delete")
    assert_as_fitted_anew(home, models_of.get(1))
    assert models_of.get(1).joined_at == models_of.get(1).revision
