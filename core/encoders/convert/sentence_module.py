"""ConveRT as a module of sentence-transformers; also runs from a saved encoder's folder."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import torch
from safetensors.torch import load_file, save_file
from sentence_transformers.base.modules import InputModule
from torch import Tensor

from core.encoders.convert.network import ConvertNetwork, pad
from core.encoders.convert.quantisation import read_weights, stored_weights
from core.encoders.convert.sizes import Sizes
from core.encoders.convert.subwords import Subwords

VOCABULARY = "vocabulary.json"
WEIGHTS = "model.safetensors"
_SIDES = {"query": "context", "document": "response"}


class ConvertModule(InputModule):
    """Texts to `r` or `h`: of a context, or of a response in `encode_document`."""

    forward_kwargs = {"task"}  # noqa: RUF012 (as the library declares it)
    config_file_name = "config.json"

    def __init__(self, network: ConvertNetwork, subwords: Subwords, facts: dict[str, Any]) -> None:
        """Store the parts; `facts` are `embedding` (`r` or `h`), `side` of `h`, and `quantised`."""
        super().__init__()  # type: ignore[no-untyped-call]
        self.network = network
        self.subwords = subwords
        self.facts = facts
        self.max_seq_length = network.sizes.max_tokens

    def preprocess(
        self, inputs: Sequence[Any], prompt: str | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Tokenise texts: padded ids with a mask, (b, n) each."""
        options = (kwargs.get("processing_kwargs") or {}).get("text", {})
        longest = int(options.get("max_length") or self.max_seq_length)
        texts = [(prompt or "") + str(text) for text in inputs]
        ids, present = pad(self.subwords.tokenise(texts, longest), torch.device("cpu"))
        return {"input_ids": ids, "attention_mask": present}

    def forward(
        self, features: dict[str, Any], task: str | None = None, **_: Any
    ) -> dict[str, Any]:
        """Add the `sentence_embedding` of each text."""
        reduced = self.network(features["input_ids"], features["attention_mask"].bool())
        features["sentence_embedding"] = self.embedding_of(reduced, _SIDES.get(task or ""))
        return features

    def embedding_of(self, reduced: Tensor, side: str | None = None) -> Tensor:
        """Map `r` to the configured embedding; a named side gives its `h`."""
        if side is None and self.facts["embedding"] == "r":
            return reduced
        embedding: Tensor = self.network.sides[side or self.facts["side"]](reduced)
        return embedding

    def get_embedding_dimension(self) -> int:
        """Width of an embedding."""
        sizes = self.network.sizes
        return sizes.reduced if self.facts["embedding"] == "r" else sizes.output

    def get_sentence_embedding_dimension(self) -> int:
        """Width of an embedding, under the library's older name."""
        return self.get_embedding_dimension()

    def get_config_dict(self) -> dict[str, Any]:
        """Return the contents of `config.json`."""
        return {"model_type": "convert", **self.facts, "sizes": asdict(self.network.sizes)}

    def save(self, output_path: str, *_: Any, **__: Any) -> None:
        """Write config, vocabulary and weights."""
        folder = Path(output_path)
        folder.mkdir(parents=True, exist_ok=True)
        config = json.dumps(self.get_config_dict(), indent=2)
        (folder / self.config_file_name).write_text(config + "\n", encoding="utf-8")
        pieces = json.dumps(self.subwords.pieces, ensure_ascii=False, indent=0)
        (folder / VOCABULARY).write_text(pieces + "\n", encoding="utf-8")
        weights = stored_weights(self.network, quantised=bool(self.facts["quantised"]))
        save_file(weights, folder / WEIGHTS, {"format": "pt"})

    @classmethod
    def load(cls, model_name_or_path: str, *_: Any, **kwargs: Any) -> Self:
        """Load what `save` wrote, from a folder or the hub."""
        place = {
            key: kwargs[key]
            for key in ("subfolder", "token", "cache_folder", "revision", "local_files_only")
            if key in kwargs
        }

        def find(name: str) -> Path:
            found = cls.load_file_path(model_name_or_path, name, **place)
            if found is None:
                message = f"{model_name_or_path} holds no {name}"
                raise FileNotFoundError(message)
            return Path(found)

        config = json.loads(find(cls.config_file_name).read_text(encoding="utf-8"))
        pieces = json.loads(find(VOCABULARY).read_text(encoding="utf-8"))
        return cls.build(config, pieces, load_file(find(WEIGHTS)))

    @classmethod
    def build(cls, config: dict[str, Any], pieces: list[str], weights: dict[str, Tensor]) -> Self:
        """Build a module from its files' contents; KeyError or RuntimeError if they do not fit."""
        listed: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in config["sizes"].items()
        }
        sizes = Sizes(**listed)
        network = ConvertNetwork(sizes, quantised=bool(config["quantised"]))
        read_weights(network, weights)
        facts = {key: config[key] for key in ("embedding", "side", "quantised")}
        return cls(network.eval(), Subwords(tuple(pieces), sizes.buckets), facts)
