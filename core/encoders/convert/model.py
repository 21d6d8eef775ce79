"""ConveRT without sentence-transformers, whose import takes seconds: weights, subwords, files."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from safetensors.torch import save_file
from torch import Tensor, nn

from core.encoders.convert.network import ConvertNetwork
from core.encoders.convert.quantisation import read_weights, stored_weights
from core.encoders.convert.sizes import Sizes
from core.encoders.convert.subwords import Subwords

CONFIG = "config.json"
VOCABULARY = "vocabulary.json"
WEIGHTS = "model.safetensors"


class ConvertModel(nn.Module):
    """Network and subwords; `facts` are `embedding` (`r` or `h`), `side` of `h`, `quantised`."""

    def __init__(self, network: ConvertNetwork, subwords: Subwords, facts: dict[str, Any]) -> None:
        super().__init__()
        self.network = network
        self.subwords = subwords
        self.facts = facts
        self.max_seq_length = network.sizes.max_tokens

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

    def get_config_dict(self) -> dict[str, Any]:
        """Return the contents of `config.json`."""
        return {"model_type": "convert", **self.facts, "sizes": asdict(self.network.sizes)}

    def save(self, output_path: str, *_: Any, **__: Any) -> None:
        """Write config, vocabulary and weights."""
        folder = Path(output_path)
        folder.mkdir(parents=True, exist_ok=True)
        config = json.dumps(self.get_config_dict(), indent=2)
        (folder / CONFIG).write_text(config + "\n", encoding="utf-8")
        pieces = json.dumps(self.subwords.pieces, ensure_ascii=False, indent=0)
        (folder / VOCABULARY).write_text(pieces + "\n", encoding="utf-8")
        weights = stored_weights(self.network, quantised=bool(self.facts["quantised"]))
        save_file(weights, folder / WEIGHTS, {"format": "pt"})

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
