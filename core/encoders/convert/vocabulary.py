"""Learn a vocabulary of subwords from the texts of conversations."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.trainers import BpeTrainer

from core.encoders.convert.subwords import CONTINUED, split_words

_BEGINS = "\u2581"  # SentencePiece's sign before a word
_LONGEST = 20  # characters of a subword (ConveRT, footnote 4)
_DIGITS = re.compile(r"\d{5}")  # at most four digits in a row (ConveRT, footnote 4)
_CHARACTERS = 1_000
_SENTENCES = 10_000_000


def learn_pieces(
    texts: Iterable[str], size: int, min_frequency: int = 2, sentences: int = _SENTENCES
) -> tuple[str, ...]:
    """Learn at most `size` subwords (31,476 in ConveRT) from streamed texts, in lower case.

    Each occurs at least `min_frequency` times (250 in ConveRT, for 10 million texts). Equal texts
    give equal subwords; only the first `sentences` texts are read.
    """
    # WordPiece's trainer numbers characters in hash order, so that ties break at random.
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = WhitespaceSplit()
    trainer = BpeTrainer(
        vocab_size=size,
        min_frequency=min_frequency,
        limit_alphabet=_CHARACTERS,
        max_token_length=_LONGEST + 1,
        show_progress=False,
    )
    tokenizer.train_from_iterator(_marked(islice(texts, sentences)), trainer)
    learned = tokenizer.get_vocab()
    return _as_pieces(sorted(learned, key=lambda token: learned[token]), size)


def _as_pieces(tokens: list[str], size: int) -> tuple[str, ...]:
    """Order the subwords: characters at the start of words, inside them, then longer subwords."""
    characters = [token for token in tokens if len(token) == 1 and token != _BEGINS]
    pieces = dict.fromkeys([*characters, *(CONTINUED + sign for sign in characters)])
    for token in tokens:
        bare = token.removeprefix(_BEGINS)
        if 0 < len(bare) <= _LONGEST and _DIGITS.search(bare) is None:
            pieces[bare if token.startswith(_BEGINS) else CONTINUED + bare] = None
    return tuple(islice(pieces, max(size, 2 * len(characters))))


def _marked(texts: Iterator[str]) -> Iterator[str]:
    for text in texts:
        yield " ".join(_BEGINS + word for word in split_words(text))
