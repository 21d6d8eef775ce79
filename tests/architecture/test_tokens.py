"""The pages take colours, sizes of type, distances and radii from one sheet of tokens."""

import re
from pathlib import Path

CSS = Path(__file__).parents[2] / "assets/css"
COLOUR = re.compile(r"#[0-9a-f]{3,8}\b|\b(?:rgb|hsl)a?\(|: (?:white|black|gr[ae]y)\b", re.I)
SIZE = re.compile(r"(?:font-size|border-radius): (?!var|0\b|inherit)")
SPACE = re.compile(r"(?:padding|margin|gap)(?:-[a-z-]+)?: [^;]*?\b(?!1px)\d+(?:\.\d+)?(?:px|r?em)")


def test_no_sheet_has_a_colour_size_or_distance_of_its_own() -> None:
    for sheet in sorted(CSS.rglob("*.css")):
        if sheet.name == "tokens.css":
            continue
        for line in sheet.read_text(encoding="utf-8").splitlines():
            literal = COLOUR.search(line) or SIZE.search(line) or SPACE.search(line)
            assert not literal, f"{sheet.name}: {line.strip()}"


def test_no_sheet_selects_by_words_of_the_pages() -> None:
    """A changed word in a label broke a rule of a sheet."""
    words = re.compile(r"\[(?:aria-label|title|placeholder|alt)[~|^$*]?=")
    for sheet in sorted(CSS.rglob("*.css")):
        assert not words.findall(sheet.read_text(encoding="utf-8")), sheet.name


def test_every_token_that_is_used_is_there() -> None:
    tokens = (CSS / "shared/tokens.css").read_text(encoding="utf-8")
    known = set(re.findall(r"(--[\w-]+):", tokens))
    given_by_scripts = {"--dot", "--hue", "--long", "--w"}
    for sheet in sorted(CSS.rglob("*.css")):
        used = set(re.findall(r"var\((--[\w-]+)", sheet.read_text(encoding="utf-8")))
        assert used <= known | given_by_scripts, sheet.name


def test_every_icon_that_is_used_is_there_and_no_other() -> None:
    assets = CSS.parent
    drawn = set(re.findall(r'<symbol id="([\w-]+)"', (assets / "icons/lucide.svg").read_text()))
    scripts = " ".join(p.read_text(encoding="utf-8") for p in (assets / "js").rglob("*.js"))
    assert {name for name in drawn if f"'{name}'" in scripts} == drawn
    assert set(re.findall(r"icon\('([\w-]+)'\)", scripts)) <= drawn
