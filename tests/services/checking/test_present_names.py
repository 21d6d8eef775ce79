"""An intent that was renamed since the champion was made is one intent, not one lost and one new.

Each of its tests counted as wrong for the champion, so that a worse candidate passed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.services.checking.checks import CheckRequest, check_model
from app.services.checking.present_names import _by_examples
from app.services.checking.views import CheckReport, CheckResult
from app.services.checking.wanted import Wanted
from app.services.data.intents import add_intent, change_intent
from app.services.data.projects import create_project
from app.services.live.live_studio import open_live_studio
from app.services.review.fence import FenceSetting, save_fence
from app.services.studio import Studio
from core.bundle.archive import export_bundle
from core.bundle.graph_layout import save_graph
from core.bundle.layout import save_pipeline
from core.bundle.textless import leave_out_texts
from core.encoders.packed.encoder import TransformerEncoder
from storage import projects
from storage.log import edits, events, versions
from storage.log.events import Action
from tests.builders.stub_pipeline import store_model, trained
from tests.builders.trained_home import intent_ids

REFUND, PARCEL = "please give me the money of order {} back", "where is my parcel number {} now"
REFUNDS, PARCELS = ([text.format(n) for n in range(4)] for text in (REFUND, PARCEL))
TESTS = [text.format(n) for n in range(4, 24) for text in (REFUND, PARCEL)]
PIN = "where is my parcel number 99 now"


def labels(parcel: str, refund: str = "refund") -> dict[str, str]:
    return {**dict.fromkeys(REFUNDS, refund), **dict.fromkeys(PARCELS, parcel)}


@dataclass(frozen=True)
class Shop:
    """A project "support" whose tests are of refunds and parcels, and a place for bundles."""

    studio: Studio
    folder: Path
    encoder: TransformerEncoder

    def begin(self, parcel: str) -> None:
        project = create_project(self.studio, "support")
        made = {name: edits.create_intent(name) for name in ("refund", parcel)}
        of_text = {text: made[parcel if "parcel" in text else "refund"] for text in TESTS}
        rows = [
            edits.create_utterance(f"t{at}", text, "test", "f", [one.subject_id])
            for at, (text, one) in enumerate(of_text.items())
        ]
        with self.studio.database.write() as connection:
            events.record(
                connection, project.id, Action("import", "local"), [*made.values(), *rows]
            )
            versions.cut(connection, project, "first")

    def store(self, given: Mapping[str, str]) -> None:
        """Add a version, with whose champion nothing is out of scope."""
        with self.studio.database.read() as connection:
            project = projects.find(connection, "support")
        store_model(self.studio, project, trained(self.encoder, dict(given)))
        save_fence(open_live_studio(self.studio), "support", FenceSetting(-9.0))

    def bundle(self, given: Mapping[str, str], *, graph: bool = False, **facts: object) -> str:
        """Write a bundle that finds no text out of scope; return its path."""
        made = trained(self.encoder, dict(given))
        made = replace(made, calibration=replace(made.calibration, threshold=-9.0))
        folder = self.folder / "stored"
        if graph:
            save_graph(made, facts, folder, "float32")
        else:
            save_pipeline(made, facts, folder)
        if facts.get("bare"):
            leave_out_texts(folder)
        export_bundle(folder, self.folder / "champion.zip")
        return str(self.folder / "champion.zip")

    def check(self, champion: str) -> tuple[CheckReport, CheckResult]:
        """Check the champion of the project against a bundle; also return the comparison."""
        report = check_model(self.studio, CheckRequest("support", Wanted(), champion))
        [compared] = [one for one in report.checks if one.kind == "champion"]
        return report, compared


@pytest.fixture
def shop(studio: Studio, tmp_path: Path, tiny: TransformerEncoder) -> Shop:
    return Shop(studio, tmp_path, tiny)


def test_a_rename_in_the_studio_lets_no_worse_candidate_pass(shop: Shop) -> None:
    shop.begin("parcel")
    with shop.studio.database.read() as connection:
        data = versions.find(connection, 1, 1).sha256
    champion = shop.bundle(labels("parcel"), dataset_sha256=data)
    shop.store({**labels("refund"), "a parcel": "parcel"})  # it takes all of them for refunds
    change_intent(shop.studio, "support", intent_ids(shop.studio)["parcel"], {"name": "delivery"})
    report, compared = shop.check(champion)
    assert compared.state == "failed"
    assert "answers 20 of 40 test texts right, 40 before" in compared.found
    assert compared.why == "Largest losses of recall: delivery: 100 % → 0 % of 20."
    assert report.notes == ()


def test_a_name_that_another_intent_has_by_now_is_no_name_of_the_earlier_one(shop: Shop) -> None:
    """The champion's refunds counted for the new intent of that name, which is another."""
    shop.begin("parcel")
    with shop.studio.database.read() as connection:
        data = versions.find(connection, 1, 1).sha256
    champion = shop.bundle(labels("parcel"), dataset_sha256=data)
    change_intent(shop.studio, "support", intent_ids(shop.studio)["refund"], {"name": "money back"})
    add_intent(shop.studio, "support", "refund")
    shop.store({**labels("parcel", refund="money back"), "a voucher": "refund"})
    _, compared = shop.check(champion)
    assert (compared.state, compared.value) == ("passed", 0.0)
    assert "answers 40 of 40 test texts right, as before" in compared.found


