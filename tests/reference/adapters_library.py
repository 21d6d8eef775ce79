"""Write what the `adapters` library computes for random weights, as a fixture of the tests.

The library needs older transformers than this project, so it lives in an environment of its own:

    python -m venv reference && reference/bin/pip install torch==2.13.0 adapters==1.3.0
    reference/bin/python tests/reference/adapters_library.py

MPNet has one layer: through an interface the library would norm every layer by the last one's norm.
"""

import json
from pathlib import Path

import adapters
import torch
import transformers
from adapters import AdapterModelInterface, SeqBnConfig
from safetensors.torch import save_file

FIXTURE = Path(__file__).with_suffix(".safetensors")
SIZES = {
    "vocab_size": 30,
    "hidden_size": 16,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "hidden_dim": 24,  # of DistilBERT
    "max_position_embeddings": 16,
}
SHARED = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}
N_LAYERS = {
    "bert": 2,
    "roberta": 2,
    "xlm-roberta": 2,
    "distilbert": 2,
    "modernbert": 2,
    "mpnet": 1,
}
# MPNet is no model that the library knows by itself.
MPNET = AdapterModelInterface(
    adapter_methods=["bottleneck"],
    model_embeddings="embeddings",
    model_layers="encoder.layer",
    layer_self_attn="attention.attn",
    layer_cross_attn=None,
    attn_k_proj="k",
    attn_q_proj="q",
    attn_v_proj="v",
    attn_o_proj="o",
    layer_intermediate_proj="intermediate.dense",
    layer_output_proj="output.dense",
    layer_pre_ffn="intermediate",
    layer_ln_2="output.LayerNorm",
)


def computed(kind, n_layers):
    """Return the config, weights and outputs of one kind of transformer."""
    torch.manual_seed(len(kind))
    sizes = {**SIZES, "num_hidden_layers": n_layers}
    config = transformers.AutoConfig.for_model(kind, **sizes, **SHARED)
    model = transformers.AutoModel.from_config(config)
    for value in model.parameters():  # norms and biases, too, are not what they start as
        value.data.add_(0.2 * torch.randn_like(value))
    base = {name: value.clone() for name, value in model.state_dict().items()}
    adapters.init(model, interface=MPNET if kind == "mpnet" else None)
    for name, value in model.named_parameters():
        if name not in base:  # the library gives ModernBERT's Wqkv a bias, at random
            value.data.zero_()
    ids = torch.randint(3, SIZES["vocab_size"], (3, 8))
    mask = torch.tensor([[1] * 8, [1] * 5 + [0] * 3, [1] * 2 + [0] * 6])
    model.eval()
    with torch.no_grad():
        plain = model(input_ids=ids, attention_mask=mask).last_hidden_state
        model.add_adapter("a", SeqBnConfig(reduction_factor=4))
        model.set_active_adapters("a")
        added = {n: p for n, p in model.named_parameters() if ".a.adapter_" in n}
        for value in added.values():
            value.copy_(torch.randn_like(value))
        hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
    tensors = {f"base.{name}": value for name, value in base.items()}
    tensors |= {f"adapter.{renamed(n)}": p.detach() for n, p in added.items()}
    tensors |= {"ids": ids, "mask": mask, "plain": plain, "hidden": hidden}
    return config.to_diff_dict(), tensors


def renamed(name):
    """`…layer.1.…adapter_down.0.weight` is `1.down.weight`."""
    parts = name.split(".")
    layer = next(part for part in parts if part.isdecimal())
    kind = "down" if "adapter_down" in parts else "up"
    return f"{layer}.{kind}.{parts[-1]}"


def main():
    """Write all kinds into one file."""
    configs, tensors = {}, {}
    for kind, n_layers in N_LAYERS.items():
        configs[kind], found = computed(kind, n_layers)
        tensors |= {f"{kind}/{name}": value.contiguous() for name, value in found.items()}
        moved = (found["hidden"] - found["plain"]).abs().mean()
        print(kind, f"adapters move the output by {moved:.3f} on average")  # noqa: T201
    libraries = (adapters, torch, transformers)
    versions = {library.__name__: library.__version__ for library in libraries}
    save_file(tensors, FIXTURE, {"configs": json.dumps(configs), "versions": json.dumps(versions)})


if __name__ == "__main__":
    main()
