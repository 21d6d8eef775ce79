"""LoRA (Hu et al. 2022) by `peft`, inside any network."""

from collections.abc import Mapping, Sequence

from torch import Tensor, nn

_NAME = "default"


def insert_lora(
    network: nn.Module, places: Sequence[str], weights: Mapping[str, Tensor], scale: float
) -> dict[str, nn.Parameter]:
    """Put LoRA beside frozen linear layers, in place; return matrices `PLACE.A` and `PLACE.B`."""
    from peft import LoraConfig, inject_adapter_in_model  # seconds to load

    rank = weights[f"{places[0]}.A"].shape[0]
    config = LoraConfig(r=rank, lora_alpha=int(scale * rank), target_modules=list(places))
    inject_adapter_in_model(config, network, adapter_name=_NAME)
    return {
        f"{place}.{part}": network.get_parameter(f"{place}.lora_{part}.{_NAME}.weight")
        for place in places
        for part in ("A", "B")
    }
