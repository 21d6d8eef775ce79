"""A client that a generator makes of the schema speaks with a served studio."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from app.server import build_app
from app.services.live.live_studio import LiveStudio
from tests.builders.served_studio import listening
from tests.served_in_memory import TOKEN

NAME = "generated_studio_client"


@pytest.fixture
def package(client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The generated package, which can be imported by its name."""
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps(client.get("/api/v1/schema").json()), encoding="utf-8")
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none"]
    target = tmp_path / NAME
    made = subprocess.run(
        [*command, "--path", str(schema), "--output-path", str(target)],
        capture_output=True,
        text=True,
        env={"PATH": str(Path(sys.executable).parent)},
    )
    assert made.returncode == 0, made.stdout + made.stderr
    assert "WARNING parsing" not in made.stdout + made.stderr  # an endpoint that was left out
    monkeypatch.syspath_prepend(tmp_path)
    return NAME


def test_a_generated_client_predicts_and_reads_errors(
    package: str, live_studio: LiveStudio, trained: str
) -> None:
    of = {
        name: importlib.import_module(f"{package}.{name}")
        for name in ("client", "models", "api.predict.predict_predict")
    }
    predict, models = of["api.predict.predict_predict"].sync, of["models"]
    body = models.TextsBody(texts=["my parcel has not arrived", "a refund please"])
    with listening(build_app(live_studio, TOKEN, frozenset({"127.0.0.1"}))) as port:
        address = f"http://127.0.0.1:{port}"
        with of["client"].AuthenticatedClient(base_url=address, token=TOKEN) as known:
            answers = predict(project=trained, client=known, body=body)
            assert [answer.prediction.text for answer in answers] == body.texts
            assert answers[0].prediction.decision.intents == ["parcel"]
            missing = predict(project="nobody", client=known, body=body)
        with of["client"].Client(base_url=address) as stranger:
            refused = predict(project=trained, client=stranger, body=body)
    assert isinstance(missing, models.Problem)
    assert missing.message.startswith("There is no project 'nobody'")
    assert "token" in refused.message
