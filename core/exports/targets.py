"""The formats that a whole project is written in, and what each has a place for."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from core.errors import InvalidInput
from core.exports import annotation, designers, dialogflow, lex, microsoft, rasa, tables, watson
from core.exports.content import (
    Content,
    Files,
    Fitted,
    FormatLimits,
    FormatPlaces,
    HandedOver,
    Write,
)
from core.exports.fitting import fit, refusals
from core.platforms.arrays import as_google_writes
from core.platforms.readers.flat import NONE
from core.types import Split

Target = Literal[
    "dialogflow-es",
    "dialogflow-cx",
    "cx-csv",
    "luis",
    "lu",
    "clu",
    "watson",
    "watson-csv",
    "lex",
    "rasa",
    "rasa-json",
    "humanfirst",
    "botpress",
    "semantic-router",
    "prodigy",
    "doccano",
    "spacy",
    "label-studio",
    "argilla",
    "datasets",
    "parquet",
    "xlsx",
    "rasa-tests",
    "cx-tests",
    "lex-tests",
]

_ALL: frozenset[Split] = frozenset(("train", "test", "pool"))
_NO_PLAIN = re.compile(r"[^\w.-]")
_NO_WORD = re.compile(r"[^\w-]")
_NO_LEX = re.compile(r"[^0-9A-Za-z_-]")
_NO_LU = re.compile(r"[{}=@:\r\n]")
_NO_LINE = re.compile(r"[\r\n]")


@dataclass(frozen=True, slots=True, eq=False)
class TargetFormat:
    """A format: how it is written, what it has a place for, and how its files end.

    Attributes:
        single: Whether it is one file; others are a zip or a folder.
        tests: Whether it is the pins alone.
        lacks: What an agent of the platform has besides intents and phrases, and these files have
            not; empty where the files stand for no agent.
    """

    title: str
    write: Write = field(repr=False)
    places: FormatPlaces
    ending: str = ".zip"
    tests: bool = False
    lacks: str = ""

    @property
    def single(self) -> bool:
        """Whether it is one file."""
        return self.ending != ".zip"


def _cx_tests(given: Fitted) -> Files:
    tests = dialogflow.cx_tests(given)
    return {f"testCases/{one['name']}.json": f"{as_google_writes(one)}\n".encode() for one in tests}


_NO_RASA = re.compile(r"[(){}\[\]:]")
_NO_BOTPRESS = re.compile(r"[^\w. :-]")
_PINS = FormatPlaces(several=True, pins=True, descriptions=True, values=True)

TARGETS: Mapping[Target, TargetFormat] = {
    "dialogflow-es": TargetFormat(
        "Dialogflow ES",
        dialogflow.dialogflow_es,
        FormatPlaces(
            values=True,
            descriptions=True,
            languages=True,
            roles=True,
            unfit_in_slots=_NO_WORD,
            limits=FormatLimits(768, 2_000, 100_000, 2_000, 100),
        ),
        lacks="responses, contexts, events, webhooks, fallback answers, settings or ids of intents",
    ),
    "dialogflow-cx": TargetFormat(
        "Dialogflow CX",
        dialogflow.dialogflow_cx,
        FormatPlaces(
            values=True,
            descriptions=True,
            pins=True,
            languages=True,
            roles=True,
            unfit_in_slots=_NO_WORD,
            # Agents in use have names of 81 characters.
            limits=FormatLimits(768, 2_000, most_intents=10_000),
        ),
        lacks="flows, pages, responses, webhooks, settings or ids of intents",
    ),
    "cx-csv": TargetFormat(
        "Dialogflow CX, CSV of phrases",
        dialogflow.cx_csv,
        FormatPlaces(
            out_of_scope=False,
            marks=False,
            languages=True,
            # Agents in use have names of 81 characters.
            limits=FormatLimits(768, 2_000, most_intents=10_000),
        ),
        ".csv",
    ),
    "luis": TargetFormat(
        "LUIS",
        microsoft.luis,
        FormatPlaces(
            values=True,
            roles=True,
            reserved=frozenset({NONE}),
            limits=FormatLimits(500, None, 15_000, 500, 50),
        ),
        ".json",
        lacks="patterns, features, prebuilt entities, parts of entities or settings",
    ),
    "lu": TargetFormat(
        "LUIS, text",
        microsoft.lu,
        FormatPlaces(
            values=True,
            roles=True,
            reserved=frozenset({NONE}),
            unfit=_NO_LINE,
            unfit_in_slots=_NO_LU,
            limits=FormatLimits(500, None, 15_000, 500, 50),
        ),
        ".lu",
        lacks="patterns, features or prebuilt entities",
    ),
    "clu": TargetFormat(
        "Microsoft CLU",
        microsoft.clu,
        FormatPlaces(
            splits=frozenset(("train", "test")),
            values=True,
            languages=True,
            reserved=frozenset({NONE}),
            limits=FormatLimits(500, None, 50_000, 500, 50),
        ),
        ".json",
        lacks="prebuilt entities, regular expressions or settings",
    ),
    "watson": TargetFormat(
        "Watson Assistant",
        watson.watson,
        FormatPlaces(
            values=True,
            descriptions=True,
            unfit=_NO_PLAIN,
            unfit_in_slots=_NO_WORD,
            limits=FormatLimits(1_024, None, 25_000, 2_000, 128, counts_outside=False),
        ),
        ".json",
        lacks="dialog, responses or settings",
    ),
    "watson-csv": TargetFormat(
        "Watson Assistant, CSV",
        watson.watson_csv,
        FormatPlaces(
            out_of_scope=False,
            marks=False,
            values=True,
            unfit=_NO_PLAIN,
            unfit_in_slots=_NO_WORD,
            limits=FormatLimits(1_024, None, 25_000, 2_000, 128),
        ),
    ),
    "lex": TargetFormat(
        "Amazon Lex V2",
        lex.lex,
        FormatPlaces(
            out_of_scope=False,
            values=True,
            descriptions=True,
            languages=True,
            roles=True,
            reserved=frozenset({lex.FALLBACK}),
            unfit=_NO_LEX,
            unfit_in_slots=_NO_LEX,
            limits=FormatLimits(500, 1_500, longest_name=100, locale=lex.locale_of),
        ),
        lacks="prompts, responses, code hooks, settings or ids of intents",
    ),
    "rasa": TargetFormat(
        "Rasa",
        rasa.rasa,
        FormatPlaces(
            several=True,
            values=True,
            pins=True,
            roles=True,
            reserved=frozenset({rasa.OUT}),
            unfit=_NO_LINE,
            unfit_in_slots=_NO_RASA,
        ),
        lacks="responses, actions, stories, rules, regular expressions or settings",
    ),
    "rasa-json": TargetFormat(
        "Rasa, JSON",
        rasa.rasa_json,
        FormatPlaces(several=True, values=True, roles=True, reserved=frozenset({rasa.OUT})),
        ".json",
        lacks="regular expressions",
    ),
    "humanfirst": TargetFormat(
        "HumanFirst",
        designers.humanfirst,
        FormatPlaces(
            several=True, unlabelled=True, out_of_scope=False, values=True, descriptions=True
        ),
        ".json",
    ),
    "botpress": TargetFormat(
        "Botpress 12",
        designers.botpress,
        FormatPlaces(
            values=True,
            languages=True,
            reserved=frozenset({designers.NONE}),
            unfit_in_slots=_NO_BOTPRESS,
        ),
    ),
    "semantic-router": TargetFormat(
        "semantic-router",
        designers.semantic_router,
        FormatPlaces(out_of_scope=False, marks=False, descriptions=True),
        ".json",
    ),
    "prodigy": TargetFormat(
        "Prodigy", annotation.prodigy, FormatPlaces(several=True, unlabelled=True), ".jsonl"
    ),
    "doccano": TargetFormat(
        "doccano",
        annotation.doccano,
        FormatPlaces(several=True, unlabelled=True, out_of_scope=False),
        ".jsonl",
    ),
    "spacy": TargetFormat(
        "spaCy", annotation.spacy, FormatPlaces(several=True, unlabelled=True), ".jsonl"
    ),
    "label-studio": TargetFormat(
        "Label Studio",
        annotation.label_studio,
        FormatPlaces(several=True, unlabelled=True, out_of_scope=False),
        ".json",
    ),
    "argilla": TargetFormat(
        "Argilla",
        annotation.argilla,
        FormatPlaces(several=True, unlabelled=True, out_of_scope=False),
        ".json",
    ),
    "datasets": TargetFormat(
        "Hugging Face datasets",
        tables.datasets,
        FormatPlaces(several=True, unlabelled=True, splits=_ALL, marks=False),
    ),
    "parquet": TargetFormat(
        "Parquet",
        tables.parquet,
        FormatPlaces(several=True, unlabelled=True, splits=_ALL, marks=False),
        ".parquet",
    ),
    "xlsx": TargetFormat(
        "Excel",
        tables.xlsx,
        FormatPlaces(several=True, unlabelled=True, splits=_ALL, marks=False),
        ".xlsx",
    ),
    "rasa-tests": TargetFormat("Rasa test stories", rasa.rasa_tests, _PINS, ".yml", tests=True),
    "cx-tests": TargetFormat("Dialogflow CX test cases", _cx_tests, _PINS, tests=True),
    "lex-tests": TargetFormat(
        "Amazon Lex test set",
        lex.lex_tests,
        FormatPlaces(pins=True, reserved=frozenset({lex.FALLBACK}), unfit=_NO_LEX),
        ".csv",
        tests=True,
    ),
}


def hand_over(content: Content, target: Target) -> HandedOver:
    """Write a project in a format; what has no place there is counted.

    The texts that are written and those that are left out add up to those of the project, but for
    the formats of tests, which hold the pins alone.

    Raises:
        InvalidInput: A format of tests is asked for, and there are no pins.
    """
    chosen = TARGETS[target]
    if chosen.tests and not content.pins:
        raise InvalidInput(
            "There are no pins to write as tests.",
            "Pin a text on the page Try: it must get this intent in every version.",
        )
    if chosen.tests:
        content = Content(content.name, content.language, content.intents, (), {}, content.pins)
    fitted = fit(content, chosen.places)
    files = chosen.write(fitted)
    left = fitted.left.told()
    return HandedOver(
        files=files,
        written=len(content.rows) - sum(one.count for one in left),
        left_out=left,
        losses=fitted.lost.told(),
        refusals=refusals(fitted, chosen.places),
    )
