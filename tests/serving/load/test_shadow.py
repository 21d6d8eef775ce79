"""A shadow model answers unseen; what differs is counted, and kept without texts unless asked."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.serving import shadow as shadow_module
from app.serving.limits import Serving
from app.serving.model import open_model
from app.serving.server import make_application
from app.serving.shadow import Shadow
from core.bundle.archive import export_bundle
from core.bundle.graph_layout import save_graph
from core.deciding import Decided
from core.pipeline import IntentPipeline
from tests.core.bundle.test_bundle import FACTS
from tests.serving.load.test_replacing import FAILED, QUICK, RELOADS, measure, put, until
from tests.serving.test_command import options_of
from tests.serving.test_replies import ASKED

LEFT_OUT = 'intent_studio_model_shadow_left_out_total{model="p"}'
TEXTS = 'intent_studio_model_shadow_texts_total{model="p"}'


@pytest.fixture(scope="module")
def open_model_file(made: IntentPipeline, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of the same model that lets every text in."""
    folder = tmp_path_factory.mktemp("open")
    lenient = replace(made.calibration, threshold=-9.0)
    other = replace(made, calibration=lenient, model_version="p@4")
    save_graph(other, {**FACTS, "model_version": "p@4"}, folder / "g", "float32")
    export_bundle(folder / "g", folder / "g.zip")
    return folder / "g.zip"


def outside(made: IntentPipeline) -> list[str]:
    return [one.text for one in made.predict(ASKED) if one.decision.out_of_scope]


@pytest.mark.parametrize("texts", [False, True])
def test_differing_answers_are_counted_and_kept(
    graph: Path, open_model_file: Path, made: IntentPipeline, tmp_path: Path, texts
) -> None:
    file = tmp_path / "differing.jsonl"
    serving = Serving(
        str(graph),
        threads=1,
        shadow=str(open_model_file),
        shadow_file=str(file),
        shadow_texts=texts,
    )
    with TestClient(make_application(serving)) as client:
        reply = client.post("/predict", json={"texts": [*ASKED, " "]}).json()
        assert reply["model_version"] == "p@3"
        until(lambda: measure(client, TEXTS) == str(len(ASKED)))
        words = client.get("/metrics").text
    missed = outside(made)
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert len(lines) == len(missed) > 0
    assert file.stat().st_mode & 0o777 == 0o600
    for line, text in zip(lines, missed, strict=True):
        assert (line.get("text") == text) is texts
        assert (line["model_version"], line["shadow_version"]) == ("p@3", "p@4")
        assert (line["intents"], len(line["shadow_intents"])) == ([], 1)
        assert 0 < line["shadow_probabilities"][0] <= 1
    counted = sum(
        int(line.rpartition(" ")[2])
        for line in words.splitlines()
        if line.startswith('intent_studio_model_shadow_differing_total{model="p",intent="(none)"')
    )
    assert counted == len(missed)
    assert 'model_shadow_info{model="p",model_version="p@4"} 1' in words
    assert not any(text in words for text in missed)


def test_a_shadow_is_replaced_as_the_model_is_and_counted_apart(
    graph: Path, open_model_file: Path, tmp_path: Path
) -> None:
    """Its bundles, and those that were refused, counted as bundles of the model that answers."""
    path = tmp_path / "shadow.zip"
    path.write_bytes(graph.read_bytes())
    serving = Serving(str(graph), threads=1, shadow=str(path), look_seconds=QUICK)
    with TestClient(make_application(serving)) as client:
        client.post("/predict", json={"texts": ASKED})
        until(lambda: measure(client, TEXTS) == str(len(ASKED)))
        assert "shadow_differing_total{" not in client.get("/metrics").text
        put(path, open_model_file.read_bytes()[:-100])
        until(lambda: measure(client, FAILED.replace("model_", "model_shadow_")) == "1")
        put(path, open_model_file.read_bytes())
        until(lambda: measure(client, RELOADS.replace("model_", "model_shadow_")) == "1")
        client.post("/predict", json={"texts": ASKED})
        until(lambda: measure(client, TEXTS) == str(2 * len(ASKED)))
        assert "shadow_differing_total{" in client.get("/metrics").text
        assert [measure(client, name) for name in (RELOADS, FAILED)] == ["0", "0"]


def test_further_pairs_of_answers_are_counted_together(
    graph: Path, made: IntentPipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each set of several intents made a measure of its own, of which there was no end."""
    monkeypatch.setattr(shadow_module, "_MOST_PAIRS", 2)
    shadow = Shadow(open_model(str(graph), threads=1))
    [answer] = made.predict(ASKED[:1])
    for intents in ((), ("a", "b"), ("c",), ("d",), ("b", "a"), ()):
        other = Decided(replace(answer.decision, intents=intents), [0], ())
        shadow._compare(shadow.model, [answer], [other])
    mine = answer.decision.intents[0]
    told = {(mine, "(none)"): 2, (mine, "a+b"): 2, ("(other)", "(other)"): 2}
    assert (shadow.differing, shadow.texts) == (told, 6)


def test_what_there_is_no_room_for_is_left_out(
    graph: Path, made: IntentPipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shadow_module, "_MOST_WAITING", 4)
    shadow = Shadow(open_model(str(graph), threads=1))
    shadow.offer(made.predict(ASKED))
    assert (shadow.left_out, len(shadow._queue)) == (len(ASKED) - 4, 4)
    shadow.offer(made.predict(ASKED))
    assert shadow.left_out == 2 * len(ASKED) - 4


def test_a_shadow_that_breaks_harms_nobody_and_goes_on(
    graph: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    whole = shadow_module._decided

    def broken(model: object, answers: object) -> None:
        monkeypatch.setattr(shadow_module, "_decided", whole)
        raise RuntimeError("my secret")

    monkeypatch.setattr(shadow_module, "_decided", broken)
    serving = Serving(str(graph), threads=1, shadow=str(graph))
    with TestClient(make_application(serving)) as client:
        assert client.post("/predict", json={"texts": ASKED}).status_code == 200
        until(lambda: measure(client, LEFT_OUT) == str(len(ASKED)))
        assert client.post("/predict", json={"texts": ASKED}).status_code == 200
        until(lambda: measure(client, TEXTS) == str(len(ASKED)))
    assert "the shadow broke" in caplog.text
    assert "secret" not in caplog.text


def test_a_full_file_gets_no_more_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shadow_module, "_MOST_BYTES", 40)
    for _ in range(5):
        shadow_module._append(tmp_path / "f", [{"intents": []}])
    assert (tmp_path / "f").read_text("utf-8") == '{"intents": []}\n' * 2
    shadow_module._append(tmp_path / "absent" / "f", [{}])


def test_what_a_shadow_needs_is_asked_for(graph: Path, tmp_path: Path) -> None:
    file = ("--shadow-file", str(tmp_path / "f"))
    for words in (file, ("--shadow", str(graph), "--shadow-texts"), ("--shadow-texts",)):
        with pytest.raises(Exception, match="Differing answers are kept of a shadow model"):
            options_of(str(graph), *words)
    with pytest.raises(Exception, match="There is no file"):
        options_of(str(graph), "--shadow", str(tmp_path / "absent.zip"))
    found = options_of(str(graph), "--shadow", str(graph), *file, "--shadow-texts")
    assert (found.shadow, found.shadow_texts) == (str(graph), True)
