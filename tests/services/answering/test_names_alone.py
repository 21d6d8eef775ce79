"""An intent with a name and no example answers at once, beside intents that have some."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.services.answering.opened import Space, open_space, require_pipeline
from app.services.answering.stored import load_model
from app.services.data import utterances
from app.services.data.bulk import BulkAct, Edit
from app.services.data.history import undo_last
from app.services.data.intents import change_intent
from app.services.explaining import counterfactuals
from app.services.explaining.explain import explain, explain_reference
from app.services.live.live_studio import open_live_studio
from app.services.live.models import LiveModels
from app.services.review import fence
from app.services.review.fence_views import FenceSetting
from app.services.studio import Studio
from app.services.trying import answers
from app.services.versions.bundles import export_model, import_bundle
from app.services.versions.registry import promote
from app.services.what_if.embedder import Embedder
from app.services.what_if.preview import _answers, preview
from app.services.what_if.repairs import Repair
from app.services.what_if.views import Snapshot
from app.services.what_if.watched_texts import WatchedTextCache
from core.calibration.fence_units import measure_exemplars
from core.explain.load_bearing import LoadBearingExemplars
from core.heads.mixture import MixtureHead, without_names
from core.heads.votes.fit import leave_one_out
from core.intent_names import ALONE_WEIGHT
from core.types import Method
from storage import models, projects
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset
from storage.queries import utterances as browse
from tests.builders.nearly_equal import agreed
from tests.builders.trained_home import EVERY_TEXT, train
from tests.builders.unpacked_bundle import Elsewhere, unpack_bundle

ASKED = ["where is my money", "good evening", "reset my password", "cancel the subscription"]
NAME = "cancel_subscription"


def named(studio: Studio, name: str = NAME) -> str:
    """Create an intent, without an example."""
    made = edits.create_intent(name)
    with studio.database.write() as connection:
        project = projects.find(connection, "p").id
        events.record(connection, project, Action("create", "local"), [made])
    return made.subject_id


def digests(bundle: Path) -> dict[str, str]:
    """SHA-256 of the files of a bundle that were not written by exporting."""
    folder = unpack_bundle(bundle, bundle.with_suffix(""))
    files = json.loads((folder / "manifest.json").read_text("utf-8"))["files"]
    return {name: files[name] for name in files if name != "README.md"}


def live_of(models: LiveModels):
    with models.studio.database.read() as connection:
        found = models.get(projects.find(connection, "p").id)
    assert found is not None
    return found


def test_a_new_intent_is_answered_at_once_and_others_score_as_before(home: Studio) -> None:
    models = LiveModels(home)
    before = live_of(models).pipeline
    key = named(home)
    after = live_of(models)
    head = after.pipeline.head
    assert isinstance(head, MixtureHead)
    assert after.columns[-1] == key
    assert head.weights.tolist() == [0.0] * (len(head.intents) - 1) + [ALONE_WEIGHT]
    own = before.scores(ASKED)
    # not bit for bit: where a matrix is one column wider, some processors round differently
    np.testing.assert_allclose(after.pipeline.scores(ASKED)[:, :-1], own, atol=1e-12)
    [found] = after.pipeline.predict([NAME.replace("_", " ")])
    assert found.ranked[0].intent == NAME
    assert found.reason.voice == pytest.approx(ALONE_WEIGHT, abs=1e-6)  # its very name
    assert found.reason.by_name
    assert found.decision.score == pytest.approx(found.reason.voice, abs=1e-9)
    # No example votes for it. The first ones of the list were shown, however far away.
    near = [one.cosine for one in found.reason.neighbours]
    cosines = after.pipeline.embeddings @ after.pipeline.encoder.encode([NAME.replace("_", " ")])[0]
    assert near == pytest.approx(sorted(cosines.tolist(), reverse=True)[: len(near)], abs=1e-5)
    assert {one.vote for one in found.reason.neighbours} == {0.0}


def test_the_page_and_the_command_line_say_that_a_name_alone_speaks(home: Studio) -> None:
    named(home)
    live_studio = open_live_studio(home)
    text = NAME.replace("_", " ")
    [answer] = answers.answer_texts(live_studio, "p", [text])
    assert "by its name alone, no examples yet" in answer.sentence
    assert answer.prediction.by_name
    [reason] = (why.reason for why in answer.reasons)
    shown = sum(n.vote for n in reason.neighbours)
    assert shown + answer.votes_of_others + reason.prior + reason.voice == pytest.approx(
        reason.score, abs=1e-9
    )
    [stored] = load_model(home, "p").predict([text])
    assert (stored.ranked[0].intent, stored.reason.by_name) == (NAME, True)
    for told in (explain(live_studio, "p", text), explain_reference(home, "p", text)):
        assert told.reasons[0].intent == NAME
        assert told.reasons[0].by_name
        assert told.reasons[0].total + told.reasons[0].prior + told.reasons[0].voice == (
            pytest.approx(told.reasons[0].score, abs=1e-9)
        )
        assert "its name alone speaks for it" in told.plain
        assert told.why_not is not None  # votes can still be asked what another intent would take


def test_an_answer_by_name_is_not_said_to_rest_on_examples_of_its_own(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """“2 examples, all that cancel_subscription has” would be said of an intent that has none."""
    named(home)
    live_studio = open_live_studio(home)
    column = live_of(live_studio.models).pipeline.head.intents.index(NAME)
    found = LoadBearingExemplars((0, 1), column, -1, (), 2)
    monkeypatch.setattr(counterfactuals, "load_bearing", lambda *_: found)
    [reason] = explain(live_studio, "p", NAME.replace("_", " ")).reasons
    assert reason.load_bearing is not None
    assert reason.load_bearing.words == (
        "The answer rests on 2 examples: without them it would be out of scope."
    )


def test_a_bundle_answers_by_the_name_too_and_another_studio_takes_it_in(
    home: Studio, tmp_path: Path, elsewhere: Elsewhere
) -> None:
    """The name answered in the studio, and was forgotten when the model was handed over."""
    plain, bundle, again = (tmp_path / f"{name}.zip" for name in ("plain", "named", "again"))
    export_model(home, "p", plain)
    key = named(home)
    texts = [NAME.replace("_", " "), *ASKED]
    expected = load_model(home, "p").predict(texts)
    export_model(home, "p", bundle)
    found = load_model(home, str(bundle)).predict(texts)
    told = agreed(one.decision for one in expected)
    assert [one.decision for one in found] == told
    assert (found[0].intent, found[0].reason.by_name) == (NAME, True)
    folder = unpack_bundle(bundle, tmp_path / "unpacked")
    said = elsewhere.example_answers(folder, texts)
    assert [one["best"] for one in said] == [one.decision.leading for one in expected]
    assert said[0]["score"] == pytest.approx(expected[0].decision.score, abs=1e-4)
    assert f"for no example says them: {NAME}." in (folder / "README.md").read_text("utf-8")
    made = import_bundle(home, bundle, "taken_in")
    assert load_model(home, made).predict(texts)[0].decision == told[0]
    [answer] = answers.answer_texts(open_live_studio(home), "taken_in", texts[:1])
    assert answer.prediction.decision == told[0]
    export_model(home, made, again)
    assert digests(again) == digests(bundle)
    again.unlink()
    change_intent(home, "p", key, {"archived": True})
    export_model(home, "p", again)  # what the studio keeps of the version was not touched
    assert again.read_bytes() == plain.read_bytes()


def test_its_first_example_takes_over_from_the_name(home: Studio) -> None:
    models = LiveModels(home)
    key = named(home)
    assert isinstance(live_of(models).pipeline.head, MixtureHead)
    with home.database.read() as connection:
        project = projects.find(connection, "p").id
        row = next(r for r in dataset.utterances(connection, project) if r.labels)
    utterances.change_many(
        home, "p", browse.Filter(ids=(row.id,)), Edit("label", key), BulkAct(1, EVERY_TEXT)
    )
    found = live_of(models)
    head = without_names(found.pipeline.head)
    assert bool(head.labelled[found.columns.index(key)])
    assert not isinstance(found.pipeline.head, MixtureHead) or not found.pipeline.head.weights.any()
    undo_last(home, "p")
    assert isinstance(live_of(models).pipeline.head, MixtureHead)


def test_an_archived_or_renamed_intent_is_heard_as_it_is_called_now(home: Studio) -> None:
    models = LiveModels(home)
    key = named(home)
    change_intent(home, "p", key, {"name": "stop_membership"})
    [found] = live_of(models).pipeline.predict(["stop membership"])
    assert (found.intent, found.reason.by_name) == ("stop_membership", True)
    change_intent(home, "p", key, {"archived": True})
    found = live_of(models)
    assert not isinstance(found.pipeline.head, MixtureHead)


@pytest.mark.parametrize("method", ["nearest", "mahalanobis", "mixture"])
def test_a_name_alone_stands_before_every_fence(home: Studio, method: Method) -> None:
    """A fence was measured by the head with names that came later, not as it was trained."""
    named(home)
    live_studio = open_live_studio(home)
    with home.database.read() as connection:
        project = projects.find(connection, "p")
        version = models.champion(connection, project.id)
    trained = require_pipeline(open_space(home, Space(project, version)))
    units = measure_exemplars(trained.head, trained.embeddings, trained.targets)
    limit = units.limit(method, trained.calibration.rejection) - 0.5
    fence.save_fence(live_studio, "p", FenceSetting(limit, {}, method))
    texts = [*ASKED, NAME.replace("_", " ")]
    stored, live = load_model(home, "p"), live_of(live_studio.models).pipeline
    assert stored.calibration.familiarity_measure is not None
    assert stored.calibration.familiarity_measure.fence == units.fence(method)
    told = stored.predict(texts)
    assert [p.decision for p in live.predict(texts)] == agreed(p.decision for p in told)
    assert told[-1].reason.by_name
    assert told[-1].decision.measure == method
    rows = trained.encoder.encode(texts[-1:])
    scores = trained.head.scores(rows)
    scores[0, 0] = told[-1].decision.score  # it counts as score; where examples lie is as it was
    found = units.measure_on(method, trained.embeddings, trained.targets).familiarity(rows, scores)
    assert told[-1].decision.held == pytest.approx(float(found[0]), abs=1e-6)
    why = explain(live_studio, "p", texts[-1])
    [reason] = why.reasons
    assert (why.scope.measure, reason.limit, reason.by_name) == (method, None, True)
    assert reason.prior + reason.voice + reason.total == pytest.approx(reason.score, abs=1e-6)


@pytest.mark.parametrize("method", ["votes", "mixture"])
def test_a_preview_tells_what_a_first_label_does_to_a_name(home: Studio, method: Method) -> None:
    """The name falls silent with the first example; a preview that forgot it told another story."""
    key = named(home)
    text = NAME.replace("_", " ")
    with home.database.write() as connection:
        project = projects.find(connection, "p").id
        more = [
            edits.create_utterance(f"n{i}", one, "pool", "f", None)
            for i, one in enumerate((text, "cancel my subscription", "subscription", "evening"))
        ]
        events.record(connection, project, Action("import", "local"), more)
        row = next(r for r in dataset.utterances(connection, project) if r.labels)
    live_studio = open_live_studio(home)
    if method != "votes":
        limit = sum(fence.preview_fence(live_studio, "p", FenceSetting(method=method)).span) / 2
        fence.save_fence(live_studio, "p", FenceSetting(limit, {}, method))
    repair = Repair("relabel", (row.id,), (key,))
    [told] = preview(WatchedTextCache(live_studio), "p", [repair])
    with home.database.read() as connection:
        prepared = WatchedTextCache(live_studio).open(projects.get(connection, project))
    then = {row.id: replace(row, labels=(key,))}
    embed = Embedder(home.database, prepared)
    foretold = _answers(embed, prepared, Snapshot(prepared.live.columns, then, {}))
    utterances.change_many(
        home, "p", browse.Filter(ids=(row.id,)), Edit("label", key), BulkAct(1, EVERY_TEXT)
    )
    now = live_of(live_studio.models)
    rows = now.pipeline.predict([one.text for one in prepared.texts])
    expected = np.zeros_like(foretold)
    for at, one in enumerate(rows):
        for intent in one.decision.intents:
            expected[at, now.pipeline.head.intents.index(intent)] = True
    assert (foretold == expected).all()
    assert told is not None


def test_names_trained_beside_the_votes_stay_in_the_live_model(
    home: Studio, tiny_path: Path
) -> None:
    train(home, tiny_path, {"kind": "label-encoder", "epochs": 2, "variant": "siamese"})
    promote(home, "p", 3)
    models = LiveModels(home)
    found = live_of(models)
    stored = load_model(home, "p@3")
    assert isinstance(found.pipeline.head, MixtureHead)
    np.testing.assert_allclose(found.pipeline.scores(ASKED), stored.scores(ASKED), atol=1e-9)
    key = named(home)
    wider = live_of(models)
    assert wider.columns[-1] == key
    own = found.pipeline.scores(ASKED)
    head = wider.pipeline.head
    honest = leave_one_out(without_names(head)) + head.voices(wider.pipeline.embeddings)
    asked = fence.preview_fence(open_live_studio(home), "p").suggested.limit
    assert asked == pytest.approx(np.quantile(honest.max(1), 0.05), abs=1e-6)
    np.testing.assert_allclose(wider.pipeline.scores(ASKED)[:, :-1], own, atol=1e-12)
