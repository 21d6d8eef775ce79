"""Whatever a project holds: texts written and texts told of add up, and a reader finds them."""

import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.exports.content import Content, Expectation
from core.exports.fitting import fit, refusals
from core.exports.packing import write_handover
from core.exports.targets import TARGETS, Target, hand_over
from core.formats.reading import read_rows
from core.formats.rows import ImportedRow, ReadOptions
from core.templates.slots import Slot
from core.text import is_blank

_WRITTEN = [name for name, one in TARGETS.items() if not one.tests]
_SAYINGS = st.text(
    st.one_of(
        st.sampled_from("abc \"'\\/{}[]():,#-|\n\r🛫💶é\u0301\u05e9\u05dc\u05d5\u05dd\u200f"),
        st.characters(exclude_categories=["Cs", "Cc"]),
    ),
    min_size=1,
    max_size=24,
).filter(lambda text: any(sign.isalnum() for sign in text) and not is_blank(text))
_INTENTS = ("refund", "book flight", "größe", "trips/book", "größe 2")
_SEVERAL_AT_ONCE = ("rasa", "rasa-json")


@st.composite
def _rows(draw: st.DrawFn) -> ImportedRow:
    text = draw(_SAYINGS)
    value = draw(st.sampled_from(["", "🛫 Köln", "Boston"]))
    said = f"{value} {text.strip()}" if value else text.strip()
    slots = (Slot(0, len(value), draw(st.sampled_from(["city", "city.to"]))),) if value else ()
    labels = draw(
        st.one_of(
            st.none(), st.lists(st.sampled_from(_INTENTS), max_size=2, unique=True).map(tuple)
        )
    )
    split = "pool" if labels is None else draw(st.sampled_from(["train", "test"]))
    return ImportedRow(
        text=said,
        intents=None if labels is None else tuple(sorted(labels)),
        split=split,  # type: ignore[arg-type]
        id=f"u{abs(hash(said))}",
        slots=slots,
        language=draw(st.sampled_from(["", "de"])),
    )


def _content(rows: list[ImportedRow]) -> Content:
    return Content(
        name="shop",
        language="en",
        intents=dict.fromkeys(_INTENTS, "what people ask"),
        rows=rows,
        values={"city": {"Boston": ("Bean Town",), "🛫 Köln": ()}},
        pins=[Expectation("fly me home", ("book flight",)), Expectation("who won", ())],
    )


@pytest.mark.parametrize("target", _WRITTEN)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.differing_executors])
@given(rows=st.lists(_rows(), max_size=8, unique_by=lambda row: row.text))
def test_what_is_written_and_what_is_told_add_up(target: Target, rows: list[ImportedRow]) -> None:
    found = hand_over(_content(rows), target)
    left = sum(one.count for one in found.left_out)
    assert found.written + left == len(rows)
    assert hand_over(_content(rows), target).files == found.files or target == "xlsx"
    if found.written == 0:
        return
    with TemporaryDirectory() as folder:
        chosen = TARGETS[target]
        out = Path(folder, "shop" if not chosen.single else next(iter(found.files)))
        write_handover(found.files, chosen, out)
        options = ReadOptions(slots=True, separator=_separator(target))
        back = [row for row in read_rows(out, options) if isinstance(row, ImportedRow)]
    assert len(back) == found.written
    if target != "lex":  # which fills templates with the first value
        assert Counter(map(_known, back)) <= Counter(_known(row) for row in rows)


def _separator(target: Target) -> str | None:
    if target in _SEVERAL_AT_ONCE:
        return "+"
    return "|" if target in ("xlsx", "parquet") else None


def _known(row: ImportedRow) -> str:
    return " ".join(row.text.split())


