"""Figures in words: how one is written, on what it stands, and what it leaves out."""

import re
from collections.abc import Mapping
from typing import Any

from core.metrics.coverage import untested_words
from core.text import counted, percent

_SHARES = frozenset(
    {
        "accuracy",
        "answered_right",
        "borderline_accuracy",
        "exact",
        "expected_calibration_error",
        "in_scope",
        "kept_out",
        "macro_f1",
        "micro_f1",
        "noise",
        "none_recall",
    }
)
"""Figures that are shares, written as percents."""
_TESTS = re.compile(r"test set of ([\d,]+) texts?")
_TRAINED = "when trained"
_HELD_OUT = re.compile(r"leave-one-out|cross-validation|, held out")
_TUNED_ON = "that the encoder was tuned on"


def figure_words(name: str, value: object) -> str:
    """Write a figure by its name, shares as percents; "" where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    if name in _SHARES:
        return percent(value, 1)
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def is_on_tests(metrics: Mapping[str, Any]) -> bool:
    """Whether stored figures are of test texts, and not of examples that were held out."""
    return str(metrics.get("judged_on", "")).startswith("test")


def measured_on(metrics: Mapping[str, Any]) -> str:
    """Say on what a model's figures stand: "on 240 test texts when trained"; "" without any."""
    if not metrics:
        return ""
    basis, mark, more = str(metrics.get("judged_on") or "").partition("; ")
    found = _TESTS.fullmatch(basis)
    if found:
        texts = "test text" if found[1] == "1" else "test texts"
        words = f"on {found[1]} {texts} {_TRAINED}"
    elif _TUNED_ON in basis:
        words = f"on labels that it has learned, {_TRAINED} ({basis})"
    elif _HELD_OUT.search(basis):
        words = f"on held-out labels {_TRAINED} ({basis})"
    elif basis:
        words = f"on {basis}"
    else:
        words = f"on {counted(metrics['n'], 'text')} when trained" if "n" in metrics else _TRAINED
    return f"{words}{mark}{more}"


def measured_now(n: int) -> str:
    """Say on what figures of today stand: "on 240 test texts, as it answers now"."""
    return f"on {counted(n, 'test text')}, as it answers now"


def untested_of(metrics: Mapping[str, Any]) -> str:
    """Say how many intents a model's figures leave out; "" where it is none, or nobody knows."""
    basis = str(metrics.get("judged_on", ""))
    texts = "held-out labels" if _HELD_OUT.search(basis) else "test texts"
    if _TUNED_ON in basis:
        texts = "learned labels"
    return untested_words(metrics.get("tested_intents"), metrics.get("intents"), texts)
