"""The optimiser of all training loops, and the state from which a loop goes on bit for bit."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from core.recipes.base import Tuned
from core.recipes.conversations import ConvertRecipe

_MAX_GRADIENT_NORM = 1.0
_NO_DECAY = ("bias", "norm")  # in lower case
Parameters = Sequence[tuple[str, nn.Parameter]]


@dataclass(frozen=True, slots=True, eq=False)
class Optimiser:
    """Changes named weights, and writes and reads back its state.

    Attributes:
        algorithm: AdamW or Adadelta; each group of weights has a `factor` of the learning rate.
        parameters: The weights by name, in a fixed order.
        device: Where the weights are, and where dropout draws.
        peak: The learning rate that `set_rate` takes a share of.
    """

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
        """Limit the norm of the gradients, summed in the order of `weights`, and take a step."""
        nn.utils.clip_grad_norm_(weights, _MAX_GRADIENT_NORM)
        self.algorithm.step()

    def state(self) -> dict[str, Tensor]:
        """Copy weights, moments and torch's random state, each under a name for a checkpoint."""
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
        """Take over what `state` returned."""
        moments: dict[str, dict[str, Tensor]] = defaultdict(dict)
        for label, value in tensors.items():
            if label.startswith("optimizer."):
                _, key, name = label.split(".", 2)
                moments[name][key] = value
        for name, parameter in self.parameters:
            parameter.copy_(tensors[f"weight.{name}"])
            self.algorithm.state[parameter] = {
                # Steps are counted on the CPU; moments are kept beside the weight.
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
    """Group weights by decay and by learning rate, and build the algorithm that changes them.

    Biases, norms and what an objective learns itself (names that begin with `objective`) do not
    decay.

    Args:
        parameters: The weights by name.
        recipe: Has the learning rate and the decay, and perhaps names Adadelta (with a decay rate
            of 0.9, as in ConveRT) in place of AdamW.
        device: Where the weights are.
        factors: Factors of the learning rate, by the beginning of a weight's name.
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
        built = torch.optim.AdamW(listed, lr=recipe.learning_rate, foreach=True)
    return Optimiser(built, parameters, device, recipe.learning_rate)
