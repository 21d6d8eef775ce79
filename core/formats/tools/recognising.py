"""Recognise the file of another tool by its content: by names in a package and by first items."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from core.errors import InvalidInput
from core.files import has_large_directory
from core.formats.beside import kept_fields
from core.formats.decoding import find_encoding
from core.formats.rasa import read_rasa
from core.formats.rows import FilePlace, ImportedRow, ReadFormat, RowProblem, Tool
from core.formats.tools import bulk_csv
from core.formats.tools.argilla import argilla_row, is_argilla
from core.formats.tools.botpress import botpress_intents, is_botpress_intent, read_botpress
from core.formats.tools.datasets import data_files, read_datasets
from core.formats.tools.doccano import doccano_row, is_doccano
from core.formats.tools.humanfirst import is_humanfirst, read_humanfirst
from core.formats.tools.json_items import first_item, json_document, json_items
from core.formats.tools.label_studio import is_label_studio, label_studio_row
from core.formats.tools.prodigy import is_prodigy, prodigy_row
from core.formats.tools.semantic_router import is_route, is_router, read_routes
from core.formats.tools.spacy import is_spacy, spacy_row
from core.formats.tools.tool import Rows, ToolFile, ToolReading, fault, place_in
from core.platforms.gathering import MarkedWords, lookup_values
from core.platforms.packages import Package, open_package
from core.platforms.readers.rasa_extras import extras_of
from core.platforms.readers.rasa_yaml import RasaScanner
from core.templates.slots import SlottedText

_Row = Callable[[ToolReading, FilePlace, Any], ImportedRow | RowProblem]
_RECORDS: Mapping[Tool, tuple[Callable[[Any], bool], _Row]] = {
    "prodigy": (is_prodigy, prodigy_row),  # before doccano, whose fields it may have
    "spacy": (is_spacy, spacy_row),
    "doccano": (is_doccano, doccano_row),
    "label-studio": (is_label_studio, label_studio_row),
    "argilla": (is_argilla, argilla_row),
}
_JSON = (".json", ".jsonl", ".ndjson")
_YAML = (".yml", ".yaml")
_ROUTES = re.compile(rb"^[ \t]*(?:-[ \t]+)?utterances[ \t]*:", re.MULTILINE)
_RASA = re.compile(rb"^(?:nlu[ \t]*:|##[ \t]*intent[ \t]*:)", re.MULTILINE)
_DOCUMENTS = (b'"utterances"', b'"examples"')
_PLATFORMS = (b'"luis_schema_version"', b'"assets"', b'"rasa_nlu_data"')
_SAMPLE = 64 << 10
_MOST_DOCUMENTS = 1_000


def find_tool(path: Path, format: ReadFormat) -> ToolFile | None:
    """Recognise a tool's file, folder or zip; None for everything else, and for a pipe.

    `format` is `auto`, or what it has to be.

    Raises:
        InvalidInput: A zip is damaged or hostile.
    """
    if not (path.is_dir() or path.is_file()) or (path.is_file() and has_large_directory(path)):
        return None
    package = open_package(path)
    try:
        found = _of_package(package) if package.kind != "file" else _of_file(package, path.name)
    except (OSError, InvalidInput):  # the other readers say what is wrong
        return None
    return found if found is not None and format in ("auto", found.platform) else None


def _of_package(package: Package) -> ToolFile | None:
    if (found := _by_names(package)) is not None:
        return found
    if intents := botpress_intents(package):
        is_bot = is_botpress_intent(json_document(package, intents[0]))
        return ToolFile("botpress", package, read_botpress) if is_bot else None
    documents = [name for name in package.files if name.lower().endswith(_JSON)]
    if not 0 < len(documents) <= _MOST_DOCUMENTS:
        return None
    if len(documents) == 1:
        return _of_json(package, documents[0])
    kinds = {_kind(first_item(package, name)) for name in documents[:2]}
    kind = kinds.pop() if len(kinds) == 1 else None
    return None if kind is None else ToolFile(kind, package, partial(_records, kind, documents))


def _by_names(package: Package) -> ToolFile | None:
    names = list(package.files)
    if data_files(package):
        return ToolFile("datasets", package, read_datasets)
    if bulk_csv.watson_files(package)[0]:
        return ToolFile("watson-csv", package, bulk_csv.read_watson_csv)
    if len(names) == 1 and bulk_csv.is_cx_csv(package, names[0]):
        return ToolFile("cx-csv", package, partial(_each, names, bulk_csv.read_cx_csv))
    return None


def _each(names: list[str], read: Callable[[ToolReading, str], Rows], reading: ToolReading) -> Rows:
    for name in names:
        yield from read(reading, name)


def _of_file(package: Package, name: str) -> ToolFile | None:
    with package.stream(name) as stream:
        start = stream.read(_SAMPLE)
    bare = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if data_files(package) and name.endswith(".arrow"):
        return ToolFile("datasets", package, read_datasets)
    if bare[:1] in (b"[", b"{"):
        return _of_json(package, name)
    if name.lower().endswith((*_YAML, ".md")):
        return _of_yaml(package, name, start)
    if bulk_csv.is_cx_csv(package, name):
        return ToolFile("cx-csv", package, partial(_each, [name], bulk_csv.read_cx_csv))
    return None


def _of_yaml(package: Package, name: str, start: bytes) -> ToolFile | None:
    """Recognise routes, and Rasa's training data in YAML or Markdown."""
    if _RASA.search(start):
        return ToolFile("rasa", package, _rasa)
    if _ROUTES.search(start):
        return ToolFile("semantic-router", package, partial(_each, [name], read_routes))
    return None


