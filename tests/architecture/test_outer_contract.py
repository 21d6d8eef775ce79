"""What scripts and clients rely on is still there: commands, their options, REST routes and fields.

The reference was recorded at commit a593b00. An addition or a new wording is named below.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from app.api.routes import all_routes
from app.terminal.arguments.parser import build_parser
from tests.architecture.added_commands import NEW_COMMANDS, NEW_HELP, NEW_OPTIONS, NEW_ROUTES

REFERENCE = Path(__file__).parents[1] / "reference"
_COPY = (".shown[].deleted", ".shown[].kept")
_REVIEW, _PARTS = "/api/projects/{project}/review", ("parts", "parts[].ids", "parts[].name")
_UNDO, _EDITS = "POST /api/projects/{project}/undo", "POST /api/projects/{project}/edits"
_REDO = "POST /api/projects/{project}/redo"
_LEFT = ("free", "labelled", "meanwhile", "same", "test", "test_labelled")
_UPLOADS = "POST /api/projects/{project}/uploads"
_CHOICES = ("across", "contradicted", "counted", "exceptions", "exceptions[]", "format")
_CHOICES += ("meanings", "otherwise", "renamed", "sheet", "split_column")
_PREVIEW = ("preview.sheet", "preview.sheets", "preview.split_column")
_REPORT = (
    *("added_to", "validation", "cases", "cases[].examples", "cases[].kind", "cases[].rows"),
    *(f"cases[].examples[].{name}" for name in ("file", "here", "row", "text")),
    *("doubtful", *(f"doubtful[].{name}" for name in ("chosen", "label", "meaning", "rows"))),
    *("doubtful[].texts", "doubtful[].texts[]", "like_others[].texts", "like_others[].texts[]"),
    *("like_others", *(f"like_others[].{name}" for name in ("chosen", "intents", "label"))),
    *("key", "relabelled", "package", "package.platform", "package.files", "package.losses"),
    "completed",
    *("package.files[].name", "package.files[].phrases", "package.losses[].count"),
    *("package.losses[].what", "package.losses[].examples", "package.losses[].examples[]"),
)
_OF_ACCURACY = (
    *("", ".share", ".right", ".n", ".micro_f1", ".causes", ".causes[]"),
    *(".kept_out", ".outside_n", ".tested_intents", ".intents", ".measured_on", ".untested"),
)
_OF_VERDICT = ("", ".level", ".title", ".meaning", ".reasons", ".reasons[]", ".gap", ".rule")
_OF_VERDICT += (".look",)
_OF_NEXT = ("", ".kind", ".action", ".reason", ".page", ".query")
_OF_STEPS = ("", ".imported", ".labelled", ".trained")
_OF_PINS = ("", "[]", "[].text", "[].expected", "[].before", "[].after", "[].kept")
_OF_LINE = (".right", ".outside", ".unlabelled")
_OF_MARK = (".end", ".name", ".start")
_ORIGIN = ("changes_since", "imported")
_OF_FENCE = ("", ".limit", ".limits", ".limits{}", ".method")
_OF_BORDER = ("mixed", "left_out", "counting", "revision")
_OF_BORDER += ("steps[].answer", "steps[].finding", "steps[].kept")
_KEPT = ("GET /api/projects/{project}/models/{number}/report-link",)
_KEPT += ("POST /api/projects/{project}/receipts",)
_OF_SHORT = (
    *("text", "decision", "ranked", "neighbours"),
    *("model_version", "dataset_version", "label_revision"),
    *(f"ranked[].{name}" for name in ("intent", "probability", "score")),
    *(f"neighbours[].{name}" for name in ("cosine", "exemplar_id", "intents", "text", "vote")),
    *(
        f"decision.{name}"
        for name in ("familiarity", "intents", "leading", "measure", "rule", "score", "threshold")
    ),
)
_JOBS = tuple(
    pair
    for name in ("title", "pool_words", "warning", "measured_on", "untested", "late")
    for pair in (
        ("GET /api/projects/{project}/jobs", f"[].{name}"),
        ("GET /api/jobs/{job_id}", name),
    )
)
_PREDICT = "POST /api/projects/{project}/predict"
_TOLD = ("", "prediction.", "prediction.reasons[].", "reasons[].reason.")
_OF_VERSIONS = ("title", "work", "examples", "changes", "changes[]", "measured_on", "untested")
_OF_VERSIONS += ("texts_left_out",)
NEW_FIELDS: set[tuple[str, str, str]] = {
    ("GET /api/projects/{project}/compare", "answer", "comparison.chose_line"),
    ("GET /api/projects/{project}/map/compare", "answer", "moved[].labelled"),
    ("GET /api/projects/{project}/export", "parameters", "query split"),
    ("GET /api/projects/{project}/jobs", "parameters", "query kind"),
    ("GET /api/projects/{project}/utterances", "answer", "rows[].beside"),
    ("GET /api/projects/{project}/utterances", "parameters", "query second"),
    ("POST /api/projects/{project}/utterances/by-ids", "answer", "[].beside"),
    ("POST /api/projects/{project}/similar", "answer", "[].record.beside"),
    ("POST /api/projects/{project}/uploads", "answer", "report.package.values"),
    ("POST /api/projects/{project}/uploads", "answer", "report.package.unread"),
    ("POST /api/projects/{project}/uploads", "answer", "report.package.losses[].more"),
    ("POST /api/projects/{project}/uploads/{key}/look", "answer", "report.package.values"),
    ("POST /api/projects/{project}/uploads/{key}/look", "answer", "report.package.unread"),
    ("POST /api/projects/{project}/uploads/{key}/look", "answer", "report.package.losses[].more"),
    ("POST /api/projects/{project}/uploads/{key}/import", "answer", "package.values"),
    ("POST /api/projects/{project}/uploads/{key}/import", "answer", "package.unread"),
    ("POST /api/projects/{project}/uploads/{key}/import", "answer", "package.losses[].more"),
    ("GET /api/projects/{project}/slots", "answer", "slots[].values[].synonyms"),
    ("GET /api/projects/{project}/models/{number}/lineage", "answer", "precision"),
    ("GET /api/projects/{project}/review", "parameters", "query seen"),
    *(
        ("GET /api/projects/{project}/review", "answer", f"{name}{part}")
        for name in ("copies", "alike")
        for part in ("", ".texts", ".ids", ".theirs", ".shown", *_COPY)
    ),
    *(
        ("POST /api/projects/{project}/review/what-if", "answer", f"[].{name}")
        for name in ("joined", "renamed", "stays", "another", "told")
    ),
    ("GET /api/projects/{project}/acts", "answer", "acts[].idle"),
    *((_PREDICT, "answer", f"[].{of}neighbours[].twins") for of in _TOLD),
    ("POST /api/projects/{project}/explain", "answer", "reasons[].votes[].twins"),
    *(
        ("DELETE /api/projects/{project}/dialogues/{log}", "parameters", f"query {name}")
        for name in ("also", "expected", "key", "revision", "texts")
    ),
    ("DELETE /api/projects/{project}/dialogues/{log}", "answer", "texts_deleted"),
    ("GET /api/projects/{project}/models/{number}/bundle", "parameters", "query without_texts"),
    ("POST /api/projects/{project}/ops", "parameters", "header Project-Number"),
    *(
        (f"POST /api/projects/{{project}}/{end}", "parameters", "header Idempotency-Key")
        for end in ("train", "bundles", "uploads/{key}/import", "dialogues/waiting/{key}/import")
    ),
    *((route, "answer", name) for route in _KEPT for name in ("reach", "reaches_others")),
    *((route, "answer", name) for route, name in _JOBS),
    *(
        ("GET /api/projects/{project}/versions", "answer", name)
        for name in ("previous", "damaged", *(f"models[].{part}" for part in _OF_VERSIONS))
    ),
    *(
        ("GET /api/projects/{project}/compare", "answer", f"comparison.{name}")
        for name in ("outcome", "verdict", "moment", "outside_n", "outside_refused")
    ),
    *(
        ("GET /api/projects/{project}/compare", "answer", f"comparison.outside_difference{part}")
        for part in ("", ".value", ".low", ".high")
    ),
    *(("POST /api/projects/{project}/estimate", "answer", n) for n in ("learns_from", "time")),
    *(
        (f"{_UPLOADS}/{{key}}/{end}", "body", name)
        for end in ("import", "look")
        for name in _CHOICES
    ),
    *((f"{_UPLOADS}/{{key}}/import", "answer", name) for name in _REPORT),
    *(
        (f"{_UPLOADS}{end}", "answer", name)
        for end in ("", "/{key}/look")
        for name in (*_PREVIEW, *(f"report.{name}" for name in _REPORT))
    ),
    *(
        ("GET /api/projects/{project}/compare", "answer", name)
        for name in ("advice", "advice.use", "advice.words", "advice.act", "advice.either")
    ),
    *(
        ("GET /api/projects/{project}/models/{number}/lineage", "answer", name)
        for name in ("bytes", "bundle_bytes", "n_unlabelled")
    ),
    *((_UNDO, "body", name) for name in ("application/json", "key", "newest")),
    *((_EDITS, "body", name) for name in ("also", "create", "filter.second", "key", "revision")),
    *((_EDITS, "answer", n) for n in ("revision", "left", *(f"left.{name}" for name in _LEFT))),
    *(("GET /api/projects", "answer", f"[].now{name}") for name in _OF_ACCURACY),
    *(("GET /api/projects/{project}/status", "answer", f"now{name}") for name in _OF_ACCURACY),
    *(("GET /api/projects", "answer", f"[].verdict{name}") for name in _OF_VERDICT),
    *(("GET /api/projects/{project}/status", "answer", f"verdict{name}") for name in _OF_VERDICT),
    ("GET /api/projects/{project}/map/compare", "answer", "method"),
    ("GET /api/projects/{project}/pins", "answer", "[].intents"),
    ("GET /api/projects/{project}/pins/history", "answer", "[].pin.intents"),
    ("GET /api/projects", "answer", "[].checking"),
    ("GET /api/projects", "answer", "[].measured_on"),
    ("GET /api/projects/{project}/status", "answer", "measured_on"),
    *(("GET /api/projects", "answer", f"[].{n}") for n in ("empty_intents", "answered_right")),
    ("GET /api/projects/{project}/status", "answer", "answered_right"),
    ("GET /api/projects/{project}/status", "answer", "can_redo"),
    *(("GET /api/projects/{project}/status", "answer", n) for n in ("id", "undo_id", "redo_id")),
    *((_REDO, "body", name) for name in ("application/json", "newest")),
    ("GET /api/projects/{project}/status", "answer", "job.slowed"),
    ("GET /api/projects/{project}/status", "answer", "joins"),
    *(
        ("GET /api/projects/{project}/dialogues", "answer", f"[].{n}")
        for n in ("n_texts", "n_labelled", "n_tests", "n_tests_labelled", "revision")
    ),
    *(("GET /api/projects/{project}/status", "answer", f"undoes{n}") for n in ("", ".about", ".n")),
    ("PATCH /api/projects/{project}", "body", "name"),
    *(
        ("PUT /api/projects/{project}/utterances/{utterance}/slots", "body", f"seen{name}")
        for name in ("", ".text", ".slots", *(f".slots[]{n}" for n in _OF_MARK))
    ),
    *(
        ("PATCH /api/projects/{project}/intents/{intent_id}", "body", f"seen{name}")
        for name in ("", ".description", ".name")
    ),
    *(("GET /api/projects", "answer", f"[].next{name}") for name in _OF_NEXT),
    *(("GET /api/projects", "answer", f"[].steps{name}") for name in _OF_STEPS),
    *(("POST /api/projects/{project}/pins", "body", f"seen{name}") for name in ("", "[]")),
    *(("GET /api/projects/{project}/versions", "answer", f"models[].{name}") for name in _ORIGIN),
    *(("GET /api/projects/{project}/status", "answer", name) for name in ("checking", "queued")),
    *(("POST /api/projects/{project}/fence/what-if", "answer", f"pins{n}") for n in _OF_PINS),
    *(("PUT /api/projects/{project}/fence", "body", f"seen{name}") for name in _OF_FENCE),
    *(
        ("POST /api/projects/{project}/fence/what-if", "answer", name)
        for name in (
            *("equal", "lost", "won", "total", "refused", "default", "default.method"),
            *("unlabelled", "outside_tested", *(f"default.limit{n}" for n in ("", "s", "s{}"))),
            *("wished", "wished[]", "wished[].lost", "wished[].limit"),
            *(f"{of}{n}" for of in ("in_force", "wished[].outcome") for n in ("", *_OF_LINE)),
        )
    ),
    *((f"GET {_REVIEW}", "answer", f"findings[].remedies[].repair.{name}") for name in _PARTS),
    *((f"GET {_REVIEW}/border", "answer", name) for name in _OF_BORDER),
    *((f"POST {_REVIEW}/what-if", "body", f"repairs[].{name}") for name in _PARTS),
    *((f"POST {_REVIEW}/act", "body", f"repair.{name}") for name in _PARTS),
    (f"POST {_REVIEW}/act", "body", "seen"),
    *(
        (f"POST {_REVIEW}/what-if", "answer", f"[].{name}")
        for name in ("touched", "pins", "scope", "turns[].scope", "revision")
    ),
    *(
        (f"POST {_REVIEW}/what-if", "answer", f"[].{name}{part}")
        for name in ("in_scope", "outside")
        for part in ("", ".n", ".now", ".then")
    ),
    *(
        ("POST /api/projects/{project}/slots/accept", "body", name)
        for name in ("shown", "state", "refused")
    ),
    ("POST /api/projects/{project}/slots/accept", "answer", "state"),
    *(
        ("GET /api/projects/{project}/overview", "answer", name)
        for name in ("counts.tests_by_intent", "intents[].tests")
    ),
    ("POST /api/projects/{project}/augmentation", "body", "without"),
    ("POST /api/projects/{project}/augmentation/preview", "body", "without"),
    ("GET /api/projects/{project}/queue", "answer", "items[].likely"),
    ("GET /api/projects/{project}/queue", "answer", "items[].likely[]"),
    ("GET /api/projects/{project}/suggestions", "answer", "[].likely"),
    ("GET /api/projects/{project}/suggestions", "answer", "[].likely[]"),
    *((f"GET {_REVIEW}", "answer", name) for name in ("effects", "recounted")),
    *((_PREDICT, "answer", f"[].known{name}") for name in ("", "[].id", "[].labels", "[].split")),
    *(
        ("POST /api/projects/{project}/predict", "answer", f"[].{name}")
        for name in (
            *("right", "revision", "shown_revision"),
            *("outvoted", "outvoted[].id", "outvoted[].label"),
        )
    ),
    *(
        ("POST /api/projects/{project}/explain", "answer", name)
        for name in (
            *("speaking", "why_not.examples[].outvoted", "reasons[].votes[].example.outvoted"),
            *("reasons[].load_bearing.examples[].outvoted", "reasons[].words.unclear"),
            *("shown_revision", "why_not.revision"),
        )
    ),
    ("GET /api/projects/{project}/recipes", "answer", "[].settings[].why_not"),
    ("POST /api/projects/{project}/explain", "answer", "why_not.adds"),
    (_PREDICT, "answer", "[].examples"),
    *(
        ("POST /api/projects/{project}/predict", "answer", f"[].landing.nearest{name}")
        for name in ("", ".id", ".text", ".intents", ".intents[]", ".cosine")
    ),
    *(
        ("POST /api/projects/{project}/predict", "body", name)
        for name in ("fields", "fields[]", "model", "top_k")
    ),
    *((_PREDICT, "answer", f"[].{name}") for name in _OF_SHORT),
    ("POST /api/projects/{project}/predict", "answer", "[].prediction.label_revision"),
    *(
        (f"GET {_REVIEW}", "answer", f"findings[].remedies[].{name}")
        for name in ("effect", "effect.breaks", "effect.mends", "label_ids")
    ),
}
"""Route, then `parameters`, `body` or `answer`, then the name or path of the field."""


def commands() -> dict[str, dict[str, list[Any]]]:
    """Return option -> [choices, default, help] of each command."""
    return {
        name: {
            " ".join(action.option_strings) or action.dest: [
                None if action.choices is None else list(action.choices),
                None if action.default is argparse.SUPPRESS else action.default,
                None if action.help is argparse.SUPPRESS else action.help,
            ]
            for action in parser._actions
            if not isinstance(action, argparse._SubParsersAction)
        }
        for name, parser in every_parser(build_parser(), "intent-studio")
    }


def every_parser(
    parser: argparse.ArgumentParser, name: str
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield a parser and those of all its commands, with what is typed to reach them."""
    yield name, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb, command in action.choices.items():
                yield from every_parser(command, f"{name} {verb}")


