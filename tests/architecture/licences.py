"""The licences of all packages that a user installs, in THIRD_PARTY.md.

python -m tests.architecture.licences
"""

import re
import sys
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

PAGE = Path(__file__).parents[2] / "THIRD_PARTY.md"
PROJECT = tomllib.loads((PAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = ("studio", "maps", "onnx", "sign")
_HEAD = """# Packages of others

Every package that `make run` installs, with the licence that it states. The packages are not part
of this repository; NOTICE names what is. This page is made by
`python -m tests.architecture.licences`.

| package | licence |
| --- | --- |
"""
_CLASSIFIER = "License :: "


def installed() -> dict[str, Distribution]:
    """Return the packages that Intent Studio needs, and those that these need, by name."""
    found: dict[str, Distribution] = {}
    waiting = direct()
    while waiting:
        wanted = waiting.pop()
        name = _key(wanted.name)
        if name in found:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:  # of another system
            continue
        further = map(Requirement, found[name].requires or [])
        waiting += [each for each in further if _applies(each, wanted.extras)]
    return found


def direct() -> list[Requirement]:
    """Return what Intent Studio itself names, with the extras that `make run` installs."""
    optional = PROJECT["optional-dependencies"]
    return [
        Requirement(line)
        for lines in (PROJECT["dependencies"], *(optional[extra] for extra in EXTRAS))
        for line in lines
    ]


def _applies(wanted: Requirement, extras: set[str]) -> bool:
    marker = wanted.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras))


def _key(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def licence_of(package: Distribution) -> str:
    """Return what a package states, in one line."""
    stated = package.metadata.get("License-Expression")
    listed = [
        line.rpartition(" :: ")[2]
        for line in package.metadata.get_all("Classifier", [])
        if line.startswith(_CLASSIFIER) and not line.endswith("OSI Approved")
    ]
    words = stated or ", ".join(listed) or (package.metadata.get("License") or "").strip()
    return re.sub(r"\s+", " ", words).replace("|", "/")[:80] or "not stated"


def page() -> str:
    """Return the page; versions stand in constraints.txt."""
    rows = [f"| {name} | {licence_of(p)} |" for name, p in sorted(installed().items())]
    return _HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")
