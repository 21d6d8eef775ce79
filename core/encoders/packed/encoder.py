"""The fast encoder: a BERT with mean pooling."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import Tensor, nn

from core.encoders.base import Progress
from core.encoders.folders import POOLING, list_modules, write_files
from core.encoders.packed.bert import PackedBert
from core.encoders.packed.layout import equal_length_batches, lay_out, pool_mean
from core.encoders.packed.side_by_side import side_by_side
from core.encoders.projection import DENSE, project, projection_config
from core.encoders.weights import digest_weights, write_weights
from core.types import FloatArray

_BATCH_TOKENS = 1_024
"""Tokens of one inference batch; the activations of a layer then fit into the cores' caches."""

_MANY_BATCHES = 4
"""So many full batches are worth a thread each."""


@dataclass(frozen=True, slots=True)
class EncoderFiles:
    """Files for `save`: configs and tokenizer (`small`), and unused published weights (`spare`)."""

    small: Mapping[str, bytes]
    spare: Mapping[str, Tensor]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class TransformerEncoder:
    """A BERT with mean pooling; optional Tanh projection (ConvFiT, Fig. 1) and unit rows."""

    bert: PackedBert
    tokenizer: Tokenizer
    projection: nn.Linear | None
    normalised: bool
    max_tokens: int
    files: EncoderFiles
    fingerprint: str
    batch_tokens: int = _BATCH_TOKENS

    @property
    def dim(self) -> int:
        """Width of an embedding."""
        return self.projection.out_features if self.projection else self.bert.shape.hidden_size

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> FloatArray:
        """Embed texts in their order; equal to sentence-transformers to 1e-4; (n, dim) float32."""
        distinct = list(dict.fromkeys(texts))
        rows = np.empty((len(distinct), self.dim), dtype=np.float32)
        token_ids = self.token_ids(distinct, self.max_tokens)
        done = 0
        batches = equal_length_batches([len(ids) for ids in token_ids], self.batch_tokens)
        parts = [[token_ids[row] for row in batch] for batch in batches]
        with side_by_side(self._encode_equal, parts, self._threads(token_ids)) as embedded:
            for batch, found in zip(batches, embedded, strict=True):
                rows[batch] = found
                done += len(batch)
                if progress:
                    progress(done, len(distinct))
        if len(distinct) == len(texts):
            return rows
        place = {text: row for row, text in enumerate(distinct)}
        return rows[[place[text] for text in texts]]

    def _threads(self, token_ids: list[list[int]]) -> int:
        """Return how many batches of these texts are computed at the same time.

        The last bits of an embedding may depend on it. It goes by the texts alone, so that a stored
        encoder embeds them as the one did that was saved.
        """
        is_many = sum(map(len, token_ids)) >= _MANY_BATCHES * self.batch_tokens
        return torch.get_num_threads() if is_many and self._device.type == "cpu" else 1

    @property
    def _device(self) -> torch.device:
        return self.bert.words.weight.device

    def token_ids(self, texts: Sequence[str], max_tokens: int) -> list[list[int]]:
        """Tokenise with the special tokens, cut at `max_tokens`."""
        self.tokenizer.enable_truncation(max_tokens)
        self.tokenizer.no_padding()
        encoded = self.tokenizer.encode_batch_fast([text.strip() for text in texts])
        return [item.ids for item in encoded]

    @torch.inference_mode()
    def _encode_equal(self, token_ids: list[list[int]]) -> FloatArray:
        device = self._device
        lengths = torch.full((len(token_ids),), len(token_ids[0]))
        layout = lay_out(lengths)
        ids = torch.tensor(token_ids, device=device).flatten()
        tokens = self.bert.embed(ids, layout)
        tokens = self.bert.run_layers(tokens, layout, 0, len(self.bert.layers))
        embedding = project(pool_mean(tokens, layout), self.projection)
        if self.normalised:
            embedding = F.normalize(embedding, dim=1)
        array: FloatArray = embedding.cpu().numpy()
        return array

    def published_weights(self) -> dict[str, Tensor]:
        """Return the weights under the names that other programs read."""
        own = write_weights(self.bert.state_dict(), len(self.bert.layers))
        return {**own, **self.files.spare}

    def save(self, folder: Path) -> None:
        """Write a plain sentence-transformers folder; equal encoders write equal bytes."""
        folder.mkdir(parents=True, exist_ok=True)
        write_files(folder, self.files.small)
        weights = self.published_weights()
        save_file({k: weights[k] for k in sorted(weights)}, folder / "model.safetensors", _PT)
        if self.projection is not None:
            _save_projection(self.projection, folder)


_PT = {"format": "pt"}


def _save_projection(projection: nn.Linear, folder: Path) -> None:
    write_files(folder, {f"{DENSE}/config.json": projection_config(projection)})
    weights = {f"linear.{k}": v.detach().cpu() for k, v in projection.state_dict().items()}
    save_file({k: weights[k] for k in sorted(weights)}, folder / DENSE / "model.safetensors", _PT)


def modules_json(*, projected: bool, normalised: bool) -> bytes:
    """Write `modules.json` for the modules of an encoder."""
    chain = [("Transformer", ""), ("Pooling", POOLING)]
    chain += [("Dense", DENSE)] if projected else []
    chain += [("Normalize", "3_Normalize" if projected else "2_Normalize")] if normalised else []
    return list_modules(chain)


def fingerprint(bert: PackedBert, projection: nn.Linear | None, small: Mapping[str, bytes]) -> str:
    """Return the SHA-256 over everything that embeddings depend on."""
    digest = hashlib.sha256(digest_weights(bert.state_dict()).encode())
    if projection is not None:
        digest.update(digest_weights(projection.state_dict()).encode())
    for name in ("config.json", "tokenizer.json", "sentence_bert_config.json"):
        digest.update(hashlib.sha256(small.get(name, b"")).digest())
    return digest.hexdigest()
