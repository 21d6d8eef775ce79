"""Model versions as one graph for ONNX Runtime, and what its precision costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from app.services.studio import Studio
from core.errors import ArtifactDamaged, InvalidInput
from core.text import counted, percent
from core.types import Exemplar, Prediction

if TYPE_CHECKING:  # bundles hold encoders, whose library takes seconds to load
    from core.pipeline import IntentPipeline
    from core.runtime.comparing import FromStored

_MOST_LOST = 0.003
"""Share of test texts that a graph in 8 bits may answer wrong beyond those of float32."""


@dataclass(frozen=True, slots=True)
class GraphWish:
    """How a version is made one graph: its precision, and whether any loss of accuracy will do."""

    precision: Literal["float32", "int8"] = "float32"
    any_loss: bool = False


def graph_folder(studio: Studio, folder: Path, tests: Sequence[Exemplar], wish: GraphWish) -> Path:
    """Make one graph of a stored pipeline, in a folder inside its own; return that folder.

    It holds answers to test texts, or to exemplars where there is none; no answer where texts are
    left out. What 8 bits cost is measured where there is a test text of an intent.

    Raises:
        InvalidInput: No graph can be made of it, or one in 8 bits loses too much.
    """
    _require_library()
    from core.bundle.facts import add_facts, read_facts
    from core.bundle.graph_layout import keep_stored_answers, save_graph
    from core.bundle.layout import load_pipeline
    from core.bundle.textless import LEFT_OUT
    from core.runtime.comparing import compare, measured_apart
    from core.runtime.engine import open_engine

    pipeline, facts = load_pipeline(folder, bases=studio.bases), read_facts(folder)
    target = folder / "graph"
    save_graph(pipeline, facts, target, wish.precision)
    if not facts.get(LEFT_OUT):
        texts = [one.text for one in tests] or [one.text for one in pipeline.exemplars]
        keep_stored_answers(pipeline, texts, target)
        if wish.precision == "int8":
            add_facts(target, measured_apart(compare(target, open_engine(target))))
    several = pipeline.task == "multi-label"
    if wish.precision == "int8" and any(several or one.intents for one in tests):
        figures = _figures(pipeline, target, tests)
        if not wish.any_loss:
            _refuse_loss(figures)
        add_facts(target, {"precisions": figures})
    return target


def answers_again(bundle: Path) -> "FromStored | None":
    """Run a bundle's graph on its stored answers; None for a bundle without any.

    Raises:
        ArtifactDamaged: A difference is beyond the tolerance of the graph's precision.
    """
    _require_library()
    from core.bundle.archive import open_bundle
    from core.runtime.comparing import compare, tolerance_of
    from core.runtime.engine import open_engine
    from core.runtime.files import ANSWERS

    with open_bundle(bundle) as (folder, manifest):
        if not (folder / ANSWERS).exists():
            return None
        found = compare(folder, open_engine(folder))
    if not tolerance_of(manifest.facts).allows(found):
        texts = counted(found.texts, "text")
        raise ArtifactDamaged(
            f"The bundle's graph answers {found.others} of {texts} otherwise than the studio "
            f"did, and its numbers differ by up to {found.largest:.2g}. The parts of a "
            f"score miss it by up to {found.sums:.2g}.",
            "Export it again.",
        )
    return found


def _require_library() -> None:
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
    except ImportError as error:
        raise InvalidInput(
            "A graph needs the packages onnx and onnxruntime, which are not installed.",
            "pip install 'intent-studio[onnx]'",
        ) from error


def _figures(
    pipeline: "IntentPipeline", folder: Path, tests: Sequence[Exemplar]
) -> dict[str, dict[str, float]]:
    """Measure a pipeline in float32 and its graph in 8 bits on the same test texts."""
    from core.runtime.engine import open_engine

    texts = [one.text for one in tests]
    answers = {"float32": pipeline.predict(texts), "int8": open_engine(folder).predict(texts)}
    return {name: _measured(said, tests, pipeline.task) for name, said in answers.items()}


def _measured(answers: list[Prediction], tests: Sequence[Exemplar], task: str) -> dict[str, Any]:
    """Count right intents, refused or not, and measure what tells them from other texts.

    Several intents must be just these. `auroc` is of the value that is compared with the threshold.
    """
    import numpy as np

    from core.metrics.calibration import expected_calibration_error
    from core.metrics.out_of_scope import auroc

    pairs = list(zip(answers, tests, strict=True))
    if task == "multi-label":
        right = [set(said.decision.intents) == set(one.intents) for said, one in pairs]
        return {"accuracy": float(np.mean(right)), "texts": len(right)}
    inside = [(said, one) for said, one in pairs if one.intents]
    right = [said.intent in one.intents for said, one in inside]
    found = {"accuracy": float(np.mean(right)), "texts": len(right)}
    within = np.array([bool(one.intents) for _, one in pairs])
    held = np.array([said.decision.held for said, _ in pairs])
    if within.any() and not within.all():
        found["auroc"] = auroc(held[within], held[~within])
    sure = np.array([said.ranked[0].probability for said, _ in inside])
    found["expected_calibration_error"] = expected_calibration_error(sure, np.array(right))
    return found


def _refuse_loss(figures: dict[str, dict[str, float]]) -> None:
    whole, small = (figures[name]["accuracy"] for name in ("float32", "int8"))
    if whole - small > _MOST_LOST:
        texts = counted(int(figures["int8"]["texts"]), "test text")
        raise InvalidInput(
            f"In 8 bits this version answers {percent(small, 1)} of {texts} right, and "
            f"{percent(whole, 1)} in float32: it loses more than {percent(_MOST_LOST, 1)}.",
            "Export it with --precision float32, or with --any-loss as it is.",
        )
