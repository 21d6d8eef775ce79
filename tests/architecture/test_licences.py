"""THIRD_PARTY.md lists what is installed, and every package is pinned."""

from tests.architecture import licences


def pins() -> set[str]:
    lines = (licences.PAGE.parent / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return {licences._key(line.partition("==")[0]) for line in lines if "==" in line}


def test_every_package_is_pinned() -> None:
    assert set(licences.installed()) - pins() <= {"setuptools"}


def test_the_page_lists_the_licence_of_each_package() -> None:
    """`python -m tests.architecture.licences` writes it; other systems install some others."""
    listed = licences.PAGE.read_text(encoding="utf-8").splitlines()
    assert {licences._key(wanted.name) for wanted in licences.direct()} <= {
        line.split(" | ")[0].removeprefix("| ") for line in listed if line.startswith("| ")
    }
    missing = set(licences.page().splitlines()) - set(listed)
    assert missing == set()
