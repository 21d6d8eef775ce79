"""A general encoder opened for tuning: its own modules, with the lower layers frozen."""

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import torch
from torch import Tensor, nn

from core.encoders.base import TuningOptions
from core.encoders.folders import list_modules, module_entries
from core.encoders.general.encoder import GeneralEncoder, encoder_of, layers_of, transformer_of
from core.encoders.precision import computing_in
from core.encoders.projection import DENSE, new_projection, project, projection_config

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


class GeneralTuning(nn.Module):
    """Embeds rows of a fixed list of texts with gradients; made by `open_general`."""

    def __init__(
        self,
        base: GeneralEncoder,
        model: "SentenceTransformer",
        texts: Sequence[str],
        options: TuningOptions,
    ) -> None:
        super().__init__()
        self.base = base
        self.model = model
        self.frozen = frozen_parts(model, options.frozen_layers)
        self.projection = _open_projection(base, options)
        self.keeps_projection = options.projection == "keep"
        self.precision = options.precision
        self.to(options.device)
        self.max_tokens = min(options.max_tokens, base.max_tokens)
        self.features = _tokenised(self.model, texts, self.max_tokens)

    @property
    def device(self) -> torch.device:
        """Device of the computation."""
        return next(self.model.parameters()).device

    def forward(self, rows: Tensor) -> Tensor:
        """Embed texts by their row numbers; (b,) int64 to (b, dim), not of length one."""
        features = _take(self.features, rows)
        with computing_in(self.precision, self.device.type):
            for module in self.model:
                if type(module).__name__ != "Normalize":
                    features = module(features)
        return project(features["sentence_embedding"].float(), self.projection)

    def train(self, mode: bool = True) -> Self:  # noqa: FBT001, FBT002 (torch's own signature)
        """Switch dropout on, except in the frozen part."""
        super().train(mode)
        for part in self.frozen:
            part.eval()
        return self

    def trainable(self) -> list[tuple[str, nn.Parameter]]:
        """Names and parameters that training may change, in a fixed order."""
        return [(name, p) for name, p in self.named_parameters() if p.requires_grad]

    def alongside(self, texts: Sequence[str]) -> "GeneralTuning":
        """Open the same weights, still in training, on other texts."""
        other = copy.copy(self)
        other.features = _tokenised(self.model, texts, self.max_tokens)
        return other

    @torch.no_grad()
    def finish(self, interpolation: float = 1.0) -> GeneralEncoder:
        """Return a new encoder between the unchanged base (0) and the tuned weights (1)."""
        model = copy.deepcopy(self.model).to(self.base.model.device)
        base = dict(self.base.model.named_parameters())
        for name, value in model.named_parameters():
            value.copy_(base[name].lerp(value, interpolation))
        files = dict(self.base.files)
        if self.projection is not None and self.keeps_projection:
            model = _with_projection(model, self.projection)
            files["modules.json"] = _with_dense(files)
            files[f"{DENSE}/config.json"] = projection_config(self.projection)
        return encoder_of(model, files)


def _open_projection(base: GeneralEncoder, options: TuningOptions) -> nn.Linear | None:
    if any(entry.kind == "Dense" for entry in module_entries(base.files)):
        return None
    pooling: Any = base.model[1]
    return new_projection(pooling.get_embedding_dimension(), options)


def open_general(
    base: GeneralEncoder, texts: Sequence[str], options: TuningOptions
) -> GeneralTuning:
    """Copy an encoder for tuning on a fixed list of texts."""
    model = copy.deepcopy(base.model).to(options.device)
    model.requires_grad_(requires_grad=True)
    if frozen := frozen_parts(model, options.frozen_layers):
        transformer = transformer_of(model)
        transformer.requires_grad_(requires_grad=False)
        norm = getattr(transformer, "final_norm", None)  # of pre-norm stacks, after the layers
        upper = layers_of(transformer)[len(frozen) - 1 :]
        for part in [*upper, *([norm] if isinstance(norm, nn.Module) else [])]:
            part.requires_grad_(requires_grad=True)
    return GeneralTuning(base, model, texts, options)


def frozen_parts(model: "SentenceTransformer", n_layers: int) -> list[nn.Module]:
    """Return the token tables and `n_layers` lower layers, never the last; empty if no layer."""
    transformer = transformer_of(model)
    layers = layers_of(transformer)
    frozen = min(n_layers, len(layers) - 1)
    return [transformer.get_submodule("embeddings"), *layers[:frozen]] if frozen else []


def _tokenised(
    model: "SentenceTransformer", texts: Sequence[str], max_tokens: int
) -> dict[str, Any]:
    prompt = model.prompts.get(model.default_prompt_name or "")
    cut: Any = {"text": {"max_length": max_tokens, "truncation": True}}
    features = model.preprocess(list(texts), prompt=prompt, processing_kwargs=cut)
    device = model.device
    return {k: v.to(device) if isinstance(v, Tensor) else v for k, v in features.items()}


def _take(features: dict[str, Any], rows: Tensor) -> dict[str, Any]:
    """Take texts by row, without columns of padding alone."""
    columns = features["attention_mask"][rows].any(0)
    return {
        name: value[rows][:, columns] if isinstance(value, Tensor) else value
        for name, value in features.items()
    }


def _with_projection(model: "SentenceTransformer", projection: nn.Linear) -> "SentenceTransformer":
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense

    transformer, pooling, *rest = model
    dense = Dense(projection.in_features, projection.out_features, activation_function=nn.Tanh())
    dense.linear.load_state_dict(projection.state_dict())
    return SentenceTransformer(
        modules=[transformer, pooling, dense, *rest],
        device=str(model.device),
        prompts={name: text for name, text in model.prompts.items() if text is not None},
        default_prompt_name=model.default_prompt_name,
        local_files_only=True,
    )


def _with_dense(files: dict[str, bytes]) -> bytes:
    chain = [(entry.kind, entry.path) for entry in module_entries(files)]
    return list_modules([*chain[:2], ("Dense", DENSE), *chain[2:]])
