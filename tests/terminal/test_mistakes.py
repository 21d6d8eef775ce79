"""What is mistyped on the command line is named; shells complete what is typed."""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from app.cli import main
from app.services.data.import_cases import Meaning
from app.services.studio import Studio
from app.services.training.jobs import read_log
from app.settings import Settings
from app.terminal.arguments.parser import build_parser
from storage import jobs

NINES = "9" * 5_000


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as left:
        sys.exit(main(arguments))
    assert left.value.code == 2
    return capsys.readouterr().err


def test_the_nearest_command_recipe_and_choice_are_proposed(
    capsys: pytest.CaptureFixture[str], studio: Studio, tmp_path: Path
) -> None:
    home = str(studio.settings.home)
    assert "Did you mean 'train'?" in refused(capsys, "trian")
    assert "Did you mean 'verify'?" in refused(capsys, "bundle", "verfy", "x.zip")
    assert main(["--home", home, "new", "support"]) == 0
    wrong = refused(capsys, "--home", home, "train", "support", "--recipe", "covfit")
    assert "Did you mean 'convfit'?" in wrong
    assert all(name in wrong for name in ("instant", "adapter", "convert", "templates"))
    assert "Did you mean 'support'?" in refused(capsys, "--home", home, "train", "suport")


def test_a_mistyped_home_makes_no_new_studio(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    home = tmp_path / "hoem"
    assert "There is no studio in" in refused(capsys, "--home", str(home), "projects")
    assert not home.exists()


@pytest.mark.parametrize(
    ("variable", "value", "takes"),
    [
        ("STUDIO_LOG", "yes", "It should be 'text' or 'json'."),
        ("STUDIO_KEEP_TRACES_DAYS", "0", "It should be greater than or equal to 1."),
        ("STUDIO_KEEP_TRACES_DAYS", "800000", "It should be less than or equal to 36500."),
        ("STUDIO_TRAFFIC_PER_DAY", "many", "It should be a valid integer"),
    ],
)
def test_a_setting_that_cannot_be_is_named_with_what_it_takes(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    studio: Studio,
    variable: str,
    value: str,
    takes: str,
) -> None:
    """“Something broke. Please report” was said, with exit code 1."""
    monkeypatch.setenv(variable, value)
    wrong = refused(capsys, "--home", str(studio.settings.home), "projects")
    assert f"The setting {variable} cannot be '{value}'. {takes}" in wrong


def test_with_json_a_refusal_is_one_object_and_the_result_stays_empty(
    capsys: pytest.CaptureFixture[str], studio: Studio
) -> None:
    arguments = ["--home", str(studio.settings.home), "train", "nobody", "--json"]
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert json.loads(printed.err)["message"] == "There is no project 'nobody'."


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["projects", "--jsn", "--json"], "unrecognized arguments: --jsn"),
        (["train", "--json"], "the following arguments are required: project"),
        (["jobs", "lgo", "--json"], "Did you mean 'log'?"),
        (["backup", "out", "--keep", "many", "--json"], "invalid int value: 'many'"),
        (["trian", "support", "--json"], "Did you mean 'train'?"),
    ],
)
def test_with_json_wrong_arguments_are_one_object_too(
    capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    """They were printed as text, which a program that reads JSON could not take apart."""
    error = json.loads(refused(capsys, *arguments))
    assert set(error) == {"message", "hint"}
    assert told in error["message"]
    assert error["hint"].endswith("--help` tells what it takes.")


def test_without_the_option_wrong_arguments_are_text(capsys: pytest.CaptureFixture[str]) -> None:
    """After `--` all words are values."""
    for arguments in (["projects", "--jsn"], ["projects", "--jsn", "--", "--json"]):
        told = refused(capsys, *arguments)
        assert told.startswith("usage: intent-studio projects ")
        assert "\nintent-studio projects: error: unrecognized arguments: --jsn" in told


@pytest.mark.parametrize(
    ("arguments", "meant", "verb"),
    [
        (["import", "bakery", "chats.csv", "--trafic"], "--traffic", "import"),
        (["import", "--begn=2026-11-26", "bakery", "call.vtt"], "--began", "import"),
        (["bundle", "verify", "x.zip", "--kye", "k.pub"], "--key", "bundle verify"),
        (["--hme=studio", "projects"], "--home", ""),
    ],
)
def test_the_nearest_option_is_proposed_and_the_help_of_its_command(
    capsys: pytest.CaptureFixture[str], arguments: list[str], meant: str, verb: str
) -> None:
    """The usage of the whole program was printed, which names no option of any command."""
    told = refused(capsys, *arguments)
    assert f"Did you mean '{meant}'?\n" in told
    program = f"intent-studio {verb}".strip()
    assert told.startswith(f"usage: {program} [-h]")
    assert told.endswith(f"\n  `{program} --help` tells what it takes.\n")


def test_an_option_that_resembles_none_is_refused_without_a_proposal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = refused(capsys, "projects", "--xyzzy")
    assert "unrecognized arguments: --xyzzy\n" in told


@pytest.mark.parametrize("verb", ["import", "discover"])
def test_the_help_of_each_option_says_what_it_does_and_its_values(verb: str) -> None:
    """`--treat` stood there without a word, and no help said what `skip` and `add` mean."""
    [verbs] = [a for a in build_parser()._actions if isinstance(a, argparse._SubParsersAction)]
    helps = {a.dest: (a.help or "", a.choices or ()) for a in verbs.choices[verb]._actions}
    assert [name for name, (words, _) in helps.items() if not words] == []
    if verb == "import":
        helps["treat"] = (helps["treat"][0], get_args(Meaning))
    unnamed = [(n, one) for n, (words, every) in helps.items() for one in every if one not in words]
    assert unnamed == []


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0
    assert capsys.readouterr().out.startswith("intent-studio 0.")


def test_a_job_is_named_by_the_beginning_of_its_id_and_its_log_is_printed(
    capsys: pytest.CaptureFixture[str], studio: Studio
) -> None:
    """No command showed a job's log, though messages said that it tells more."""
    with studio.database.write() as connection:
        ids = [jobs.enqueue(connection, "train", {}).id for _ in range(2)]
        jobs.keep_log(connection, ids[0], "step 1\nout of memory\n")
    home = str(Settings(home=studio.settings.home).folder)
    assert main(["--home", home, "jobs", "log", ids[0][:8]]) == 0
    assert capsys.readouterr().out == "step 1\nout of memory\n"
    job, log = read_log(studio, ids[1])
    assert (job.id, log) == (ids[1], "")
    assert "There is no job 'zz'" in refused(capsys, "--home", home, "jobs", "log", "zz")
    wrong = refused(capsys, "--home", home, "cancel", "")
    assert "There is no job ''" in wrong


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_completes_commands_options_and_choices(shell: str, capsys) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for word in ("completion", "predict", "evaluate", "detach", "few-shot", "rasa"):
        assert word in script, word
    if shutil.which(shell):
        done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


def test_bash_completes_a_command(capsys, tmp_path) -> None:
    main(["completion", "bash"])
    script = capsys.readouterr().out
    ask = (
        "COMP_WORDS=(intent-studio pred); COMP_CWORD=1; _shtab_intent_studio; echo ${COMPREPLY[@]}"
    )
    done = subprocess.run(["bash", "-c", script + "\n" + ask], capture_output=True, text=True)
    assert done.stdout.split() == ["predict"], done.stderr


def test_an_error_of_the_program_is_reported_without_texts(capsys, monkeypatch) -> None:
    """The traceback that users are asked to send ended with what the error quotes."""

    def fail(_options: object) -> None:
        raise KeyError("my card number is 1234")

    monkeypatch.setattr("app.terminal.recipes.recipes", fail)
    assert main(["recipes"]) == 1
    said = capsys.readouterr().err
    assert "KeyError" in said
    assert "test_mistakes.py" in said
    assert "card number" not in said


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["promote", f"p@{NINES}"], "names no version"),
        (["explain", f"p@{NINES}", "hi"], "is no version of 'p'"),
        (["export", "p", "out.csv", "--version", NINES], "is no dataset version"),
        (
            ["bench", "few-shot", "--train", "a.csv", "--test", "b.csv", "--seeds", NINES],
            "is no list of numbers",
        ),
    ],
)
def test_a_number_of_thousands_of_digits_is_refused(
    capsys: pytest.CaptureFixture[str], studio: Studio, arguments: list[str], told: str
) -> None:
    """Python reads no such number: “Something broke” was said, with exit code 1."""
    home = str(studio.settings.home)
    assert main(["--home", home, "new", "p"]) == 0
    said = refused(capsys, "--home", home, *arguments)
    assert told in said
    assert len(said) < 1_000


