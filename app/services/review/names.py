"""Findings about intent names: utterances that share words only with another intent's name."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.services.live.live_studio import LiveStudio
from app.services.review.findings import KEEP, Finding, FoundText, Remedy, quoted
from app.services.what_if.repairs import Repair
from core.review.borderline import idle_words, select_borderline
from core.review.name_words import reader_of, shared_parts
from core.text import counted
from core.types import Intent
from storage import projects
from storage.database import Transaction
from storage.queries import dataset, utterances
from storage.queries.utterances import Filter, Page
from storage.records import UtteranceRecord

_MOST_READ = 100_000
_FEWEST, _SHARE = 3, 0.3
"""Utterances needed to list a name, and their share; every name shares a word with some text."""

_IDLE = 0.25
"""Words that texts of more than this share of the intents use speak for none of them."""

_SHOWN = 20
_MOST = 100


@dataclass(frozen=True, slots=True)
class Misled:
    """An utterance that shares words with other intents' names only; words are by intent id."""

    record: UtteranceRecord
    shared: Mapping[str, tuple[str, ...]]


def borderline_ids(live_studio: LiveStudio, project: str) -> tuple[str, ...]:
    """Return the ids of a project's borderline utterances."""
    with live_studio.studio.database.read() as connection:
        by_intent = misled_by_names(connection, projects.find(connection, project).id)
    return tuple(text.record.id for texts in by_intent.values() for text in texts)


def misled_by_names(connection: Transaction, project_id: int) -> dict[str, list[Misled]]:
    """Find borderline real utterances with one label, by the intent's id."""
    intents = dataset.open_intents(connection, project_id)
    names = {key: intent.name for key, intent in intents.items()}
    key_of = {name: key for key, name in names.items()}
    which = Filter(state="labelled", synthetic=False)
    records, _ = utterances.read_page(connection, project_id, which, "oldest", Page(0, _MOST_READ))
    records = [r for r in records if r.labels and len(r.labels) == 1 and r.labels[0] in names]
    labels = [names[(record.labels or ("",))[0]] for record in records]
    texts = [record.text for record in records]
    by_intent: dict[str, list[Misled]] = defaultdict(list)
    cut = reader_of(list(names.values()))
    idle = idle_words(texts, labels, _IDLE) | shared_parts(list(names.values()))
    idle = frozenset(stem for word in idle for stem in cut(word))
    found = select_borderline(texts, labels, list(names.values()), idle, cut)
    for borderline in found.selected:
        shared = {key_of[name]: words for name, words in borderline.shared.items()}
        misled = Misled(records[borderline.row], shared)
        by_intent[key_of[labels[borderline.row]]].append(misled)
    return dict(by_intent)


def misleading_names(
    by_intent: Mapping[str, Sequence[Misled]],
    intents: Mapping[str, Intent],
    sizes: Mapping[str, int],
) -> list[Finding]:
    """List the intents with misleading names, the most frequent first; mappings are by id."""
    ranked = sorted(by_intent.items(), key=lambda item: (-len(item[1]), intents[item[0]].name))
    listed = [
        (key, texts) for key, texts in ranked if len(texts) >= max(_FEWEST, _SHARE * sizes[key])
    ]
    return [_finding(key, texts, intents, sizes[key]) for key, texts in listed[:_MOST]]


def _finding(
    key: str, texts: Sequence[Misled], intents: Mapping[str, Intent], size: int
) -> Finding:
    intent = intents[key]
    rivals = Counter(other for text in texts for other in text.shared)
    named = [
        f"{quoted(intents[other].name)} ({counted(n, 'text')})"
        for other, n in rivals.most_common(3)
    ]
    rename = Remedy("Rename it …", Repair("rename", intent=key, value=intent.name), "name")
    describe = Repair("describe", intent=key, value=intent.description)
    return Finding(
        id=f"misleading:{key}:{intent.name}",
        kind="misleading",
        title=f"The name {quoted(intent.name)} misleads",
        why=(
            f"{len(texts):,} of its {size:,} texts have no word of this name, but one of another: "
            f"{', '.join(named)}. People who label may take them for that, and so may a model that "
            "learns from names. A new name or a description in the words of its texts prevents "
            "it; no label changes."
        ),
        figure=float(len(texts)),
        measure=f"{len(texts):,} of {size:,}",
        texts=tuple(_found_text(text, intents) for text in texts[:_SHOWN]),
        remedies=(rename, Remedy("Describe it …", describe, "description"), KEEP),
        intents=(key, *(other for other, _ in rivals.most_common(3))),
    )


def _found_text(misled: Misled, intents: Mapping[str, Intent]) -> FoundText:
    parts = [
        f"“{', '.join(words)}” is in the name {quoted(intents[k].name)}"
        for k, words in misled.shared.items()
    ]
    record = misled.record
    return FoundText(record.id, record.text, record.labels, record.split, "; ".join(parts[:3]))
