"""Every act in a project is listed with its time, its person and where it came from."""

from pathlib import Path

import pytest

from app.jobs.local import LocalExecutor
from app.services.data.bulk import BulkAct
from app.services.data.erasing import erase_texts
from app.services.data.exporting import export_file
from app.services.data.history import undo_last
from app.services.data.importing import ImportRequest, import_file
from app.services.data.intents import add_intent, merge_intents
from app.services.data.projects import create_project, rename_project
from app.services.data.utterances import label_each
from app.services.labelling.decisions import Operation, decide
from app.services.live.live_studio import open_live_studio
from app.services.reports.audit import list_acts
from app.services.reports.sharing import create_share, list_shares, stop_sharing
from app.services.status import load_status
from app.services.studio import Studio
from app.services.training.jobs import cancel_job, resume_job
from app.services.training.runs import TrainingRequest, start_training
from app.services.trying.pins import remove_pin, set_pin
from app.services.versions.bundles import export_model
from app.services.versions.registry import promote, roll_back
from app.services.what_if.repairs import Repair, apply_repair
from storage import jobs, projects
from storage.log import edits, events
from storage.log.events import Action
from storage.people.acts import VIA, ActFilter
from storage.people.shares import Shared
from storage.people.touched import Touched
from storage.queries import dataset
from storage.records import Change


def told(studio: Studio, project: str = "p", **which) -> list[tuple[str, str, int]]:
    page = list_acts(studio, project, ActFilter(**which))
    return [(one.verb, one.about, one.n) for one in page.acts]


