"""A corpus of a bank with sixty intents, and texts that belong to none of them."""

from dataclasses import dataclass

_THINGS = {
    "card": "bank card",
    "loan": "car loan",
    "savings": "savings account",
    "transfer": "money transfer",
    "app": "mobile banking app",
}
_WISHES = {
    "open": ("i would like to get a {}", "how do i apply for a {}", "set up a {} for me"),
    "close": ("please cancel my {}", "i want to end my {}", "get rid of my {} for good"),
    "cost": ("what does a {} cost", "why was i charged a fee for my {}", "is the {} free"),
    "limit": ("raise the limit of my {}", "what is the maximum of a {}", "my {} limit is too low"),
    "blocked": ("why is my {} blocked", "unblock my {} now", "my {} was frozen yesterday"),
    "lost": ("i lost my {}", "somebody stole my {}", "i cannot find my {} anywhere"),
    "duration": ("how long does a {} take", "when is my {} ready", "still waiting for my {}"),
    "safety": ("is my {} safe from fraud", "protect my {} from hackers", "how secure is the {}"),
    "family": ("add my wife to my {}", "share the {} with my son", "can two people use one {}"),
    "abroad": ("does my {} work abroad", "use the {} in japan", "taking my {} on holiday"),
    "address": ("i moved, update my {}", "new address for my {}", "change the name on my {}"),
    "proof": ("send me a statement for my {}", "print proof of my {}", "a receipt of my {}"),
}
_OTHERS = ("tell me a joke about {}", "who won the {} match last night", "a recipe with {} please")
_OTHER_THINGS = ("penguins", "tomatoes", "the moon", "jazz", "volcanoes", "knitting")


@dataclass(frozen=True, slots=True)
class CorpusRow:
    """One row of the file; the intent is empty where nobody has labelled the text."""

    text: str
    intent: str
    split: str


def is_foreign(text: str) -> bool:
    """Whether a text of the corpus belongs to none of the intents."""
    return any(text == pattern.format(thing) for pattern in _OTHERS for thing in _OTHER_THINGS)


def sixty_intents() -> list[CorpusRow]:
    """Three texts an intent: one labelled, one to judge by, one in the pool with 18 of none."""
    rows = []
    for wish, patterns in _WISHES.items():
        for thing, words in _THINGS.items():
            learned, judged, waiting = (pattern.format(words) for pattern in patterns)
            rows.append(CorpusRow(learned, f"{wish}_{thing}", "train"))
            rows.append(CorpusRow(judged, f"{wish}_{thing}", "test"))
            rows.append(CorpusRow(waiting, "", "train"))
    rows += [
        CorpusRow(pattern.format(thing), "", "train")
        for pattern in _OTHERS
        for thing in _OTHER_THINGS
    ]
    return rows
