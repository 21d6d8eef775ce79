"""What an exported graph decides by, as a file beside it; read and written without torch.

model.onnx        token ids and mask to scores, probabilities, verdict and votes
tokenizer.json    texts to token ids; subwords.json for ConveRT (`tokens.py`)
decision.json     intents, thresholds, priors and settings
exemplars.jsonl   id, text and intents of the exemplars, in the order of the votes
exact.json        intents of labelled texts by match key; these texts need no scores
learned.json      hashes of texts that it learned beside the exemplars, if there are any
answers.jsonl     answers of the studio to some texts, to compare with
facts.json        versions, lineage, metrics, intents with descriptions
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

from core.deciding import Decider
from core.errors import MALFORMED, ArtifactDamaged
from core.text import is_storable
from core.types import Exemplar, Method, Task

MODEL, DECISION = "model.onnx", "decision.json"
ANSWERS, EXEMPLARS, EXACT = "answers.jsonl", "exemplars.jsonl", "exact.json"
LEARNED = "learned.json"


@dataclass(frozen=True, slots=True)
class StoredDecision:
    """What `decision.json` holds: the decider without exemplars, and the limit of tokens."""

    decider: Decider
    max_tokens: int
    precision: str


def decision_to_json(decider: Decider, max_tokens: int, precision: str) -> dict[str, Any]:
    """Return a decider's values, for JSON; exemplars and exact texts have their own files."""
    return {
        "intents": list(decider.intents),
        "task": decider.task,
        "thresholds": decider.limits.tolist(),
        "measure": decider.measure,
        "neighbours": decider.n_neighbours,
        "prior": decider.prior.tolist(),
        "by_votes": decider.by_votes.tolist(),
        "by_name": decider.by_name.tolist(),
        "max_tokens": max_tokens,
        "precision": precision,
    }


def read_decision(folder: Path) -> StoredDecision:
    """Read what an unpacked bundle decides by.

    Raises:
        ArtifactDamaged: A file is missing or not readable.
    """
    try:
        return _read(folder)
    except MALFORMED as error:
        raise ArtifactDamaged(
            f"The bundle's decision cannot be read: {error}.", "Export it again."
        ) from error


def _read(folder: Path) -> StoredDecision:
    values = json.loads((folder / DECISION).read_text(encoding="utf-8"))
    facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
    exact = json.loads((folder / EXACT).read_text(encoding="utf-8"))
    intents = names_of(values["intents"])
    arrays = [np.array(values[name], dtype=np.float64) for name in ("thresholds", "prior")]
    marks = [np.array(values[name], dtype=np.bool_) for name in ("by_votes", "by_name")]
    if {part.shape for part in (*arrays, *marks)} != {(len(intents),)}:
        message = f"{len(intents)} intents and other numbers of values"
        raise ValueError(message)
    decider = Decider(
        intents,
        _one_of(values["task"], get_args(Task)),
        arrays[0],
        _one_of(values["measure"], get_args(Method)),
        read_exemplars(folder / EXEMPLARS),
        int(values["neighbours"]),
        arrays[1],
        marks[0],
        marks[1],
        {key: names_of(names) for key, names in exact.items()},
        facts.get("model_version"),
        facts.get("dataset_version"),
    )
    return StoredDecision(decider, max(1, int(values["max_tokens"])), str(values["precision"]))


def _one_of(value: object, known: tuple[Any, ...]) -> Any:
    if value not in known:
        message = f"{value!r} is none of {', '.join(known)}"
        raise ValueError(message)
    return value


def read_exemplars(path: Path) -> tuple[Exemplar, ...]:
    """Read exemplars; MALFORMED errors for what is none."""
    rows = json_lines(path.read_text(encoding="utf-8"))
    return tuple(
        Exemplar(
            _text(row["id"]), _text(row["text"]), names_of(row["intents"]), row.get("synthetic", "")
        )
        for row in rows
    )


def read_learned(folder: Path) -> frozenset[str]:
    """Read hashes; none where exemplars alone were learned, or by an earlier release."""
    file = folder / LEARNED
    if not file.exists():
        return frozenset()
    return frozenset(map(str, json.loads(file.read_text(encoding="utf-8"))))


def json_lines(content: str) -> list[dict[str, Any]]:
    """Read a file with an object a line, as of exemplars; MALFORMED errors for what is no JSON."""
    # Not `splitlines`: texts may have U+2028, U+2029 and U+0085, which JSON does not escape.
    return [json.loads(line) for line in content.split("\n") if line]


def names_of(values: object) -> tuple[str, ...]:
    """Return a list of names that can be stored; TypeError for anything else."""
    if not isinstance(values, list):
        message = f"{str(values)[:40]} is no list of names"
        raise TypeError(message)
    return tuple(_text(value) for value in values)


def _text(value: object) -> str:
    if not isinstance(value, str) or not is_storable(value):
        message = f"{str(value)[:40]!r} is no text"
        raise TypeError(message)
    return value
