"""ConveRT as an encoder of the project: from and to folders, texts in, embeddings out."""

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
from core.encoders.convert.network import ConvertNetwork
from core.encoders.convert.quantisation import settle, stored_weights
from core.encoders.convert.sentence_module import VOCABULARY, WEIGHTS, ConvertModule
from core.encoders.convert.source import MODULE, module_source, modules_json, settings_json
from core.encoders.convert.subwords import Subwords
from core.encoders.weights import digest_weights
from core.errors import ArtifactDamaged, InvalidInput
from core.types import FloatArray
from core.vectors import unit_rows

Side = Literal["context", "response", "history"]
_BATCH = 256


@dataclass(frozen=True, slots=True, eq=False)
class ConvertEncoder:
    """A trained ConveRT.

    Attributes:
        model: In evaluation mode; never changed in place.
        fingerprint: SHA-256 over stored weights, vocabulary and configuration.
    """

    model: ConvertModule
    fingerprint: str

    @property
    def dim(self) -> int:
        """Width of an embedding."""
        return self.model.get_embedding_dimension()

    @property
    def max_tokens(self) -> int:
        """Longer texts are cut here."""
        return self.model.network.sizes.max_tokens

    @property
    def knows_history(self) -> bool:
        """Whether earlier turns can be encoded, too (multi-context)."""
        return "history" in self.model.network.sizes.sides

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> FloatArray:
        """Embed texts in their order, as sentences: `r`, or `h` of one side; (n, dim) float32."""
        return self._encode(texts, None, progress)

    def encode_side(self, texts: Sequence[str], side: Side) -> FloatArray:
        """Embed texts as contexts, responses or joined earlier turns; (n, output), length one.

        Raises:
            InvalidInput: Earlier turns are given to an encoder that was trained without them.
        """
        if side not in self.model.network.sizes.sides:
            raise InvalidInput(
                "This encoder was trained without earlier turns.",
                "Train one with contexts=10, or rank by the last turn alone.",
            )
        return self._encode(texts, side, None)

    def encode_contexts(self, contexts: Sequence[str], histories: Sequence[str]) -> FloatArray:
        """Embed contexts with what was said before (ConveRT 2.2); (n, output), length one.

        Args:
            contexts: The turns to be answered.
            histories: Joined earlier turns of each, as `history_text` writes them; where one is
                empty, or the encoder knows no history, the context alone counts.
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


def encoder_of(model: ConvertModule) -> ConvertEncoder:
    """Close a module as an encoder that is never changed again; its weights become the stored."""
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
    """Close a trained network; `embedding` is what stands for a sentence: `r` or `h`."""
    facts = {"embedding": embedding, "side": "context", "quantised": quantised}
    return encoder_of(ConvertModule(network, subwords, facts))


def load_convert(folder: Path, device: str = "cpu") -> ConvertEncoder:
    """Load a saved ConveRT by the project's own code; the folder's code is not run.

    Raises:
        ArtifactDamaged: A file is missing or is not what was written.
    """
    try:
        config: dict[str, Any] = json.loads((folder / "config.json").read_bytes())
        pieces = json.loads((folder / VOCABULARY).read_bytes())
        module = ConvertModule.build(config, pieces, load_file(folder / WEIGHTS))
    except KeyError as error:
        raise ArtifactDamaged(f"The encoder in {folder} lacks {error.args[0]}.") from error
    except (OSError, ValueError, TypeError, RuntimeError, SafetensorError) as error:
        raise ArtifactDamaged(f"The encoder in {folder} cannot be used: {error}") from error
    return encoder_of(module.to(device))
