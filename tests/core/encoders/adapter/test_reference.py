"""Our bottleneck against the `adapters` library, whose outputs `tests/reference` keeps."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel

from core.encoders.adapter.layers import Adapter, insert
from core.encoders.packed.bert import BertShape, PackedBert
from core.encoders.packed.layout import lay_out
from core.encoders.weights import published_modules, read_weights

FIXTURE = Path(__file__).parents[3] / "reference" / "adapters_library.safetensors"
PLACES = {
    "bert": "encoder.layer.{}.output.LayerNorm",
    "roberta": "encoder.layer.{}.output.LayerNorm",
    "xlm-roberta": "encoder.layer.{}.output.LayerNorm",
    "mpnet": "encoder.layer.{}.output.LayerNorm",
    "distilbert": "transformer.layer.{}.output_layer_norm",
    "modernbert": "layers.{}.mlp",
}


def recorded(kind: str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    with safe_open(FIXTURE, "pt") as file:
        assert json.loads(file.metadata()["versions"])["adapters"] == "1.3.0"
        config = json.loads(file.metadata()["configs"])[kind]
        names = [name for name in file.keys() if name.startswith(f"{kind}/")]  # noqa: SIM118
        return config, {name.partition("/")[2]: file.get_tensor(name) for name in names}


def part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {n.removeprefix(prefix): v for n, v in tensors.items() if n.startswith(prefix)}


def adapter_at(tensors: dict[str, Tensor], pattern: str) -> Adapter:
    weights = {}
    for name, value in part(tensors, "adapter.").items():
        layer, _, rest = name.partition(".")
        weights[f"{pattern.format(layer)}.{rest}"] = value
    places = {name.rpartition(".up.")[0]: () for name in weights if name.endswith(".up.bias")}
    return Adapter("bottleneck", places, weights)


def theirs(kind: str, config: dict[str, Any], weights: dict[str, Tensor]) -> nn.Module:
    config = {k: v for k, v in config.items() if k not in ("model_type", "transformers_version")}
    model = AutoModel.from_config(AutoConfig.for_model(kind, **config)).eval()
    missing = model.load_state_dict(weights, strict=False).missing_keys
    assert all("rotary" in name for name in missing)
    return model


@pytest.mark.parametrize("kind", PLACES)
def test_each_family_computes_what_the_adapters_library_does(kind: str) -> None:
    config, tensors = recorded(kind)
    model = theirs(kind, config, part(tensors, "base."))
    ids, mask = tensors["ids"], tensors["mask"]
    seen = mask.bool()
    with torch.no_grad():
        plain = model(input_ids=ids, attention_mask=mask).last_hidden_state
        insert(model, adapter_at(tensors, PLACES[kind]))
        hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
    assert (plain - tensors["plain"])[seen].abs().max() < 1e-5
    assert (hidden - tensors["hidden"])[seen].abs().max() < 1e-5
    assert (hidden - plain)[seen].abs().mean() > 0.1


def test_the_packed_bert_computes_what_the_adapters_library_does() -> None:
    config, tensors = recorded("bert")
    shape = {**AutoConfig.for_model(**config).to_dict()}
    bert = PackedBert(BertShape(**{name: shape[name] for name in BertShape.__dataclass_fields__}))
    bert.load_state_dict(read_weights(part(tensors, "base."), bert.shape.num_hidden_layers))
    bert.eval()
    insert(bert, adapter_at(tensors, "layers.{}.output_norm"))
    assert published_modules(1, "output_norm") == (PLACES["bert"].format(1),)
    ids, mask = tensors["ids"], tensors["mask"].bool()
    layout = lay_out(mask.sum(1))
    with torch.no_grad():
        tokens = bert.run_layers(bert.embed(ids[mask], layout), layout, 0, 2)
    assert (tokens - tensors["hidden"][mask]).abs().max() < 1e-5
