"""Bundles that were changed at random, in their bytes or with a manifest that fits the change."""

import json
import zipfile
from contextlib import suppress
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from app.services.data.projects import create_project, delete_project, list_projects
from app.services.studio import Studio
from app.services.versions.bundles import import_bundle
from app.services.versions.registry import lineage
from app.services.versions.timeline import list_versions, timeline
from core.bundle.archive import MANIFEST, open_bundle, verify_bundle
from core.bundle.layout import load_pipeline
from core.encoders.packed.encoder import TransformerEncoder
from core.errors import ArtifactDamaged, StudioError
from tests.builders.hostile.changed_bundle import (
    Entries,
    replaced,
    rewritten,
    stored_bundle,
    with_facts,
    without,
)
from tests.builders.hostile.changed_inputs import changed_bytes, changed_json, changed_lines, fuzz

CASES = [
    pytest.param(40, id="quick", marks=pytest.mark.quick),
    pytest.param(2_000, id="fire", marks=pytest.mark.fire),
]


@pytest.fixture(scope="module")
def bundle(tiny: TransformerEncoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored_bundle(tiny, tmp_path_factory.mktemp("bundle"))


def contents(bundle: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(bundle) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def answer(path: Path) -> None:
    with open_bundle(path) as (folder, _):
        pipeline = load_pipeline(folder)
    assert len(pipeline.predict(["give the money back"])) == 1


@pytest.mark.parametrize("n_cases", CASES)
def test_a_bundle_of_changed_bytes_answers_or_is_refused(bundle, tmp_path: Path, n_cases) -> None:
    """A changed byte in a compressed file ended with an error of the compression's library."""
    path = tmp_path / "changed.zip"

    def check(content: bytes) -> None:
        path.write_bytes(content)
        with suppress(StudioError):
            answer(path)

    fuzz(n_cases, changed_bytes(bundle.read_bytes()), check)


def told_otherwise(name: str, content: bytes, entries: Entries) -> Entries:
    """Put a file in, with a manifest that fits it."""
    if name == MANIFEST:
        return [(info, content if info.filename == MANIFEST else old) for info, old in entries]
    if name == "facts.json":
        with suppress(RecursionError):
            return with_facts(entries, json.loads(content))
    return replaced(entries, name, content)


def shown(studio: Studio, project: str) -> None:
    """Tell of a project with one version what its pages do."""
    views = [*list_versions(studio, project)[1], *timeline(studio, project)]
    views += [lineage(studio, project, 1), *list_projects(studio)]
    json.dumps(list(map(asdict, views)), ensure_ascii=False, allow_nan=False).encode()


@pytest.mark.parametrize("n_cases", CASES)
def test_a_bundle_of_changed_values_answers_and_is_shown_or_is_refused(
    bundle: Path, tmp_path: Path, studio: Studio, n_cases: int
) -> None:
    """Facts of `null`, a size of infinity, an example without a text: each was "Something broke".

    The manifest fits each change, as it does where somebody means harm. Such a bundle may come
    without a card, from which some faults were told.
    """
    path = tmp_path / "changed.zip"
    bundle = rewritten(bundle, tmp_path / "bare.zip", lambda entries: without(entries, "README.md"))
    files = contents(bundle)
    names = sorted(name for name in files if name.endswith((".json", ".jsonl")))
    numbers = count()

    def values(name: str) -> st.SearchStrategy[tuple[str, bytes]]:
        change = changed_lines if name.endswith(".jsonl") else changed_json
        return change(files[name]).map(lambda content: (name, content))

    def check(change: tuple[str, bytes]) -> None:
        rewritten(bundle, path, lambda entries: told_otherwise(*change, entries))
        project = f"p{next(numbers)}"
        create_project(studio, project)
        try:
            import_bundle(studio, path, project)
        except StudioError:
            pass
        else:
            shown(studio, project)
        finally:
            delete_project(studio, project)

    fuzz(n_cases, st.sampled_from(names).flatmap(values), check)


@pytest.mark.parametrize(
    "odd",
    [
        {"recipe": 5},
        {"recipe": {"kind": ["instant"]}},
        {"recipe": {"seed": "x"}},
        {"metrics": 5},
        {"metrics": {"accuracy": "high"}},
        {"metrics": {"accuracy": 10**400}},
        {"metrics": {"task": "multi-label", "accuracy": 0.5}},
        {"metrics": {"per_intent": [{"intent": "refund"}]}},
        {"metrics": {"tested_intents": "all", "intents": 5}},
        {"pins": []},
        {"pins": {"broken": [5]}},
        {"n_exemplars": "many"},
        {"n_unlabelled": None},
    ],
    ids=str,
)
def test_facts_that_no_page_could_show_are_refused(
    bundle: Path, tmp_path: Path, studio: Studio, odd: dict[str, Any]
) -> None:
    """The version was taken in, and the timeline or the list of all projects broke from then on."""
    facts = {**json.loads(contents(bundle)["facts.json"]), **odd}
    path = rewritten(
        bundle, tmp_path / "odd.zip", lambda e: without(with_facts(e, facts), "README.md")
    )
    with pytest.raises(ArtifactDamaged, match="facts cannot be read"):
        import_bundle(studio, path, "p")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800"], ids=repr)
def test_facts_that_no_database_keeps_are_refused(
    bundle: Path, tmp_path: Path, studio: Studio, value: object
) -> None:
    """A description of NaN was sound to `bundle verify`, and broke the import with an incident."""
    facts = json.loads(contents(bundle)["facts.json"])
    facts["intents"][0]["description"] = value
    path = rewritten(bundle, tmp_path / "odd.zip", lambda entries: with_facts(entries, facts))
    with pytest.raises(ArtifactDamaged, match="facts cannot be read"):
        verify_bundle(path)
    with pytest.raises(ArtifactDamaged, match="facts cannot be read"):
        import_bundle(studio, path, "p")


@pytest.mark.parametrize("n_cases", CASES)
def test_weights_of_changed_bytes_are_read_or_refused(bundle, tmp_path: Path, n_cases: int) -> None:
    """The header of safetensors may lie about shapes, kinds and places."""
    path = tmp_path / "changed.zip"
    files = contents(bundle)
    names = [name for name in files if name.endswith(".safetensors")]

    def beginnings(name: str) -> st.SearchStrategy[tuple[str, bytes]]:
        length = 8 + int.from_bytes(files[name][:8], "little")
        start, rest = files[name][:length], files[name][length:]
        return changed_bytes(start).map(lambda header: (name, header + rest))

    def check(change: tuple[str, bytes]) -> None:
        rewritten(bundle, path, lambda entries: told_otherwise(*change, entries))
        with suppress(StudioError):
            answer(path)

    fuzz(n_cases, st.sampled_from(names).flatmap(beginnings), check)


def test_a_manifest_that_would_fill_the_memory_is_refused_unread(bundle, tmp_path: Path) -> None:
    """A manifest was unpacked whole, up to 4 GB of it, before anything was compared."""
    manifest = b'{"files": {' + b" " * (65 << 20) + b"}}"

    def change(entries: Entries) -> Entries:
        kept = [entry for entry in entries if entry[0].filename != MANIFEST]
        return [*kept, (zipfile.ZipInfo(MANIFEST), manifest)]

    path = rewritten(bundle, tmp_path / "large.zip", change)
    with pytest.raises(ArtifactDamaged, match="manifest is over"):
        verify_bundle(path)