def routes() -> dict[str, dict[str, list[str]]]:
    """Return the names of the parameters and fields of each route; `rows[].id` is a nested one."""
    app = FastAPI()
    app.router.routes += all_routes()
    schema = app.openapi()
    found = {}
    for path, methods in schema["paths"].items():
        for method, route in methods.items():
            answers = [value for code, value in route["responses"].items() if code[0] == "2"]
            found[f"{method.upper()} {path}"] = {
                "parameters": sorted(
                    f"{value['in']} {value['name']}" for value in route.get("parameters", [])
                ),
                "body": fields(schema, [route.get("requestBody", {})]),
                "answer": fields(schema, answers),
            }
    return found


def fields(schema: dict[str, Any], bodies: list[dict[str, Any]]) -> list[str]:
    """Return the content types of bodies, and the paths of all their fields."""
    found: set[str] = set()
    for body in bodies:
        for kind, value in body.get("content", {}).items():
            found.add(kind)
            found.update(nested(schema, value.get("schema", {}), "", ()))
    return sorted(found)


def nested(
    schema: dict[str, Any], part: dict[str, Any], path: str, above: tuple[str, ...]
) -> Iterator[str]:
    """Yield the paths of the fields under one part of the schema; a part within itself once."""
    if "$ref" in part:
        name = part["$ref"].rpartition("/")[2]
        if name not in above:
            yield from nested(schema, schema["components"]["schemas"][name], path, (*above, name))
    for choice in (*part.get("anyOf", ()), *part.get("oneOf", ()), *part.get("prefixItems", ())):
        yield from nested(schema, choice, path, above)
    if isinstance(part.get("items"), dict):
        yield from nested(schema, part["items"], path + "[]", above)
    if isinstance(part.get("additionalProperties"), dict):
        yield from nested(schema, part["additionalProperties"], path + "{}", above)
    for name, value in part.get("properties", {}).items():
        field = f"{path}.{name}" if path else name
        yield field
        yield from nested(schema, value, field, above)


