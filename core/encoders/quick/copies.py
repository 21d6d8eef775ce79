"""Quick copies of an encoder, for many texts by which nothing is judged."""

import hashlib
from dataclasses import replace

import torch

from core.encoders.adapter.encoder import AdaptedEncoder
from core.encoders.base import Encoder
from core.encoders.packed.encoder import TransformerEncoder
from core.encoders.precision import has_bfloat16, settled_precision
from core.encoders.quick.bfloat16 import in_bfloat16
from core.encoders.quick.eight_bits import in_eight_bits
from core.types import AskedEncodingPrecision, EncodingPrecision


def has_eight_bits() -> bool:
    """Whether this processor has instructions that multiply 8-bit numbers into 32-bit sums."""
    return bool(torch.cpu._is_vnni_supported())


def settled_encoding(asked: AskedEncodingPrecision) -> EncodingPrecision:
    """Return the number format in which a quick copy multiplies on this processor.

    That is float32 where it has no instructions for the one that is asked for. `auto` is bfloat16
    where that is quick: it is more exact than int8, and no slower with all that lies between
    products.
    """
    if asked == "auto":
        asked = settled_precision("auto", "cpu")
        asked = "int8" if asked == "float32" else asked
    has_it = {"float32": lambda: True, "bfloat16": has_bfloat16, "int8": has_eight_bits}
    is_there = torch.backends.mkldnn.is_available() and has_it[asked]()
    return asked if is_there else "float32"


def quick_copy(encoder: Encoder, asked: AskedEncodingPrecision = "auto") -> Encoder:
    """Return a copy with a fingerprint of its own, or the encoder where none would be quicker."""
    network = encoder.merged() if isinstance(encoder, AdaptedEncoder) else encoder
    if not isinstance(network, TransformerEncoder):
        return encoder
    settled = settled_encoding(asked)
    if settled == "float32" or network.bert.words.weight.device.type != "cpu":
        return encoder
    made = in_bfloat16(network) if settled == "bfloat16" else in_eight_bits(network)
    return replace(made, fingerprint=fingerprint_of_copy(encoder.fingerprint, settled))


def encoding_of(copy: Encoder, exact: Encoder, asked: AskedEncodingPrecision) -> EncodingPrecision:
    """Return the number format of what `quick_copy` made of an exact encoder."""
    return "float32" if copy.fingerprint == exact.fingerprint else settled_encoding(asked)


def fingerprint_of_copy(fingerprint: str, precision: EncodingPrecision) -> str:
    """Return the fingerprint of an encoder's copy in a number format."""
    return hashlib.sha256(f"{fingerprint} in {precision}".encode()).hexdigest()
