"""A pipeline as a folder of plain files, and back: what is stored, versioned and bundled.

encoder/                a sentence-transformers folder; with an adapter, its unchanged base
encoder/adapter/        weights and configuration of the adapter, if there is one
head.json               kind of the head, its intents and settings
head.safetensors        arrays of the head, and the exemplars' embeddings
calibration.json        task, temperature and thresholds
fence.safetensors       means and precision, if thresholds are of familiarity
exemplars.jsonl         id, text and intents of the exemplars, in the order of the embeddings
exact.json              intents of labelled texts by match key; these texts need no scores
learned.json            hashes of texts that it learned beside the exemplars, if there are any
facts.json              versions, lineage, metrics, intents with descriptions
"""

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from core.bundle.card import MEASURED
from core.bundle.facts import add_facts, is_graph, read_facts, write_json
from core.calibration.calibration import Calibration, calibration_from_json, calibration_to_json
from core.calibration.fence import NEAREST, FamiliarityMeasure, Fence, weights_of, with_exemplars
from core.encoders.base import Encoder
from core.encoders.loading import load_folder
from core.encoders.shared_bases import SharedBases
from core.errors import MALFORMED, ArtifactDamaged, InvalidInput
from core.heads.build import head_from_arrays, head_to_arrays
from core.pipeline import IntentPipeline, exact_answers_now, said_by
from core.runtime.files import LEARNED, names_of, read_exemplars, read_learned
from core.types import Exemplar, Method

_SHARED = ("exemplars", "first.exemplars")
_FENCE, _EXEMPLARS, _EXACT = "fence.safetensors", "exemplars.jsonl", "exact.json"
LABEL_FILES = (_EXEMPLARS, _EXACT, LEARNED)
"""The small files that `write_labels` writes."""


