"""Scripts and formulas in everything that a person can name, in what leaves the studio."""

import csv
import io
import json
import re
import zipfile
from urllib.parse import quote

import pytest

from app.services.data.importing import ImportRequest, import_file
from app.services.data.intents import add_intent, change_intent, load_overview
from app.services.data.projects import create_project
from app.services.training.runs import TrainingRequest
from core.bundle.card import model_card
from core.bundle.own_files import CARD
from tests.abuse.table import Abuse
from tests.builders.trained_home import train_here
from tests.served_in_memory import HOST

ABUSES = (
    Abuse(
        6,
        "Texts and names that a spreadsheet computes",
        "cells that begin with =, +, -, @, tab, return and NUL, in every column of an export",
        "the export for spreadsheets puts an apostrophe before each; the plain CSV keeps texts as "
        "they are, and the page says which is which",
        ("tests/core/formats/test_writing.py",),
    ),
    Abuse(
        7,
        "Scripts in texts, intents, descriptions, notes, projects and file names",
        "one home whose every name is markup, in each page in a browser, in receipts, reports, "
        "PDFs, model cards and REST",
        "shown as text; no element is made of it and nothing runs",
        ("tests/browser/test_hostile_texts.py",),
    ),
)
BOMB = "\"><img src=x onerror=alert(1)><script>alert(2)</script>'-->${7*7}{{7*7}}[a](javascript:x)"
LIVE = re.compile(r"<(img|script>alert|iframe)", re.I)
NAME = '"><img src=x onerror=alert(3)>'
BASE = f"/api/projects/{quote(NAME, safe='')}"


@pytest.fixture
def hostile(client, studio, tmp_path, tiny_path) -> str:
    """A project in which every name is markup, with a model; the path of its routes."""
    create_project(studio, NAME)
    lines = ["text,intent,split"]
    for topic in ("billing", "parcels"):
        for split in ("train", "test"):
            lines += [
                f'"{BOMB.replace(chr(34), "")} {split} {n} of {topic}",{BOMB.replace(chr(34), "")}'
                f" {topic},{split}"
                for n in range(4)
            ]
    file = tmp_path / "rows.csv"
    file.write_text("\n".join(lines), encoding="utf-8")
    import_file(studio, ImportRequest(NAME, file))
    for intent in load_overview(studio, NAME)[1]:
        change_intent(studio, NAME, intent.id, {"description": BOMB})
    add_intent(studio, NAME, f"{BOMB} new", BOMB)
    train_here(studio, TrainingRequest(NAME, "instant", {}, str(tiny_path)))
    return BASE


def test_receipts_and_reports_show_markup_as_text(client, hostile: str) -> None:
    made = client.post(f"{hostile}/receipts", json={"text": BOMB})
    paths = [f"{hostile}/models/1/report.html", f"/reports/{quote(NAME, safe='')}/1"]
    assert made.status_code == 201, made.text
    key = re.search(r"/receipts/([0-9a-f]+)", made.text)[1]
    paths += [f"/receipts/{key}", f"/api/receipts/{key}/receipt.html"]
    for path in paths:
        page = client.get(path)
        assert page.status_code == 200, (path, page.text)
        assert "alert(1)" in page.text, path
        assert not LIVE.search(page.text), path
        assert "49" not in re.findall(r"\$\{?(\d+)", page.text)


def test_a_pdf_holds_no_script_and_no_foreign_link(client, hostile: str) -> None:
    pdf = client.get(f"{hostile}/models/1/report.pdf")
    assert pdf.status_code == 200, pdf.text
    assert pdf.content.startswith(b"%PDF")
    for mark in (b"/JavaScript", b"/JS", b"/OpenAction", b"/Launch", b"/EmbeddedFile"):
        assert mark not in pdf.content
    own = f"http://{HOST}/".encode()
    assert all(link.startswith(own) for link in re.findall(rb"/URI \(([^)]*)", pdf.content))


def test_a_model_card_makes_no_markup_of_names(client, hostile: str) -> None:
    """Names stood in the card's table as they were: a link of Markdown or HTML was one."""
    sent = client.get(f"{hostile}/models/1/bundle")
    assert sent.status_code == 200
    with zipfile.ZipFile(io.BytesIO(sent.content)) as archive:
        card = archive.read(CARD).decode()
    assert "alert(1)" in card
    assert not re.search(r"(?<!\\)[<\[](?=[a-z/!])", card), card
    assert "a\n# b" not in model_card({"intents": [{"name": "a\n# b"}], "project": "x\n\n# y"})


STARTS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://x","y")']


def test_the_export_for_spreadsheets_computes_nothing(client, studio, tmp_path) -> None:
    create_project(studio, "p")
    rows = [{"text": f"{start} text", "intents": [f"{start} intent"]} for start in STARTS]
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    import_file(studio, ImportRequest("p", file))
    sent = client.get("/api/projects/p/export", params={"kind": "spreadsheet"}).text
    cells = [cell for row in csv.reader(io.StringIO(sent)) for cell in row]
    assert sum("intent" in cell for cell in cells) >= len(STARTS)
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))] == []
    plain = client.get("/api/projects/p/export", params={"kind": "csv"}).text
    assert "'=" not in plain
