"""Answer texts by an exported graph: ONNX Runtime, a tokenizer and NumPy, without torch."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from onnxruntime import (
    GraphOptimizationLevel,
    InferenceSession,
    RunOptions,
    SessionOptions,
    get_available_providers,
)

from core.deciding import Decided, Decider, Measured
from core.errors import ArtifactDamaged, InvalidInput
from core.runtime.files import MODEL, read_decision
from core.runtime.tokens import Tokenise, read_tokens
from core.types import Prediction, ScoreArray

_TOKENS = 256
"""Tokens of one run; the numbers of a layer then fit into the cache of its processor."""
_TOKENS_OF_CUDA = 16_384
"""The same where a graphics card computes, which is busy with many at a time alone."""
_SPARE = 1.15
"""How many times as long as its shortest text the longest of a run may be."""
_FEW = 8
"""Up to this many texts run together whatever their lengths: a run of its own costs more."""
_VOTES = 1 << 24
"""Most votes of one run: with several intents each exemplar votes on each."""
_DECIDING = ("scores", "probabilities", "familiarity")
_ALWAYS = (*_DECIDING, "cosines")

Device = Literal["cpu", "cuda"]
_PROVIDERS: dict[str, list[str]] = {
    "cpu": ["CPUExecutionProvider"],
    "cuda": ["CUDAExecutionProvider", "CPUExecutionProvider"],
}

Outputs = dict[str, "NDArray[Any]"]

_Answer = TypeVar("_Answer", Prediction, Decided)
_AnswerRun = Callable[[list[int], list[list[int]]], list[_Answer]]
"""Answers the texts of some rows by their tokens."""


@dataclass(frozen=True, slots=True, eq=False)
class Engine:
    """A graph that answers; several threads may ask it at the same time.

    Attributes:
        token_ids: Tokenises, with the special tokens, cut at the limit.
        precision: Number format of the encoder's products, `float32` or `int8`.
        threads: Runs at the same time, each by one thread of the `pool`.
        tokens: Most tokens of one run of several texts, with padding.
    """

    session: InferenceSession
    token_ids: Tokenise
    decider: Decider
    max_tokens: int
    precision: str
    threads: int
    pool: ThreadPoolExecutor
    tokens: int = _TOKENS

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of all that the graph computes."""
        return tuple(one.name for one in self.session.get_outputs())

    def predict(self, texts: Sequence[str]) -> list[Prediction]:
        """Answer texts in their order, each independently; none may be blank."""

        def answered(rows: list[int], ids: list[list[int]]) -> list[Prediction]:
            found = self._measured(self.run(ids))
            return self.decider.decide([texts[row] for row in rows], found)

        return self._by_runs(texts, answered)

    def decide(self, texts: Sequence[str]) -> list[Decided]:
        """Answer texts as `predict` does, without the evidence; none may be blank."""

        def decided(rows: list[int], ids: list[list[int]]) -> list[Decided]:
            found = self.run(ids, _DECIDING)
            numbers = [found[name].astype(np.float64) for name in _DECIDING]
            return self.decider.decided([texts[row] for row in rows], *numbers)

        return self._by_runs(texts, decided)

    def _by_runs(self, texts: Sequence[str], answer: _AnswerRun[_Answer]) -> list[_Answer]:
        """Answer texts of similar length together, so many runs at a time as there are threads."""
        ids = self.token_ids(texts)
        runs = list(runs_of([len(one) for one in ids], self._most_rows(), self.tokens))
        parts = [[ids[row] for row in rows] for rows in runs]
        each = map if len(runs) == 1 or self.threads == 1 else self.pool.map
        found = list(each(answer, runs, parts))
        by_row = zip(chain(*runs), chain(*found), strict=True)
        return [one for _, one in sorted(by_row, key=itemgetter(0))]

    def outputs(self, texts: Sequence[str]) -> Outputs:
        """Return all outputs of the graph for texts, each (texts, ...)."""
        parts: dict[str, list[NDArray[Any]]] = {name: [] for name in self.output_names}
        order: list[int] = []
        ids = self.token_ids(texts)
        for rows in runs_of([len(one) for one in ids], self._most_rows(), self.tokens):
            order += rows
            for name, values in self.run([ids[row] for row in rows]).items():
                parts[name].append(values)
        place = np.argsort(np.array(order))
        return {name: np.concatenate(values)[place] for name, values in parts.items()}

    def run(self, ids: Sequence[Sequence[int]], names: Sequence[str] = ()) -> Outputs:
        """Run the graph on token ids, padded to the longest; compute these outputs, or all."""
        longest = max(len(one) for one in ids)
        padded = np.zeros((len(ids), longest), dtype=np.int64)
        mask = np.zeros_like(padded)
        for row, one in enumerate(ids):
            padded[row, : len(one)] = one
            mask[row, : len(one)] = 1
        wanted = names or self.output_names
        given = {"input_ids": padded, "attention_mask": mask}
        values = self.session.run(wanted, given, _only_what_is_wanted() if names else None)
        return dict(zip(wanted, values, strict=True))

    def _most_rows(self) -> int:
        several = self.decider.task == "multi-label"
        votes = len(self.decider.exemplars) * (len(self.decider.intents) if several else 1)
        return max(1, _VOTES // max(votes, 1))

    def _measured(self, outputs: Outputs) -> Measured:
        scores, shares, familiarity, cosines = (
            outputs[name].astype(np.float64) for name in _ALWAYS
        )
        votes, voices = outputs.get("votes"), outputs.get("voices")

        def votes_of(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> ScoreArray:
            if votes is None:
                return np.zeros((len(rows), cosines.shape[1]))
            chosen = votes[rows, columns] if votes.ndim == 3 else votes[rows]
            return chosen.astype(np.float64)

        spoken = np.zeros_like(scores) if voices is None else voices.astype(np.float64)
        return Measured(scores, shares, spoken, familiarity, cosines, votes_of)


@cache
def _only_what_is_wanted() -> RunOptions:
    """Return options by which a run leaves out what leads to other outputs, such as votes."""
    options = RunOptions()
    options.only_execute_path_to_fetches = True
    return options


def runs_of(
    lengths: Sequence[int], most_rows: int, most_tokens: int = _TOKENS
) -> Iterator[list[int]]:
    """Group rows by length, the longest first, so that runs hold little padding."""
    order = sorted(range(len(lengths)), key=lambda row: -lengths[row])
    run: list[int] = []
    for row in order:
        longest = lengths[run[0]] if run else lengths[row]
        full = len(run) >= most_rows or (len(run) + 1) * longest > most_tokens
        uneven = len(order) > _FEW and longest > _SPARE * lengths[row] + 1
        if run and (full or uneven):
            yield run
            run = []
        run.append(row)
    if run:
        yield run


def open_engine(folder: Path, threads: int = 0, device: Device = "cpu") -> Engine:
    """Open an unpacked bundle; `threads` compute, 0 for as many as there are processors.

    Each thread computes a run by itself; threads that share the operations of one run wait for
    each other at each of its several hundred. A graphics card is given one run at a time.

    Raises:
        ArtifactDamaged: A file is missing or not readable.
        InvalidInput: ONNX Runtime cannot compute on the device.
    """
    providers = _providers(device)
    stored = read_decision(folder)
    options = SessionOptions()
    options.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        content = (folder / MODEL).read_bytes()  # a graph in memory cannot name other files
        session = InferenceSession(content, options, providers=providers)
    except Exception as error:  # the libraries raise nothing narrower
        raise ArtifactDamaged(
            f"The bundle's graph cannot be opened: {error}.", "Export it again."
        ) from error
    token_ids = read_tokens(folder, stored.max_tokens)
    on_card = device == "cuda"
    at_once = 1 if on_card else threads or available()
    pool = ThreadPoolExecutor(at_once, "runs")
    known = stored.decider, stored.max_tokens, stored.precision
    tokens = _TOKENS_OF_CUDA if on_card else _TOKENS
    return Engine(session, token_ids, *known, at_once, pool, tokens)


def _providers(device: Device) -> list[str]:
    wanted = _PROVIDERS[device]
    if wanted[0] not in get_available_providers():
        raise InvalidInput(
            f"This onnxruntime cannot compute on {device}.",
            "Install onnxruntime-gpu in its place, or compute on cpu.",
        )
    return wanted


def available() -> int:
    """Return how many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return max(1, len(affinity(0)) if affinity else os.cpu_count() or 1)
