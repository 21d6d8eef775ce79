"""Learn a vocabulary of subwords from the texts of conversations."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.trainers import BpeTrainer

from core.encoders.convert.subwords import CONTINUED, split_words

_BEGINS = "\u2581"  # the sign that SentencePiece puts before a word
_LONGEST = 20  # characters of a subword (ConveRT, footnote 4)
_DIGITS = re.compile(r"\d{5}")  # at most four digits in a row, as there
_CHARACTERS = 1_000
_SENTENCES = 10_000_000


def learn_pieces(
    texts: Iterable[str], size: int, min_frequency: int = 2, sentences: int = _SENTENCES
) -> tuple[str, ...]:
    """Learn subwords from texts in lower case; the same texts give the same ones.

    Args:
        texts: Streamed; none is held longer than it takes to count its words.
        size: How many subwords at most (31,476 in ConveRT).
        min_frequency: How often a subword occurs at least (250 in ConveRT, of 10 million texts).
        sentences: How many texts are looked at.
    """
    # Not by WordPiece: its trainer numbers characters in the order of a hash table, and so breaks
    # ties differently each time.
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
    """Put every character first, at the beginning of words and inside them; then what is longer."""
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