def _rasa(reading: ToolReading) -> Rows:
    path, name = reading.package.path, reading.package.path.name
    encoding = find_encoding(path, reading.options.encoding)
    reading.files[name] = 0
    scanner, marked = RasaScanner(losses=reading.losses), MarkedWords()
    options = replace(reading.options, slots=True)
    for row in read_rasa(path, encoding, options, scanner):
        reading.files[name] += 1
        if isinstance(row, ImportedRow):
            marked.add(SlottedText(row.text, row.slots), extras_of(kept_fields(row, "rasa")))
            yield row if reading.options.slots else replace(row, slots=())
        else:
            yield row
    reading.values = lookup_values(marked, scanner.lookups, scanner.synonyms, reading.losses)


def _of_json(package: Package, name: str) -> ToolFile | None:
    item = first_item(package, name)
    kind = _kind(item)
    if kind is not None:
        return ToolFile(kind, package, partial(_records, kind, [name]))
    if is_route(item):
        return ToolFile("semantic-router", package, partial(_each, [name], read_routes))
    document = item if isinstance(item, dict) else _document(package, name)
    if is_humanfirst(document):
        return ToolFile("humanfirst", package, partial(_humanfirst, name, document))
    if is_botpress_intent(document) and package.kind == "file":
        return ToolFile("botpress", package, read_botpress)
    if is_router(document):
        return ToolFile("semantic-router", package, partial(_each, [name], read_routes))
    return None


def _document(package: Package, name: str) -> Any:
    """Return the value of a file of many lines, if it may be that of a tool."""
    if not name.lower().endswith(".json"):
        return None
    content = package.files[name]
    if any(key in content for key in _PLATFORMS) or not any(key in content for key in _DOCUMENTS):
        return None
    return json_document(package, name)


def _kind(item: Any) -> Tool | None:
    return next((kind for kind, (is_one, _) in _RECORDS.items() if is_one(item)), None)


def _humanfirst(name: str, document: Any, reading: ToolReading) -> Rows:
    return read_humanfirst(reading, name, document)


def _records(kind: Tool, names: list[str], reading: ToolReading) -> Rows:
    """Read items of which each is one text; places count from 1 in each file."""
    _, row = _RECORDS[kind]
    for name in names:
        reading.files.setdefault(name, 0)
        for number, item in json_items(reading.package, name):
            if not isinstance(item, dict) and not (kind == "spacy" and is_spacy(item)):
                raise fault(place_in(name, number), f"{str(item)[:40]!r} is no object")
            yield row(reading, place_in(name, number), item)