@pytest.mark.parametrize("verb", [["evaluate"], ["explain", "hi"], ["predict", "hi"], ["check"]])
def test_a_project_whose_name_no_file_could_have_is_looked_for(
    capsys: pytest.CaptureFixture[str], studio: Studio, verb: list[str]
) -> None:
    """A hundred signs may name a project, and take 300 bytes: “Something broke” was said."""
    home, name = str(studio.settings.home), "\u4e2d" * 100
    command, *rest = verb
    assert f"There is no project '{name}'" in refused(capsys, "--home", home, command, name, *rest)


def test_brackets_that_are_too_deep_are_no_setting(
    capsys: pytest.CaptureFixture[str], studio: Studio
) -> None:
    home, deep = str(studio.settings.home), "[" * 100_000
    assert main(["--home", home, "new", "p"]) == 0
    said = refused(capsys, "--home", home, "train", "p", "--set", f"epochs={deep}")
    assert "cannot be used: epochs" in said


def test_words_that_are_not_in_utf8_are_refused(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    studio: Studio,
    tmp_path: Path,
) -> None:
    """A shell hands over any bytes, and no database keeps these: “Something broke” was said."""
    home, file = str(studio.settings.home), tmp_path / "M\udcfcller.csv"
    file.write_text("text,intent\nhello,greet\n", encoding="utf-8")
    assert main(["--home", home, "new", "p"]) == 0
    broken = "' has half of a character in it."
    assert f"'\ufffd{broken}" in refused(capsys, "--home", home, "predict", "\udcff", "hi")
    assert f"M\ufffdller.csv{broken}" in refused(capsys, "--home", home, "import", "p", str(file))
    monkeypatch.setenv("STUDIO_ACTOR", "M\udcfcller")
    assert f"'M\ufffdller{broken}" in refused(capsys, "--home", home, "new", "q")


def test_a_home_of_nobody_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """“Something broke” was said, with exit code 1."""
    home = "~nobody-of-this-name/studio"
    told = f"'{home}' cannot be used as a home"
    assert told in refused(capsys, "--home", home, "projects")
    monkeypatch.setenv("STUDIO_HOME", home)
    assert told in refused(capsys, "projects")


def test_a_port_that_cannot_be_is_refused(studio, capsys, monkeypatch) -> None:
    """It ended in a traceback; later, what waits for jobs had been started before the refusal."""
    monkeypatch.setattr("app.terminal.serve.opened", None)
    for port in ("99999", "-1"):
        code = main(["--home", str(studio.settings.home), "serve", "--port", port, "--no-browser"])
        assert (code, f"no port {port}" in capsys.readouterr().err) == (2, True)