def test_acts_of_the_log_and_outside_it_are_listed_newest_first(
    home: Studio, tmp_path: Path, tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = list_acts(home, "p", ActFilter()).total
    promote(home, "p", 1)
    promote(home, "p", 2)
    roll_back(home, "p")
    create_share(home, "p", Shared("report", "1", 7))
    stop_sharing(home, "p", list_shares(home, "p")[0].id)
    export_file(home, "p", tmp_path / "out.csv")
    export_model(home, "p@1", tmp_path / "out.zip")
    rename_project(home, "p", "q")
    expected = [
        ("rename project", "p to q", 0),
        ("export version", "1", 0),
        ("export", "csv", 0),
        ("stop sharing", "report on version 1", 0),
        ("share", "report on version 1", 0),
        ("go back from version", "2 to version 1", 0),  # it stood there twice
        ("use version", "2", 0),
    ]
    assert told(home, "q")[: len(expected)] == expected
    assert list_acts(home, "q", ActFilter()).total > before + len(expected)
    monkeypatch.setattr(LocalExecutor, "ensure_running", lambda _: None)
    start_training(home, TrainingRequest("q", "instant", {}, base=str(tiny_path)))
    assert told(home, "q", verb="train") == [
        ("train", "(quick: compares with your examples, not tuned to them)", 0)
    ]


def test_an_action_tells_how_many_texts_it_changed_and_whether_it_was_taken_back(
    studio: Studio, labelled_csv: Path
) -> None:
    create_project(studio, "p")
    import_file(studio, ImportRequest("p", labelled_csv))
    add_intent(studio, "p", "other")
    merge_intents(studio, "p", "greeting", "other")
    undo_last(studio, "p")
    page = list_acts(studio, "p", ActFilter())
    assert [(one.verb, one.n, one.undone) for one in page.acts] == [
        ("undo", 5, False),
        ("merge", 5, True),
        ("create intent", 0, False),
        ("import", 20, False),
        ("create project", 0, False),
    ]
    assert page.acts[3].about == labelled_csv.name
    assert page.acts[2].about == "other"
    assert page.verbs == ["create intent", "create project", "import", "merge", "undo"]
    assert page.actors == [studio.settings.actor]


def test_acts_are_filtered_and_paged(studio: Studio) -> None:
    create_project(studio, "p")
    for number in range(7):
        add_intent(studio, "p", f"intent {number}")
    page = list_acts(studio, "p", ActFilter(verb="create intent", offset=5, limit=3))
    assert (len(page.acts), page.total) == (2, 7)
    assert told(studio, actor="nobody") == []


@pytest.mark.parametrize("via", ["page", "REST", "job"])
def test_an_act_tells_where_it_came_from(studio: Studio, via) -> None:
    create_project(studio, "p")
    mark = VIA.set(via)
    try:
        add_intent(studio, "p", "made elsewhere")
        create_project(studio, "q")
    finally:
        VIA.reset(mark)
    assert [one.via for one in list_acts(studio, "p", ActFilter()).acts] == [via, "command"]
    assert [one.via for one in list_acts(studio, "q", ActFilter()).acts] == [via]


def test_an_action_on_one_text_names_it_and_its_label(studio: Studio, labelled_csv: Path) -> None:
    """“Relabel 1” stood there twenty times, and “Undo: import” named no file."""
    create_project(studio, "p")
    import_file(studio, ImportRequest("p", labelled_csv))
    live_studio = open_live_studio(studio)
    assert load_status(live_studio, "p").undoes == Touched(labelled_csv.name, 20)
    with studio.database.read() as connection:
        names = dataset.intent_names(connection, 1)
        first = next(iter(dataset.utterances(connection, 1)))
    other = next(key for key in names if key not in (first.labels or ()))
    apply_repair(studio, "p", Repair("relabel", (first.id,), (other,)), "relabel-01")
    said = f"“{first.text}” as {names[other]}"
    assert told(studio)[0] == ("relabel", said, 1)
    assert load_status(live_studio, "p").undoes == Touched(said, 1)
    apply_repair(studio, "p", Repair("delete", (first.id,)), "delete-01")
    assert told(studio)[0] == ("delete", f"“{first.text}”", 1)


def test_a_text_is_labelled_before_it_is_relabelled(studio: Studio, labelled_csv: Path) -> None:
    """The first label of a text that was chosen on Try or Review was called “Relabel”."""
    create_project(studio, "p")
    import_file(studio, ImportRequest("p", labelled_csv))
    say(studio, "p", "good evening")
    with studio.database.read() as connection:
        first, second = (intent.id for intent in dataset.intents(connection, 1)[:2])
    verbs = []
    for key, labels in enumerate(((first,), (second,), ())):
        apply_repair(studio, "p", Repair("relabel", ("u1",), labels), f"decision-{key}")
        verbs.append(told(studio)[0][0])
        assert load_status(open_live_studio(studio), "p").can_undo == verbs[-1]
    assert verbs == ["label", "relabel", "relabel"]
    say(studio, "p", "a poem", key="u2")
    apply_repair(studio, "p", Repair("relabel", ("u2",), ()), "out-01")
    assert told(studio)[0] == ("out-of-scope", "“a poem”", 1)


def test_a_training_that_is_cancelled_and_resumed_says_so(
    home: Studio, tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only its beginning was listed."""
    monkeypatch.setattr(LocalExecutor, "ensure_running", lambda _: None)
    request = TrainingRequest("p", "instant", {}, base=str(tiny_path))
    job = start_training(home, request)
    with home.database.write() as connection:
        jobs.claim(connection, job.id)
    for _ in range(2):  # a second click on Cancel is no second act
        cancel_job(home, job.id)
    how = "(quick: compares with your examples, not tuned to them)"
    assert told(home)[:2] == [("cancel training", how, 0), ("train", how, 0)]
    with home.database.write() as connection:
        jobs.finish(connection, job.id, 1, jobs.JobOutcome("cancelled"))
    cancel_job(home, job.id)
    assert told(home)[0][0] == "cancel training"
    home.places.checkpoints(job.id).joinpath("step-1").mkdir(parents=True)
    resume_job(home, job.id)
    assert told(home)[:2] == [("resume training", how, 0), ("cancel training", how, 0)]


def test_the_one_label_of_several_texts_is_told(studio: Studio, tmp_path: Path) -> None:
    """ "Label, 20 texts" stood there, and nobody knew what as."""
    create_project(studio, "p")
    for name in ("greeting", "refund"):
        add_intent(studio, "p", name)
    pool = tmp_path / "pool.txt"
    pool.write_text("good day\nhello there\nmoney back\ngood evening\n", encoding="utf-8")
    import_file(studio, ImportRequest("p", pool))
    with studio.database.read() as connection:
        ids = {row.text: row.id for row in dataset.utterances(connection, 1)}
        greeting, refund = (
            dataset.intent_named(connection, 1, name).id for name in ("greeting", "refund")
        )
    greetings = {ids["good day"]: greeting, ids["hello there"]: greeting}
    label_each(studio, "p", greetings, BulkAct(2))
    assert told(studio)[0] == ("label", "as greeting", 2)
    label_each(studio, "p", {ids["money back"]: refund, ids["good evening"]: greeting}, BulkAct(2))
    assert told(studio)[0] == ("label", "", 2)


def test_an_intent_that_is_gone_has_one_name_in_all_of_history(studio: Studio) -> None:
    """Where it was removed it had its last name, and where it was given as a label its first."""
    create_project(studio, "p")
    made = edits.create_intent("greeting")
    said = [edits.create_utterance(key, f"good {key}", "pool", "f", None) for key in ("u1", "u2")]
    with studio.database.write() as connection:
        events.record(connection, 1, Action("create intent", "local"), [made])
        events.record(connection, 1, Action("import", "local"), said)
    label_each(studio, "p", dict.fromkeys(("u1", "u2"), made.subject_id), BulkAct(2))
    undo_last(studio, "p")
    with studio.database.write() as connection:
        renamed = edits.rename_intent(connection, 1, "greeting", "hello")
        events.record(connection, 1, Action("rename intent", "local"), [renamed])
        last = {**made.after, "name": "hello"}
        removed = Change("intent", made.subject_id, "row", last, None)
        events.record(connection, 1, Action("sync", "local"), [removed])
    assert [one for one in told(studio) if one[1]] == [
        ("sync", "hello", 0),
        ("rename intent", "hello", 0),
        ("label", "as hello", 2),
        ("create intent", "hello", 0),
        ("create project", "p", 0),
    ]


def test_a_pin_names_its_text_which_can_be_erased(studio: Studio) -> None:
    """“Pin to greeting” stood there, and nobody knew what was pinned."""
    create_project(studio, "p")
    live_studio = open_live_studio(studio)
    add_intent(studio, "p", "greeting")
    with studio.database.read() as connection:
        greeting = dataset.intent_named(connection, 1, "greeting").id
    long = f"good morning {'dear ' * 60}sir"
    set_pin(live_studio, "p", "hello  “you”", [greeting])
    set_pin(live_studio, "p", long, [])
    remove_pin(live_studio, "p", long)
    pins = [one for one in told(studio) if "pin" in one[0]]
    cut = "“good morning dear dear dear dear dear dear dear dear dear …”"
    assert pins[:2] == [("remove pin", cut, 0), ("pin", f"{cut} to out of scope", 0)]
    assert pins[2] == ("pin", "“hello  “you”” to greeting", 0)
    say(studio, "p", long)
    erase_texts(studio, "p", [long], now=True)
    assert [about for verb, about, _ in told(studio) if "pin" in verb] == [
        "“[erased]”",
        "“[erased]” to out of scope",
        "“hello  “you”” to greeting",
    ]


def say(studio: Studio, project: str, text: str, key: str = "u1") -> None:
    change = edits.create_utterance(key, text, "pool", "f", None)
    with studio.database.write() as connection:
        events.record(
            connection, projects.find(connection, project).id, Action("add", "local"), [change]
        )


def test_an_import_and_a_decision_that_change_nothing_are_listed_all_the_same(
    studio: Studio, labelled_csv: Path
) -> None:
    """Of 340 decisions History listed 333: seven gave texts the labels that they had."""
    create_project(studio, "p")
    for _ in range(2):
        import_file(studio, ImportRequest("p", labelled_csv))
    with studio.database.read() as connection:
        row = next(iter(dataset.utterances(connection, 1)))
    label = Operation("again", "label", row.id, row.labels or (), seen=row.labels)
    assert [one.state for one in decide(studio, "p", [label])] == ["saved"]
    page = list_acts(studio, "p", ActFilter())
    assert [(one.verb, one.about, one.n, one.idle) for one in page.acts] == [
        ("label", "", 0, True),
        ("import", f"{labelled_csv.name}: nothing new", 0, False),
        ("import", labelled_csv.name, 20, False),
        ("create project", "p", 0, False),
    ]
