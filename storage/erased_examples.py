"""Stored versions without erased texts: their examples, rules for equal texts, and figures."""

import json
from collections.abc import Iterable, Mapping

from core.bundle.facts import as_json
from core.errors import ArtifactDamaged
from core.runtime.files import json_lines
from core.text import hidden_key, match_keys, text_hash
from storage import models
from storage.artifacts import ArtifactStore, tree_files
from storage.database import Transaction
from storage.log.scrubbing import ERASED, Scrubber

_EXEMPLARS, _EXACT, _FACTS = "exemplars.jsonl", "exact.json", "facts.json"
_LEARNED = "learned.json"


def contents_with_texts(store: ArtifactStore, tree: Mapping[str, str], name: str) -> dict[str, str]:
    """Return the content of the files of a version that hold texts; {} if it has no examples.

    Raises:
        ArtifactDamaged: One of them is missing or was changed: what is left of it would be written
            under a name that vouches for it.
    """
    if _EXEMPLARS not in tree:
        return {}
    try:
        return {
            file: store.read(tree[file]).decode()
            for file in (_EXEMPLARS, _EXACT, _FACTS, _LEARNED)
            if file in tree or file != _LEARNED
        }
    except ArtifactDamaged as error:
        raise ArtifactDamaged(
            f"Nothing was erased: a file of {name} that may hold a text is missing or was changed.",
            "Take it from a backup, or put another version in use and delete this one. Then erase "
            "again.",
        ) from error


def without_texts(
    contents: Mapping[str, str], texts: frozenset[str], scrubber: Scrubber
) -> dict[str, str]:
    """Return the changed content of the files of a version that hold one of the texts.

    The rule for equal texts loses them by their hash, too: a version that came without texts has
    that alone. `scrubber` takes them out of its figures and pins.
    """
    if not contents:
        return {}
    changed = _without_examples(contents, texts)
    facts = json.loads(contents[_FACTS])
    quoting = {name: facts[name] for name in ("metrics", "pins") if name in facts}
    scrubbed = scrubber.of(quoting)
    if scrubbed != quoting:
        changed[_FACTS] = as_json({**facts, **scrubbed})
    return changed


def _without_examples(contents: Mapping[str, str], texts: frozenset[str]) -> dict[str, str]:
    """Return the same of its examples, of the rule for equal texts, and of what it has learned."""
    hashes = set(map(text_hash, texts))
    rows = json_lines(contents[_EXEMPLARS])
    kept = _keys(row["text"] for row in rows if text_hash(row["text"]) not in hashes)
    told = [{**r, "text": ERASED} if text_hash(r["text"]) in hashes else r for r in rows]
    exact = json.loads(contents[_EXACT])
    keys = _keys(texts)
    gone = exact.keys() & {*(keys - kept), *map(hidden_key, keys - kept)}
    changed: dict[str, str] = {}
    if told != rows:
        changed[_EXEMPLARS] = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in told)
    if gone:
        left = {key: names for key, names in exact.items() if key not in gone}
        changed[_EXACT] = as_json(left)
    hashed = json.loads(contents.get(_LEARNED, "[]"))
    if unsaid := set(hashed) & set(map(hidden_key, keys)):
        changed[_LEARNED] = as_json([one for one in hashed if one not in unsaid])
    return changed


def _keys(texts: Iterable[str]) -> set[str]:
    """Return the match keys of texts, and those by which earlier releases stored them."""
    return {key for text in texts for key in match_keys(text)}


def versions_holding(
    connection: Transaction, store: ArtifactStore, project_id: int, texts: frozenset[str]
) -> list[int]:
    """Return the versions of a project that hold one of the texts, or the hash of one, from others.

    These were imported, or trained from a version, which may be another project's. What the others
    have learned stands in the project's log. One whose files are damaged may hold
    them, and counts.
    """
    return [
        version.number
        for version in models.list_all(connection, project_id)
        if (version.lineage.get("imported") or "@" in str(version.lineage.get("base", "")))
        and version.tree_sha256
        and _holds(store, tree_files(connection, version.tree_sha256), texts)
    ]


def _holds(store: ArtifactStore, tree: Mapping[str, str], texts: frozenset[str]) -> bool:
    try:
        contents = contents_with_texts(store, tree, "")
        return bool(contents and _without_examples(contents, texts))
    except ArtifactDamaged:
        return True
