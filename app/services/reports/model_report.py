"""The report about a model version: ready or not, what changed, what to do, and an appendix."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from app.services.answering.pinned import BrokenPin, open_pins
from app.services.explaining.explained_model import (
    ExplainedModel,
    explained_as_in_use,
    figures_of,
)
from app.services.explaining.words import MEASURES
from app.services.live.judged_pins import judge_pins
from app.services.live.live_studio import LiveStudio
from app.services.reports.judged_again import (
    JudgedVersion,
    figures_by_intent,
    judge_again,
)
from app.services.reports.links import kept_at
from app.services.reports.next_steps import next_steps
from app.services.reports.pages import render
from app.services.reports.readiness import Facts, checked_on, readiness_of
from app.services.reports.report_views import (
    REFUSED,
    ChangeLine,
    ConfusionLine,
    IntentLine,
    Report,
    ScopeLine,
    Since,
    WrongLine,
)
from app.services.reports.versions_now import compare_now
from app.services.studio import Studio
from app.services.versions.comparison import compare_versions
from app.services.versions.comparison_words import version_words
from app.services.versions.registry import (
    live_number,
    model_states,
    sides_of,
    version_before,
)
from app.services.versions.verdict import advice_on
from core.explain.typical import typical_examples
from core.metrics.mixed_up import MixUp, WrongAnswer, mixed_up
from core.metrics.paired import PairedAnswer
from core.recipes.read import work_of
from core.text import label_words
from core.types import Task
from storage import models, projects
from storage.log import versions
from storage.queries import dataset

_CONFUSIONS = 8
_EXAMPLES = 3
_CHANGED = 5


def require_version(studio: Studio, project: str, number: int) -> None:
    """Check that a model version exists.

    Raises:
        NotFound: There is no such project or version.
    """
    with studio.database.read() as connection:
        models.find(connection, projects.find(connection, project).id, number)


def report(live_studio: LiveStudio, project: str, number: int) -> Report:
    """Return the report of a model version, cached until the project changes.

    Raises:
        NotFound: There is no such project or version.
        ArtifactDamaged: Its files are missing or damaged.
    """
    studio = live_studio.studio
    require_version(studio, project, number)
    with studio.database.read() as connection:
        found = projects.find(connection, project)
        moves = len(models.moves(connection, found.id))
        pins = open_pins(connection, found.id)
    return studio.cache.get_newest(
        ("report", found.id, number),
        (found.name, found.head_revision, moves, repr(found.fence), pins),
        lambda: _report(live_studio, project, number),
        lambda _: 100_000,
    )


def report_page(found: Report, link: str, downloads: Mapping[str, str], back: str = "") -> str:
    """Write a report as one self-contained page of HTML; a file has no link and no downloads.

    `back` is the address of the page of versions, for somebody who may open it.
    """
    values = {
        "it": asdict(found),
        **kept_at(link),
        "downloads": downloads,
        "back": {"Back to Versions": back} if back else {},
    }
    return render("report.html", values)


def _report(live_studio: LiveStudio, project: str, number: int) -> Report:
    studio = live_studio.studio
    model = explained_as_in_use(live_studio, project, number)
    metrics, judged = figures_of(studio, model), judge_again(studio, model)
    version, task, lineage = model.version, model.pipeline.task, _lineage(model)
    wrong, since = _wrong(judged, task), _since(live_studio, model)
    confusions, state = _confusions(wrong), model_states(studio, project).get(number, "candidate")
    facts = _facts(studio, model, judged, since)
    return Report(
        project=project,
        name=model.name,
        number=number,
        state=state,
        ready=readiness_of(facts),
        created_at="" if version is None else version.created_at,
        task=task,
        work=work_of(lineage.get("recipe", {})),
        base=str(lineage.get("base", "")),
        dataset_version=model.dataset_version,
        later=model.later,
        metrics=metrics,
        intents=tuple(facts.intents),
        basis=judged.basis,
        confusions=confusions,
        n_wrong=len(wrong),
        bins=judged.bins,
        scope=facts.scope,
        since=since,
        steps=_steps(state, facts, metrics, confusions),
    )


def _facts(
    studio: Studio, model: ExplainedModel, judged: JudgedVersion, since: Since | None
) -> Facts:
    alone = Facts(
        task=model.pipeline.task,
        examples=len(model.pipeline.exemplars),
        intents=_intents(studio, model, judged),
        scope=_scope(model, judged),
        checked=checked_on(judged, model.pipeline.task),
        broken=_broken(studio, model),
        is_now=model.later is not None,
        chose_line=judged.on_tests
        and model.project is not None
        and model.project.fence is not None,
    )
    if since is None:
        return alone
    return replace(
        alone,
        outcome=since.outcome,
        advice=since.advice,
        other=since.version,
    )


def _lineage(model: ExplainedModel) -> Mapping[str, Any]:
    return {} if model.version is None else model.version.lineage


def _broken(studio: Studio, model: ExplainedModel) -> tuple[BrokenPin, ...]:
    """Return the pins of today that a version breaks by its answers of today."""
    if model.project is None:
        return ()
    with studio.database.read() as connection:
        pins = open_pins(connection, model.project.id)
    return tuple(judge_pins(studio, model.pipeline, pins).values())


def _steps(
    state: str, facts: Facts, metrics: Mapping[str, Any], confusions: Sequence[ConfusionLine]
) -> tuple[str, ...]:
    """Return what to do; while a version waits, first whether to use it."""
    steps = next_steps(
        metrics,
        facts.intents,
        facts.scope,
        confusions,
        facts.broken,
        on_tests=facts.checked.on_tests,
    )
    if state != "candidate" or facts.advice is None:
        return steps
    return (f"Decide: {facts.advice.act}.", *steps)


def _intents(
    studio: Studio, model: ExplainedModel, judged: JudgedVersion
) -> tuple[IntentLine, ...]:
    """Return the intents by the same answers as all figures of the report, the weakest first.

    An archived intent without an example or a text is none: no text can get it.
    """
    quality = figures_by_intent(judged.answers, model.pipeline.task)
    exemplars = model.pipeline.exemplars
    counts = Counter(name for exemplar in exemplars for name in exemplar.intents)
    archived = _archived(studio, model)
    samples = typical_examples(exemplars, model.pipeline.embeddings)
    lines = [
        IntentLine(
            name,
            counts[name],
            samples[name].text if name in samples else "",
            quality[name].precision if name in quality else None,
            quality[name].recall if name in quality else None,
            quality[name].support if name in quality else 0,
            quality[name].said if name in quality else 0,
        )
        for name in model.pipeline.head.intents
        if name in counts or name in quality or name not in archived
    ]
    return tuple(sorted(lines, key=_weakness))


def _archived(studio: Studio, model: ExplainedModel) -> set[str]:
    """Return the names of the intents that the project has set aside, merged ones included."""
    if model.project is None:
        return set()
    with studio.database.read() as connection:
        found = dataset.intents(connection, model.project.id)
    return {one.name for one in found if one.archived}


def _weakness(one: IntentLine) -> tuple[float, str]:
    """Order by what goes wrong most: texts that are not found, or answers that are not right."""
    return 1.0 if one.share is None else one.share, one.name


def _wrong(judged: JudgedVersion, task: Task) -> list[WrongAnswer[str]]:
    """Return the wrong answers, the least sure first: of a sure one the label may be wrong."""
    wrong = list[WrongAnswer[str]]()
    for one in sorted(judged.answers, key=lambda answer: answer.confidence):
        refused = task == "single-label" and one.refused
        if refused or not one.right:
            said = REFUSED if refused else label_words(one.said, task)
            label = label_words(one.expected, task)
            wrong.append(WrongAnswer(label, said, one.text, judged.on_tests))
    return wrong


def _confusions(wrong: Sequence[WrongAnswer[str]]) -> tuple[ConfusionLine, ...]:
    return tuple(_confusion(one) for one in mixed_up(wrong)[:_CONFUSIONS])


def _confusion(one: MixUp[str]) -> ConfusionLine:
    """Show the wrong answers between two intents, which are paired as Review and the map do."""
    actual, said = one.pair if REFUSED not in one.pair else (max(one.pair), REFUSED)
    texts = tuple(WrongLine(w.text, w.label, w.answer) for w in one.wrong[:_EXAMPLES])
    return ConfusionLine(actual, said, len(one.wrong), one.measure, texts)


def _scope(model: ExplainedModel, judged: JudgedVersion) -> ScopeLine:
    inside = [one for one in judged.answers if one.expected]
    n_kept = sum(not one.refused for one in inside)
    n_out = len(judged.outside)
    single = model.pipeline.task == "single-label"
    return ScopeLine(
        model.pipeline.calibration.threshold if single else None,
        n_kept / len(inside) if inside else None,
        n_out,
        sum(judged.outside) / n_out if n_out else None,
        MEASURES[model.pipeline.calibration.measure],
        judged.outside_known,
    )


def _since(live_studio: LiveStudio, model: ExplainedModel) -> Since | None:
    if model.project is None or model.version is None:
        return None
    studio, project, number = live_studio.studio, model.project, model.version.number
    other = _compared_with(studio, project.name, number)
    if other is None:
        return None
    with studio.database.read() as connection:
        pair = [models.find(connection, project.id, one) for one in (other, number)]
        frozen = [
            None
            if one.dataset_version_id is None
            else versions.get(connection, one.dataset_version_id)
            for one in pair
        ]
    data: tuple[str, ...] | None = None
    if frozen[0] is not None and frozen[1] is not None:
        before, after = frozen[0].number, frozen[1].number
        is_same = before == after
        data = () if is_same else compare_versions(studio, project.name, before, after).words
    found = compare_now(live_studio, project.name, number, other)
    sides = {
        verdict: [_change(one, project.task) for one in found.answers if one.verdict == verdict]
        for verdict in ("fixed", "broken")
    }
    return Since(
        name=f"{project.name}@{other}",
        version=version_words(f"{project.name}@{other}"),
        data=data,
        verdict=found.verdict,
        outcome=found.outcome,
        words=found.words,
        better=tuple(sides["fixed"][:_CHANGED]),
        n_better=len(sides["fixed"]),
        worse=tuple(sides["broken"][:_CHANGED]),
        n_worse=len(sides["broken"]),
        advice=advice_on(found, sides_of(studio, project.name, number, other)),
    )


def _compared_with(studio: Studio, project: str, number: int) -> int | None:
    """Return the version that a reader knows: the live one, for it the one that was live before."""
    states = model_states(studio, project)
    live = live_number(studio, project)
    older = [one for one, state in states.items() if one < number and state != "encoder"]
    known = version_before(studio, project) if live == number else live
    if states.get(number) in ("champion", "candidate") and known is not None and known != number:
        return known
    return max(older, default=None)


def _change(answer: PairedAnswer, task: Task) -> ChangeLine:
    return ChangeLine(
        answer.text,
        label_words(answer.expected, task),
        label_words(answer.before, task),
        label_words(answer.after, task),
    )
