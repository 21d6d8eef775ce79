"""Receipts and reports: what they show adds up, stays as it was, and is text whatever it says."""

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from app.services.answering.pinned import BrokenPin
from app.services.data import utterances
from app.services.data.bulk import BulkAct, Edit
from app.services.data.intents import change_intent
from app.services.explaining.explain import explain, explain_text, explained_model
from app.services.explaining.words import SCORE, VOTES
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.reports.judged_again import JudgedText, JudgedVersion, calibration_bins
from app.services.reports.model_report import report, report_page
from app.services.reports.next_steps import next_steps
from app.services.reports.pdf import find_browser, print_pdf
from app.services.reports.receipts import (
    content_of,
    figures_of_receipt,
    find_receipt,
    keep_receipt,
    receipt_page,
)
from app.services.studio import Studio
from app.services.versions.registry import promote
from app.settings import Settings
from core.errors import InvalidInput, NotFound
from storage.queries import dataset
from storage.queries.utterances import Filter
from tests.builders.trained_home import EVERY_TEXT, POOL, change, label

STAMP = "2026-05-03T10:00:00+00:00"
BOMB = "\"><script>window.ran=1</script><img src=x onerror='ran=2'> {{ 7*7 }} </style> refund"


@pytest.fixture
def live_studio(home: Studio) -> LiveStudio:
    return open_live_studio(home)


def page_of(live_studio: LiveStudio, key: str) -> str:
    found = find_receipt(live_studio.studio, key)
    return receipt_page(found.content, found.created_at, "http://here/receipts/x", {"PDF": "/pdf"})


def words_of(page: str) -> str:
    return unescape(re.sub(r"<[^>]*>", " ", page.partition("</head>")[2]))


def test_a_receipt_holds_the_font_and_the_spacing_of_the_pages(live_studio: LiveStudio) -> None:
    """It was set in the system's font, and its spaces were 6, 10, 14, 18 and 22 pixels."""
    made = keep_receipt(live_studio, "p", "please give my money back")
    page = page_of(live_studio, made.id)
    assert page.count("data:font/woff2;base64,") == 1
    assert "font-src data:" in page
    assert "://" not in page.partition("</head>")[0]
    polish = keep_receipt(live_studio, "p", "zwró\u0107")
    assert page_of(live_studio, polish.id).count("data:font/woff2;base64,") == 2
    style = page.rpartition("</style>")[0].rpartition("body {")[2].partition("@media print")[0]
    spaces = re.findall(r"(?:margin|padding|gap)[a-z-]*: ([^;]+);", style)
    sizes = {int(size) for value in spaces for size in re.findall(r"(\d+)px", value)}
    assert {size for size in sizes if size > 3 and size % 4} == set()


def test_a_vote_against_its_own_label_says_why(live_studio: LiveStudio) -> None:
    """The heaviest vote was that of an example of the answer against it, without a word why."""
    made = keep_receipt(live_studio, "p", "please give my money back")
    assert "Against its own label" not in page_of(live_studio, made.id)
    content = find_receipt(live_studio.studio, made.id).content
    [reason] = content["explanation"]["reasons"]
    own = next(v for v in reason["votes"] if reason["intent"] in v["example"]["intents"])
    own["vote"] = -0.3
    page = receipt_page(content, "2026-01-01T00:00:00+00:00", "", {})
    assert page.count("Against its own label: examples like it already vote more than enough") == 1


def test_the_bars_of_a_receipt_sum_to_its_score(live_studio: LiveStudio) -> None:
    made = keep_receipt(live_studio, "p", "please give my money back", against="parcel")
    page = page_of(live_studio, made.id)
    shown = [
        float(found.replace("\N{MINUS SIGN}", "-"))
        for found in re.findall(r'class="amount">([^<]+)</div>', page)
    ]
    score = float(re.findall(r'class="amount"><b>([^<]+)</b>', page)[0])
    assert len(shown) == 5 + 2
    assert sum(shown) == pytest.approx(score, abs=1e-6)  # as they are written, each rounded
    content = find_receipt(live_studio.studio, made.id).content
    [reason] = content["explanation"]["reasons"]
    assert sum(v["vote"] for v in reason["votes"]) + reason["others"] + reason[
        "prior"
    ] == pytest.approx(reason["score"], abs=1e-6)
    assert content["explanation"]["plain"] in " ".join(words_of(page).split())
    assert len(content["map"]["points"]) == 20
    assert "http://here/receipts/x" in page
    # A manager got a page with an address that opens nothing for anybody else.
    alone = receipt_page(content, "2026-01-01T00:00:00+00:00", "http://127.0.0.1:1/receipts/x", {})
    assert "127.0.0.1" not in alone
    assert "The link works only on this computer" in words_of(alone)
    assert "forecast" not in alone
    assert "import labelled.csv" in page
    assert SCORE in words_of(page)
    assert "p, version 2" in words_of(page)
    assert ", trained on data snapshot" in words_of(page)
    assert "data version" not in page  # a version is what learned from it


