"""One server answers by several models: each by its name, the first where none is named."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.serving.limits import Serving
from app.serving.server import make_application
from app.terminal.measuring.served import started
from core.bundle.archive import export_bundle
from core.bundle.graph_layout import save_graph
from core.errors import InvalidInput
from core.pipeline import IntentPipeline
from intent_studio_client.connection import StudioFault
from intent_studio_client.model_server import ModelServer
from tests.core.bundle.test_bundle import FACTS
from tests.serving.load.test_replacing import QUICK, measure, put, until
from tests.serving.test_command import ROOT, RUN, options_of
from tests.serving.test_platforms import CLU, CX, ES, clu_request, cx_request, es_request
from tests.serving.test_replies import KNOWN


def bundle(made: IntentPipeline, folder: Path, project: str, number: int) -> Path:
    """Make a bundle whose intents bear the name of its project."""
    mine = made.renamed(tuple(f"{project} {name}" for name in made.head.intents))
    version = f"{project}@{number}"
    facts = {**FACTS, "project": project, "model_version": version}
    save_graph(replace(mine, model_version=version), facts, folder / version, "float32")
    export_bundle(folder / version, folder / f"{version}.zip")
    return folder / f"{version}.zip"


@pytest.fixture(scope="module")
def shop(made: IntentPipeline, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bundle(made, tmp_path_factory.mktemp("shop"), "shop", 1)


@pytest.fixture(scope="module")
def newer(made: IntentPipeline, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return bundle(made, tmp_path_factory.mktemp("newer"), "shop", 2).read_bytes()


@pytest.fixture
def files(graph: Path, shop: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Two bundles that a test may replace, of the projects p and shop."""
    first, second = tmp_path / "first.zip", tmp_path / "second.zip"
    first.write_bytes(graph.read_bytes())
    second.write_bytes(shop.read_bytes())
    return first, second


@pytest.fixture
def client(files: tuple[Path, Path]) -> Iterator[TestClient]:
    first, second = map(str, files)
    serving = Serving(first, threads=1, look_seconds=QUICK, key="k1", others={second: ""})
    with TestClient(make_application(serving), headers={"X-API-Key": "k1"}) as found:
        yield found


def test_the_first_answers_whoever_names_none(client: TestClient) -> None:
    said = {"text": KNOWN}
    for body, model, version in (
        (said, "p", "p@3"),
        (said | {"model": "p"}, "p", "p@3"),
        (said | {"model": "shop"}, "shop", "shop@1"),
    ):
        reply = client.post("/predict", json=body).json()
        assert (reply["model"], reply["model_version"]) == (model, version)
        [intent] = reply["predictions"][0]["intents"]
        assert intent.startswith("shop ") is (model == "shop")
    assert client.get("/v2/models").json() == {"models": ["p", "shop"]}


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"text": KNOWN, "model": "other"}, 404, "There is no model 'other' here."),
        ({"text": KNOWN, "model": 7}, 400, "The model's name is no text."),
    ],
)
def test_a_model_that_is_not_there_is_refused(
    client: TestClient, body: dict, status: int, words: str
) -> None:
    reply = client.post("/predict", json=body)
    assert (reply.status_code, reply.json()["error"]) == (status, words)
    assert client.post("/models/other/predict", json={"text": KNOWN}).status_code == 404


def test_the_open_inference_protocol_names_each(client: TestClient) -> None:
    asked = {"inputs": [{"name": "text", "shape": [1], "datatype": "BYTES", "data": [KNOWN]}]}
    for name, number in (("p", "3"), ("shop", "1")):
        assert client.get(f"/v2/models/{name}").json()["versions"] == [number]
        for address in (f"/v2/models/{name}", f"/v2/models/{name}/versions/{number}"):
            ready = client.get(f"{address}/ready")
            assert (ready.status_code, ready.json()) == (200, {"name": name, "ready": True})
        reply = client.post(f"/v2/models/{name}/infer", json=asked).json()
        assert (reply["model_name"], reply["model_version"]) == (name, number)
        assert reply["outputs"][0]["data"][0].startswith("shop ") is (name == "shop")
    assert client.get("/v2/models/shop/versions/3").status_code == 404


