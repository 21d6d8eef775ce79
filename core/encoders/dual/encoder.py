"""Two encoders with one space: one reads utterances, the other the names of intents.

Each side is saved as an encoder of its own, joined by sentence-transformers' `Router`:
`encode_query` reads utterances, `encode_document` reads names.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from core.encoders.base import Encoder, Progress
from core.encoders.dual.static import StaticEncoder
from core.encoders.folders import list_modules, module_entries, write_files
from core.encoders.general.encoder import GeneralEncoder
from core.encoders.packed.encoder import TransformerEncoder, modules_json
from core.errors import InvalidInput
from core.types import FloatArray

ROUTER = "router_config.json"
UTTERANCES, NAMES = "utterances", "names"
_BYTES = 4  # of a float32


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class DualEncoder:
    """An encoder for utterances and one for intent names, in one space; `encode` uses the first."""

    utterances: Encoder
    names: Encoder

    @property
    def dim(self) -> int:
        """Width of an embedding, the same on both sides."""
        return self.utterances.dim

    @property
    def fingerprint(self) -> str:
        """SHA-256 over the fingerprints of both sides."""
        both = f"{self.utterances.fingerprint} {self.names.fingerprint}"
        return hashlib.sha256(both.encode()).hexdigest()

    @property
    def max_tokens(self) -> int:
        """Token limit of utterances; longer ones are cut."""
        return self.utterances.max_tokens

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> FloatArray:
        """Embed utterances in their order; (n, dim) float32."""
        return self.utterances.encode(texts, progress)

    def save(self, folder: Path) -> None:
        """Write a plain sentence-transformers folder with one such folder for each side."""
        self.utterances.save(folder / UTTERANCES)
        self.names.save(folder / NAMES)
        routes = {"query": UTTERANCES, "document": NAMES}
        chains = {route: _modules_in(folder, side) for route, side in routes.items()}
        config = {
            "types": dict(entry for chain in chains.values() for entry in chain),
            "structure": {route: [path for path, _ in chain] for route, chain in chains.items()},
            "parameters": {"default_route": "query", "allow_empty_key": True},
        }
        content = (json.dumps(config, indent=2) + "\n").encode()
        write_files(folder, {ROUTER: content, "modules.json": list_modules([("Router", "")])})


def _modules_in(folder: Path, side: str) -> list[tuple[str, str]]:
    files = {"modules.json": (folder / side / "modules.json").read_bytes()}
    return [
        (f"{side}/{entry.path}".rstrip("/"), f"sentence_transformers.models.{entry.kind}")
        for entry in module_entries(files)
    ]


def is_dual(folder: Path) -> bool:
    """Whether a folder holds two encoders with one space."""
    return (folder / ROUTER).is_file() and (folder / NAMES).is_dir()


def names_side(encoder: Encoder) -> Encoder:
    """Return the encoder that reads names; a single encoder reads both."""
    return encoder.names if isinstance(encoder, DualEncoder) else encoder


def utterances_side(encoder: Encoder) -> Encoder:
    """Return the encoder that reads utterances; a single encoder reads both."""
    return encoder.utterances if isinstance(encoder, DualEncoder) else encoder


def of_any_length(encoder: Encoder) -> Encoder:
    """Return an encoder without normalisation, for dot products; InvalidInput if impossible."""
    match encoder:
        case TransformerEncoder() if encoder.normalised:
            small = dict(encoder.files.small)
            small["modules.json"] = modules_json(
                projected=encoder.projection is not None, normalised=False
            )
            files = replace(encoder.files, small=small)
            digest = hashlib.sha256(f"{encoder.fingerprint} any length".encode()).hexdigest()
            return replace(encoder, normalised=False, files=files, fingerprint=digest)
        case GeneralEncoder() if _normalises(encoder):
            raise InvalidInput(
                "This encoder gives embeddings of length one.", "Choose similarity=cosine."
            )
        case _:
            return encoder


def _normalises(encoder: GeneralEncoder) -> bool:
    return any(entry.kind == "Normalize" for entry in module_entries(encoder.files))


def parameter_mb(encoder: Encoder) -> float:
    """Size of the weights that encoding needs, in MB of 1,000,000 bytes."""
    match encoder:
        case DualEncoder():
            return parameter_mb(encoder.utterances) + parameter_mb(encoder.names)
        case StaticEncoder():
            count = encoder.table.numel() + encoder.projection.numel()
        case TransformerEncoder():
            own = [*encoder.bert.parameters()]
            own += [] if encoder.projection is None else [*encoder.projection.parameters()]
            count = sum(weight.numel() for weight in own)
        case GeneralEncoder():
            count = sum(weight.numel() for weight in encoder.model.parameters())
        case _:
            raise InvalidInput("The size of this encoder is not known.", "Choose a transformer.")
    return _BYTES * count / 1e6
