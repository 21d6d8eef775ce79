"""Find personal data in texts by rules and replace it with the name of its kind.

The rules, in order: e-mail addresses; IBANs with valid check digits; card numbers of 13 to 19
digits with a valid Luhn digit; telephone numbers (international with a plus sign, North American in
groups of 3, 3 and 4, national starting with 0); any other run of 8 to 18 digits, such as account
numbers. Dates, times, prices, years and codes with fewer digits are kept.
"""

import re
from collections.abc import Callable

from core.formats.dialogues import Dialogue, Turn

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}", re.UNICODE)
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?: ?[A-Za-z0-9]){11,30}(?![A-Za-z0-9])")
_CARD = re.compile(r"(?<![\w+])\d(?:[ -]?\d){12,18}(?!\w)")
_PHONES = tuple(
    re.compile(shape)
    for shape in (
        r"(?<!\w)\+\d{1,3}(?:[ ./-]?\(?\d{1,6}+\)?){1,6}(?!\w)",
        r"(?<![\w+])(?:1[ .-]?)?\(?\d{3}\)?[ .-]?\d{3}[ .-]\d{4}(?!\w)",
        r"(?<![\w+.,:/-])\(?0\d{1,5}\)?(?:[ /-]?(?>\d{2,8}(?!\d(?!\d)))){1,4}(?!\w)",
    )
)
"""A part takes all the digits that it can, but leaves no single one where it needs two.

A run of digits is so parted in one way only: of 45 digits all of 168,000 ways were tried.
"""
_ACCOUNT = re.compile(r"(?<![\w.,])\d{8,18}(?![\w]|[.,]\d)")
_DATE = re.compile(r"0?\d[ /-]\d{1,2}[ /-]\d{2}(?:\d{2})?")


KINDS = ("e-mail", "phone", "card", "account")
"""The kinds of data that are masked, each by its name in brackets."""


def mask_personal(text: str) -> str:
    """Replace personal data with `[e-mail]`, `[account]`, `[card]` and `[phone]`."""
    text = _EMAIL.sub("[e-mail]", text)
    text = _IBAN.sub(_when(_is_iban, "[account]"), text)
    text = _CARD.sub(_when(_passes_luhn, "[card]"), text)
    for phone in _PHONES:
        text = phone.sub(_when(_is_phone, "[phone]"), text)
    return _ACCOUNT.sub("[account]", text)


def count_masked(before: str, after: str) -> dict[str, int]:
    """Count the pieces of each kind that were masked, given a text before and after."""
    counts = {kind: after.count(f"[{kind}]") - before.count(f"[{kind}]") for kind in KINDS}
    return {kind: count for kind, count in counts.items() if count > 0}


def mask_dialogue(dialogue: Dialogue) -> Dialogue:
    """Mask every turn."""
    turns = tuple(Turn(mask_personal(turn.text), turn.speaker) for turn in dialogue.turns)
    return Dialogue(dialogue.id, turns)


def _when(holds: Callable[[str], bool], word: str) -> Callable[[re.Match[str]], str]:
    return lambda match: word if holds(match.group()) else match.group()


def _passes_luhn(text: str) -> bool:
    digits = [int(sign) for sign in text if sign.isdigit()][::-1]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _is_iban(text: str) -> bool:
    bare = text.replace(" ", "").upper()
    turned = bare[4:] + bare[:4]
    return 15 <= len(bare) <= 34 and int("".join(str(int(sign, 36)) for sign in turned)) % 97 == 1


def _is_phone(text: str) -> bool:
    n_digits = sum(sign.isdigit() for sign in text)
    return 8 <= n_digits <= 15 and _DATE.fullmatch(text.strip("()")) is None