def save_pipeline(pipeline: IntentPipeline, facts: Mapping[str, Any], folder: Path) -> None:
    """Write a pipeline and the facts about it; equal pipelines write equal bytes.

    Raises:
        InvalidInput: The encoder cannot be stored.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pipeline.encoder.save(folder / "encoder")
    _write_head(folder, pipeline)
    _write_calibration(folder, pipeline.calibration, pipeline.n_neighbours)
    write_labels(folder, pipeline)
    write_json(folder / "facts.json", dict(facts))


def load_pipeline(
    folder: Path, device: str = "cpu", bases: SharedBases | None = None
) -> IntentPipeline:
    """Read a pipeline, which answers bit for bit as the saved one; `bases` may hold its base.

    Raises:
        InvalidInput: It is a graph for serving.
        ArtifactDamaged: A file is missing or not readable.
    """
    facts = read_facts(folder)
    if is_graph(facts):
        raise InvalidInput(
            "This bundle is a graph for serving: it answers texts, and is not imported.",
            "Name the usual bundle of this version, which holds its encoder.",
        )
    encoder = load_folder(folder / "encoder", device, bases)
    try:
        return _read_pipeline(folder, facts, encoder)
    except (*MALFORMED, SafetensorError) as error:
        raise ArtifactDamaged(
            f"The model in {folder.name} cannot be read: {error}.", "Export or train it again."
        ) from error


def _read_pipeline(folder: Path, facts: Mapping[str, Any], encoder: Encoder) -> IntentPipeline:
    head_facts = json.loads((folder / "head.json").read_text(encoding="utf-8"))
    arrays = load_file(folder / "head.safetensors")
    decision = json.loads((folder / "calibration.json").read_text(encoding="utf-8"))
    exact = json.loads((folder / _EXACT).read_text(encoding="utf-8"))
    embeddings, exemplars = arrays.pop("embeddings"), read_exemplars(folder / _EXEMPLARS)
    pipeline = IntentPipeline(
        encoder=encoder,
        head=head_from_arrays(head_facts, {**arrays, **dict.fromkeys(_SHARED, embeddings)}),
        calibration=calibration_from_json(decision),
        exemplars=exemplars,
        embeddings=embeddings,
        n_neighbours=int(decision["neighbours"]),
        exact=exact_answers_now({key: names_of(of) for key, of in exact.items()}, exemplars),
        learned=read_learned(folder),
        model_version=facts.get("model_version"),
        dataset_version=facts.get("dataset_version"),
    )
    if embeddings.shape != (len(pipeline.exemplars), encoder.dim) or pipeline.n_neighbours < 1:
        message = f"{len(pipeline.exemplars)} examples with embeddings of {embeddings.shape}"
        raise ValueError(message)
    measure = _read_measure(folder, decision, pipeline)
    if measure is None:
        return pipeline
    return replace(pipeline, calibration=replace(pipeline.calibration, familiarity_measure=measure))


def keep_answers(folder: Path, pipeline: IntentPipeline) -> None:
    """Write a pipeline's limits and intent names into the folder where it is stored.

    `pipeline` has the fence of its project, the names of intents without examples, and the present
    names of renamed ones. What was measured of other answers is dropped. Changed files
    are replaced, not overwritten: they may be hard links to files of the studio.
    """
    known = read_facts(folder)
    facts: dict[str, object] = _renamed_facts(folder, known, pipeline.head.intents)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        fresh = Path(scratch)
        _write_head(fresh, pipeline)
        _write_calibration(fresh, pipeline.calibration, pipeline.n_neighbours)
        limits = _put_in(fresh, folder, ("calibration.json", _FENCE))
        names = _put_in(fresh, folder, ("head.json", "head.safetensors"))
        write_labels(fresh, pipeline)
        _put_in(fresh, folder, (_EXEMPLARS, _EXACT))
    if limits:
        facts["fenced"] = True
    if limits and pipeline.calibration.familiarity_measure is not None:
        facts["fence"] = pipeline.calibration.measure
    if names:
        facts["by_name"] = list(pipeline.by_name)
    if facts:
        add_facts(folder, {MEASURED: {}, **facts} if known.get(MEASURED) else facts)


def _renamed_facts(
    folder: Path, known: Mapping[str, Any], intents: Sequence[str]
) -> dict[str, object]:
    """Return the facts about intents that are called otherwise than where they are stored."""
    stored = json.loads((folder / "head.json").read_text(encoding="utf-8"))["intents"]
    to = {old: new for old, new in zip(stored, intents, strict=False) if old != new}
    listed = known.get("intents")
    if not to or not listed:
        return {}
    return {"intents": [{**one, "name": to.get(one["name"], one["name"])} for one in listed]}


def _put_in(fresh: Path, folder: Path, names: Sequence[str]) -> bool:
    """Replace those files of a folder that differ; return whether any did."""
    other = [name for name in names if _bytes_of(folder / name) != _bytes_of(fresh / name)]
    for name in other:
        (folder / name).unlink(missing_ok=True)
        if (fresh / name).exists():
            (fresh / name).replace(folder / name)
    return bool(other)


def _bytes_of(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _write_head(folder: Path, pipeline: IntentPipeline) -> None:
    head, arrays = head_to_arrays(pipeline.head)
    # The exemplars' embeddings are both voted with and shown; one copy cannot diverge.
    arrays = {name: value for name, value in arrays.items() if name not in _SHARED}
    arrays["embeddings"] = pipeline.embeddings
    ordered = {name: np.ascontiguousarray(arrays[name]) for name in sorted(arrays)}
    save_file(ordered, folder / "head.safetensors")
    write_json(folder / "head.json", head)


def write_labels(folder: Path, pipeline: IntentPipeline) -> None:
    """Write the exemplars, the intents of texts that need no scores, and what else was learned."""
    lines = [json.dumps(_exemplar_object(one), ensure_ascii=False) for one in pipeline.exemplars]
    (folder / _EXEMPLARS).write_text("\n".join(lines) + "\n", encoding="utf-8")
    write_json(folder / _EXACT, {key: list(v) for key, v in pipeline.exact.items()})
    if pipeline.learned:
        write_json(folder / LEARNED, sorted(pipeline.learned))


def learned_in(folder: Path, *, with_examples: bool) -> frozenset[str]:
    """Return the hashes of the texts that a stored encoder has learned, of `LABEL_FILES` alone.

    Raises:
        ArtifactDamaged: One of them is missing or not readable.
    """
    try:
        learned = read_learned(folder)
        if not with_examples:
            return learned
        exact = json.loads((folder / _EXACT).read_text(encoding="utf-8"))
        return said_by(read_exemplars(folder / _EXEMPLARS), (*exact, *learned)).hashes
    except MALFORMED as error:
        raise ArtifactDamaged(
            f"The examples of the model in {folder.name} cannot be read: {error}.",
            "Export or train it again.",
        ) from error


def _write_calibration(folder: Path, calibration: Calibration, neighbours: int) -> None:
    """Write the calibration; with a fence also what `predict.py` measures familiarity by."""
    decision = {**calibration_to_json(calibration), "neighbours": neighbours}
    measure = calibration.familiarity_measure
    if measure is not None:
        fence, shapes = measure.fence, measure.shapes
        decision["familiarity"] = {
            "method": fence.method,
            "centre": list(fence.centre),
            "scale": list(fence.scale),
            "weights": weights_of(fence.method).tolist(),
            "nearest": NEAREST,
        }
        means = np.ascontiguousarray(shapes.means[shapes.targets.sum(0) > 0])
        arrays = {"means": means, "precision": np.ascontiguousarray(shapes.precision)}
        save_file(arrays, folder / _FENCE)
    write_json(folder / "calibration.json", decision)


def _read_measure(
    folder: Path, decision: Mapping[str, Any], pipeline: IntentPipeline
) -> FamiliarityMeasure | None:
    """Read how familiarity is measured; the means are computed from the exemplars.

    Raises:
        ArtifactDamaged: A value is missing or not usable.
    """
    stored = decision.get("familiarity")
    if stored is None:
        return None
    try:
        precision = load_file(folder / _FENCE)["precision"]
        centre, scale = (tuple(map(float, stored[name])) for name in ("centre", "scale"))
        fence = Fence(_read_method(stored["method"]), centre, scale)
    except (*MALFORMED, SafetensorError) as error:
        raise ArtifactDamaged(
            f"The stored fence cannot be read: {error}.", "Export it again."
        ) from error
    fits = len(centre) == len(scale) == len(weights_of(fence.method)) and min(scale) > 0
    fits = fits and precision.shape == (pipeline.encoder.dim,) * 2 and len(pipeline.exemplars) > 0
    if not (fits and np.isfinite(precision).all() and np.isfinite((centre, scale)).all()):
        raise ArtifactDamaged("The stored fence is not usable.", "Export it again.")
    shapes = with_exemplars(pipeline.embeddings, pipeline.targets, precision)
    return FamiliarityMeasure(fence, shapes)


def _read_method(name: object) -> Method:
    for method in get_args(Method):
        if method == name and method != "votes":
            found: Method = method
            return found
    message = f"no fence goes by {name}"
    raise ValueError(message)


def _exemplar_object(exemplar: Exemplar) -> dict[str, object]:
    found: dict[str, object]
    found = {"id": exemplar.id, "text": exemplar.text, "intents": exemplar.intents}
    return found | ({"synthetic": exemplar.synthetic} if exemplar.synthetic else {})
