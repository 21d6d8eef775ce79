"""An answer is of one moment: champion, labels, names and fence are read together."""

from collections.abc import Callable
from contextlib import contextmanager

import pytest

from app.services.data import intents, utterances
from app.services.data.bulk import BulkAct, Edit
from app.services.live import models as live_models
from app.services.live.live_studio import LiveStudio, open_live, open_live_studio
from app.services.review import fence
from app.services.review.fence_views import FenceSetting
from app.services.studio import Studio
from app.services.trying.answers import Answer, answer_texts
from app.services.versions.registry import promote
from storage import projects
from storage.database import Database
from storage.queries import dataset
from storage.queries import utterances as browse
from tests.builders.trained_home import EVERY_TEXT

ASKED = "could I have my money back today"
_HIGH = 9.0


def ask(live_studio: LiveStudio) -> Answer:
    [found] = answer_texts(live_studio, "p", [ASKED])
    return found


def intent_ids(studio: Studio) -> dict[str, str]:
    with studio.database.read() as connection:
        return {record.name: record.id for record in dataset.intents(connection, 1)}


def test_each_answer_knows_what_was_done_before_it(home: Studio) -> None:
    live_studio = open_live_studio(home)
    before = ask(live_studio)
    [name] = before.prediction.decision.intents
    key = intent_ids(home)[name]
    intents.change_intent(home, "p", key, {"name": "called otherwise"})
    renamed = ask(live_studio).prediction
    assert (renamed.decision.intents, renamed.by_name) == (("called otherwise",), False)
    fence.save_fence(live_studio, "p", FenceSetting(_HIGH))
    fenced = ask(live_studio).prediction.decision
    assert (fenced.out_of_scope, fenced.threshold) == (True, _HIGH)
    fence.save_fence(live_studio, "p", FenceSetting())
    assert ask(live_studio).prediction.decision.intents == ("called otherwise",)
    with home.database.read() as connection:
        rows = [r for r in dataset.utterances(connection, 1, "train") if r.labels == (key,)]
    edit = Edit("label", next(other for other in intent_ids(home).values() if other != key))
    which = browse.Filter(ids=tuple(row.id for row in rows))
    utterances.change_many(home, "p", which, edit, BulkAct(len(rows), EVERY_TEXT))
    relabelled = ask(live_studio)
    assert set(relabelled.hot) <= {row.id for row in rows}
    assert relabelled.hot
    assert relabelled.prediction.by_name  # no exemplar speaks for it any more
    number = int(before.prediction.model_version.split("@")[1])
    promote(home, "p", 3 - number)
    assert ask(live_studio).prediction.model_version == f"p@{3 - number}"


def test_an_answer_reads_the_database_once(home: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    live_studio = open_live_studio(home)
    ask(live_studio)
    reads: list[int] = []
    read = Database.read

    @contextmanager
    def counted(self: Database):
        reads.append(1)
        with read(self) as connection:
            yield connection

    monkeypatch.setattr(Database, "read", counted)
    answer_texts(live_studio, "p", [ASKED, ASKED])
    assert reads == [1]
    ask(live_studio)
    assert reads == [1, 1, 1]  # for one text, a second read finds the utterances that say it


@pytest.mark.parametrize("of", ["load_champion", "catch_up"])
def test_what_is_changed_while_a_model_is_prepared_is_in_the_next_answer(
    home: Studio, monkeypatch: pytest.MonkeyPatch, of: str
) -> None:
    """Names and fence were read after the labels, and could be of a later moment."""
    live_studio = open_live_studio(home)
    key = next(iter(intent_ids(home).values()))
    if of == "catch_up":
        live_studio.models.get(1)
        intents.change_intent(home, "p", key, {"name": "first"})
    prepare: Callable = getattr(live_models, of)

    def meanwhile(*arguments):
        model = prepare(*arguments)
        monkeypatch.setattr(live_models, of, prepare)
        intents.change_intent(home, "p", key, {"name": "later"})
        with home.database.write() as connection:
            projects.change_fence(connection, 1, {"limit": _HIGH})
        return model

    monkeypatch.setattr(live_models, of, meanwhile)
    project, live = open_live(live_studio, "p")
    assert "later" not in live.pipeline.head.intents
    assert live.revision == project.head_revision
    assert project.fence is None
    assert live.pipeline.calibration.threshold != _HIGH
    project, live = open_live(live_studio, "p")
    assert "later" in live.pipeline.head.intents
    assert project.fence == {"limit": _HIGH}
    assert live.pipeline.calibration.threshold == _HIGH
