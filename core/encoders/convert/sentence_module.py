"""ConveRT as a module of sentence-transformers; also runs from a saved encoder's folder."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import torch
from safetensors.torch import load_file
from sentence_transformers.base.modules import InputModule

from core.encoders.convert.model import CONFIG, VOCABULARY, WEIGHTS, ConvertModel
from core.encoders.convert.network import pad

_SIDES = {"query": "context", "document": "response"}


class ConvertModule(ConvertModel, InputModule):
    """Texts to `r` or `h`: of a context, or of a response in `encode_document`."""

    forward_kwargs = {"task"}  # noqa: RUF012 (as the library declares it)
    config_file_name = CONFIG

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

    def get_sentence_embedding_dimension(self) -> int:
        """Width of an embedding, under the library's older name."""
        return self.get_embedding_dimension()

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

        config = json.loads(find(CONFIG).read_text(encoding="utf-8"))
        pieces = json.loads(find(VOCABULARY).read_text(encoding="utf-8"))
        return cls.build(config, pieces, load_file(find(WEIGHTS)))
