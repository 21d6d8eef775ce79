"""The optimiser of all training loops, and its state for resuming bit for bit."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from core.errors import RunFailed
from core.recipes.base import Tuned
from core.recipes.conversations import ConvertRecipe

_MAX_GRADIENT_NORM = 1.0
_NO_DECAY = ("bias", "norm")  # in lower case
Parameters = Sequence[tuple[str, nn.Parameter]]


def require_finite(loss: float) -> None:
    """Raise RunFailed if the loss of a step is no finite number.

    Its gradients have made all weights useless: no later step mends them.
    """
    if not math.isfinite(loss):
        raise RunFailed(
            "The training lost its way: its loss is no number any more.",
            "Choose a smaller learning rate, or another base encoder.",
        )


@dataclass(frozen=True, slots=True, eq=False)
class Optimiser:
    """AdamW or Adadelta over named weights; each group has a `factor` of the peak learning rate."""

    algorithm: torch.optim.Optimizer
    parameters: Parameters
    device: torch.device
    peak: float

    def set_rate(self, share: float) -> None:
        """Set the learning rate to a share of its peak."""
        for group in self.algorithm.param_groups:
            group["lr"] = self.peak * share * group["factor"]

    def weights(self) -> list[nn.Parameter]:
        """Return all weights, group by group."""
        return [weight for group in self.algorithm.param_groups for weight in group["params"]]

    def step(self, weights: Iterable[nn.Parameter]) -> None:
        """Clip the norm of the gradients, summed in the order of `weights`, and take a step."""
        nn.utils.clip_grad_norm_(weights, _MAX_GRADIENT_NORM)
        self.algorithm.step()

    def state(self) -> dict[str, Tensor]:
        """Copy weights, moments and torch's random state, named for a checkpoint."""
        tensors = {"random.cpu": torch.get_rng_state()}
        if self.device.type == "cuda":
            tensors["random.cuda"] = torch.cuda.get_rng_state(self.device)
        for name, parameter in self.parameters:
            tensors[f"weight.{name}"] = parameter.detach().clone().contiguous()
            for key, value in self.algorithm.state[parameter].items():
                tensors[f"optimizer.{key}.{name}"] = value.detach().clone().contiguous()
        return tensors

    @torch.no_grad()
    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Restore what `state` returned."""
        moments: dict[str, dict[str, Tensor]] = defaultdict(dict)
        for label, value in tensors.items():
            if label.startswith("optimizer."):
                _, key, name = label.split(".", 2)
                moments[name][key] = value
        for name, parameter in self.parameters:
            parameter.copy_(tensors[f"weight.{name}"])
            self.algorithm.state[parameter] = {
                # Steps are counted on the CPU; moments are on the weight's device.
                key: value.clone() if key == "step" else value.to(parameter.device).clone()
                for key, value in moments[name].items()
            }
        torch.set_rng_state(tensors["random.cpu"].cpu())
        if "random.cuda" in tensors and self.device.type == "cuda":
            torch.cuda.set_rng_state(tensors["random.cuda"].cpu(), self.device)


def build_optimiser(
    parameters: Parameters,
    recipe: Tuned | ConvertRecipe,
    device: torch.device,
    factors: Mapping[str, float] | None = None,
) -> Optimiser:
    """Group weights by decay and learning rate, and build their optimiser.

    Biases, norms and an objective's own weights (names that begin with `objective`) do not decay.
    AdamW is used unless the recipe asks for Adadelta (decay rate 0.9, as in ConveRT). `factors`
    are factors of the learning rate, by the beginning of a weight's name.
    """
    groups: dict[tuple[bool, float], list[nn.Parameter]] = defaultdict(list)
    for name, parameter in parameters:
        exempt = any(part in name.lower() for part in _NO_DECAY) or name.startswith("objective")
        matching = (rate for start, rate in (factors or {}).items() if name.startswith(start))
        groups[exempt, next(matching, 1.0)].append(parameter)
    listed = [
        {
            "params": weights,
            "weight_decay": 0.0 if exempt else recipe.weight_decay,
            "factor": factor,
        }
        for (exempt, factor), weights in sorted(groups.items(), key=lambda group: group[0])
    ]
    built: torch.optim.Optimizer
    if isinstance(recipe, ConvertRecipe) and recipe.optimizer == "adadelta":
        built = torch.optim.Adadelta(listed, lr=recipe.learning_rate, rho=0.9)
    else:
        # One pass over the weights each; on a GPU, where steps are counted on the CPU, all at once.
        fused = device.type == "cpu"
        rate = recipe.learning_rate
        built = torch.optim.AdamW(listed, lr=rate, fused=fused, foreach=not fused)
    return Optimiser(built, parameters, device, recipe.learning_rate)
