"""Texts to token ids, by the files of a bundle with one graph; without torch.

tokenizer.json    of a BERT
subwords.json     of ConveRT: its subwords in the order of their ids, and the ids for other signs
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from tokenizers import Tokenizer

from core.encoders.convert.subwords import Subwords
from core.errors import MALFORMED, ArtifactDamaged

TOKENIZER, SUBWORDS = "tokenizer.json", "subwords.json"

Tokenise = Callable[[Sequence[str]], list[list[int]]]
"""Texts to ids, with the special tokens, cut at the limit."""


def subwords_to_json(subwords: Subwords) -> bytes:
    """Write the subwords of ConveRT."""
    values = {"pieces": list(subwords.pieces), "buckets": subwords.buckets}
    return (json.dumps(values, ensure_ascii=False) + "\n").encode()


def read_tokens(folder: Path, max_tokens: int) -> Tokenise:
    """Read how texts become ids.

    Raises:
        ArtifactDamaged: The file is missing or not readable.
    """
    if (folder / SUBWORDS).exists():
        subwords = _subwords(folder / SUBWORDS)
        return lambda texts: subwords.tokenise(texts, max_tokens)
    try:
        tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    except Exception as error:  # the library raises nothing narrower
        raise ArtifactDamaged(
            f"The bundle's tokenizer cannot be read: {error}.", "Export it again."
        ) from error
    tokenizer.enable_truncation(max_tokens)
    tokenizer.no_padding()

    def tokenise(texts: Sequence[str]) -> list[list[int]]:
        return [one.ids for one in tokenizer.encode_batch_fast([text.strip() for text in texts])]

    return tokenise


def _subwords(path: Path) -> Subwords:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        pieces, buckets = values["pieces"], values["buckets"]
        if not all(isinstance(piece, str) for piece in pieces) or not int(buckets) > 0:
            message = "it holds something else"
            raise ValueError(message)
        return Subwords(tuple(pieces), int(buckets))
    except MALFORMED as error:
        raise ArtifactDamaged(
            f"The bundle's subwords cannot be read: {error}.", "Export it again."
        ) from error
