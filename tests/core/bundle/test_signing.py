"""Signed bundles: by the right key, by another one, and broken."""

import json
import sys
from pathlib import Path

import pytest

from core.bundle import archive, signing
from core.bundle.archive import MANIFEST, export_bundle, open_bundle, verify_bundle
from core.bundle.layout import save_pipeline
from core.bundle.signing import SIGNATURE, fingerprint_of, make_key
from core.encoders.packed.encoder import TransformerEncoder
from core.errors import ArtifactDamaged, InvalidInput
from tests.core.bundle.test_bundle import FACTS, pipeline, rewritten

pytest.importorskip("cryptography", reason="signatures need the extra `sign`")


@pytest.fixture(scope="module")
def stored(tiny: TransformerEncoder, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("stored") / "p"
    save_pipeline(pipeline(tiny), FACTS, folder)
    return folder


@pytest.fixture(scope="module")
def keys(tmp_path_factory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("keys")
    made = folder / "mine", folder / "other"
    for key in made:
        make_key(key)
    return made


@pytest.fixture(scope="module")
def signed(stored: Path, keys: tuple[Path, Path], tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("signed") / "p.zip"
    export_bundle(stored, out, keys[0])
    return out


def public(key: Path) -> Path:
    return key.with_name(key.name + ".pub")


def test_a_signed_bundle_is_verified_by_its_public_key(signed: Path, keys, stored: Path, tmp_path):
    manifest = verify_bundle(signed, public(keys[0]))
    assert manifest.signature is not None
    assert manifest.signature.fingerprint == verify_bundle(signed).signature.fingerprint
    assert len(manifest.signature.fingerprint.split()) == 8
    export_bundle(stored, tmp_path / "again.zip", keys[0])
    assert (tmp_path / "again.zip").read_bytes() == signed.read_bytes()
    assert keys[0].stat().st_mode & 0o777 == 0o600
    with open_bundle(signed) as (folder, _):
        assert not (folder / SIGNATURE).exists()


def test_a_bundle_of_another_key_names_both_fingerprints(signed: Path, keys) -> None:
    with pytest.raises(ArtifactDamaged, match="signed by another key: by ") as refused:
        verify_bundle(signed, public(keys[1]))
    assert verify_bundle(signed).signature.fingerprint in refused.value.message
    assert "Do not trust the bundle" in refused.value.hint


def test_an_unsigned_bundle_is_not_that_of_a_key(stored: Path, keys, tmp_path: Path) -> None:
    export_bundle(stored, tmp_path / "plain.zip")
    assert verify_bundle(tmp_path / "plain.zip").signature is None
    with pytest.raises(ArtifactDamaged, match="bears no signature"):
        verify_bundle(tmp_path / "plain.zip", public(keys[0]))


def forged(entries):
    """Write another description of an intent, and a manifest that fits it."""
    names = {info.filename: content for info, content in entries}
    manifest = json.loads(names[MANIFEST])
    manifest["facts"]["project"] = "q"
    facts = json.dumps(manifest["facts"], ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    sha = archive.hashlib.sha256(facts.encode()).hexdigest()
    manifest["files"]["facts.json"] = {"sha256": sha, "size": len(facts.encode())}
    changed = {"facts.json": facts.encode(), MANIFEST: json.dumps(manifest).encode()}
    return [(info, changed.get(info.filename, content)) for info, content in entries]


def test_a_manifest_that_was_adjusted_breaks_the_signature(signed: Path, tmp_path: Path) -> None:
    """A recomputed manifest passes every digest; only the signature tells."""
    out = rewritten(signed, tmp_path / "forged.zip", forged)
    with pytest.raises(ArtifactDamaged, match="signature is broken"):
        verify_bundle(out)


@pytest.mark.parametrize("content", [b"", b"{}", b'{"format": 1, "public_key": 5}', b"\xff"])
def test_a_signature_that_cannot_be_read_is_refused(signed: Path, tmp_path: Path, content) -> None:
    out = rewritten(
        signed,
        tmp_path / "b.zip",
        lambda entries: [(i, content if i.filename == SIGNATURE else c) for i, c in entries],
    )
    with pytest.raises(ArtifactDamaged, match="signature cannot be read"):
        verify_bundle(out)


def test_keys_are_told_apart_and_never_overwritten(stored: Path, keys, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="exists already"):
        make_key(keys[0])
    with pytest.raises(InvalidInput, match=r"mine\.pub holds no Ed25519 private key"):
        export_bundle(stored, tmp_path / "p.zip", public(keys[0]))
    assert not (tmp_path / "p.zip").exists()
    with pytest.raises(InvalidInput, match="mine holds no Ed25519 public key"):
        signing.check_signer(None, keys[0])
    with pytest.raises(InvalidInput, match="cannot be read: No such file"):
        signing.check_signer(None, tmp_path / "none")


def test_without_the_library_a_signature_is_not_checked(
    signed: Path, keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives", None)
    assert verify_bundle(signed).signature is not None
    with pytest.raises(InvalidInput, match="need the package cryptography") as refused:
        verify_bundle(signed, public(keys[0]))
    assert refused.value.hint == "pip install 'intent-studio[sign]'"


def test_the_fingerprint_is_of_the_public_key() -> None:
    assert fingerprint_of(bytes(32)) == "6668 7aad f862 bd77 6c8f c18b 8e9f 8e20"
