"""Take the exemplars' texts out of a stored pipeline that is to be handed out.

What is left of a text is its id in brackets, its embedding, and a hash by which an equal text is
recognised. Whoever guesses a text can compare the hash: it hides texts from reading only.
"""

import json
from pathlib import Path
from typing import Any

from core.bundle.facts import as_json, read_facts
from core.runtime.files import json_lines
from core.text import hidden_key

LEFT_OUT = "texts_left_out"
_QUOTING = ("metrics", "pins")


def leave_out_texts(folder: Path) -> None:
    """Replace texts by ids and hashes in a pipeline's folder, whose files may be hard links."""
    rows = json_lines((folder / "exemplars.jsonl").read_text(encoding="utf-8"))
    bare = [json.dumps({**row, "text": f"[{row['id']}]"}, ensure_ascii=False) for row in rows]
    exact = json.loads((folder / "exact.json").read_text(encoding="utf-8"))
    facts = read_facts(folder)
    if not facts.get(LEFT_OUT):  # a hash of a hash would be no text's
        exact = {hidden_key(key): names for key, names in exact.items()}
    facts |= {name: _without_lists(facts[name]) for name in _QUOTING if name in facts}
    _put(folder / "exemplars.jsonl", "\n".join(bare) + "\n")
    _put(folder / "exact.json", as_json(exact))
    _put(folder / "facts.json", as_json({**facts, LEFT_OUT: True}))


def _without_lists(value: dict[str, Any]) -> dict[str, Any]:
    """Keep single figures and words: only lists and tables of figures quote texts."""
    return {
        name: [] if isinstance(one, list) else one
        for name, one in value.items()
        if not isinstance(one, dict)
    }


def _put(path: Path, content: str) -> None:
    path.unlink()
    path.write_text(content, encoding="utf-8")
