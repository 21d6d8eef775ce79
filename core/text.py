"""Normalise, hash, compare and part texts, and write names and numbers as words."""

import hashlib
import re
import unicodedata
from collections.abc import Container, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import lru_cache
from itertools import count

from core.characters import NO_CHARACTER
from core.errors import InvalidInput
from core.types import Task

_JOINERS = frozenset("\u200c\u200d")
"""Signs without a width that words of Persian, Hindi and others are written with, and emoji."""
_LONG_COUNT = re.compile(r"(?<![\d.,])\d{4,}(?![\d.])")
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and signs that are drawn as nothing."""
_SELECTORS = re.compile("[\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Marks that choose another form of the sign before them."""
_SHORT = 200
"""Signs of a text whose key is kept."""
_MOST_DIGITS = 18
"""Digits of a number that always fits into 64 bits."""

_TURNS = str.maketrans(
    {
        "\u202a": "[LRE]",
        "\u202b": "[RLE]",
        "\u202c": "[PDF]",
        "\u202d": "[LRO]",
        "\u202e": "[RLO]",
        "\u2066": "[LRI]",
        "\u2067": "[RLI]",
        "\u2068": "[FSI]",
        "\u2069": "[PDI]",
    }
)
"""Names of the signs that turn the order of letters; `assets/js/shared/words.js` has them, too."""
_MARKS = re.compile(r"[\\`*\[\]<>|!]")
"""Signs that Markdown may read as markup."""
_OUTER_BEFORE = " .?!,;:…¿¡\"'`"
"""Outer punctuation that keys of earlier releases leave out."""
_OUTER = _OUTER_BEFORE + "".join(
    (
        "\u00ab\u00bb\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u2039\u203a",  # quotes
        "\u3001\u3002\u300c\u300d\u300e\u300f",  # Japanese and Chinese
        "\u060c\u061b\u061f\u06d4\u0964\u0965",  # Arabic, Urdu and Hindi
        "\u055c\u055d\u055e\u0589\u05c3",  # Armenian and Hebrew
        "\u1362\u1363\u1364\u1365\u1366\u1367",  # Amharic
        "\u104a\u104b\u17d4\u17d5",  # Burmese and Khmer
    )
)
_ALONE = "".join(
    (
        "\u3005-\u3007\u3040-\u3098\u309b-\u30ff\uff66-\uff9d",  # Japanese
        "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af",  # Chinese and Japanese
        "\u0e01-\u0e30\u0e32\u0e40-\u0e46",  # Thai
        "\u0e81-\u0eb0\u0eb2\u0ebd\u0ec0-\u0ec6\u0edc-\u0edf",  # Lao
        "\u1000-\u102a\u103f\u1050-\u1055\u105a-\u105d\u1061\u1065\u1066\u106e-\u1070",  # Burmese
        "\u1075-\u1081\u108e",  # Burmese of the Shan
        "\u1780-\u17b3\u17d7\u17dc",  # Khmer
    )
)
"""Signs of scripts that part no words by white space, as ranges."""
_ALONE_SIGN = re.compile(f"[{_ALONE}]")
_STACKING = "\u1039\u17d2"
"""The next sign stands below the one before these."""
_MARKED = (range(0x300, 0x10000), range(0xE0100, 0xE01F0))
"""Where the marks are that a sign may bear."""
WORD_EDGES = _OUTER + "()\uff01\uff08\uff09\uff0c\uff0e\uff1a\uff1b\uff1f\uff61\uff62\uff63\uff64"
"""Punctuation around a word; `assets/js/shared/tokens.js` has the same."""


def normalise(text: str) -> str:
    """Return the text in NFC without outer white space."""
    return unicodedata.normalize("NFC", text).strip()


def plain_name(name: str) -> str:
    """Return a name in NFC without outer white space and without signs that nobody sees.

    Two names that differ by a zero-width space or a mark of direction look the same in every list.
    """
    return normalise("".join(sign for sign in name if not is_hidden(sign)))


def free_name(name: str, taken: Container[str], mark: str) -> str:
    """Return a name or, where it is taken, the first free one with a mark and a number from 2."""
    if name not in taken:
        return name
    return next(new for n in count(2) if (new := f"{name}{mark}{n}") not in taken)


