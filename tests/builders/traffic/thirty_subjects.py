"""What customers of a web shop write: thirty subjects, and one more that comes up later."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from random import Random

_ASKED = {
    "track_parcel": ("where is my parcel with the {}", "track the parcel with my {}"),
    "late_delivery": ("my {} is late, it was due days ago", "why is the {} delayed so long"),
    "return_item": ("how do i return a {}", "i want to send the {} back to you"),
    "exchange_colour": ("i want another colour of the {}", "swap my {} for a blue one"),
    "refund_status": ("when do i get my refund for the {}", "the money for the {} is not back"),
    "cancel_order": ("please cancel my order of the {}", "cancel the order with the {}"),
    "damaged_item": ("the {} arrived torn", "there is a hole in the {} you sent"),
    "wrong_item": ("you sent the wrong size of the {}", "this is not the {} that i ordered"),
    "in_stock": ("is the {} in stock again", "do you have the {} in stock"),
    "price_match": ("another shop sells the {} cheaper", "match the lower price of the {}"),
    "discount_code": ("my discount code for the {} fails", "the voucher code on the {} fails"),
    "gift_wrap": ("can you gift wrap the {}", "wrap the {} as a gift"),
    "invoice_copy": ("send me the invoice of the {}", "i need an invoice for the {} as pdf"),
    "express_shipping": ("express shipping of the {} by tomorrow", "ship the {} overnight"),
    "shipping_cost": ("how much is the shipping of a {}", "what does shipping the {} cost"),
    "ship_abroad": ("do you ship a {} abroad to canada", "ship the {} to another country"),
    "pick_up_in_store": ("can i pick up the {} in a store", "collect the {} at your store"),
    "repair": ("can you repair the zip of my {}", "i need a repair of my {}"),
    "washing": ("how do i wash the {}", "can i put the {} into the washing machine"),
    "material": ("is the {} made of wool or cotton", "which fabric is the {} made of"),
    "forgot_password": ("i forgot the password of my {}", "reset my {} password"),
    "delete_account": ("delete my {} and all my data", "close my {} account for good"),
    "payment_declined": ("my credit card was declined in the {}", "card payment in the {} failed"),
    "newsletter_stop": ("unsubscribe my {} from the newsletter", "no newsletter to my {} any more"),
    "opening_hours": ("when does the {} open on saturday", "opening hours of the {}"),
    "talk_to_person": ("let me talk to a human in the {}", "connect me with an agent of the {}"),
    "loyalty_points": ("how many loyalty points has my {}", "use the bonus points of my {}"),
    "jobs": ("do you have a job in the {}", "i want to apply for work in the {}"),
    "change_address": ("i moved, change the address in my {}", "new postal address for my {}"),
    "parking": ("where can i park my car near the {}", "is there parking at the {}"),
}
NEW = "recycling"
_NEW_WORDINGS = (
    "do you take back my worn {} for recycling",
    "recycling of an old {}, is there a container",
)
_THINGS = ("item", "article", "product", "order", "purchase", "thing", "goods", "set")
_PLACES = ("account", "app", "shop", "web shop", "office", "branch", "store", "main store")
_WITH_THINGS = 20
"""Of the subjects, the first so many are about what somebody has bought."""
_OPENINGS = ("", "hi, ", "hello, ", "please, ", "hey, ")
_ENDINGS = ("", "?", "!", ".", " please", " thanks")


@dataclass(frozen=True, slots=True)
class Asked:
    """A text, and its true subject."""

    text: str
    subject: str


def thirty_subjects(n: int) -> list[Asked]:
    """Return n different texts, as many of each subject as of the others, in mixed order."""
    return _drawn(_ASKED, n, Random(1))


def week_after(n: int, before: list[Asked]) -> list[Asked]:
    """Return n other texts: a third is about the new subject."""
    n_new = n // 3
    known = {one.text for one in before}
    usual = [one for one in _drawn(_ASKED, n + len(before), Random(2)) if one.text not in known]
    found = [*usual[: n - n_new], *_drawn({NEW: _NEW_WORDINGS}, n_new, Random(3))]
    Random(4).shuffle(found)
    return found


def log_of(texts: list[Asked], monday: datetime | None = None) -> Iterator[str]:
    """Yield the lines of a CSV: each text at its own time of a week, in the app or by phone."""
    first = monday or datetime(2026, 2, 9, tzinfo=UTC)
    yield "said_at,channel,message\n"
    for place, one in enumerate(texts):
        at = first + timedelta(seconds=place * 7 * 86_400 // len(texts))
        yield f'{at:%Y-%m-%d %H:%M:%S},{("app", "phone")[place % 3 > 1]},"{one.text}"\n'


def _drawn(asked: dict[str, tuple[str, ...]], n: int, random: Random) -> list[Asked]:
    """Draw n texts, the subjects in turn."""
    found = list[Asked]()
    for place, (subject, wordings) in enumerate(asked.items()):
        share = n * (place + 1) // len(asked) - n * place // len(asked)
        fillers = _THINGS if place < _WITH_THINGS else _PLACES
        every = [text for words in wordings for text in _said(words, fillers)]
        found += [Asked(text, subject) for text in random.sample(every, share)]
    random.shuffle(found)
    return found


def _said(wording: str, fillers: tuple[str, ...]) -> Iterator[str]:
    for filler, opening, ending in product(fillers, _OPENINGS, _ENDINGS):
        yield f"{opening}{wording.format(filler)}{ending}"
