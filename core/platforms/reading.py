"""Recognise a platform's export by its content, and read it."""

import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from core.errors import InvalidInput
from core.files import has_large_directory
from core.platforms.agent import Agent
from core.platforms.json_places import Node
from core.platforms.packages import Package, open_package
from core.platforms.readers.bulk_csv import is_bulk_csv, read_bulk_csv
from core.platforms.readers.dialogflow_cx import is_dialogflow_cx, read_dialogflow_cx
from core.platforms.readers.dialogflow_es import is_dialogflow_es, read_dialogflow_es
from core.platforms.readers.flat import read_clu, read_luis, read_rasa_json
from core.platforms.readers.lex import is_lex, read_lex
from core.platforms.readers.lu import ENDING, is_lu, read_lu
from core.platforms.readers.rasa_yaml import is_rasa_yaml, read_rasa_yaml
from core.platforms.readers.watson import read_watson

_Reader = Callable[[Package], Agent]
_OfDocument = Callable[[Package, str], Agent]
_LONGEST_LINE = 1 << 20
_KEYS = (b'"luis_schema_version"', b'"rasa_nlu_data"', b'"assets"', b'"intents"')
"""One of these stands in each document of a platform; another is not parsed."""
_KEYS_OF_LISTS = (b'"startPos"', b'"offset"', b'"dataset"')
"""Of these, one stands in each list of a platform's utterances that says more than their labels."""
_MOST_DOCUMENTS = 1_000
_DECODER = json.JSONDecoder()
_FOLDERS: Mapping[Callable[[Package], bool], _Reader] = {
    is_dialogflow_cx: read_dialogflow_cx,
    is_dialogflow_es: read_dialogflow_es,
    is_lex: read_lex,
    is_lu: read_lu,
    is_rasa_yaml: read_rasa_yaml,
}


def read_agent(path: Path) -> Agent:
    """Read an export of Dialogflow ES or CX, LUIS in JSON and `.lu`, CLU, Watson, Lex V2, or Rasa.

    CSV is taken for CX's or Watson's, since who names a package knows whose it is.

    Raises:
        InvalidInput: It is of none of these, damaged, hostile, or holds no phrase.
    """
    package = open_package(path)
    if package.kind == "file" and not path.stat().st_size:
        raise InvalidInput(f"{path.name} is empty.", "Choose the file that the platform exported.")
    read = _reader(package) or (read_bulk_csv if is_bulk_csv(package) else None)
    if read is None:
        raise InvalidInput(
            f"{path.name} is no export of a platform that is known here.",
            "Known are Dialogflow ES and CX, LUIS, CLU, Watson, Lex V2, and Rasa.",
        )
    return read(package)


def find_agent(path: Path) -> Agent | None:
    """Read a platform's export; None if a file or folder is no such thing.

    A pipe is not looked into, since it may never end, nor a zip with too many entries to list.

    Raises:
        InvalidInput: It is damaged, hostile, or holds no phrase.
    """
    if not (path.is_dir() or (path.is_file() and (_is_zip(path) or _is_document(path)))):
        return None
    package = open_package(path)
    read = _reader(package)
    return None if read is None else read(package)


def _is_zip(path: Path) -> bool:
    return zipfile.is_zipfile(path) and not has_large_directory(path)


def _is_document(path: Path) -> bool:
    """Whether a file is one JSON document, and not an object a line; or one of LUIS's texts."""
    if path.suffix.lower() == ENDING:
        return True
    if path.suffix.lower() != ".json":
        return False
    with path.open("rb") as stream:
        first, rest = stream.readline(_LONGEST_LINE), stream.read(1)
    try:
        return not (rest and isinstance(json.loads(first), dict))
    except (ValueError, RecursionError):
        return True


def _reader(package: Package) -> _Reader | None:
    for recognises, reader in _FOLDERS.items():
        if recognises(package):
            return reader
    documents = [name for name in package.files if name.lower().endswith(".json")]
    if len(documents) > _MOST_DOCUMENTS:
        return None
    likely = [name for name in documents if _may_be_known(package, name, documents)]
    known = {name: read for name in likely if (read := _by_keys(package, name))}
    if known and set(known.values()) == {read_rasa_json}:
        return lambda package: read_rasa_json(package, *known)
    if len(known) > 1:
        some = ", ".join(list(known)[:5])
        raise InvalidInput(
            f"{package.path.name} holds {len(known):,} exports, such as {some}.",
            "Name one of them: each is an agent of its own.",
        )
    return next((_of_document(read, name) for name, read in known.items()), None)


def _of_document(read: _OfDocument, name: str) -> _Reader:
    return lambda package: read(package, name)


def _may_be_known(package: Package, name: str, documents: list[str]) -> bool:
    """Whether a document has a key that a platform writes; of one among others, its beginning."""
    with package.stream(name) as stream:
        start = stream.read(_LONGEST_LINE).lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"["):
        return any(key in start for key in _KEYS_OF_LISTS) and _begins_with_utterance(start)
    if not start.startswith(b"{"):
        return False
    content = package.files[name] if len(documents) == 1 else start
    return any(key in content for key in _KEYS)


def _begins_with_utterance(start: bytes) -> bool:
    """Whether the first element of an array has a text and an intent."""
    try:
        first, _ = _DECODER.raw_decode(start[1:].decode("utf-8", "ignore").lstrip())
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and all(
        isinstance(first.get(key), str) for key in ("text", "intent")
    )


def _by_keys(package: Package, name: str) -> _OfDocument | None:
    """Return the reader of a document."""
    root = package.document(name)
    if root.items:
        return _of_list(root)
    assets = root.get("assets")
    if root.get("luis_schema_version") is not None:
        return read_luis
    if root.get("rasa_nlu_data") is not None:
        return read_rasa_json
    if assets is not None and assets.array("utterances") is not None:
        return read_clu
    if any(one.text("intent") and one.array("examples") for one in root.under("intents")):
        return read_watson
    return None


def _of_list(root: Node) -> _OfDocument | None:
    """Return the reader of a list of utterances: LUIS's by its places, CLU's by the split, too."""
    if not all(one.text("text") and one.text("intent") for one in root.items):
        return None
    marks = [mark for one in root.items for mark in one.under("entities")]
    if any(mark.get("startPos") for mark in marks):
        return read_luis
    is_clu = any(mark.get("offset") for mark in marks)
    return read_clu if is_clu or any(one.text("dataset") for one in root.items) else None
