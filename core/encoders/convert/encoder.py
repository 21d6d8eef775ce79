"""ConveRT as an encoder: loading and saving folders, texts in, embeddings out."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from core.encoders.base import Progress
from core.encoders.claimed_sizes import refuse_claims
from core.encoders.convert.model import CONFIG, VOCABULARY, WEIGHTS, ConvertModel
from core.encoders.convert.network import ConvertNetwork
from core.encoders.convert.quantisation import settle, stored_weights
from core.encoders.convert.sizes import Sizes
from core.encoders.convert.source import MODULE, module_source, modules_json, settings_json
from core.encoders.convert.subwords import Subwords
from core.encoders.weights import digest_weights
from core.errors import MALFORMED, ArtifactDamaged, InvalidInput
from core.types import FloatArray
from core.vectors import unit_rows

Side = Literal["context", "response", "history"]
_BATCH = 256


@dataclass(frozen=True, slots=True, eq=False)
class ConvertEncoder:
    """A trained ConveRT; `fingerprint` is SHA-256 over stored weights, vocabulary and config."""

    model: ConvertModel
    fingerprint: str

    @property
    def dim(self) -> int:
        """Width of an embedding."""
        return self.model.get_embedding_dimension()

    @property
    def max_tokens(self) -> int:
        """Token limit; longer texts are cut."""
        return self.model.network.sizes.max_tokens

    @property
    def knows_history(self) -> bool:
        """Whether it can encode earlier turns (multi-context)."""
        return "history" in self.model.network.sizes.sides

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> FloatArray:
        """Embed texts in their order, each as `r` or as `h` of one side; (n, dim) float32."""
        return self._encode(texts, None, progress)

    def encode_side(self, texts: Sequence[str], side: Side) -> FloatArray:
        """Embed one side's texts; (n, output), length one. InvalidInput if it has no such side."""
        if side not in self.model.network.sizes.sides:
            raise InvalidInput(
                "This encoder was trained without earlier turns.",
                "Train one with contexts=10, or rank by the last turn alone.",
            )
        return self._encode(texts, side, None)

    def encode_contexts(self, contexts: Sequence[str], histories: Sequence[str]) -> FloatArray:
        """Embed contexts together with earlier turns (ConveRT 2.2); (n, output), length one.

        `histories` holds the joined earlier turns of each context, as `history_text` writes them.
        Where a history is empty or the encoder has no history side, only the context counts.
        """
        rows = self.encode_side(contexts, "context")
        earlier = [at for at, text in enumerate(histories) if text]
        if not self.knows_history or not earlier:
            return rows
        rows[earlier] += self.encode_side([histories[at] for at in earlier], "history")
        return unit_rows(rows)

    @torch.inference_mode()
    def _encode(
        self, texts: Sequence[str], side: Side | None, progress: Progress | None
    ) -> FloatArray:
        network, module = self.model.network, self.model
        distinct = list(dict.fromkeys(texts))
        width = self.dim if side is None else network.sizes.output
        rows = np.empty((len(distinct), width), dtype=np.float32)
        ids = module.subwords.tokenise(distinct, self.max_tokens)
        order = sorted(range(len(ids)), key=lambda row: len(ids[row]), reverse=True)
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            reduced = network.reduce([ids[row] for row in batch])
            rows[batch] = module.embedding_of(reduced, side).cpu().numpy()
            if progress:
                progress(start + len(batch), len(distinct))
        place = {text: row for row, text in enumerate(distinct)}
        return rows[[place[text] for text in texts]]

    def save(self, folder: Path) -> None:
        """Write a folder that sentence-transformers loads; equal encoders write equal bytes."""
        self.model.save(str(folder))
        (folder / "modules.json").write_bytes(modules_json())
        (folder / "config_sentence_transformers.json").write_bytes(settings_json())
        (folder / f"{MODULE}.py").write_bytes(module_source())


def encoder_of(model: ConvertModel) -> ConvertEncoder:
    """Close a module as an encoder that never changes; its weights get their stored precision."""
    quantised = bool(model.facts["quantised"])
    settle(model.network, quantised=quantised)
    model.eval().requires_grad_(requires_grad=False)
    weights = stored_weights(model.network, quantised=quantised)
    digest = hashlib.sha256(digest_weights(weights).encode())
    digest.update(json.dumps(model.get_config_dict(), sort_keys=True).encode())
    digest.update("\0".join(model.subwords.pieces).encode())
    return ConvertEncoder(model, digest.hexdigest())


def new_encoder(
    network: ConvertNetwork, subwords: Subwords, *, embedding: str = "r", quantised: bool = True
) -> ConvertEncoder:
    """Close a trained network; `embedding` chooses `r` or `h` as the embedding of a sentence."""
    facts = {"embedding": embedding, "side": "context", "quantised": quantised}
    return encoder_of(ConvertModel(network, subwords, facts))


def _claims(sizes: Sizes) -> dict[str, Sequence[object]]:
    """Return the matrices that the sizes of a network claim."""
    return {
        "table of words": (sizes.pieces, sizes.width),
        "rows for other words": (sizes.buckets, sizes.width),
        "feed-forward 1": (sizes.inner, sizes.width),
        "attention": (sizes.projection, sizes.width),
        "feed-forward 2": (sizes.layers, sizes.heads, sizes.width),
        "last layer": (sizes.output, sizes.width),
    }


def load_convert(folder: Path, device: str = "cpu") -> ConvertEncoder:
    """Load a saved ConveRT without running the folder's code; raises ArtifactDamaged."""
    try:
        config: dict[str, Any] = json.loads((folder / CONFIG).read_bytes())
        pieces = json.loads((folder / VOCABULARY).read_bytes())
        refuse_claims([folder / WEIGHTS], _claims(Sizes(**config["sizes"])))
        module = ConvertModel.build(config, pieces, load_file(folder / WEIGHTS))
    except KeyError as error:
        raise ArtifactDamaged(f"The encoder in {folder} lacks {error.args[0]}.") from error
    except (*MALFORMED, SafetensorError) as error:
        raise ArtifactDamaged(f"The encoder in {folder} cannot be used: {error}") from error
    return encoder_of(module.to(device))
