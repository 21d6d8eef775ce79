"""A project whose texts have several intents, or none: each service with its numbers."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from app.cli import main
from app.services.data.exporting import ExportChoice, export_file
from app.services.data.importing import ImportRequest, import_file
from app.services.data.intents import load_overview
from app.services.explaining.explain import explain
from app.services.labelling import decisions
from app.services.labelling.decisions import Operation
from app.services.labelling.queue import QueueRequest, Queues
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.live.row_answers import answer_rows
from app.services.maps import requests
from app.services.review import disagreements
from app.services.studio import Studio
from app.services.training.estimate import estimate
from app.services.trying import answers, pins
from app.services.versions import comparison
from core.errors import InvalidInput
from core.formats.reading import read_rows
from core.formats.rows import ImportedRow, ReadOptions
from core.heads.build import fit_head
from core.metrics.multi_label import multi_label_report
from core.recipes.heads import VotesConfig
from storage import models, projects
from storage.queries import dataset
from tests.builders.multi_label_project import LABELLED, POOL, TESTS, started, train, write
from tests.builders.trained_home import opened


@pytest.fixture(scope="session")
def several_home(tmp_path_factory: pytest.TempPathFactory, tiny_path: Path) -> Path:
    folder = tmp_path_factory.mktemp("several")
    studio = started(folder / "home", folder)
    train(studio, tiny_path, {"kind": "instant"})
    train(studio, tiny_path, {"kind": "instant", "theta": 0.9})
    studio.database.close()
    return folder / "home"


@pytest.fixture
def several(several_home: Path, tmp_path: Path) -> Iterator[Studio]:
    studio = opened(Path(shutil.copytree(several_home, tmp_path / "home")))
    yield studio
    studio.database.close()


@pytest.fixture
def live_studio(several: Studio) -> LiveStudio:
    return open_live_studio(several)


def ids(studio: Studio) -> dict[str, str]:
    with studio.database.read() as connection:
        return {i.name: i.id for i in dataset.intents(connection, 1)}


def row_id(studio: Studio, text: str) -> str:
    with studio.database.read() as connection:
        return next(r.id for r in dataset.utterances(connection, 1) if r.text == text)


def sets(cells: list[tuple[str, str]]) -> dict[str, set[str]]:
    return {text: set(cell.split("|")) - {""} for text, cell in cells}


def test_no_intent_trains_and_unlabelled_does_not(several: Studio) -> None:
    live_studio = open_live_studio(several)
    live = live_studio.models.get(1)
    assert live is not None
    assert live.pipeline.task == "multi-label"
    taught = {e.text: set(e.intents) for e in live.pipeline.exemplars}
    assert taught == sets(LABELLED)
    assert estimate(several, "p", "instant", {}).sentence.startswith(
        "Quick: compares with 16 examples of 3 intents, not tuned to them"
    )
    assert "objective overlap" in estimate(several, "p", "convfit", {}).defaults


def test_a_version_is_judged_by_the_sets_it_answers_on_the_test_split(several: Studio) -> None:
    with several.database.read() as connection:
        metrics = models.find(connection, 1, 1).metrics
    live = open_live_studio(several).models.get(1)
    assert live is not None
    answers = [p.decision.intents for p in live.pipeline.predict([t for t, _ in TESTS])]
    report = multi_label_report(list(sets(TESTS).values()), answers)
    assert (metrics["task"], metrics["n"], metrics["judged_on"]) == (
        "multi-label",
        3,
        "test set of 3 texts",
    )
    assert metrics["accuracy"] == report.exact
    assert metrics["micro_f1"] == report.micro_f1
    assert metrics["n_without_intent"] == 1
    assert {one["intent"] for one in metrics["per_intent"]} >= {"cancel", "card", "thanks"}


def test_without_a_test_split_no_text_helps_to_choose_the_threshold_it_is_judged_by(
    tmp_path: Path, tiny_path: Path
) -> None:
    studio = started(tmp_path / "home", tmp_path, tests=False)
    metrics = train(studio, tiny_path, {"kind": "instant"})
    assert metrics["judged_on"] == "5-fold cross-validation over 16 texts"
    assert metrics["n"] == 16
    assert 0 <= metrics["accuracy"] <= metrics["micro_f1"] + 1
    studio.database.close()


def test_a_hot_label_of_no_intent_votes_as_after_a_new_fit(live_studio: LiveStudio) -> None:
    studio, text = live_studio.studio, "on the ninth of may"
    before = live_studio.models.get(1)
    assert before is not None
    decide(studio, Operation("k-000001", "out-of-scope", row_id(studio, text)))
    decide(
        studio,
        Operation("k-000002", "label", row_id(studio, "a new card"), (ids(studio)["card"],)),
    )
    live = live_studio.models.get(1)
    assert live is not None
    assert row_id(studio, text) in live.hot
    head = live.pipeline.head
    again = fit_head(
        VotesConfig(tau=head.tau, ridge=head.ridge), head.exemplars, head.targets, head.intents
    )
    asked = live.pipeline.encoder.encode(["cancel my card", "on the ninth"])
    np.testing.assert_allclose(head.scores(asked), again.scores(asked), atol=1e-6)
    [answer] = live.pipeline.predict([text])
    assert (answer.decision.rule, answer.decision.intents) == ("exact", ())
    assert answer.decision.words == "no intent"


def decide(studio: Studio, operation: Operation) -> None:
    [outcome] = decisions.decide(studio, "p", [operation])
    assert outcome.state == "saved", outcome.message


def test_a_new_intents_column_takes_the_common_threshold(live_studio: LiveStudio) -> None:
    studio = live_studio.studio
    key = row_id(studio, "cancel it")
    seen = (ids(studio)["cancel"],)
    decide(studio, Operation("k-000001", "label", key, seen, create=("abort",), seen=seen))
    live = live_studio.models.get(1)
    assert live is not None
    assert live.pipeline.head.intents[-1] == "abort"
    limits = live.pipeline.calibration.limits(4)
    assert limits[-1] == live.pipeline.calibration.threshold
    [answer] = live.pipeline.predict(["cancel it"])
    assert set(answer.decision.intents) == {"abort", "cancel"}


def test_suggestions_in_the_answer_are_marked_and_come_first(live_studio: LiveStudio) -> None:
    studio = live_studio.studio
    live = live_studio.models.get(1)
    assert live is not None
    keys = [row_id(studio, text) for text in POOL]
    for item in Queues(live_studio).suggest("p", keys):
        [answer] = live.pipeline.predict([item.text])
        assert item.suggestions is not None
        marked = [one.intent for one in item.suggestions if one.marked]
        assert set(marked) == set(answer.decision.intents) or answer.decision.rule == "exact"
        assert [one.marked for one in item.suggestions] == sorted(
            (one.marked for one in item.suggestions), reverse=True
        )
        assert item.out_of_scope == (not marked)


def test_the_most_unsure_is_nearest_to_a_threshold(live_studio: LiveStudio) -> None:
    pool = live_studio.pools.wait(1)
    assert pool is not None
    assert pool.task == "multi-label"
    distance = np.sort(np.abs(pool.margins), axis=1)
    for order, column in (("unsure", 0), ("torn", 1)):
        [item] = Queues(live_studio).next("p", QueueRequest("tab", order, 1)).items
        assert item.text == pool.records[int(distance[:, column].argmin())].text


def votes_of(why: answers.Why) -> float:
    return sum(near.vote for near in why.reason.neighbours) + why.votes_of_others


def test_each_intent_of_an_answer_is_explained_by_votes_that_sum_to_its_score(
    live_studio: LiveStudio,
) -> None:
    [found] = answers.answer_texts(live_studio, "p", ["please cancel my card"])
    assert {w.reason.intent for w in found.reasons} == {"cancel", "card"}
    for why in found.reasons:
        assert votes_of(why) + why.reason.prior == pytest.approx(why.reason.score)
        assert why.reason.score >= why.reason.threshold
    alone = sum(near.vote for near in found.prediction.neighbours) + found.votes_of_others
    assert alone == pytest.approx(votes_of(found.reasons[0]))
    assert "card (" in found.sentence
    assert "cancel (" in found.sentence
    [nothing] = answers.answer_texts(live_studio, "p", ["my name is john smith"])
    assert nothing.sentence == "This has no intent, exactly as an example says."
    assert len(nothing.reasons) == 1
    assert nothing.landing is not None


def test_each_intent_of_an_answer_has_its_words_and_its_load_bearing_examples(
    live_studio: LiveStudio,
) -> None:
    found = explain(live_studio, "p", "now cancel my card")
    assert {reason.intent for reason in found.reasons} == set(found.answer) == {"cancel", "card"}
    for reason in found.reasons:
        votes = sum(vote.vote for vote in reason.votes) + reason.others
        assert votes + reason.prior == pytest.approx(reason.score, abs=1e-6)
        assert (reason.words.rival, reason.words.difference) == (None, pytest.approx(reason.score))
        assert reason.load_bearing.after == f"without {reason.intent}"
    assert found.why_not is None  # nothing else could be meant
    asked = explain(live_studio, "p", "now cancel my card", against="thanks")
    assert asked.why_not.intent == "thanks"
    assert asked.why_not.behind > 0


def test_examples_of_several_intents_or_none_are_on_the_map_of_examples(
    live_studio: LiveStudio,
) -> None:
    shown = answers.load_example_map(live_studio, "p")
    assert set(shown.labels) == {("cancel",), ("cancel", "card"), ("card",), ("thanks",), ()}
    assert shown.codes.count(shown.labels.index(())) == 4


def test_a_pin_expects_just_its_intents(live_studio: LiveStudio) -> None:
    known = ids(live_studio.studio)
    pins.set_pin(live_studio, "p", "cancel my card please", [known["card"], known["cancel"]])
    pins.set_pin(live_studio, "p", "I want to cancel the card", [known["cancel"]])
    pins.set_pin(live_studio, "p", "at half past nine", [])
    found = {p.text: (p.expected, p.kept) for p in pins.load_pins(live_studio, "p")}
    assert found == {
        "cancel my card please": ("cancel and card", True),
        "I want to cancel the card": ("cancel", False),
        "at half past nine": ("no intent", True),
    }
    from app.services.data.projects import create_project

    create_project(live_studio.studio, "single")
    with pytest.raises(InvalidInput, match="one intent"):
        pins.set_pin(live_studio, "single", "text", [known["card"], known["cancel"]])


def test_candidate_and_champion_are_compared_by_exact_sets(several: Studio) -> None:
    found = comparison.compare_models(several, "p", 2, 1)
    assert (found.task, found.basis, found.n) == ("multi-label", "test split", 3)
    with several.database.read() as connection:
        stored = [models.find(connection, 1, number).metrics for number in (1, 2)]
    assert (found.before, found.after) == tuple(m["accuracy"] for m in stored)
    assert found.f1 == pytest.approx(tuple(m["micro_f1"] for m in stored))
    assert any("with just the right intents" in words for words in found.words)
    assert any(words.startswith("Average over all answers") for words in found.words)
    # “No loss of exact match” stood on Train and Versions.
    reasons = comparison.gate(found).reasons
    assert any("of exactly right answers" in words for words in reasons)


def test_what_differs_is_judged_on_sets(live_studio: LiveStudio) -> None:
    from core.heads.votes.fit import leave_one_out

    live = live_studio.models.get(1)
    assert live is not None
    pipeline = live.pipeline
    answered = leave_one_out(pipeline.head) >= pipeline.calibration.limits(3)
    expected = {
        e.id
        for e, row in zip(pipeline.exemplars, answered, strict=True)
        if {n for n, is_in in zip(pipeline.head.intents, row, strict=True) if is_in}
        != set(e.intents)
    }
    with live_studio.studio.database.read() as connection:
        tests = {r.id: r.text for r in dataset.utterances(connection, 1, "test")}
    wanted = sets(TESTS)
    for prediction in pipeline.predict(list(tests.values())):
        if set(prediction.decision.intents) != wanted[prediction.text]:
            expected |= {key for key, text in tests.items() if text == prediction.text}
    assert set(disagreements.differing_ids(live_studio, "p")) == expected


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "spreadsheet"])
def test_sets_none_and_unlabelled_come_back_from_every_format(
    several: Studio, tmp_path: Path, kind: str
) -> None:
    out = tmp_path / ("out.csv" if kind == "spreadsheet" else f"out.{kind}")
    export_file(several, "p", out, ExportChoice(kind))
    from app.services.data.projects import create_project

    create_project(several, "again", "multi-label")
    report = import_file(several, ImportRequest("again", out))
    assert (report.added, report.labelled, report.without) == (24, 19, 5)
    again = tmp_path / f"again.{out.suffix}"
    export_file(several, "again", again, ExportChoice(kind))
    assert again.read_bytes() == out.read_bytes()
    rows = read_rows(out, ReadOptions(separator="|"))
    found = {r.text: r.intents for r in rows if isinstance(r, ImportedRow)}
    assert found["cancel my card please"] == ("cancel", "card")
    assert found["on the third of may"] == ()
    assert found["a new card"] is None


def test_a_dry_run_says_how_a_cell_says_no_intent(several: Studio, tmp_path: Path) -> None:
    file = write(tmp_path / "new.csv", [("nothing of it", "|"), ("thanks a lot", "|")])
    report = import_file(several, ImportRequest("p", file, dry_run=True))
    assert (report.added, report.without, report.conflicting) == (1, 1, 1)
    assert "A cell of | alone says that the text has no intent" in report.convention
    assert report.examples == ("row 3 says no intent; label kept: 'thanks a lot'",)


def test_jsonl_of_the_preview_shows_no_intent_and_unlabelled_apart(tmp_path: Path) -> None:
    from core.formats.preview import preview_file

    file = tmp_path / "a.jsonl"
    rows = [{"text": "a", "intents": []}, {"text": "b"}, {"text": "c", "intents": ["x", "y"]}]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    shown = preview_file(file, ReadOptions()).rows
    assert shown == (("a", "|"), ("b", ""), ("c", "x, y"))


def test_the_map_gives_combinations_entries_of_their_own(live_studio: LiveStudio) -> None:
    found = requests.map_colours(live_studio, "p", 1, "intent")
    counts = dict(zip((c.name for c in found.legend), found.counts, strict=True))
    assert counts == {
        "cancel": 3,
        "card": 3,
        "thanks": 4,
        "cancel + card": 4,
        "no intent": 5,
        "unlabelled": 5,
    }
    assert sum(requests.map_colours(live_studio, "p", 1, "prediction").counts) == 24


def test_agreement_on_the_map_is_that_of_sets(live_studio: LiveStudio) -> None:
    studio = live_studio.studio
    found = requests.map_colours(live_studio, "p", None, "agreement")
    counts = dict(zip((c.name for c in found.legend), found.counts, strict=True))
    with studio.database.read() as connection:
        rows = {row.id: row for row in dataset.utterances(connection, 1)}
    kinds = {"agrees": 0, "shares an intent": 0, "differs": 0, "unlabelled": 5}
    for answer in answer_rows(studio, live_studio.models, "p", list(rows)).answers:
        label = rows[answer.id].labels
        if label is not None:
            said = set(answer.intents)
            shares = "shares an intent" if said & set(label) else "differs"
            kinds["agrees" if said == set(label) else shares] += 1
    assert sum(kinds.values()) == 24
    assert counts == kinds


def test_somebody_elses_no_intent_is_told_as_such(several: Studio) -> None:
    key = row_id(several, "thanks")
    decide(several, Operation("k-000001", "out-of-scope", key))
    clash = Operation("k-000002", "label", key, (ids(several)["thanks"],))
    [outcome] = decisions.decide(several, "p", [clash])
    assert outcome.state == "conflict"
    assert "has labelled “thanks” as no intent" in outcome.message
    [empty] = decisions.decide(several, "p", [Operation("k-000003", "label", key, seen=())])
    assert empty.hint == "Choose one, or press O for no intent."
    counts, _ = load_overview(several, "p")
    assert (counts.labelled, counts.out_of_scope, counts.unlabelled) == (14, 6, 4)
    with several.database.read() as connection:
        assert projects.find(connection, "p").task == "multi-label"


def test_the_terminal_tells_of_every_intent(
    several: Studio, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "tests.csv", TESTS)
    home = str(several.places.home)

    def said(*words: str) -> dict:
        assert main(["--home", home, *words, "--json"]) == 0
        return json.loads(capsys.readouterr().out.strip().splitlines()[-1])

    with several.database.read() as connection:
        stored = models.find(connection, 1, 1).metrics
    judged = said("evaluate", "p@1", str(file))
    assert {k: judged[k] for k in ("accuracy", "micro_f1", "n")} == {
        k: stored[k] for k in ("accuracy", "micro_f1", "n")
    }
    [one, none] = said("predict", "p@1", "cancel my card please", "at half past nine")[
        "predictions"
    ]
    assert set(one["decision"]["intents"]) == {"cancel", "card"}
    assert {reason["intent"] for reason in one["reasons"]} == {"cancel", "card"}
    assert none["intent"] is None
    assert (none["decision"]["intents"], none["decision"]["rule"]) == ([], "exact")
    assert main(["--home", home, "explain", "p@1", "cancel my card please"]) == 0
    words = capsys.readouterr().out
    assert "Votes for cancel" in words
    assert "Votes for card" in words
    assert main(["--home", home, "predict", "p@1", "at half past nine"]) == 0
    assert "no intent" in capsys.readouterr().out
    assert main(["--home", home, "evaluate", "p@1", str(file)]) == 0
    assert "exact match" in capsys.readouterr().out
