"""Bundles that somebody changed: an entry more, less or other, with a manifest that fits or not."""

import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

from core.bundle.archive import MANIFEST, export_bundle
from core.bundle.layout import save_pipeline
from core.encoders.packed.encoder import TransformerEncoder
from tests.builders.stub_pipeline import trained
from tests.conftest import SENTENCES

Entries = list[tuple[zipfile.ZipInfo, bytes]]


def rewritten(bundle: Path, out: Path, change: Callable[[Entries], Entries]) -> Path:
    """Copy a bundle, letting `change` alter the list of (entry, content)."""
    with zipfile.ZipFile(bundle) as archive:
        entries = [(info, archive.read(info)) for info in archive.infolist()]
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, content in change(entries):
            archive.writestr(info, content)
    return out


def promised(entries: Entries, name: str, content: bytes) -> Entries:
    """Add a file and its promise to the manifest, as a liar would."""
    result = []
    for info, old in entries:
        if info.filename == MANIFEST:
            value = json.loads(old)
            digest = hashlib.sha256(content).hexdigest()
            value["files"][name] = {"sha256": digest, "size": len(content)}
            result.append((info, json.dumps(value).encode()))
        else:
            result.append((info, old))
    return [*result, (zipfile.ZipInfo(name), content)]


def replaced(entries: Entries, name: str, content: bytes) -> Entries:
    """Replace a file, and its promise in the manifest, as somebody with bad intent would."""
    return promised([entry for entry in entries if entry[0].filename != name], name, content)


def with_facts(entries: Entries, facts: object) -> Entries:
    """Tell other facts, in their file and in the manifest alike."""
    told = replaced(entries, "facts.json", json.dumps(facts).encode())
    return [
        (info, json.dumps({**json.loads(old), "facts": facts}).encode())
        if info.filename == MANIFEST
        else (info, old)
        for info, old in told
    ]


def without(entries: Entries, name: str) -> Entries:
    """Leave out a file, and its promise in the manifest."""
    result = []
    for info, content in entries:
        if info.filename == MANIFEST:
            value = json.loads(content)
            del value["files"][name]
            result.append((info, json.dumps(value).encode()))
        elif info.filename != name:
            result.append((info, content))
    return result


def stored_bundle(encoder: TransformerEncoder, folder: Path) -> Path:
    """Store a small model, and return it as a bundle."""
    labels = {text: intent for intent, texts in SENTENCES.items() for text in texts}
    intents = [{"name": name, "description": "about | it"} for name in SENTENCES]
    facts = {"project": "p", "intents": intents, "metrics": {"accuracy": 0.5}}
    save_pipeline(trained(encoder, labels), facts, folder / "stored")
    export_bundle(folder / "stored", folder / "p.zip")
    return folder / "p.zip"
