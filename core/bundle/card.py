"""The model card of a bundle, for people who receive the zip."""

from collections.abc import Mapping
from typing import Any

from core.bundle.facts import is_graph, is_unmeasured
from core.metrics.coverage import as_counted_now, untested_words
from core.metrics.in_words import figure_words, measured_now, measured_on, untested_of
from core.text import percent, plain_markdown

MEASURED = "measured"
"""Fact of a bundle: `right` of `n` test texts and `refused` of `outside` ones, as it answers."""

_MEASURES = {
    "nearest": "mean similarity to its three nearest examples",
    "mahalanobis": "Mahalanobis distance to the nearest intent",
    "mixture": "best score, nearest examples and Mahalanobis distance together",
}

_FIGURES = {
    "accuracy": "right intent first, refused or not",
    "answered_right": "right answers",
    "exact": "answers with exactly the right intents",
    "expected_calibration_error": "gap of confidence",
    "in_scope": "texts with an intent that are answered",
    "kept_out": "texts that fit no intent, refused",
    "noise": "standard error of the first figure",
    "n": "texts",
    "outside_n": "texts that fit no intent",
}
_COUNTED = ("intents", "tested_intents")
"""Figures that are told in a sentence."""
_UNMEASURED = (
    "This file computes in 8 bits. What that costs was not measured: there were no test texts to "
    "compare it with float32."
)


def model_card(facts: Mapping[str, Any]) -> str:
    """Write the README of a bundle in Markdown."""
    return "\n".join(
        [
            f"# {_title(facts)}",
            "",
            "Says which intent a text has, and which examples decided it.",
            "",
            "## Use",
            "",
            f"    pip install {_packages(facts)}",
            '    python predict.py "your text"',
            "",
            "`predict.py` is all the code there is; copy it into your service.",
            "",
            *_adapter(facts),
            *_graph(facts),
            "## What it knows",
            "",
            *_intents(facts),
            "",
            "## How good it is",
            "",
            *_figures(facts),
            *_precisions(facts),
            "",
            "## Where it comes from",
            "",
            *_origin(facts),
            "",
            "## Limits",
            "",
            _scope(facts),
            _threshold(facts),
            _texts(facts),
            "- It has seen only the language and the topics of its examples.",
            "- The votes are exact for this encoder; they do not foretell another training.",
            "",
        ]
    )


def _title(facts: Mapping[str, Any]) -> str:
    """Name project and version; a version that begins with its project names both."""
    project, version = facts.get("project", "Intent model"), facts.get("model_version", "")
    names = [version] if str(version).startswith(f"{project},") else [project, version]
    return ", ".join(plain_markdown(name) for name in names)


def _origin(facts: Mapping[str, Any]) -> list[str]:
    return [
        f"- Data: {plain_markdown(facts.get('dataset_version'))} with {facts.get('n_exemplars')} "
        f"labelled utterances, SHA-256 {str(facts.get('dataset_sha256'))[:16]}",
        f"- Recipe: {facts.get('recipe', {}).get('kind')}, seed "
        f"{facts.get('recipe', {}).get('seed')}",
        f"- Base encoder: {plain_markdown(facts.get('base'))}, licence: "
        f"{plain_markdown(facts.get('base_licence'))}",
    ]


def _texts(facts: Mapping[str, Any]) -> str:
    if facts.get("texts_left_out"):
        return (
            "- The texts of its examples were left out: ids stand for them, with an embedding and "
            "a hash of each. Whoever guesses a text can compare the hash."
        )
    where = "`exemplars.jsonl`"
    if is_graph(facts):
        where += ", and texts with stored answers in `answers.jsonl`"
    return (
        f"- The texts of its examples are in {where}, as their authors wrote them: give "
        "the bundle only to those who may read them."
    )


def _scope(facts: Mapping[str, Any]) -> str:
    measure = _MEASURES.get(str(facts.get("fence", "votes")))
    if measure is None:
        return "- A text whose best score lies under the threshold is answered with no intent."
    return (
        f"- A text whose familiarity ({measure}, in standard deviations of the examples) lies "
        f"under the threshold is answered with no intent; {_measuring(facts)}."
    )


def _measuring(facts: Mapping[str, Any]) -> str:
    if is_graph(facts):
        return "`model.onnx` measures it"
    return "`calibration.json` says how it is measured"


