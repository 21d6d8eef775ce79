"""A whole project is written for a platform, and the report tells what stays behind."""

import csv
import json
import zipfile
from pathlib import Path
from typing import get_args

import pytest

from app.services.data.exporting import export_file
from app.services.data.importing import ImportRequest, import_file
from app.services.data.intents import add_intent
from app.services.data.projects import create_project
from app.services.exchange.handover import (
    HandoverChoice,
    look_at_handover,
    words_of_handover,
    write_project,
)
from app.services.studio import Studio
from core.errors import InvalidInput
from core.exports.targets import TARGETS
from core.platforms.agent import Platform
from storage import pinned_texts, projects
from storage.queries import dataset

_ROWS = [
    {"text": "🛫 fly to Boston", "intents": ["book"], "split": "train", "slots": [(9, 15)]},
    {"text": "get my money back", "intents": ["refund"], "split": "train"},
    {"text": "refund my ticket", "intents": ["refund"], "split": "test"},
    {"text": "who won the match", "intents": [], "split": "train"},
    {"text": "hello there", "split": "pool"},
]


@pytest.fixture
def shop(studio: Studio, tmp_path: Path) -> Studio:
    create_project(studio, "shop")
    path = tmp_path / "shop.jsonl"
    lines = []
    for row in _ROWS:
        places = row.get("slots", [])
        assert isinstance(places, list)
        slots = [{"slot": "city", "value": "Boston", "start": s, "end": e} for s, e in places]
        lines.append(json.dumps({**row, **({"slots": slots} if slots else {})}))
    path.write_text("\n".join(lines), encoding="utf-8")
    import_file(studio, ImportRequest("shop", path))
    return studio


def _pin(studio: Studio, text: str, *names: str) -> None:
    with studio.database.write() as connection:
        project = projects.find(connection, "shop")
        ids = {one.name: one.id for one in dataset.intents(connection, project.id)}
        pinned_texts.add(connection, project.id, text, [ids[name] for name in names], "local")


def test_what_is_written_and_what_is_left_out_are_all_texts(shop: Studio, tmp_path: Path) -> None:
    for target, chosen in TARGETS.items():
        if chosen.tests:
            continue
        seen = look_at_handover(shop, "shop", HandoverChoice(target))
        assert seen.written + sum(one.count for one in seen.left_out) == len(_ROWS)
        out = tmp_path / f"{target}{chosen.ending}"
        done = write_project(shop, "shop", HandoverChoice(target), out)
        assert (done.files, done.losses, done.dry_run) == (seen.files, seen.losses, False)
        before = out.read_bytes()
        write_project(shop, "shop", HandoverChoice(target), out)
        assert target == "xlsx" or out.read_bytes() == before
        create_project(shop, target)
        back = import_file(shop, ImportRequest(target, out))
        assert back.added == done.written, target


def test_the_report_says_what_stays_behind_and_why(shop: Studio) -> None:
    _pin(shop, "refund me", "refund")
    report = look_at_handover(shop, "shop", HandoverChoice("lex"))
    words = words_of_handover(report)
    assert [words[0], *words[2:]] == [  # the second is the warning
        "Amazon Lex V2: 2 texts would be written into 8 files, 3 texts left out.",
        "Left out: test texts, from which the platform would learn (1):",
        "  refund my ticket",
        "Left out: texts out of scope (1):",
        "  who won the match",
        "Left out: texts without a label (1):",
        "  hello there",
        "Not carried: pins, which the formats of tests write (1).",
        "Not carried: values in texts, where the names of their slots stand (1):",
        "  🛫 fly to Boston",
    ]


def test_the_report_names_each_intent_that_the_platform_writes_otherwise(shop: Studio) -> None:
    """The words gave their number, and --json alone the names."""
    add_intent(shop, "shop", "give back")
    words = words_of_handover(look_at_handover(shop, "shop", HandoverChoice("lex")))
    what = "Not carried: names of intents, which the platform writes otherwise (1):"
    assert words[words.index(what) + 1] == "  give back → give_back"


def test_a_limit_of_the_platform_is_told_with_every_offender_and_nothing_is_written(
    shop: Studio, tmp_path: Path
) -> None:
    long = tmp_path / "long.csv"
    long.write_text(f"text,intent\n{'very ' * 120}long,refund\n{'much ' * 120}more,book\n")
    import_file(shop, ImportRequest("shop", long))
    out = tmp_path / "shop.json"
    (refusal,) = look_at_handover(shop, "shop", HandoverChoice("clu")).refusals
    assert (refusal.what, refusal.count) == ("texts of over 500 characters", 2)
    assert sorted(one[:9] for one in refusal.examples) == ["much much", "very very"]
    with pytest.raises(InvalidInput, match="Microsoft CLU would refuse the file"):
        write_project(shop, "shop", HandoverChoice("clu"), out)
    assert not out.exists()


def test_a_folder_with_files_and_another_ending_are_refused(shop: Studio, tmp_path: Path) -> None:
    folder = tmp_path / "rasa"
    write_project(shop, "shop", HandoverChoice("rasa"), folder)
    assert (folder / "data" / "nlu.yml").exists()
    for target, out, words in (
        ("rasa", folder, "holds files already"),
        ("lex", tmp_path / "bot.json", "is several files"),
        ("luis", tmp_path / "app.txt", "another"),
    ):
        with pytest.raises(InvalidInput, match=words):
            write_project(shop, "shop", HandoverChoice(target), out)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="no code of a language"):
        look_at_handover(shop, "shop", HandoverChoice("lex", language="../en"))