def test_labels_values_and_splits_come_back() -> None:
    """Each format gives back what its row of the matrix says."""
    rows = [
        ImportedRow(
            "fly to Köln 🛫 soon", ("book flight",), "train", "u1", slots=(Slot(7, 11, "city"),)
        ),
        ImportedRow("my money back", ("refund",), "train", "u2"),
        ImportedRow("give it back", ("refund",), "test", "u3"),
        ImportedRow("who won the match", (), "train", "u4"),
        ImportedRow("hello there", None, "pool", "u5"),
        ImportedRow("off to Boston", None, "pool", "u6", slots=(Slot(7, 13, "city"),)),
    ]
    for target in _WRITTEN:
        found = hand_over(_content(rows), target)
        with TemporaryDirectory() as folder:
            chosen = TARGETS[target]
            out = Path(folder, "shop" if not chosen.single else next(iter(found.files)))
            write_handover(found.files, chosen, out)
            options = ReadOptions(slots=True)
            back = [row for row in read_rows(out, options) if isinstance(row, ImportedRow)]
        places = chosen.places
        wanted = {
            row.text: row
            for row in rows
            if (row.intents is not None or places.unlabelled)
            and (row.intents != () or places.out_of_scope)
            and (row.split != "test" or "test" in places.splits)
        }
        assert {row.text for row in back} == set(wanted) or target == "lex", target
        for row in back:
            if row.text not in wanted:
                continue
            same = wanted[row.text]
            assert _labels(row) == _plain(target, same), (target, row)
            if places.marks:
                assert row.slots == same.slots, target
            if "test" in places.splits:
                assert row.split in (same.split, None), target


def _labels(row: ImportedRow) -> tuple[str, ...] | None:
    if row.intents == ("out_of_scope",):
        return ()
    return row.intents


def _plain(target: Target, row: ImportedRow) -> tuple[str, ...] | None:
    unfit = TARGETS[target].places.unfit
    if row.intents is None or unfit is None:
        return row.intents
    return tuple(unfit.sub("_", name) for name in row.intents)


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("luis", "none"),
        ("lu", "None"),
        ("clu", "None"),
        ("lex", "FallbackIntent"),
        ("rasa", "out_of_scope"),
        ("botpress", "none"),
    ],
)
def test_a_name_that_means_something_else_there_is_written_otherwise(
    target: Target, name: str
) -> None:
    rows = [ImportedRow("any of them", (name,), "train"), ImportedRow("who won", (), "train")]
    content = Content("shop", "en", {name: ""}, rows, pins=[Expectation("x", ("gone",))])
    found = hand_over(content, target)
    told = {one.what: one.examples for one in found.losses}
    written = (f"{name} → {name}_2",)
    assert told["names of intents, which the platform writes otherwise"] == written
    assert f"{name}_2" in "".join(one.decode() for one in found.files.values())


def test_control_signs_leave_rasas_files_readable() -> None:
    """One such sign, in a text or a pin, and Rasa could read nothing of the file."""
    rows = [ImportedRow("it\x92s broken", ("no",), "train"), ImportedRow("pay", ("no",), "train")]
    pins = [Expectation("it\x92s", ("no",))]
    found = hand_over(Content("shop", "en", {"no": ""}, rows, pins=pins), "rasa")
    assert found.written == 1
    written = {name: one.decode() for name, one in found.files.items()}
    assert "\x92" not in "".join(written.values())
    assert 'user: "it\\u0092s"' in written["tests/test_stories.yml"]
    assert '- intent: "no"\n' in written["data/nlu.yml"]


@pytest.mark.parametrize("target", ["watson", "watson-csv"])
def test_what_watson_refuses_in_a_text_is_written_as_blanks_and_told(target: Target) -> None:
    """It takes no line break and no tab; they were written, and nothing was said."""
    rows = [ImportedRow("give\tit\nback", ("refund",), "train")]
    found = hand_over(Content("shop", "en", {"refund": "of\nmoney"}, rows), target)
    told = {one.what: one.count for one in found.losses}
    assert told["line breaks and tabs inside texts: written as blanks"] == 1
    written = "".join(one.decode() for one in found.files.values())
    assert "give it back" in written
    assert "of\\nmoney" not in written