def recorded(name: str) -> Any:
    """Read what was recorded at a593b00."""
    return json.loads((REFERENCE / f"{name}_a593b00.json").read_text(encoding="utf-8"))


def test_every_command_and_option_is_there_with_the_same_help() -> None:
    before, now = recorded("commands"), json.loads(json.dumps(commands()))
    assert before.keys() - now.keys() == set()
    assert now.keys() - before.keys() <= NEW_COMMANDS
    for command, options in before.items():
        assert options.keys() - now[command].keys() == set(), command
        added = {(command, option) for option in now[command].keys() - options.keys()}
        assert added <= NEW_OPTIONS
        changed = {(command, name) for name in options if options[name] != now[command][name]}
        assert changed <= NEW_HELP


def test_each_help_says_what_a_project_a_model_a_recipe_and_a_base_are() -> None:
    """`evaluate --help` told no form of MODEL, which `predict --help` does."""
    asked = ("project", "model", "--recipe", "--base")
    every = [(name, options, one) for name, options in commands().items() for one in asked]
    assert [(name, one) for name, options, one in every if not options.get(one, " ")[-1]] == []


def test_every_route_parameter_and_field_is_there() -> None:
    before, now = recorded("rest"), routes()
    assert before.keys() - now.keys() == set()
    assert now.keys() - before.keys() <= NEW_ROUTES
    for route, parts in before.items():
        for part, names in parts.items():
            assert set(names) - set(now[route][part]) == set(), f"{part} of {route}"
            added = {(route, part, name) for name in set(now[route][part]) - set(names)}
            assert added <= NEW_FIELDS