def test_a_receipt_counts_right_answers_as_the_report_of_that_day(live_studio: LiveStudio) -> None:
    """A receipt told the 71.4 % of the training where the report told 82.2 % on the same day."""
    promote(live_studio.studio, "p", 1)  # version 2 was tuned on these texts
    for text in ("hi", "change my password"):
        change(live_studio.studio, text, "split", "test")
    live_studio.pools.wait(1)
    told = report(live_studio, "p", 1).ready.figures[0]
    made = keep_receipt(live_studio, "p", "please give my money back")
    figure, *_ = find_receipt(live_studio.studio, made.id).content["figures"]
    assert (figure["value"], figure["basis"]) == (told.value, told.basis)
    assert told.basis.endswith(" of 2 test texts answered right today")


def test_a_receipt_without_a_test_set_counts_refusals_as_pages_do(live_studio: LiveStudio) -> None:
    """A receipt told 96.5 % where pages told 95.3 %: texts that are refused counted as right."""
    asked = explained_model(live_studio, "p", None)
    found = explain_text(live_studio.studio, asked, "please give my money back")
    metrics = {"accuracy": 0.965, "answered_right": 0.953, "n": 85, "task": "single-label"}
    several = {**metrics, "expected_calibration_error": 0.032}
    figures = figures_of_receipt(several, found, JudgedVersion((), (), ""))
    assert [(one.name, one.value) for one in figures] == [
        ("Right answers", "95.3 %"),
        ("How sure it says it is, against how often it is right", "3 of 100 apart"),
    ]
    assert figures[0].basis == "on 85 texts when trained"


def test_a_receipt_tells_labels_accepted_together_from_those_given_one_by_one(
    live_studio: LiveStudio,
) -> None:
    """ "1,768 examples that people have labelled": 1,062 had been accepted in one act."""
    studio = live_studio.studio
    with studio.database.read() as connection:
        parcel = dataset.intent_named(connection, 1, "parcel").id
        rows = {row.text: row.id for row in dataset.utterances(connection, 1) if row.text in POOL}
    for some in (POOL[:1], POOL[1:4]):
        ids = tuple(rows[text] for text in some)
        act = BulkAct(len(ids), EVERY_TEXT)
        utterances.change_many(studio, "p", Filter(ids=ids), Edit("label", parcel), act)
    made = keep_receipt(live_studio, "p", "please give my money back")
    content = find_receipt(studio, made.id).content
    assert content["labelled"] == {"by_file": 20, "one_by_one": 1, "together": 3}
    assert (
        "24 examples (20 with a label from a file, 1 labelled one by one, "
        "3 accepted many at a time)"
    ) in words_of(page_of(live_studio, made.id))


def test_a_receipt_stays_as_it_was_when_labels_change(live_studio: LiveStudio) -> None:
    live_studio.pools.wait(1)
    made = keep_receipt(live_studio, "p", POOL[0])
    assert keep_receipt(live_studio, "p", POOL[0]) == made
    before = page_of(live_studio, made.id)
    label(live_studio.studio, POOL[0], "parcel")
    assert explain(live_studio, "p", POOL[0]).answer == ("parcel",)
    assert page_of(live_studio, made.id) == before
    assert keep_receipt(live_studio, "p", POOL[0]).id != made.id
    with pytest.raises(NotFound, match="no such receipt"):
        find_receipt(live_studio.studio, "0" * 32)