def test_a_workbook_holds_no_name_that_a_cell_of_several_would_part() -> None:
    """The intent “a|b” came back as two."""
    rows = [ImportedRow("pay", ("a|b",), "train"), ImportedRow("both", ("c", "d"), "train")]
    found = hand_over(Content("shop", "en", dict.fromkeys(("a|b", "c", "d"), ""), rows), "xlsx")
    (left,) = found.left_out
    assert (found.written, left.examples) == (1, ("pay",))
    alone = hand_over(Content("shop", "en", {"a|b": ""}, rows[:1]), "xlsx")
    assert (alone.written, alone.left_out) == (1, ())


def test_every_name_that_is_written_otherwise_is_told() -> None:
    names = [f"book flight {number}" for number in range(20)]
    rows = [ImportedRow(f"fly {name}", (name,), "train") for name in names]
    rows += [ImportedRow(f"not labelled {number}", None, "pool") for number in range(8)]
    found = hand_over(Content("shop", "en", dict.fromkeys(names, ""), rows), "lex")
    (loss,) = found.losses
    assert (loss.count, loss.more) == (20, 0)
    assert loss.examples[7] == "book flight 7 → book_flight_7"
    (left,) = found.left_out
    assert (left.count, len(left.examples), left.more) == (8, 5, 3)


def test_all_ways_to_write_a_language_share_one_locale_of_lex() -> None:
    """The last of them overwrote the texts of the others, which were told as written."""
    codes = ["", "en-US", "en_US", "en-us", "pt-br", "PT_BR", "es-419", "zh"]
    rows = [
        ImportedRow(f"pay {number}", ("pay",), "train", language=code)
        for number, code in enumerate(codes)
    ]
    found = hand_over(Content("shop", "en", {"pay": ""}, rows), "lex")
    assert (found.written, found.left_out) == (8, ())
    said = {
        name.split("/")[2]: [one["utterance"] for one in json.loads(file)["sampleUtterances"]]
        for name, file in found.files.items()
        if name.endswith("/Intents/pay/Intent.json")
    }
    assert said == {
        "en_US": ["pay 0", "pay 1", "pay 2", "pay 3"],
        "pt_BR": ["pay 4", "pay 5"],
        "es_419": ["pay 6"],
        "zh_CN": ["pay 7"],
    }


# Microsoft, "Language support for Conversational Language Understanding": every code is a language
# alone, but for English, Portuguese and Chinese. Which of these a bare `pt` and `zh` mean, its page
# on sentiment analysis says. "Language and region support for LUIS": every culture has a region.
@pytest.mark.parametrize(
    ("language", "code", "culture"),
    [
        ("en", "en-us", "en-us"),
        ("pt", "pt-pt", "pt-br"),  # LUIS has the Portuguese of Brazil alone
        ("zh", "zh-hans", "zh-cn"),
        ("de", "de", "de-de"),
        ("hi", "hi", "hi-in"),
        ("sv", "sv", "sv"),  # which LUIS does not know
        ("en-gb", "en-gb", "en-gb"),
        ("fr-ca", "fr-ca", "fr-ca"),
    ],
)
def test_a_language_without_a_region_is_written_as_microsoft_names_it(
    language: str, code: str, culture: str
) -> None:
    """Of `en` alone a culture was made: LUIS knows no `de`, and CLU neither `pt` nor `zh`."""
    rows = [
        ImportedRow("pay", ("pay",), "train"),
        ImportedRow("buy", ("pay",), "train", language="de"),
    ]
    content = Content("shop", language, {"pay": ""}, rows)
    (clu,), (luis,), (lu,) = (
        hand_over(content, target).files.values() for target in ("clu", "luis", "lu")
    )
    project = json.loads(clu)
    said = [one["language"] for one in project["assets"]["utterances"]]
    assert (project["metadata"]["language"], said) == (code, [code, "de"])
    assert json.loads(luis)["culture"] == culture
    assert f"> !# @app.culture = {culture}\n" in lu.decode()


