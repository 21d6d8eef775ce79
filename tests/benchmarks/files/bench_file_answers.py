"""Answer a file of many texts by torch and by a graph: texts a second, memory, equal answers.

`python -m tests.benchmarks.files.bench_file_answers [TEXTS] [WAY ...]`, 100,000 texts unless told
otherwise. Each way is measured in a process of its own, one after the other: `torch`,
`torch-bfloat16`, `torch-int8`, `graph`, `graph-int8`. What `graph-int8` is of `torch` is told in
the end. Where other programs compute, too, compare milliseconds of processor.
"""

import csv
import sys
import tempfile
import time
from pathlib import Path
from typing import cast

from app.services.answering.file_answers import FileRequest, answer_file
from app.services.answering.file_models import FileModel, model_of_graph, model_of_pipeline
from core.memory import peak_bytes, resident_bytes
from core.types import EncodingPrecision
from tests.benchmarks.files.apart import tell, told_figure

DATA = Path(__file__).parents[4] / "shared" / "data" / "banking77"
WAYS = ("torch", "torch-bfloat16", "torch-int8", "graph", "graph-int8")
USUAL = 100_000


def run(n_texts: int, ways: tuple[str, ...]) -> int:
    """Print the figures of each way."""
    if not DATA.is_dir():
        sys.stderr.write(f"skipped: {DATA} is absent\n")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_texts(folder / "texts.csv", n_texts)
        _train(folder)
        measured = ("texts_per_second", __spec__.name, "measure")
        speeds = {way: told_figure(*measured, way, str(folder)) for way in ways}
        if {"torch", "graph-int8"} <= speeds.keys():
            ratio = round(speeds["graph-int8"] / speeds["torch"], 2)
            tell({"graph_int8_to_torch": ratio})
        _compare(folder, ways)
    return 0


def measure(way: str, folder: Path) -> int:
    """Answer the texts in this process, and print the figures."""
    model = _opened(way, folder)
    before = time.process_time()
    resident: list[float] = []
    told = answer_file(
        model,
        FileRequest(folder / "texts.csv", folder / f"{way}.csv"),
        lambda done, total: resident.append(resident_bytes() / 1e6),
    )
    figures = {
        "way": way,
        "precision": told.precision,
        "texts": told.texts,
        "seconds": round(told.seconds, 1),
        "texts_per_second": round(told.texts / told.seconds),
        "processor_ms_per_text": round((time.process_time() - before) * 1e3 / told.texts, 2),
        "same_answers": told.same_answers,
        "resident_mb_first_and_last": [round(resident[0]), round(resident[-1])],
        "peak_mb": round(peak_bytes() / 1e6),
    }
    tell(figures)
    return 0


def _opened(way: str, folder: Path) -> FileModel:
    kind, _, precision = way.partition("-")
    if kind == "graph":
        bundle = folder / f"{way}.zip"
        found = model_of_graph(str(bundle))
        if found is None:
            message = f"{bundle} holds no graph"
            raise ValueError(message)
        return found
    from core.bundle.archive import open_bundle
    from core.bundle.layout import load_pipeline

    with open_bundle(folder / "torch.zip") as (unpacked, _):
        pipeline = load_pipeline(unpacked)
    return model_of_pipeline(pipeline, None, cast("EncodingPrecision", precision or "float32"))


def _train(folder: Path) -> None:
    """Train a model with ten examples an intent; write its bundles.

    torch is imported here, so that a process that runs a graph is measured without it.
    """
    from core.benchmarks.inputs import LabelledTexts
    from core.bundle.archive import export_bundle
    from core.bundle.graph_layout import save_graph
    from core.bundle.layout import save_pipeline
    from core.encoders.loading import load_encoder
    from core.recipes.labels import InstantRecipe
    from core.training.events import drain
    from core.training.from_labels.inputs import RunInputs
    from core.training.from_labels.runs import run_recipe

    texts, intents = zip(*_rows("train_10.csv"), strict=True)
    labelled = LabelledTexts(texts, intents)
    inputs = RunInputs(labelled.exemplars(), labelled.distinct_intents(), load_encoder("bundled"))
    model = drain(run_recipe(InstantRecipe(), inputs), lambda event: None).pipeline
    save_pipeline(model, {}, folder / "torch")
    save_graph(model, {}, folder / "graph", "float32")
    save_graph(model, {}, folder / "graph-int8", "int8")
    for name in ("torch", "graph", "graph-int8"):
        export_bundle(folder / name, folder / f"{name}.zip")


def _compare(folder: Path, ways: tuple[str, ...]) -> None:
    """Print the share of texts to which each way gives the same intents as the first one."""
    first, *others = ([row["intents"] for row in _read(folder / f"{way}.csv")] for way in ways)
    for way, intents in zip(ways[1:], others, strict=True):
        same = sum(a == b for a, b in zip(first, intents, strict=True)) / len(first)
        line = {"way": way, "compared_with": ways[0], "same_intents": round(same, 4)}
        tell(line)


def _rows(name: str) -> list[tuple[str, str]]:
    return [(row["text"], row["intent"]) for row in _read(DATA / name)]


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def write_texts(path: Path, n_texts: int) -> None:
    """Write the training texts again and again, each time with another number behind them."""
    texts = [text for text, _ in _rows("train.csv")]
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["text"])
        for at in range(n_texts):
            turn, row = divmod(at, len(texts))
            writer.writerow([texts[row] if turn == 0 else f"{texts[row]} {turn}"])


def main(words: list[str]) -> int:
    """Measure one way, or all that are named."""
    if words[:1] == ["measure"]:
        return measure(words[1], Path(words[2]))
    return run(int(words[0]) if words else USUAL, tuple(words[1:]) or WAYS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