def is_hidden(sign: str) -> bool:
    """Whether a character has neither a form nor a width: marks of direction, zero-width spaces."""
    return unicodedata.category(sign) == "Cf" and sign not in _JOINERS


def continues_word(sign: str) -> bool:
    """Whether a character that is no letter belongs to the letter before it: a mark, a joiner."""
    return sign in _JOINERS or unicodedata.category(sign).startswith("M")


def stands_alone(word: str) -> bool:
    """Whether a word begins with a sign of a script that parts no words by white space."""
    return _ALONE_SIGN.match(word) is not None


def word_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Return where each word of a text begins and ends.

    White space parts words. Japanese, Chinese, Thai, Lao, Burmese and Khmer have none between them:
    there each sign with its marks is a word. `assets/js/shared/tokens.js` has the same rule.
    """
    return tuple(match.span() for match in _words().finditer(text))


@lru_cache(maxsize=1)
def _words() -> re.Pattern[str]:
    marks = "".join(sign for part in _MARKED for sign in map(chr, part) if continues_word(sign))
    marks += "\u0e33\u0eb3\uff9e\uff9f"  # vowels and voicing that are written as signs of their own
    return re.compile(f"[{_ALONE}](?:[{_STACKING}][{_ALONE}]|[{marks}])*|[^\\s{_ALONE}]+")


def unturned(text: str) -> str:
    """Return a text in which signs that turn the order of letters are words, and turn nothing."""
    return text.translate(_TURNS)


def is_blank(text: str) -> bool:
    """Whether nobody sees a thing of a text: white space and zero-width signs alone, or no sign."""
    first = text[:1]
    if first.isascii() and first.isalnum():  # as nearly all texts begin
        return False
    return all(
        sign.isspace() or unicodedata.category(sign) in ("Cc", "Cf") or sign in _FILLERS
        for sign in _SELECTORS.sub("", text)
    )


def require_answerable(texts: Sequence[str]) -> None:
    """Refuse texts that say nothing, which a model would answer all the same.

    Raises:
        InvalidInput: A text is blank or cannot be stored; its number is named.
    """
    for number, text in enumerate(texts, 1):
        place = f"Text {number} of {len(texts):,}" if len(texts) > 1 else "The text"
        if is_blank(text):
            raise InvalidInput(f"{place} is empty: nothing in it can be seen.", "Write one first.")
        if not is_storable(text):
            raise InvalidInput(f"{place} has a NUL or half of a character in it.", "Remove it.")


def text_hash(text: str) -> str:
    """Return the SHA-256 of the normalised text's UTF-8 bytes, in hexadecimal."""
    return hashlib.sha256(normalise(text).encode()).hexdigest()


def match_key(text: str) -> str:
    """Return the key under which two texts are the same question to a person.

    Compatibility forms, letter case, inner white space and outer punctuation are ignored.
    """
    return match_keys(text)[-1]


def match_keys(text: str) -> tuple[str, ...]:
    """Return the keys by which stored models may know a text: the last one is `match_key`.

    Earlier releases left out the outer punctuation of few scripts. Where their key was another one,
    it comes first: a model that they stored knows the text by that alone.
    """
    # A server asks for the keys of its examples at each label: a sixth of its Python time on a
    # busy day. A long text would fill the memory of keys.
    return _short_keys(text) if len(text) <= _SHORT else _keys(text)


def _keys(text: str) -> tuple[str, ...]:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    spaced = " ".join(folded.split())
    earlier = spaced.strip(_OUTER_BEFORE) or spaced
    key = earlier.strip(_OUTER) or earlier
    return (key,) if key == earlier else (earlier, key)


_short_keys = lru_cache(maxsize=16_384)(_keys)


def worded_anew(texts: Iterable[str], known: Iterable[str]) -> Iterator[str]:
    """Yield the texts that differ from known ones and from each other, by `match_key`."""
    seen = set(map(match_key, known))
    for text in texts:
        key = match_key(text)
        if key not in seen:
            seen.add(key)
            yield text


def is_storable(text: str) -> bool:
    """Whether a database can keep the text: no NUL, and no half of a surrogate pair."""
    return "\0" not in text if text.isascii() else NO_CHARACTER.search(text) is None