def test_clients_of_platforms_choose_by_their_address(client: TestClient) -> None:
    """They can neither name a model in the body nor in a query; their base address is theirs."""
    del client.headers["X-API-Key"]
    at = "/models/shop"
    rasa = client.post(f"{at}/model/parse?token=k1", json={"text": KNOWN}).json()
    azure = {"Ocp-Apim-Subscription-Key": "k1"}
    clu = client.post(at + CLU, json=clu_request(KNOWN), headers=azure).json()
    google = {"X-Goog-Api-Key": "k1"}
    es = client.post(at + ES, json=es_request(KNOWN), headers=google).json()
    cx = client.post(f"{at}{CX}:detectIntent", json=cx_request(KNOWN), headers=google).json()
    for found in (
        rasa["intent"]["name"],
        clu["result"]["prediction"]["topIntent"],
        es["queryResult"]["intent"]["displayName"],
        cx["queryResult"]["intent"]["displayName"],
    ):
        assert found.startswith("shop ")
    assert "error" in client.post(at + ES, json={}, headers=google).json()
    refused = client.post(at + ES, json=es_request(KNOWN))
    assert refused.json()["error"]["status"] == "UNAUTHENTICATED"
    assert client.get("/models/shop/health/ready").status_code == 401


def test_measures_are_told_by_model(client: TestClient) -> None:
    client.post("/predict", json={"texts": [KNOWN, " "]})
    for _ in range(2):
        client.post("/predict", json={"texts": [KNOWN] * 3, "model": "shop"})
    name = "intent_studio_model_"
    for model, requests, texts, outside in (("p", "1", "1", "1"), ("shop", "2", "6", "0")):
        mine = f'model="{model}"'
        counted = f'{name}requests_total{{{mine},route="/predict",status="200"}}'
        assert measure(client, counted) == requests
        assert measure(client, f"{name}request_seconds_count{{{mine}}}") == requests
        assert measure(client, f"{name}score_count{{{mine}}}") == texts
        assert measure(client, f"{name}texts_outside_total{{{mine}}}") == outside
        assert measure(client, f"{name}waiting_texts{{{mine}}}") == "0"
    words = client.get("/metrics").text
    assert f'{name}info{{model="shop",model_version="shop@1"' in words
    helped = [line.split()[2] for line in words.splitlines() if line.startswith("# HELP")]
    assert len(helped) == len(set(helped))


def test_each_is_replaced_by_itself(
    client: TestClient, files: tuple[Path, Path], newer: bytes
) -> None:
    put(files[1], newer)
    until(lambda: measure(client, 'intent_studio_model_reloads_total{model="shop"}') == "1")
    found = {
        name: client.post("/predict", json={"text": KNOWN, "model": name}).json()["model_version"]
        for name in ("p", "shop")
    }
    assert found == {"p": "p@3", "shop": "shop@2"}
    put(files[0], newer[:-100])
    until(lambda: measure(client, 'intent_studio_model_failed_reloads_total{model="p"}') == "1")
    assert measure(client, 'intent_studio_model_reloads_total{model="p"}') == "0"
    assert client.post("/predict", json={"text": KNOWN}).json()["model_version"] == "p@3"


def test_two_of_one_name_are_refused_until_they_are_named(
    graph: Path, files: tuple[Path, Path]
) -> None:
    first, second = files[0], graph
    with pytest.raises(InvalidInput, match="are both named 'p'") as caught:
        make_application(options_of(str(first), str(second)))
    assert "NAME=FILE" in caught.value.hint
    named = options_of(f"old={first}", f"new={second}")
    assert (named.name, list(named.others.values())) == ("old", ["new"])
    with TestClient(make_application(named), base_url="http://127.0.0.1") as client:
        assert client.get("/v2/models").json() == {"models": ["old", "new"]}
    assert Serving(**json.loads(json.dumps(named.values))) == named


def test_names_stand_before_files_and_a_file_may_have_the_sign_in_its_own(
    graph: Path, shop: Path, tmp_path: Path
) -> None:
    odd = tmp_path / "a=b.zip"
    odd.write_bytes(graph.read_bytes())
    found = options_of(str(odd), str(shop), "--name", "bot")
    assert (found.bundle, found.name, found.others) == (str(odd), "bot", {str(shop): ""})
    with pytest.raises(InvalidInput, match="There is no file"):
        options_of(str(odd), f"b={tmp_path / 'absent.zip'}")
    with pytest.raises(InvalidInput, match="named twice"):
        options_of(str(odd), str(shop), f"again={shop}")


def test_the_python_client_chooses_too(files: tuple[Path, Path]) -> None:
    with started(files[0], str(files[1])) as (port, _):
        server = ModelServer(f"http://127.0.0.1:{port}")
        assert server.predict([KNOWN]).model_version == "p@3"
        assert server.predict([KNOWN], model="shop").model_version == "shop@1"
        with pytest.raises(StudioFault, match="no model 'other'"):
            server.predict([KNOWN], model="other")
    code = "import sys; " + RUN.format(root=str(ROOT))
    told = subprocess.run(
        [sys.executable, "-c", code, "serve-model", "--help"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert "[BUNDLE ...]" in told.stdout
