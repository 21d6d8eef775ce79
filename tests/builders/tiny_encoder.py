"""Encoders of a few kilobytes: random two-layer ones, and one that hashes words."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from core.encoders.base import Progress
from core.errors import InvalidInput
from core.types import FloatArray

if TYPE_CHECKING:
    from core.encoders.adapter.encoder import AdaptedEncoder, PlainEncoder

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,?!'"


def tiny_folder(folder: Path) -> Path:
    """Write the encoder as a sentence-transformers folder; the same each time."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel

    folder.mkdir(parents=True)
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = special + list(LETTERS) + [f"##{letter}" for letter in LETTERS]
    vocabulary = {word: place for place, word in enumerate(words)}
    tokenizer = BertWordPieceTokenizer(vocab=vocabulary, lowercase=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    torch.manual_seed(0)
    BertModel(config).save_pretrained(folder)
    _write(folder / "sentence_bert_config.json", {"max_seq_length": 48, "do_lower_case": False})
    facts = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 48}
    _write(folder / "tokenizer_config.json", facts)
    pooling = {"word_embedding_dimension": 32, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling").mkdir()
    _write(folder / "1_Pooling" / "config.json", pooling)
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    _write(folder / "modules.json", _modules(kinds))
    return folder


def tiny_transformer(folder: Path, kind: str, pooling: str | None = None) -> Path:
    """Write a transformer of any kind, the same each time; bare, or with a kind of pooling."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import AutoConfig, AutoModel

    folder.mkdir(parents=True)
    # The order of RoBERTa and MPNet, whose positions count from behind the padding's id.
    special = ["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"]
    words = special + list(LETTERS) + [f"##{letter}" for letter in LETTERS]
    vocabulary = {word: place for place, word in enumerate(words)}
    BertWordPieceTokenizer(vocab=vocabulary).save(str(folder / "tokenizer.json"))
    named = dict(zip(("cls_token", "pad_token", "sep_token", "unk_token"), special, strict=False))
    facts = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 48, **named}
    _write(folder / "tokenizer_config.json", facts)
    sizes = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": 64,
    }
    ids = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}
    config = AutoConfig.for_model(kind, vocab_size=len(words), **sizes, **ids)
    torch.manual_seed(0)
    AutoModel.from_config(config).save_pretrained(folder)
    if pooling is not None:
        chain = [("", "Transformer"), ("1_Pooling", "Pooling")]
        _write(folder / "modules.json", _modules(chain))
        (folder / "1_Pooling").mkdir()
        modes = {"word_embedding_dimension": 32, "pooling_mode_mean_tokens": False}
        _write(folder / "1_Pooling" / "config.json", {**modes, f"pooling_mode_{pooling}": True})
    return folder


def randomly_adapted(base: "PlainEncoder", kind: str, seed: int = 0) -> "AdaptedEncoder":
    """Put an adapter of random weights, which does change what comes out, behind every layer."""
    import torch

    from core.encoders.adapter.encoder import adapt, open_network, places_in
    from core.encoders.adapter.layers import new_adapter
    from core.encoders.base import AdapterOptions

    _, root = open_network(base)
    places = places_in(base, kind, 0)
    adapter = new_adapter(root, places, AdapterOptions(kind, rank=4), seed)
    generator = torch.Generator().manual_seed(seed)
    weights = {
        name: value + 0.3 * torch.randn(value.shape, generator=generator)
        for name, value in adapter.weights.items()
    }
    return adapt(base, replace(adapter, weights=weights))


def tiny_convert(folder: Path, *, quantised: bool = False, embedding: str = "r") -> Path:
    """Write a random ConveRT of two blocks, the same each time."""
    from core.encoders.convert.encoder import new_encoder
    from core.encoders.convert.network import new_network
    from core.encoders.convert.sizes import Sizes
    from core.encoders.convert.subwords import Subwords

    pieces = (*LETTERS, *(f"##{letter}" for letter in LETTERS))
    sizes = Sizes(
        pieces=len(pieces),
        buckets=10,
        width=32,
        projection=8,
        reach=(3, 48),
        inner=64,
        output=16,
        max_tokens=48,
        dropout=0.1,
        sides=("context", "response", "history"),
    )
    network = new_network(sizes, seed=0, quantised=quantised)
    subwords = Subwords(pieces, sizes.buckets)
    new_encoder(network, subwords, embedding=embedding, quantised=quantised).save(folder)
    return folder


def _modules(kinds: list[tuple[str, str]]) -> list[dict[str, object]]:
    return [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (path, kind) in enumerate(kinds)
    ]


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class HashingEncoder:
    """Counts character trigrams in hashed buckets; similar spelling gives similar rows."""

    dim: int = 64
    max_tokens: int = 512

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the width, the only parameter."""
        return hashlib.sha256(f"hashing-{self.dim}".encode()).hexdigest()

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> FloatArray:
        """Embed texts; (n, dim) float32, rows of length one."""
        rows = np.stack([self._row(text) for text in texts]) if texts else np.zeros((0, self.dim))
        if progress:
            progress(len(texts), len(texts))
        return rows.astype(np.float32)

    def save(self, folder: Path) -> None:
        """Refuse: no other program could load it."""
        raise InvalidInput(f"A toy encoder cannot be saved to {folder}.", "Use a real encoder.")

    def _row(self, text: str) -> FloatArray:
        row = np.full(self.dim, 1e-6, dtype=np.float32)
        padded = f"  {text.lower()}  "
        for start in range(len(padded) - 2):
            digest = hashlib.blake2b(padded[start : start + 3].encode(), digest_size=8).digest()
            row[int.from_bytes(digest, "little") % self.dim] += 1.0
        return row / np.float32(np.linalg.norm(row))