@pytest.mark.parametrize("target", ["dialogflow-cx", "cx-csv"])
def test_a_long_name_that_agents_have_is_no_offence(target: Target) -> None:
    """Google's own components have names of 81 characters, which were refused beyond 64."""
    name = "prebuilt_components_" + "x" * 61
    content = Content("shop", "en", {name: ""}, [ImportedRow("book it", (name,), "train")])
    found = hand_over(content, target)
    assert (found.written, found.refusals) == (1, ())


def _said(count: int, *intents: str, language: str = "") -> list[ImportedRow]:
    return [ImportedRow(f"say {at}", intents, "train", language=language) for at in range(count)]


def _refused(target: Target, *said: list[ImportedRow]) -> list[tuple[str, int, str]]:
    rows, places = [row for some in said for row in some], TARGETS[target].places
    content = Content("shop", "en", {"pay": "", "buy": ""}, rows)
    return [
        (one.what, one.count, one.examples[0]) for one in refusals(fit(content, places), places)
    ]


def test_each_limit_is_counted_over_what_it_is_a_limit_of() -> None:
    """An intent of LUIS alone had the limit of the app; of Lex, all its languages had one."""
    half, none = _said(6_000, "pay") + _said(6_000, "buy"), _said(3_000)
    assert _refused("luis", half, none) == []
    beyond = ("texts beyond the first 15,000", 2, "say 0")
    assert (
        _refused("luis", half, none, _said(2)) == _refused("lu", half, none, _said(2)) == [beyond]
    )
    assert _refused("watson", half, half, _said(1_000, "pay"), none) == []  # counterexamples
    told = [("texts beyond the first 25,000", 1, "say 1000")]
    assert _refused("watson", half, half, _said(1_001, "pay"), none) == told
    english, german = _said(1_400, "pay"), _said(1_400, "pay", language="de")
    american = _said(1_400, "pay", language="en-US")
    for target in ("dialogflow-es", "dialogflow-cx", "cx-csv", "lex"):
        assert _refused(target, english, german) == []  # type: ignore[arg-type]
    over = "intents of over 1,500 texts in a language"
    assert _refused("lex", english, american) == [(over, 1, "pay")]  # one locale there
    over = "intents of over 2,000 texts in a language"
    assert _refused("dialogflow-cx", english, _said(601, "pay"), german) == [(over, 1, "pay")]
    assert _refused("dialogflow-es", _said(2_001)) == [(over, 1, "out of scope")]


@pytest.mark.parametrize(
    "text", ["a\r\nb", "a\rb", "a\nb", "_x000D_", "_x000D\rb", "_x005F_x000D_x000d_ _x0041_"]
)
def test_a_workbook_gives_back_each_sign_of_a_text(text: str, tmp_path: Path) -> None:
    """XML took the carriage return: the text came back as another, beside the first."""
    row = ImportedRow(text, ("pay",), "train")
    found = hand_over(Content("shop", "en", {"pay": ""}, [row]), "xlsx")
    path = tmp_path / "shop.xlsx"
    path.write_bytes(found.files["shop.xlsx"])
    (back,) = read_rows(path, ReadOptions())
    assert isinstance(back, ImportedRow)
    assert (back.text, back.intents) == (text, ("pay",))


@pytest.mark.parametrize("target", ["parquet", "datasets"])
def test_a_separator_in_a_name_parts_no_list(target: Target, tmp_path: Path) -> None:
    """The intent “a|b” of a list came back as two."""
    rows = [
        ImportedRow("pay", ("a|b",), "train"),
        ImportedRow("both", ("a|b", "c"), "train"),
        ImportedRow("who won", (), "train"),
        ImportedRow("not yet", None, "train"),
    ]
    chosen = TARGETS[target]
    for some in (rows, rows[:1]):
        found = hand_over(Content("shop", "en", dict.fromkeys(("a|b", "c"), ""), some), target)
        out = tmp_path / f"{len(some)}{chosen.ending if chosen.single else ''}"
        write_handover(found.files, chosen, out)
        for separator in (None, "|"):
            back = read_rows(out, ReadOptions(separator=separator))
            read = [one.intents for one in back if isinstance(one, ImportedRow)]
            assert read == [one.intents for one in some]
