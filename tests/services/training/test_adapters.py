"""Projects tuned by the recipe `adapter`: a few MB each, on one base."""

from pathlib import Path

import pytest

from app.services.answering.opened import find_space, open_space
from app.services.answering.stored import load_model
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.studio import Studio
from app.services.training.estimate import estimate
from app.services.versions.bundles import export_model, import_bundle
from app.services.versions.registry import deletion_preview
from core.bundle.archive import verify_bundle
from core.encoders.adapter.encoder import AdaptedEncoder
from core.encoders.loading import load_folder
from core.errors import InvalidInput
from core.pipeline import IntentPipeline
from core.recipes.labels import AdapterRecipe, ConvfitRecipe
from core.recipes.read import read_recipe
from tests.builders.trained_home import opened, train

ASKED = ["refund me", "where is it", "hello you"]
RECIPE = {"kind": "adapter", "epochs": 2, "learning_rate": 1e-2, "frozen_layers": 0}


@pytest.fixture(scope="module")
def studio(tmp_path_factory, labelled_csv: Path, tiny_path: Path) -> Studio:
    """Two projects, the first with three versions: a bottleneck, LoRA, and one that goes on."""
    made = opened(tmp_path_factory.mktemp("adapters") / "home")
    for name in ("p", "q"):
        create_project(made, name)
        import_file(made, ImportRequest(name, labelled_csv))
    train(made, tiny_path, RECIPE)
    train(made, tiny_path, {**RECIPE, "adapter": "lora"})
    train(made, "p@1", {**RECIPE, "seed": 1})
    train(made, tiny_path, {**RECIPE, "seed": 2}, "q")
    yield made
    made.database.close()


def pipeline_of(studio: Studio, project: str, number: int) -> IntentPipeline:
    with studio.database.read() as connection:
        space = find_space(connection, project, number)
    return open_space(studio, space).pipeline


def test_projects_share_the_very_same_tensors(studio: Studio, tiny_path: Path) -> None:
    loaded = [pipeline_of(studio, *which) for which in (("p", 1), ("p", 2), ("p", 3), ("q", 1))]
    encoders = [pipeline.encoder for pipeline in loaded]
    assert all(isinstance(encoder, AdaptedEncoder) for encoder in encoders)
    untouched = load_folder(tiny_path)
    own = {n: v.data_ptr() for n, v in encoders[0].base.bert.named_parameters()}
    for encoder in encoders:
        assert encoder.base.fingerprint == untouched.fingerprint
        assert {n: v.data_ptr() for n, v in encoder.base.bert.named_parameters()} == own
    assert len({encoder.fingerprint for encoder in encoders}) == 4
    answers = {pipeline.predict(ASKED)[0].ranked for pipeline in loaded}
    assert len(answers) == 4
    again = load_model(studio, "p@1")
    assert again.encoder.base is encoders[0].base
    assert [a.ranked for a in again.predict(ASKED)] == [a.ranked for a in loaded[0].predict(ASKED)]


def test_another_version_stores_an_adapter_and_heads_only(studio: Studio, tiny_path: Path) -> None:
    base = (tiny_path / "model.safetensors").stat().st_size
    for number in (1, 2):
        preview = deletion_preview(studio, "p", number)
        assert 0 < preview.bytes_freed < base / 2
    whole = [path for path in studio.places.artifacts.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size >= 0.9 * base for path in whole) == 1


def test_a_bundle_brings_its_base_and_comes_back_bit_for_bit(
    studio: Studio, tmp_path: Path
) -> None:
    other = opened(tmp_path / "other")
    for number in (1, 2):
        out, again = tmp_path / f"{number}.zip", tmp_path / f"again-{number}.zip"
        export_model(studio, f"p@{number}", out)
        files = verify_bundle(out).files
        assert {"encoder/model.safetensors", "encoder/adapter/model.safetensors"} <= set(files)
        export_model(other, import_bundle(other, out), again)
        assert again.read_bytes() == out.read_bytes()
        mine, theirs = load_model(studio, f"p@{number}"), load_model(other, f"p@{number}")
        ranked = [[answer.ranked for answer in m.predict(ASKED)] for m in (mine, theirs)]
        assert ranked[0] == ranked[1]
    other.database.close()


def test_an_adapter_has_defaults_of_its_own_and_convfit_keeps_its() -> None:
    recipe = read_recipe("adapter", {})
    assert isinstance(recipe, AdapterRecipe)
    assert (recipe.adapter, recipe.reduction_factor, recipe.interpolation) == ("bottleneck", 4, 1.0)
    tuned = ConvfitRecipe()
    assert (tuned.learning_rate, tuned.frozen_layers, tuned.interpolation) == (1e-4, 3, 0.8)
    assert tuned.projection == "none"
    with pytest.raises(InvalidInput, match="needs adapter lora"):
        read_recipe("adapter", {"merge": True})
    assert read_recipe("adapter", {"adapter": "lora", "merge": True}).merge


def test_what_an_adapter_takes_is_said_before(studio: Studio) -> None:
    said = estimate(studio, "q", "adapter", {})
    assert "kept in a small file" in said.sentence
    assert said.seconds > 0
    with pytest.raises(InvalidInput, match="reduction_factor"):
        estimate(studio, "q", "adapter", {"reduction_factor": 0})