def test_a_served_graph_is_a_champion_whose_intents_were_renamed(shop: Shop) -> None:
    """`check` refused every bundle that is one graph: the one in use could not be compared with."""
    shop.begin("delivery")
    shop.store(labels("delivery"))
    pins = {"expected": [{"text": PIN, "intents": ["parcel"]}], "n_expected": 1}
    report, compared = shop.check(shop.bundle(labels("parcel"), graph=True, pins=pins))
    assert (compared.state, compared.value) == ("passed", 0.0)
    assert "answers 40 of 40 test texts right, as before" in compared.found
    [pin] = [one for one in report.checks if one.kind == "pin"]
    assert (pin.name, pin.state) == (f"“{PIN}” must get delivery", "passed")


@pytest.mark.parametrize("bare", [False, True])
def test_a_rename_in_the_files_of_a_pipeline_is_seen_by_the_examples(
    shop: Shop, *, bare: bool
) -> None:
    """The project was made of the renamed files: only the same texts tell. It was called a gain."""
    shop.begin("delivery")
    shop.store(labels("delivery"))
    pins = {"expected": [{"text": PIN, "intents": ["parcel"]}], "n_expected": 1}
    report, compared = shop.check(shop.bundle(labels("parcel"), pins=pins, bare=bare))
    assert (compared.state, compared.value) == ("passed", 0.0)
    assert "answers 40 of 40 test texts right, as before" in compared.found
    pinned = [(one.name, one.state) for one in report.checks if one.kind == "pin"]
    assert pinned == ([] if bare else [(f"“{PIN}” must get delivery", "passed")])
    assert report.notes == (() if bare else ("The pins are those of champion.zip.",))


def test_a_file_of_tests_may_have_the_earlier_name(shop: Shop, tmp_path: Path) -> None:
    shop.begin("delivery")
    shop.store(labels("delivery"))
    lines = [f"{text},{'parcel' if 'parcel' in text else 'refund'}" for text in TESTS]
    (tmp_path / "tests.csv").write_text("\n".join(["text,intent", *lines, "what,lost"]), "utf-8")
    request = CheckRequest(
        "support", Wanted(), shop.bundle(labels("parcel")), tmp_path / "tests.csv"
    )
    report = check_model(shop.studio, request)
    [compared] = report.checks
    assert (compared.state, compared.value) == ("passed", 0.0)
    assert "answers 40 of 41 test texts right, as before" in compared.found
    unknown = "1 test text bears no label that the model knows: no answer can be right."
    assert unknown in report.notes


def test_what_nothing_explains_is_not_compared_and_told(shop: Shop) -> None:
    """The champion has learned from other texts: nobody can say what its intent is called now."""
    shop.begin("delivery")
    shop.store(labels("delivery"))
    others = {text.replace("please", "kindly"): "refund" for text in REFUNDS}
    others |= {text.replace("where", "tell me where"): "parcel" for text in PARCELS}
    pins = {"expected": [{"text": PIN, "intents": ["parcel"]}], "n_expected": 1}
    report, compared = shop.check(shop.bundle(others, pins=pins))
    assert compared.state == "passed"
    assert "answers 20 of 20 test texts right, as before" in compared.found
    assert report.notes == (
        "The pins are those of champion.zip.",
        "They expect parcel, which support@1 does not have: no answer keeps these pins.",
        "20 test texts not compared: champion.zip has no intent delivery. It has parcel, which "
        "support@1 does not have. Their examples do not tell whether an intent was renamed.",
    )
    assert [one.state for one in report.checks if one.kind == "pin"] == ["failed"]


def test_a_candidate_that_is_a_bundle_is_called_as_the_project_calls_it(shop: Shop) -> None:
    shop.begin("delivery")
    shop.store(labels("delivery"))
    candidate = shop.bundle(labels("parcel"))
    report = check_model(shop.studio, CheckRequest(candidate, Wanted(), "support"))
    [compared] = report.checks
    assert (compared.state, compared.value, report.notes) == ("passed", 0.0, ())


Changed = Callable[[dict[str, tuple[str, ...]]], dict[str, tuple[str, ...]]]


def to(names: Mapping[str, str]) -> Changed:
    """Relabel every example of some intents."""
    return lambda exact: {
        key: tuple(names.get(name, name) for name in said) for key, said in exact.items()
    }


def but_one(exact: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Divide parcels into two intents."""
    first = next(key for key in exact if "parcel" in key)
    return {**to({"parcel": "delivery"})(exact), first: ("lost",)}


@pytest.mark.parametrize(
    ("change", "theirs", "found"),
    [
        (to({"parcel": "delivery"}), ("delivery", "refund"), ("delivery", "refund")),
        (to({"parcel": "refund", "refund": "parcel"}), ("parcel", "refund"), ("refund", "parcel")),
        (to({"parcel": "refund"}), ("refund",), ("parcel", "refund")),  # they were merged
        (to({"parcel": "new", "refund": "new"}), ("new",), ("parcel", "refund")),
        (to({"parcel": "delivery"}), ("delivery", "parcel", "refund"), ("parcel", "refund")),
        (but_one, ("delivery", "lost", "refund"), ("parcel", "refund")),  # a quarter says no
    ],
)
def test_only_a_rename_is_taken_for_one(
    tiny: TransformerEncoder, change: Changed, theirs: tuple[str, ...], found: tuple[str, ...]
) -> None:
    mine = trained(tiny, labels("parcel"))
    assert mine.head.intents == ("parcel", "refund")
    other: Any = SimpleNamespace(exact=change(dict(mine.exact)), intents=theirs)
    assert _by_examples(mine, other).intents == found
