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
_LONGEST_LINE = 1 << 20
_KEYS = (b'"luis_schema_version"', b'"rasa_nlu_data"', b'"assets"', b'"intents"')
"""One of these stands in each document of a platform; another is not parsed."""
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
    if len(documents) != 1 or not _may_be_known(package, documents[0]):
        return None
    return _by_keys(package.document(documents[0]), documents[0])


def _may_be_known(package: Package, name: str) -> bool:
    """Whether a document is an object with a key that a platform writes."""
    with package.stream(name) as stream:
        if not stream.read(_LONGEST_LINE).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            return False
    return any(key in package.files[name] for key in _KEYS)


def _by_keys(root: Node, name: str) -> _Reader | None:
    assets = root.get("assets")
    if root.get("luis_schema_version") is not None:
        return lambda package: read_luis(package, name)
    if root.get("rasa_nlu_data") is not None:
        return lambda package: read_rasa_json(package, name)
    if assets is not None and assets.array("utterances") is not None:
        return lambda package: read_clu(package, name)
    if any(one.text("intent") and one.array("examples") for one in root.under("intents")):
        return lambda package: read_watson(package, name)
    return None
