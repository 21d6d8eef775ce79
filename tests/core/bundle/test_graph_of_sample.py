"""The graph of the sample's model gives the same intents, verdicts and votes as the torch path."""

import csv
from pathlib import Path

import numpy as np

from core.bundle.graph_layout import keep_stored_answers, save_graph
from core.encoders.loading import BUNDLED, load_encoder
from core.recipes.labels import InstantRecipe
from core.runtime.comparing import compare
from core.runtime.engine import open_engine
from core.training.events import drain
from core.training.from_labels.inputs import RunInputs
from core.training.from_labels.runs import run_recipe
from core.types import Exemplar, Intent

SAMPLE = Path(__file__).parents[3] / "assets" / "sample"


def rows_of(name: str) -> list[dict[str, str]]:
    with (SAMPLE / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_200_texts_get_the_same_intent_verdict_and_votes(tmp_path: Path) -> None:
    rows = rows_of("labelled.csv")
    exemplars = tuple(Exemplar(str(n), r["text"], (r["intent"],)) for n, r in enumerate(rows))
    intents = tuple(Intent(name) for name in sorted({row["intent"] for row in rows}))
    inputs = RunInputs(exemplars, intents, load_encoder(BUNDLED))
    made = drain(run_recipe(InstantRecipe(), inputs), lambda _: None).pipeline
    save_graph(made, {}, tmp_path, "float32")
    test = [row["text"] for row in (*rows_of("test.csv"), *rows_of("pool_out_of_scope.csv"))]
    keep_stored_answers(made, test[-200:], tmp_path)
    engine = open_engine(tmp_path, threads=1)
    found = compare(tmp_path, engine)
    assert (found.texts, found.others) == (200, 0)
    assert found.largest < 1e-4
    answers, again = made.predict(test[-200:]), engine.predict(test[-200:])
    assert {one.decision.rule for one in again} >= {"votes", "out-of-scope"}
    for mine, its in zip(answers, again, strict=True):
        assert its.reason.neighbours[0].exemplar_id == mine.reason.neighbours[0].exemplar_id
    outputs = engine.outputs(test[-200:])
    best = outputs["scores"].argmax(1)
    total = outputs["votes"].sum(1) + engine.decider.prior[best]
    assert np.abs(total - outputs["scores"].max(1)).max() < 1e-5
