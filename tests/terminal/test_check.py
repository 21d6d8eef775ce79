"""`check` on the command line: its exit codes, what it names, and what it writes."""

import errno
import json
import os
import re
import shlex
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.bootstrap import open_studio
from app.cli import main
from app.services.data.projects import create_project
from app.services.live.live_studio import open_live_studio
from app.services.review.fence import FenceSetting, save_fence
from app.services.studio import Studio
from app.services.versions.bundles import Handover, export_model
from app.settings import Settings
from app.terminal.arguments.parser import build_parser
from core.encoders.packed.encoder import TransformerEncoder
from core.files import replace_file
from storage import pinned_texts
from storage.log import edits, events, versions
from storage.log.events import Action
from tests.builders.stub_pipeline import store_model, trained
from tests.conftest import SENTENCES

LEARNED = {text: name for name, texts in SENTENCES.items() for text in texts[:4]}
TESTS = {texts[4]: name for name, texts in SENTENCES.items()}
MISTAKEN = "track the parcel for me"
"""An example of parcels that the first version has learned as a refund."""


@pytest.fixture(scope="module")
def checked(tiny: TransformerEncoder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A project `support` with a mislabelled version 1, a sound version 2, and pins."""
    studio = open_studio(Settings(home=tmp_path_factory.mktemp("checked") / "home"))
    project = create_project(studio, "support")
    made = {name: edits.create_intent(name) for name in SENTENCES}
    rows = [
        edits.create_utterance(f"{key}{at}", text, split, "f", [made[name].subject_id])
        for key, split, texts in (("e", "train", LEARNED), ("t", "test", TESTS))
        for at, (text, name) in enumerate(texts.items())
    ]
    with studio.database.write() as connection:
        action = Action("import", "anna", "import rows.csv")
        events.record(connection, project.id, action, [*made.values(), *rows])
        versions.cut(connection, project, "first")
        for text in (MISTAKEN, MISTAKEN.replace("track", "trace")):
            pinned_texts.add(connection, project.id, text, [made["parcel"].subject_id], "local")
    store_model(studio, project, trained(tiny, {**LEARNED, MISTAKEN: "refund"}))
    store_model(studio, project, trained(tiny, LEARNED))
    save_fence(open_live_studio(studio), "support", FenceSetting(-9.0))  # nothing is out of scope
    yield studio
    studio.database.close()


@pytest.fixture
def check(checked: Studio, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, Any]]:
    """Run `check --json` in the home of the project; return the exit code and what is printed."""

    def run(*words: str) -> tuple[int, Any]:
        code = main(["--home", str(checked.places.home), "check", *words, "--json"])
        said = capsys.readouterr()
        return code, json.loads(said.err if code == 2 else said.out)

    return run


def test_a_broken_pin_is_named_with_the_labels_that_broke_it(
    check: Callable[..., tuple[int, Any]], tmp_path: Path
) -> None:
    code, found = check(
        "support@1", "--junit", str(tmp_path / "a.xml"), "--summary", str(tmp_path / "a")
    )
    assert (code, found["passes"], found["model"]) == (3, False, "support@1")
    similar, pin = found["checks"]
    assert (pin["name"], pin["found"]) == (f"“{MISTAKEN}” must get parcel", "gets refund")
    assert pin["why"] == "An example says just this."
    assert [(one["text"], one["label"]) for one in pin["examples"]] == [(MISTAKEN, "refund")]
    assert similar["found"] == "gets refund"
    assert similar["why"] == "The answer rests on 1 example: without it it would be parcel."
    told = {name: similar["examples"][0][name] for name in ("text", "label", "by", "how")}
    assert told == {"text": MISTAKEN, "label": "refund", "by": "anna", "how": "import rows.csv"}
    [suite] = ET.fromstring((tmp_path / "a.xml").read_bytes())
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
    assert MISTAKEN in (tmp_path / "a").read_text("utf-8")
    code, found = check("support@2")
    assert (code, found["passes"]) == (0, True)


def test_every_broken_pin_is_named_with_labels(
    check: Callable[..., tuple[int, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of more than 20 broken pins the rest were told without a label: “there are too many”."""
    monkeypatch.setattr("app.services.checking.pinned_answers._FEWEST", 0)
    similar, _ = check("support@1")[1]["checks"]
    assert similar["why"] == "These examples vote most against what is expected."
    heaviest = similar["examples"][0]
    assert (heaviest["text"], heaviest["label"], heaviest["by"]) == (MISTAKEN, "refund", "anna")


def test_files_are_written_together_or_not_at_all_and_the_verdict_is_told(
    check: Callable[..., tuple[int, Any]],
    checked: Studio,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The first file was written, and where the second could not be, no verdict was printed."""
    junit, summary = tmp_path / "a.xml", tmp_path / "a.md"
    code, refused = check("support@2", "--junit", str(junit), "--summary", f"{tmp_path}/no/a.md")
    assert (code, refused["message"]) == (2, f"There is no folder {tmp_path}/no.")
    summary.write_text("of an earlier run", "utf-8")

    def full(target: Path, mode: int) -> AbstractContextManager[Any]:
        if target == summary:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return replace_file(target, mode)

    monkeypatch.setattr("core.files.replace_file", full)
    words = ["check", "support@2", "--junit", str(junit), "--summary", str(summary)]
    assert main(["--home", str(checked.places.home), *words]) == 2
    said = capsys.readouterr()
    assert "support@2 passes: 2 of 2 checks." in said.out
    assert f"{summary} cannot be written: No space left on device." in said.err.replace("\n", " ")
    assert [path.name for path in tmp_path.iterdir()] == ["a.md"]
    assert summary.read_text("utf-8") == "of an earlier run"


def test_floors_limits_and_champion_decide_the_exit_code(
    check: Callable[..., tuple[int, Any]],
) -> None:
    easy = ["--min", "accuracy=0", "--min", "recall:parcel=0", "--max", "megabytes=50"]
    code, found = check("support@2", *easy, "--max", "latency_ms=5000", "--against", "support")
    assert (code, found["against"], found["judged_on"]) == (
        0,
        "support@1",
        "4 test texts of support",
    )
    kinds = [one["kind"] for one in found["checks"]]
    assert kinds == ["pin", "pin", "floor", "floor", "champion", "limit", "limit"]
    code, found = check("support@2", "--min", "out_of_scope=0", "--max", "megabytes=0.001")
    assert code == 3
    failed = [one["found"] for one in found["checks"] if one["state"] == "failed"]
    assert failed[0] == "not judged: no test text tells it"
    assert failed[1].startswith("about ")
    code, refused = check("support@2", "--min", "recall:refnd=0.5")
    assert (code, refused["message"][:7]) == (2, "'refnd'")
    assert "Did you mean 'refund'? Known are greeting, parcel" in refused["hint"]
    assert check("support@9")[0] == 2


def test_a_bundle_is_judged_by_a_file_or_by_what_it_carries(
    checked: Studio, check: Callable[..., tuple[int, Any]], tmp_path: Path
) -> None:
    bundle, tests = tmp_path / "support.zip", tmp_path / "tests.csv"
    export_model(checked, "support@2", bundle)
    lines = ["text,intent", *(f"{text},{name}" for text, name in TESTS.items()), "what,|", "x,new"]
    tests.write_text("\n".join(lines), "utf-8")
    floors = ["--min", "answered_right=0", "--min", "out_of_scope=0"]
    code, found = check(str(bundle), "--test", str(tests), *floors)
    assert (code, [one["kind"] for one in found["checks"]]) == (0, ["pin", "pin", "floor", "floor"])
    assert found["judged_on"] == "5 test texts and 1 text of no intent of tests.csv"
    assert found["notes"] == [
        "1 test text bears no label that the model knows: no answer can be right."
    ]
    code, found = check(str(bundle), *floors[:2], "--min", "macro_f1=0")
    assert code == 3
    assert [one["state"] for one in found["checks"]] == ["passed", "passed", "passed", "failed"]
    assert found["judged_on"] == "figures stored with support.zip, judged on nothing"
    export_model(checked, "support@2", bundle, Handover(without_texts=True))
    code, found = check(str(bundle), *floors[:2])
    assert (code, found["notes"]) == (0, ["2 pins not judged: the bundle was made without texts."])
    code, found = check(str(bundle), "--against", "support@1")
    assert [one["kind"] for one in found["checks"]] == ["pin", "pin", "champion"]


def test_a_project_of_a_pipeline_is_judged_by_the_pins_of_the_bundle_in_use(
    checked: Studio, check: Callable[..., tuple[int, Any]], tmp_path: Path
) -> None:
    champion, fresh = tmp_path / "champion.zip", tmp_path / "fresh.zip"
    export_model(checked, "support@2", champion)
    export_model(checked, "support@1", fresh, Handover(without_texts=True))
    code, found = check(str(fresh), "--against", str(champion))
    assert code == 3
    assert "The pins are those of champion.zip." in found["notes"]
    similar, pin, compared = found["checks"]
    states = [(one["kind"], one["state"]) for one in (similar, pin, compared)]
    assert states == [("pin", "failed"), ("pin", "failed"), ("champion", "failed")]
    assert compared["found"].startswith("Nobody can say")
    # Without texts, the example that says just this was sought among ids, and others were named.
    assert (pin["name"], pin["why"]) == (
        f"“{MISTAKEN}” must get parcel",
        "An example says just this.",
    )
    key = next(f"e{at}" for at, text in enumerate(LEARNED) if text == MISTAKEN)
    assert [(one["text"], one["label"]) for one in pin["examples"]] == [(f"[{key}]", "refund")]


def test_a_person_reads_what_broke_a_pin(
    checked: Studio, capsys: pytest.CaptureFixture[str]
) -> None:
    home = str(checked.places.home)
    assert main(["--home", home, "check", "support@1", "--min", "accuracy=0"]) == 3
    said = capsys.readouterr().out
    assert "support@1 does not pass: 2 of 3 checks failed." in said
    assert f"“{MISTAKEN}” is labelled refund by anna (import rows.csv)" in said


def test_a_model_without_pins_and_floors_is_no_pass(
    checked: Studio, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = tmp_path / "support.zip"
    export_model(checked, "support@2", bundle, Handover(without_texts=True))
    assert main(["--home", str(tmp_path / "other"), "check", str(bundle)]) == 2
    assert "There is nothing to check support.zip by." in capsys.readouterr().err


def scripts(language: str) -> list[str]:
    """Return the scripts of the page's GitHub action, by step, or of its GitLab job, as one."""
    page = (Path(__file__).parents[2] / "docs" / "topics" / "ci.md").read_text("utf-8")
    github, gitlab = (
        yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", page, re.S)
    )
    if language == "github":
        return [step["run"] for step in github["jobs"]["check"]["steps"] if "run" in step]
    job = gitlab["check-intents"]
    return ["\n".join([*job["before_script"], *job["script"]])]


def run_in_bash(folder: Path, script: str, code: int) -> int:
    """Run a script as the runners do; `intent-studio check` ends with a code, and all is noted."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    stub = f"""#!/bin/bash
printf 'intent-studio %s\\n' "$*" >> {folder}/commands
case "$*" in *"--summary check.md"*) echo '## told' > check.md;; esac
[ "$1" != check ] || exit {code}
"""
    for name, body in (("intent-studio", stub), ("pip", "#!/bin/bash\n")):
        (programs / name).write_text(body, "utf-8")
        (programs / name).chmod(0o755)
    environment = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
    }
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode


@pytest.mark.parametrize("code", [0, 3])
def test_the_scripts_of_the_page_stop_a_pipeline_that_does_not_pass(
    tmp_path: Path, code: int
) -> None:
    install, train, check, export, tell = scripts("github")
    assert [run_in_bash(tmp_path, one, code) for one in (install, train, check)] == [0, 0, code]
    assert run_in_bash(tmp_path, tell, code) == 0
    assert (tmp_path / "summary.md").read_text("utf-8") == "## told\n"
    if not code:
        assert run_in_bash(tmp_path, export, code) == 0
    (tmp_path / "check.md").unlink()
    assert run_in_bash(tmp_path, tell, code) == 0  # an earlier step failed: there is no summary
    [job] = scripts("gitlab")
    assert run_in_bash(tmp_path, job, code) == code
    commands = (tmp_path / "commands").read_text("utf-8").splitlines()
    assert len(commands) == (8 if not code else 7)
    for command in commands:
        build_parser().parse_args(shlex.split(command)[1:])


def test_the_checks_of_the_page_judge_and_write_what_the_page_says(
    checked: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STUDIO_HOME", str(checked.places.home))
    for name in ("champion.zip", "support.zip"):
        export_model(checked, "support@2", tmp_path / name)
    lines = ["text,intent", *(f"{text},{name}" for text, name in TESTS.items())]
    (tmp_path / "tests.csv").write_text("\n".join(lines), "utf-8")
    [train, gitlab] = [one for one in (*scripts("github"), *scripts("gitlab")) if " check " in one]
    for script in (train, gitlab):
        (tmp_path / "check.xml").unlink(missing_ok=True)
        [command] = [line for line in script.splitlines() if " check " in line]
        assert main(shlex.split(command)[1:]) in (0, 3)  # a tiny encoder is right or not
        [suite] = ET.parse(tmp_path / "check.xml").getroot()
        names = [case.get("name") for case in suite if case.tag == "testcase"]
        assert "accuracy at least 85.0 %" in names
    assert (tmp_path / "check.md").is_file()
