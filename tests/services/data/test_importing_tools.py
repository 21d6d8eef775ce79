"""A dry run says of each tool's file what was read and what has no place, and counts every row."""

import json
from pathlib import Path
from typing import get_args

import pytest

from app.cli import main
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.studio import Studio
from core.formats.rows import Tool
from core.platforms.agent import Platform
from tests.core.formats.tools.tool_files import TEXTS, WRITERS


def test_a_dry_run_of_each_tools_file_tells_format_files_counts_and_losses(
    studio: Studio, tmp_path: Path
) -> None:
    create_project(studio, "p")
    for tool, write in WRITERS.items():
        (tmp_path / tool).mkdir()
        path = write(tmp_path / tool)
        report = import_file(studio, ImportRequest("p", path, dry_run=True))
        assert report.package is not None
        assert report.package.platform == tool
        assert sum(file.phrases for file in report.package.files) == len(TEXTS)
        rows = sum(case.rows for case in report.cases)
        assert rows + report.empty + report.too_long == len(TEXTS)


def test_the_command_prints_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = ["--home", str(tmp_path / "home")]
    assert main([*home, "new", "p"]) == 0
    path = WRITERS["label-studio"](tmp_path)
    capsys.readouterr()
    assert main([*home, "import", "p", str(path), "--dry-run", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["package"] == {
        "platform": "label-studio",
        "files": [{"name": "project.json", "phrases": 4}],
        "losses": [
            {
                "what": "labels of people who disagree",
                "count": 2,
                "examples": ["🛫 fly to Boston", "refund my ticket"],
                "more": 0,
            },
            {
                "what": "answers that skip a text",
                "count": 1,
                "examples": ["who won the match"],
                "more": 0,
            },
        ],
        "values": {},
        "unread": "",
    }
    assert (report["added"], report["labelled"], report["marked"]) == (4, 2, 1)


def test_the_page_has_a_name_for_each() -> None:
    script = Path(__file__).parents[3] / "assets/js/data/package.js"
    names = script.read_text(encoding="utf-8").partition("PLATFORMS = {")[2].partition("};")[0]
    said = {line.partition(":")[0].strip(" '") for line in names.splitlines() if ":" in line}
    assert said == {*get_args(Platform), *get_args(Tool)}
