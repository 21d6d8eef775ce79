"""The files that a bundle may hold, and the programs that Intent Studio itself has put into one.

A manifest proves that nothing changed after it was written; whoever replaces a file can write a new
one. So what is generated is compared with what this release and earlier ones generate.
"""

import hashlib
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from core.bundle.card import model_card
from core.bundle.facts import is_graph
from core.encoders.convert.source import MODULE

PROGRAM, CARD = "predict.py", "README.md"
NETWORK = f"encoder/{MODULE}.py"

_ALLOWED = re.compile(
    r"README\.md|predict\.py|(facts|head|calibration|exact|learned)\.json|exemplars\.jsonl"
    r"|(head|fence)\.safetensors|model\.onnx|(tokenizer|subwords|decision)\.json|answers\.jsonl"
    r"|encoder/([\w.-]+/){0,3}[\w-][\w.-]*\.(json|safetensors|txt|model|md)"
)
"""An encoder's folder holds weights, settings and word lists; with ConveRT, its own network."""

_PROGRAMS = frozenset(
    {
        "0264e8a7a71078ba620974cc4df64fa0d08836ba68e9100c31e0839ca8e30b65",
        "23727a30ab5445281aa2b8c4a18e859f6af8d8e82f90ec8d7675d8d7b595f541",
        "50e4ac8aae4eb9dd8c2f5c9317a068632fe86b25d23303c6f464e8ba39ce8bcc",
        "52e211a402813bdac3a15c4ea89ac029d9470542d65d1970d07594e5157f88ef",
        "83125dfd7b0634b2d988dd8beeded49fefbdfdb47ae53236cfa04ae273780d3f",
        "bd6abea002a0dec816784abe3c5e13626d9ac0508b9619a10dea6a4df67363f7",
        "c03f7ac841284bbb93752b1cd1d20c50d10ef793ccb796dc44601328b3377f99",
        "19bc5a0c964fe6e6b7589c52fdf1a3191722caf18dcd10e74193fd04f3f6366e",
        "ca93f374e48180db834cd347f94ea876ddafeed74c94d94975a493d061711cff",
        "5ff271430a4d9b9a473694cdabc2bb64a5866476c7054bd32d439c3bc2b9c22b",
        "60d9aa869f7db3720e2320801c8924a1d5c0d266c3a9820ee060caac472cfba6",
        "81688192ca8e7a7096a7882c234431b7d1869a9d2fe18893255e71581873abb6",
        "087b622e36497717a52751564c4abb821370c2ce4e0747b58bf5a897afda012e",
        "b38921c448be9a54d80f1cd48f827c8a0b5973c5cae79633cfae7c3e9a740099",
        "07c1932a10edcae01dcf707c2aa62fb614f94710e29c950fd0e903a8762f18b9",
        "ec8090e53e78bc4864a929c5b76e3550ac93be3cd66c7c408a9ca35dd8f143e4",
    }
)
"""SHA-256 of every `predict.py` up to now; a change adds one and leaves the others."""

_NETWORKS = frozenset(
    {
        "024715ab714effe39acedccacc5dbd407df2c891e38faaba3418c5bccd433f50",
        "1450db3430bbda180c98c7fc5988e05a65c3686a03c4d481fa3838a00d79dd98",
        "452f5ae8c2dd0026294d9b81107c2acad3d50694982bc265deb7997eecc774bd",
        "468119f857f0edfbec9b210c9dd0deeacbe0b015aa18247f290f0b5abdd4db85",
        "57cb9bf5c5dc14692407b9122d50d5a38b5e7394d3d9d9607f8f38ec479227a9",
        "5d5482facdd033b1272a35c571c0a9b41eb2a56760a7d3a2d7b3ceda8c42172b",
        "99d5bb0a416b3e2bbc5b5c0dd7833fa383abb3c759a7aa810fe2c20e8a9f042b",
        "a870572f2cfbf139c0dc08fa7185d94dfbe9f6f07c8453e1946981b54061224d",
        "b3517c6edc0ae074ae73762e2cba7f181fc49de87c0af376a57bd7118711ab11",
        "bc0ee9839db3e5e0dedf6cf4cb51fa11d12cd0522cdf559037e34f3e61059191",
        "c78bf84064a197c67ba0693b826d7315f34f2a4eaa8345daaa3ab254a5274d2d",
    }
)
"""The same of every `encoder/modeling_convert.py`."""


def program(facts: Mapping[str, Any]) -> bytes:
    """Return the program that a bundle bears to answer without the studio."""
    name = "predict_graph.py.txt" if is_graph(facts) else "predict.py.txt"
    return (files("core.bundle") / name).read_bytes()


def is_allowed(name: str) -> bool:
    """Whether a bundle may hold a file of this name."""
    return name == NETWORK or _ALLOWED.fullmatch(name) is not None


def foreign_program(folder: Path) -> str | None:
    """Return the first program in a bundle's folder that no release has written, or None."""
    for name, known in ((PROGRAM, _PROGRAMS), (NETWORK, _NETWORKS)):
        place = folder / name
        if place.exists() and hashlib.sha256(place.read_bytes()).hexdigest() not in known:
            return name
    return None


def is_own_card(folder: Path, facts: Mapping[str, Any]) -> bool:
    """Whether a bundle's card, if it has one, says of its facts what this release would write."""
    card = model_card(facts).encode()  # of a bundle without one, too: it has to be told of
    return not (folder / CARD).exists() or (folder / CARD).read_bytes() == card
