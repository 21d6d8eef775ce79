"""The finding about texts that are examples and test texts at once."""

from collections import defaultdict

from app.services.embedding import digest_of
from app.services.review.findings import KEEP, Evidence, Finding, FoundText, Remedy
from app.services.what_if.repairs import Repair
from core.text import counted, match_key

_SHOWN = 6


def tested_examples(evidence: Evidence) -> list[Finding]:
    """Return one finding about all examples that the test set holds, too; nothing without any."""
    copies: dict[str, list[int]] = defaultdict(list)
    for row, exemplar in enumerate(evidence.exemplars):
        copies[match_key(exemplar.text)].append(row)
    tests = [one for one in evidence.tests if match_key(one.text) in copies]
    if not tests:
        return []
    rows = sorted({row for one in tests for row in copies[match_key(one.text)]})
    examples = tuple(evidence.exemplars[row].id for row in rows)
    ids = tuple(one.id for one in tests)
    shown: list[FoundText] = []
    for one in tests[:_SHOWN]:
        shown.append(FoundText(one.id, one.text, one.labels, one.split, "test text"))
        shown += [evidence.example(row, "an example") for row in copies[match_key(one.text)][:1]]
    remedies = [
        Remedy(f"Delete {counted(len(examples), 'example')}", Repair("delete", examples)),
        Remedy(f"Delete {counted(len(ids), 'test text')}", Repair("delete", ids)),
    ]
    if 2 * len(examples) >= len(copies):  # a project needs its examples more than these tests
        remedies.reverse()
    are = "is an example" if len(tests) == 1 else "are examples"
    return [
        Finding(
            id=f"tested:{digest_of((*sorted(ids), '', *sorted(examples)))[:16]}",
            kind="tested",
            title=f"{counted(len(tests), 'test text')} {are}, too",
            why=(
                "The model has learned these very texts, so that they cannot test it. They are "
                "not counted among its answers until one of the copies goes."
            ),
            figure=float(len(tests)),
            measure=counted(len(tests), "text"),
            texts=tuple(shown),
            remedies=(*remedies, KEEP),
        )
    ]