def whole_number(digits: str) -> int | None:
    """Return the number that up to 18 digits write; None for any other text.

    A database keeps no number of 20 digits, and Python refuses to read one of 5,000.
    """
    return int(digits) if digits.isdecimal() and len(digits) <= _MOST_DIGITS else None


_MINUS = "\N{MINUS SIGN}"
FEW = 20
"""Of fewer texts than this a share is counted: 5 of 5 are no proof, and "100 %" reads like one."""
_HALF = 1e-9
"""Added to percents: a half that a computer keeps exactly is rounded to even otherwise."""
_NOTHING: dict[Task, str] = {"single-label": "out of scope", "multi-label": "no intent"}


def label_words(intents: Sequence[str], task: Task) -> str:
    """Write a label: its intents, or the task's words for none."""
    return " and ".join(intents) or _NOTHING[task]


def name_words(name: str) -> str:
    """Write an intent's name as words, for an encoder."""
    return name.replace("_", " ").replace("-", " ").strip(" ?.!").lower()


def did_you_mean(word: str, words: Iterable[str], otherwise: str = "") -> str:
    """Return "Did you mean 'train'?" with the word nearest to a mistyped one, or `otherwise`."""
    near = get_close_matches(word, list(words), 1)
    return f"Did you mean '{near[0]}'?" if near else otherwise


def size_words(n_bytes: int) -> str:
    """Write a size as people do: "0.4 MB", "87.5 MB", "64 MB", "2 GB"; a MB has 1,000,000 bytes."""
    unit, name = (1e9, "GB") if n_bytes >= 1e9 else (1e6, "MB")
    return f"{n_bytes / unit:.1f}".removesuffix(".0") + f" {name}"


def counted(n: int, noun: str) -> str:
    """Write a number with its noun: "1 text", "1,200 texts"."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def some_of(words: Sequence[str], most: int) -> str:
    """Write the first of some words, and how many are left out: "a, b and 41 more"."""
    rest = len(words) - most
    return ", ".join(words[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def with_thousands_marks(words: str) -> str:
    """Write "1,000 texts" for "1000 texts", as earlier releases stored it."""
    return _LONG_COUNT.sub(lambda digits: f"{int(digits[0]):,}", words)


def percent(share: float, digits: int = 0) -> str:
    """Write a share in percent, as all pages, reports and commands do: "86.0 %".

    Halves are rounded up, as scripts do.
    """
    return f"{100 * share + _HALF:.{digits}f} %"


def share_of(share: float, n: int) -> str:
    """Write a share of n texts: in percent, or counted, "5 of 5", where n is too small for it."""
    return f"{round(share * n):,} of {n:,}" if n < FEW else percent(share)


def points(value: float) -> str:
    """Write a score, vote or similarity, of which 1 is a full one, in points: 0.123 is "12.3"."""
    return decimal(100 * value, 1)


def signed_points(value: float, digits: int = 1) -> str:
    """Write a change or a vote in points, always with its sign: "+12.3"."""
    return f"{'' if value < 0 else '+'}{decimal(100 * value, digits)}"


def digits_that_agree(before: float, after: float) -> int:
    """Return with how many digits two shares in percent differ by what is told of them in points.

    With one digit 88.75 % and 87.81 % read as 88.8 and 87.8, and their difference as 0.9.
    """

    def agrees(digits: int) -> bool:
        told = [float(percent(share, digits).removesuffix(" %")) for share in (before, after)]
        apart = float(f"{100 * abs(after - before):.{digits}f}")
        return abs(abs(told[1] - told[0]) - apart) < 0.5 * 0.1**digits

    return next((digits for digits in (1, 2) if agrees(digits)), 3)


def decimal(value: float, digits: int) -> str:
    """Write a number with a true minus sign; one that rounds to zero has none."""
    size = f"{abs(value):.{digits}f}"
    return f"{_MINUS}{size}" if value < 0 and float(size) else size


def hidden_key(key: str) -> str:
    """Return what stands for a match key where texts are left out: its SHA-256."""
    return "sha256:" + hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def as_hidden(key: str) -> str:
    """Return the hash of a match key, which stands for it already where texts are left out."""
    return key if key.startswith("sha256:") else hidden_key(key)


def plain_markdown(words: object) -> str:
    """Write words of people so that Markdown makes no markup, link or picture of them."""
    return _MARKS.sub(r"\\\g<0>", " ".join(str(words).split()))