def test_a_pin_whose_intent_is_gone_is_told_and_becomes_no_test(
    shop: Studio, tmp_path: Path
) -> None:
    """It was handed over as a test that expects out of scope."""
    _pin(shop, "who won", "refund")
    with shop.database.write() as connection:
        project = projects.find(connection, "shop")
        pinned_texts.add(connection, project.id, "money back", ["gone"], "local")
    stories = tmp_path / "tests.yml"
    report = write_project(shop, "shop", HandoverChoice("rasa-tests"), stories)
    told = [(one.what, one.examples) for one in report.losses if "pins" in one.what]
    assert told == [("pins of intents that are not written", ("money back",))]
    assert "money back" not in stories.read_text(encoding="utf-8")


def test_pins_become_the_tests_of_each_platform(shop: Studio, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no pins"):
        look_at_handover(shop, "shop", HandoverChoice("lex-tests"))
    _pin(shop, 'say "refund"', "refund")
    _pin(shop, "who won")
    stories = tmp_path / "tests.yml"
    write_project(shop, "shop", HandoverChoice("rasa-tests"), stories)
    assert stories.read_text(encoding="utf-8") == (
        'version: "3.1"\nstories:\n- story: pin 1\n  steps:\n  - user: "say \\"refund\\""\n'
        '    intent: refund\n- story: pin 2\n  steps:\n  - user: "who won"\n'
        "    intent: out_of_scope\n"
    )
    table = tmp_path / "tests.csv"
    write_project(shop, "shop", HandoverChoice("lex-tests"), table)
    with table.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [(one["Input"], one["Expected Output Intent"]) for one in rows] == [
        ('say "refund"', "refund"),
        ("who won", "FallbackIntent"),
    ]
    archive = tmp_path / "agent.zip"
    write_project(shop, "shop", HandoverChoice("dialogflow-cx"), archive)
    with zipfile.ZipFile(archive) as package:
        names = [name for name in package.namelist() if name.startswith("testCases/")]
        turns = [json.loads(package.read(name))["testCaseConversationTurns"][0] for name in names]
        intent = json.loads(package.read("intents/refund/refund.json"))
    said = {
        one["userInput"]["input"]["text"]["text"]: one["virtualAgentOutput"]["triggeredIntent"]
        for one in turns
    }
    assert said['say "refund"'] == {"name": intent["name"], "displayName": "refund"}
    assert said["who won"]["displayName"] == "Default Negative Intent"


def test_test_texts_are_written_where_they_are_asked_for(shop: Studio, tmp_path: Path) -> None:
    choice = HandoverChoice("watson", split="test")
    report = write_project(shop, "shop", choice, tmp_path / "test.json")
    assert (report.written, report.left_out) == (1, ())
    skill = json.loads((tmp_path / "test.json").read_text(encoding="utf-8"))
    said = {one["intent"]: [x["text"] for x in one["examples"]] for one in skill["intents"]}
    assert said == {"book": [], "refund": ["refund my ticket"]}


def test_a_phrase_of_a_whole_dialogflow_es_names_its_language(shop: Studio, tmp_path: Path) -> None:
    archive = tmp_path / "agent.zip"
    write_project(shop, "shop", HandoverChoice("dialogflow-es"), archive)
    with zipfile.ZipFile(archive) as package:
        (phrase,) = json.loads(package.read("intents/refund_usersays_en.json"))
    assert phrase["lang"] == "en"


def test_a_whole_agent_says_what_it_has_not(shop: Studio) -> None:
    report = look_at_handover(shop, "shop", HandoverChoice("dialogflow-es"))
    assert report.warning.startswith(
        "A new agent of intents and phrases alone: it has no responses, contexts, events, webhooks"
    )
    assert words_of_handover(report)[1] == report.warning
    for target in get_args(Platform):  # all that `--onto` takes, but for CSVs, which have no more
        report = look_at_handover(shop, "shop", HandoverChoice(target))
        assert bool(report.warning) != target.endswith("csv")


def test_texts_are_written_in_the_order_in_which_they_came_in(
    studio: Studio, tmp_path: Path
) -> None:
    create_project(studio, "shop")
    said = [f"{word} my ticket" for word in ("refund", "take", "cancel", "return", "a", "zap")]
    for number, part in enumerate((said[:4], said[4:])):
        path = tmp_path / f"{number}.csv"
        path.write_text("text,intent\n" + "".join(f"{text},refund\n" for text in part))
        import_file(studio, ImportRequest("shop", path))
    folder = tmp_path / "rasa"
    write_project(studio, "shop", HandoverChoice("rasa"), folder)
    lines = (folder / "data" / "nlu.yml").read_text(encoding="utf-8").splitlines()
    assert [line.strip()[2:] for line in lines if line.endswith("ticket")] == said
    for name in ("all.csv", "all.yml", "all.txt"):
        export_file(studio, "shop", tmp_path / name)
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert sorted(said, key=text.index) == said
