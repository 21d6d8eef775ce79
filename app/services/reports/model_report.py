"""The report about a model version: its intents, its metrics, and its weaknesses."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from app.services.explaining.explained_model import ExplainedModel, explained_version, figures_of
from app.services.explaining.words import MEASURES
from app.services.reports.judged_again import JudgedText, JudgedVersion, judge_again
from app.services.reports.pages import render
from app.services.reports.report_views import (
    ChangeLine,
    ConfusionLine,
    IntentLine,
    Report,
    ScopeLine,
    Since,
)
from app.services.reports.weaknesses import weaknesses_of
from app.services.studio import Studio
from app.services.versions.comparison import compare_models, compare_versions
from app.services.versions.registry import model_states
from core.text import label_words
from core.types import Task
from storage import models, projects
from storage.log import versions

_CONFUSIONS = 8
_EXAMPLES = 3
_CHANGED = 6


def require_version(studio: Studio, project: str, number: int) -> None:
    """Check that a model version exists.

    Raises:
        NotFound: There is no such project or version.
    """
    with studio.database.read() as connection:
        models.find(connection, projects.find(connection, project).id, number)


def report(studio: Studio, project: str, number: int) -> Report:
    """Return the report of a model version, cached until the project changes.

    Raises:
        NotFound: There is no such project or version.
        ArtifactDamaged: Its files are missing or damaged.
    """
    require_version(studio, project, number)
    with studio.database.read() as connection:
        found = projects.find(connection, project)
        moves = len(models.moves(connection, found.id))
    key = ("report", found.id, number, found.head_revision, moves)
    return studio.cache.get(key, lambda: _report(studio, project, number), lambda _: 100_000)


def report_page(found: Report, link: str, downloads: Mapping[str, str]) -> str:
    """Write a report as one self-contained page of HTML; a file has no link and no downloads."""
    return render("report.html", {"it": asdict(found), "link": link, "downloads": downloads})


def _report(studio: Studio, project: str, number: int) -> Report:
    model = explained_version(studio, f"{project}@{number}")
    metrics, judged = figures_of(studio, model), judge_again(studio, model)
    version = model.version
    facts: Mapping[str, Any] = {} if version is None else version.lineage
    intents = _intents(model, metrics)
    found = Report(
        project=project,
        name=model.name,
        state=model_states(studio, project).get(number, "candidate"),
        created_at="" if version is None else version.created_at,
        task=model.pipeline.task,
        recipe=str(facts.get("recipe", {}).get("kind", "imported")),
        base=str(facts.get("base", "")),
        dataset_version=model.dataset_version,
        n_examples=len(model.pipeline.exemplars),
        metrics=metrics,
        intents=intents,
        basis=judged.basis,
        confusions=_confusions(judged.answers, model.pipeline.task),
        bins=judged.bins,
        scope=_scope(model, judged),
        since=_since(studio, model),
        weaknesses=(),
    )
    broken = () if version is None else version.pins.get("broken", ())
    told = weaknesses_of(found.metrics, found.intents, found.scope, len(broken))
    return replace(found, weaknesses=told)


def _intents(model: ExplainedModel, metrics: Mapping[str, Any]) -> tuple[IntentLine, ...]:
    quality = {one["intent"]: one for one in metrics.get("per_intent", ())}
    counts: Counter[str] = Counter()
    samples: dict[str, str] = {}
    for exemplar in model.pipeline.exemplars:
        for name in exemplar.intents:
            counts[name] += 1
            samples.setdefault(name, exemplar.text)
    lines = [
        IntentLine(
            name,
            counts[name],
            samples.get(name, ""),
            quality[name]["precision"] if name in quality else None,
            quality[name]["recall"] if name in quality else None,
            quality[name]["support"] if name in quality else 0,
        )
        for name in model.pipeline.head.intents
    ]
    return tuple(
        sorted(lines, key=lambda one: (1.0 if one.recall is None else one.recall, one.name))
    )


def _confusions(answers: Sequence[JudgedText], task: Task) -> tuple[ConfusionLine, ...]:
    wrong: dict[tuple[str, str], list[str]] = {}
    for one in answers:
        if not one.right:
            pair = label_words(one.expected, task), label_words(one.said, task)
            wrong.setdefault(pair, []).append(one.text)
    ranked = sorted(wrong.items(), key=lambda item: (-len(item[1]), item[0]))[:_CONFUSIONS]
    return tuple(
        ConfusionLine(actual, said, len(texts), tuple(texts[:_EXAMPLES]))
        for (actual, said), texts in ranked
    )


def _scope(model: ExplainedModel, judged: JudgedVersion) -> ScopeLine:
    n_kept = sum(not one.refused for one in judged.answers)
    n_out = len(judged.outside)
    single = model.pipeline.task == "single-label"
    return ScopeLine(
        model.pipeline.calibration.threshold if single else None,
        n_kept / len(judged.answers) if judged.answers else None,
        n_out,
        sum(judged.outside) / n_out if n_out else None,
        MEASURES[model.pipeline.calibration.measure],
    )


def _since(studio: Studio, model: ExplainedModel) -> Since | None:
    if model.project is None or model.version is None:
        return None
    project, number = model.project, model.version.number
    with studio.database.read() as connection:
        older = [one for one in models.list_all(connection, project.id) if one.number < number]
        frozen = [
            None
            if one.dataset_version_id is None
            else versions.get(connection, one.dataset_version_id)
            for one in [*older[-1:], model.version]
        ]
    if not older:
        return None
    data: tuple[str, ...] = ()
    if frozen[0] is not None and frozen[1] is not None:
        data = compare_versions(studio, project.name, frozen[0].number, frozen[1].number).words
    found = compare_models(studio, project.name, number, older[-1].number)
    lines = tuple(
        ChangeLine(
            one.text,
            label_words(one.expected, project.task),
            label_words(one.before, project.task),
            label_words(one.after, project.task),
        )
        for one in found.answers[:_CHANGED]
    )
    return Since(f"{project.name}@{older[-1].number}", data, found.words, lines)