def _threshold(facts: Mapping[str, Any]) -> str:
    if facts.get("fenced"):
        return "- The threshold was set by hand in its project."
    return f"- The threshold turns away {percent(facts.get('rejection', 0.05))} of texts in scope."


def _intents(facts: Mapping[str, Any]) -> list[str]:
    rows = [
        f"| {plain_markdown(intent['name'])} | {plain_markdown(intent.get('description', ''))} |"
        for intent in facts.get("intents", [])
    ]
    return ["| intent | description |", "| --- | --- |", *rows, *_by_name(facts)]


def _by_name(facts: Mapping[str, Any]) -> list[str]:
    names = [plain_markdown(name) for name in facts.get("by_name", [])]
    if not names:
        return []
    return ["", f"Answered by their names alone, for no example says them: {', '.join(names)}."]


def _adapter(facts: Mapping[str, Any]) -> list[str]:
    recipe = facts.get("recipe", {})
    if recipe.get("kind") != "adapter" or recipe.get("merge") or is_graph(facts):
        return []
    return [
        "`encoder/` is the base as it was; what was trained is in `encoder/adapter/`, and",
        "`predict.py` puts it in. Loaded by itself, `encoder/` answers as if untrained.",
        "",
    ]


def _packages(facts: Mapping[str, Any]) -> str:
    return "onnxruntime tokenizers numpy" if is_graph(facts) else "sentence-transformers numpy"


def _graph(facts: Mapping[str, Any]) -> list[str]:
    if not is_graph(facts):
        return []
    return [
        "`model.onnx` maps token ids and their mask to scores, probabilities, scope and the vote",
        "of every example; `intent-studio serve-model` serves this file as it is. It computes in",
        f"{plain_markdown(facts.get('precision'))}.",
        "",
    ]


def _precisions(facts: Mapping[str, Any]) -> list[str]:
    """Compare a graph in 8 bits with float32, on the test texts of the export."""
    if is_unmeasured(facts):
        return ["", _UNMEASURED]
    measured = facts.get("precisions")
    if not measured:
        return []
    whole, small = measured["float32"], measured["int8"]
    words = {"accuracy": _FIGURES["accuracy"], "auroc": "chance to tell texts in scope from others"}
    rows = [
        f"| {words.get(name, _FIGURES.get(name, name))} | {figure_words(name, whole[name])} | "
        f"{figure_words(name, small[name])} |"
        for name in whole
        if name in small
    ]
    head = ["| figure | float32 | int8 |", "| --- | --- | --- |"]
    return ["", "In 8 bits, as this file computes, beside float32:", "", *head, *rows]


def _figures(facts: Mapping[str, Any]) -> list[str]:
    """Say how it answers as it is in the bundle, if that was measured, and how when trained."""
    measured = facts.get(MEASURED)
    metrics = as_counted_now(facts, facts.get("metrics", {}))
    trained = [
        f"Measured {measured_on(metrics)}, with the limit for out of scope of then:",
        "",
        *_table(
            {
                _FIGURES.get(name, name.replace("_", " ")): figure_words(name, value)
                for name, value in metrics.items()
                if name not in _COUNTED
                and (name != "accuracy" or "exact" not in metrics)  # both are exact matches
            }
        ),
        *_paragraph(untested_of(metrics)),
    ]
    if not measured:
        return trained
    right, n, outside = (int(measured[name]) for name in ("right", "n", "outside"))
    rows = {"Right answers": f"{percent(right / n, 1)} ({right:,} of {n:,} test texts)"}
    if outside:
        refused = int(measured["refused"])
        rows["Texts that fit no intent, refused"] = (
            f"{percent(refused / outside, 1)} ({refused:,} of {outside:,})"
        )
    now = (
        f"Measured {measured_now(n)}, with the limit for out of scope and the labels in this file:"
    )
    untested = untested_words(measured.get("tested_intents"), measured.get("intents"))
    return [now, "", *_table(rows), *_paragraph(untested), "", *trained]


def _paragraph(words: str) -> list[str]:
    return ["", words] if words else []


def _table(rows: Mapping[str, str]) -> list[str]:
    told = [f"| {name} | {value} |" for name, value in rows.items() if value]
    return ["| figure | value |", "| --- | --- |", *told]