class Parts(HTMLParser):
    """Collects what a browser would see: tags, and names of attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}


def is_harmless(page: str) -> None:
    parts = Parts()
    parts.feed(page)
    assert parts.tags.isdisjoint({"script", "img", "iframe", "object", "form", "link"})
    assert not {name for name in parts.names if name.startswith("on") or name == "src"}
    assert "default-src 'none'" in page
    assert page.count("<style>") == page.count("</style>") == 1


def test_hostile_text_stays_text(live_studio: LiveStudio) -> None:
    """Utterance, example, intent and actor are markup, and every page shows them as they are."""
    with live_studio.studio.database.read() as connection:
        intent = dataset.intent_named(connection, 1, "refund").id
    change_intent(live_studio.studio, "p", intent, {"name": f"{BOMB} name"})
    change(live_studio.studio, POOL[0], "text", BOMB)
    label(live_studio.studio, BOMB, f"{BOMB} name")
    page = page_of(live_studio, keep_receipt(live_studio, "p", BOMB).id)
    is_harmless(page)
    assert f"“{BOMB}”" in words_of(page).replace("\n", "")
    assert f"{BOMB} name" in words_of(page)
    is_harmless(report_page(report(live_studio, "p", 2), "", {}))


def test_a_report_says_what_is_new_and_what_is_weak(live_studio: LiveStudio) -> None:
    first, second = (report(live_studio, "p", number) for number in (1, 2))
    assert first.since is None
    assert second.since.name == "p@1"
    assert (first.state, second.state) == ("former champion", "champion")
    assert [line.examples for line in first.intents] == [5, 5, 5, 5]
    assert sum(line.support for line in first.intents) == first.metrics["n"] == 20
    assert first.basis == "20 examples, each answered by all the others"
    wrong = sum(line.count for line in first.confusions)
    assert first.ready.figures[0].basis.startswith(f"{20 - wrong} of 20")  # the refused ones, too
    assert sum(line.n for line in first.bins) == 20
    assert first.steps[0].startswith("Label some test texts")
    assert any(one.startswith("Label up to 8 examples of") for one in first.steps)
    assert first.ready.level == "unknown"
    page = report_page(second, "http://here/reports/p/2", {})
    assert "What changed since <bdi>version 1</bdi>" in page
    is_harmless(page)


def test_a_report_tells_how_texts_without_an_intent_fare(live_studio: LiveStudio) -> None:
    with live_studio.studio.database.read() as connection:
        ids = tuple(r.id for r in dataset.utterances(connection, 1) if r.text in POOL)
    assert report(live_studio, "p", 1).scope.refused is None
    utterances.change_many(
        live_studio.studio, "p", Filter(ids=ids), Edit("out-of-scope"), BulkAct(5, EVERY_TEXT)
    )
    found = report(live_studio, "p", 1).scope
    assert found.outside == 5
    refused = [not explain(live_studio, "p", text, model=1).answer for text in POOL]
    assert found.refused == pytest.approx(sum(refused) / 5)


def test_bins_hold_every_answer_once() -> None:
    answers = [
        JudgedText("t", ("a",), ("a",), share, right, refused=False)
        for share, right in [(0.0, False), (0.05, True), (0.95, True), (1.0, True)]
    ]
    found = calibration_bins(answers)
    assert [(one.low, one.n, one.right) for one in found] == [(0.0, 2, 0.5), (0.9, 2, 1.0)]
    assert found[0].confidence == pytest.approx(0.025)


def test_a_model_without_a_fault_is_not_blamed(live_studio: LiveStudio) -> None:
    class Scope:
        limit, kept, outside, refused, known = 0.3, 1.0, 9, 0.9, False

    class Leaky(Scope):
        outside, refused = 2, 0.5

    metrics = {"expected_calibration_error": 0.05}
    # "Raise the limit for out of scope": one of two such texts got an answer.
    assert next_steps(metrics, [], Leaky(), (), (), on_tests=True) == (
        "Label texts that fit no intent as out of scope, 20 in all: the 2 that there are cannot "
        "tell how well it refuses them.",
    )
    Leaky.outside = 20
    assert next_steps(metrics, [], Leaky(), (), (), on_tests=True)[0].startswith(
        "Raise the limit for out of scope"
    )
    Leaky.known = True  # "Raise the line" stood beside "not tested"
    assert next_steps(metrics, [], Leaky(), (), (), on_tests=True)[0].startswith(
        "Add 20 test texts that fit no"
    )
    pins = 2 * [BrokenPin("a", "b", "c")]
    assert next_steps(metrics, [], Scope(), (), (), on_tests=True) == ()
    assert next_steps(metrics, [], Scope(), (), pins, on_tests=True)[0].startswith(
        "Look at 2 broken pins: “a” must get b"
    )


def test_a_pdf_is_printed_from_a_home_with_a_long_path(
    live_studio: LiveStudio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server keeps temporary files in its home, and the browser died of the socket it put there.

    A path of a socket has at most 107 signs.
    """
    deep = tmp_path / ("long" * 25)
    deep.mkdir()
    monkeypatch.setenv("TMPDIR", str(deep))
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    try:
        find_browser(live_studio.studio.settings)
    except InvalidInput as error:
        pytest.skip(str(error))
    model = explained_model(live_studio, "p", 1)
    content = content_of(
        live_studio.studio,
        model,
        explain_text(live_studio.studio, model, "where is my parcel"),
    )
    page = receipt_page(content, "2026-05-03T10:00:00+00:00", "", {})
    print_pdf(live_studio.studio.settings, page, tmp_path / "r.pdf")
    assert (tmp_path / "r.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "r.pdf").stat().st_size > 10_000


def test_without_a_chromium_the_next_step_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidInput, match="STUDIO_CHROMIUM names"):
        find_browser(Settings(home=tmp_path, chromium=tmp_path / "absent"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("app.services.reports.pdf._PLACES", ())
    with pytest.raises(InvalidInput, match="this machine has none") as caught:
        find_browser(Settings(home=tmp_path))
    assert "apt-get install chromium" in caught.value.hint
    shell = tmp_path / "chromium-headless-shell"  # all that the tests' set-up installs
    shell.touch(mode=0o755)
    assert find_browser(Settings(home=tmp_path)) == shell
    own = tmp_path / "chrome"
    own.touch()
    assert find_browser(Settings(home=tmp_path, chromium=own)) == own


def test_a_receipt_says_what_makes_a_vote_strong_and_folds_its_methods(
    live_studio: LiveStudio,
) -> None:
    """Votes went "by how alike it is", 60.2 less than 36.7, and the near twin was absent."""
    made = keep_receipt(live_studio, "p", "please give my money back")
    content = dict(find_receipt(live_studio.studio, made.id).content)
    votes = content["explanation"]["reasons"][0]["votes"]
    nearest = {**content["map"]["nearest"], "id": "x", "text": "the twin", "cosine": 0.945}
    page = receipt_page(
        {**content, "map": {**content["map"], "nearest": nearest}},
        "2026-05-03T10:00:00+00:00",
        "",
        {},
    )
    words = " ".join(words_of(page).split())
    assert VOTES in words
    assert "by how alike" not in words
    assert "Most similar example: “ the twin ”" in words
    assert "share its vote" in words or "another label" in words
    first, folded, rest = words.partition("How this is computed")
    assert folded
    assert not re.search("gradients|regression|encoder|apart", first)
    assert "Other ways of deciding" in rest
    shown = {**nearest, "id": votes[0]["example"]["id"]}
    page = receipt_page(
        {**content, "map": {**content["map"], "nearest": shown}},
        "2026-05-03T10:00:00+00:00",
        "",
        {},
    )
    assert "Most similar example:" not in words_of(page)
    told = (Path("assets") / "js" / "shared" / "votes.js").read_text(encoding="utf-8")
    for said in (VOTES, SCORE):
        assert said in re.sub(r"' \+\s+'", "", told)  # Try says the same


def test_a_receipt_has_the_lines_and_the_sums_of_try(live_studio: LiveStudio) -> None:
    """ "335 other examples -65.7" in a receipt, "334 -76.5" on Try, of one text."""
    made = keep_receipt(live_studio, "p", "please give my money back")
    content = dict(find_receipt(live_studio.studio, made.id).content)
    votes = content["explanation"]["reasons"][0]["votes"]
    assert len(votes) > 6
    weak = {"id": votes[-1]["example"]["id"], "text": "", "cosine": 0.9, "intents": []}
    pages = [
        receipt_page({**content, "map": {**content["map"], "nearest": one}}, STAMP, "", {})
        for one in (None, weak)
    ]
    lines = [re.findall(r'class="amount">([^<]+)</div>', page) for page in pages]
    assert len(lines[1]) == len(lines[0]) + 1
    sums = [sum(float(one.replace("\N{MINUS SIGN}", "-")) for one in each) for each in lines]
    assert sums[1] == pytest.approx(sums[0], abs=1e-6)
    others = [int(re.findall(r"(\d+) other examples", words_of(page))[0]) for page in pages]
    assert others[0] - others[1] == 1 + len(votes[-1].get("twins", ()))
    assert "The most similar example." in words_of(pages[1])
    assert "Most similar example:" not in words_of(pages[1])


@pytest.mark.parametrize(("n", "told"), [(0, "Left by rounding"), (1, "1 other example, added up")])
def test_a_receipt_counts_the_other_examples(live_studio: LiveStudio, n: int, told: str) -> None:
    """“0 other examples, added up” and “1 other examples” stood there."""
    made = keep_receipt(live_studio, "p", "please give my money back")
    content = dict(find_receipt(live_studio.studio, made.id).content)
    [reason, *_] = content["explanation"]["reasons"]
    few = {**reason, "votes": reason["votes"][:3], "n_others": n}
    explanation = {**content["explanation"], "reasons": [few]}
    bare = {**content["map"], "nearest": None}
    page = receipt_page({**content, "explanation": explanation, "map": bare}, STAMP, "", {})
    assert told in words_of(page)
