"""What `bundle keygen` and `bundle verify` say of keys and signatures."""

import json
from pathlib import Path

import pytest

from app.cli import main
from core.bundle.archive import export_bundle
from core.bundle.layout import save_pipeline
from core.encoders.packed.encoder import TransformerEncoder
from tests.core.bundle.test_bundle import FACTS, pipeline

pytest.importorskip("cryptography", reason="signatures need the extra `sign`")


def test_each_state_of_a_signature_has_its_words(
    tiny: TransformerEncoder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key, public, other = tmp_path / "key", tmp_path / "key.pub", tmp_path / "other"
    assert main(["bundle", "keygen", str(key), "--json"]) == 0
    fingerprint = json.loads(capsys.readouterr().out)["fingerprint"]
    assert main(["bundle", "keygen", str(other)]) == 0
    assert "keep it secret" in capsys.readouterr().out
    save_pipeline(pipeline(tiny), FACTS, tmp_path / "p")
    plain, signed = tmp_path / "plain.zip", tmp_path / "signed.zip"
    export_bundle(tmp_path / "p", plain)
    export_bundle(tmp_path / "p", signed, key)
    assert main(["bundle", "verify", str(plain)]) == 0
    assert "It bears no signature" in capsys.readouterr().out
    assert main(["bundle", "verify", str(signed)]) == 0
    assert f"by the key {fingerprint}. Compare that" in capsys.readouterr().out
    assert main(["bundle", "verify", str(signed), "--key", str(public)]) == 0
    assert f"It is signed by {public} ({fingerprint})." in capsys.readouterr().out
    assert main(["bundle", "verify", str(signed), "--key", str(public), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["sound"], told["signed"], told["signer"]) == (True, True, fingerprint)
    assert main(["bundle", "verify", str(plain), "--key", str(public)]) == 2
    assert "The bundle bears no signature." in capsys.readouterr().err
    assert main(["bundle", "verify", str(signed), "--key", f"{other}.pub", "--json"]) == 2
    refused = capsys.readouterr()
    assert refused.out == ""
    assert json.loads(refused.err)["message"].startswith("The bundle is signed by another key: by")
