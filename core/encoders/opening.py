"""Copy an encoder, or put an adapter into it, for training."""

from collections.abc import Sequence
from dataclasses import replace

from core.encoders.adapter.encoder import AdaptedEncoder, merge
from core.encoders.adapter.tuning import open_adapter
from core.encoders.base import Encoder, Tuning, TuningOptions
from core.encoders.dual.encoder import DualEncoder
from core.encoders.dual.static import StaticEncoder
from core.encoders.dual.tuning import StaticTuning
from core.encoders.general.encoder import GeneralEncoder
from core.encoders.general.tuning import open_general
from core.encoders.packed.encoder import TransformerEncoder
from core.encoders.packed.tuning import open_packed
from core.errors import InvalidInput


def open_tuning(encoder: Encoder, texts: Sequence[str], options: TuningOptions) -> Tuning:
    """Copy an encoder, or the utterances' side of a dual one, for tuning on a list of texts.

    Raises:
        InvalidInput: The encoder has no weights to tune, or an adapter of another kind.
    """
    match encoder:
        case DualEncoder():
            return open_tuning(encoder.utterances, texts, options)
        case StaticEncoder() if options.adapter is None:
            return StaticTuning(encoder, texts, options)
        case TransformerEncoder() | GeneralEncoder() | AdaptedEncoder() if options.adapter:
            return open_adapter(encoder, texts, options, options.adapter)
        case TransformerEncoder():
            return open_packed(encoder, texts, options)
        case GeneralEncoder():
            return open_general(encoder, texts, options)
        case AdaptedEncoder() if encoder.adapter.kind == "lora":
            merged = merge(encoder.base, encoder.adapter)
            return open_tuning(merged, texts, replace(options, adapter=None))
        case AdaptedEncoder():
            raise InvalidInput(
                "The weights of this encoder are shared; only its adapter can be trained.",
                "Train with adapter or instant, or choose another base encoder.",
            )
        case _:
            return _open_convert(encoder, texts, options)


def _open_convert(encoder: Encoder, texts: Sequence[str], options: TuningOptions) -> Tuning:
    """Open a ConveRT; imported here because it imports sentence-transformers."""
    from core.encoders.convert.encoder import ConvertEncoder
    from core.encoders.convert.tuning import ConvertTuning

    if isinstance(encoder, ConvertEncoder):
        return ConvertTuning(encoder, texts, options)
    raise InvalidInput(
        "This encoder has no weights to tune.",
        "Train with instant, or choose another base encoder.",
    )
