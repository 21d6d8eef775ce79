"""Evidence receipts: why one answer was given, stored and shown as one page."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from app.services.data.intents import load_overview
from app.services.explaining.explain import explain_text, explained_model
from app.services.explaining.explained_model import ExplainedModel, figures_of
from app.services.explaining.views import Explanation
from app.services.explaining.words import OUTVOTED, SCORE, VOTES
from app.services.live.asked import Which
from app.services.live.live_studio import LiveStudio
from app.services.reports.judged_again import (
    IntentFigures,
    JudgedVersion,
    figures_by_intent,
    judge_on_tests,
)
from app.services.reports.links import kept_at
from app.services.reports.pages import render
from app.services.reports.readiness import checked_on
from app.services.reports.receipt_words import (
    examples_in,
    is_rival,
    key_figures,
    sentences_of,
    steps_of,
)
from app.services.studio import Studio
from app.services.trying.known_texts import Occurrences, RightAct, known_texts
from app.services.trying.landing import AnsweredBy, example_map, land
from core.errors import NotFound
from core.maps.palette import GREY, position_colour
from core.metrics.in_words import measured_on
from core.text import FEW, counted, percent, share_of
from storage import projects, receipts
from storage.log.label_origins import label_ways
from storage.records import ReceiptRecord

_GAP = "How sure it says it is, against how often it is right"
_SETS = "Texts answered with just their intents"
_VOTES = 5
_POINTS = 400
_WIDE, _HIGH, _EDGE = 320.0, 220.0, 10.0


@dataclass(frozen=True, slots=True)
class ReceiptView:
    """A receipt's id, and the path of its page."""

    id: str
    path: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the model: its name, its value, and its basis."""

    name: str
    value: str
    basis: str


def keep_receipt(
    live_studio: LiveStudio,
    project: str,
    text: str,
    model: Which | None = None,
    against: str | None = None,
) -> ReceiptView:
    """Explain an answer and store the evidence; equal evidence is stored once.

    Raises:
        InvalidInput: The text is empty or cannot be stored.
        NotFound: There is no such project, model or intent.
    """
    asked_model = explained_model(live_studio, project, model)
    explanation = explain_text(live_studio.studio, asked_model, text, against)
    return keep(live_studio.studio, asked_model, explanation)


def keep(studio: Studio, model: ExplainedModel, found: Explanation) -> ReceiptView:
    """Store the evidence of an explanation.

    Raises:
        NotFound: The model belongs to no project.
    """
    if model.project is None:
        raise NotFound(
            "A bundle belongs to no project, so nothing can keep its receipt.",
            "Import it into a project first, on the Versions page.",
        )
    content = content_of(studio, model, found)
    with studio.database.write() as connection:
        made = receipts.keep(connection, model.project.id, content, studio.settings.actor)
    return ReceiptView(made.id, f"/receipts/{made.id}")


def find_receipt(studio: Studio, key: str) -> ReceiptRecord:
    """Return a stored receipt.

    Raises:
        NotFound: There is no such receipt.
    """
    with studio.database.read() as connection:
        return receipts.find(connection, key)


def project_of(studio: Studio, record: ReceiptRecord) -> str:
    """Return the present name of a receipt's project."""
    with studio.database.read() as connection:
        return projects.get(connection, record.project_id).name


def receipt_page(
    content: Mapping[str, Any],
    created_at: str,
    link: str,
    downloads: Mapping[str, str],
    back: str = "",
) -> str:
    """Write evidence as one self-contained page of HTML; a file has no link and no downloads.

    `back` is the address of the text on Try, for somebody who may open it.
    """
    explanation, nearest = content["explanation"], content["map"].get("nearest")
    told = [_told(reason, nearest) for reason in explanation["reasons"]]
    figures = [one for one in content["figures"] if one["name"] != _GAP]
    values = {
        "figures": figures,
        "computed": [one for one in content["figures"] if one["name"] == _GAP],
        "votes_mean": f"{VOTES} {SCORE}",
        "nearest": _unnamed_nearest(explanation, nearest, told),
        "created_at": created_at,
        **kept_at(link),
        "downloads": downloads,
        "back": {"Back to Try": back} if back else {},
        "told": told,
        "sentences": sentences_of(explanation, content.get("labelled")),
        "key_figures": key_figures(explanation, figures),
        "is_rival": is_rival(explanation),
        "odd": lambda example: OUTVOTED.format(label=" and ".join(example["outvoted"])),
        "steps": steps_of(explanation, _right(content)),
    }
    return render("receipt.html", {**content, **values})


def _right(content: Mapping[str, Any]) -> RightAct:
    """Return what to do where the answer is right; earlier receipts do not tell it."""
    known: RightAct = "pin" if content["explanation"]["rule"] == "exact" else "add"
    right: RightAct = content.get("right", known)
    return right


def _unnamed_nearest(
    explanation: Mapping[str, Any],
    nearest: Mapping[str, Any] | None,
    told: Sequence[Mapping[str, Any]],
) -> Mapping[str, Any] | None:
    """Return the most similar example where no line shows its vote, as in earlier receipts.

    Of a refused text it is none: its answer names the closest intent, and this may be another.
    """
    if nearest is None or not explanation["answer"]:
        return None
    lines = [vote for one in told for vote in one["votes"]]
    return None if any(_is_of(vote, nearest) for vote in lines) else nearest


def _is_of(vote: Mapping[str, Any], example: Mapping[str, Any]) -> bool:
    """Tell whether a vote is an example's, or of those that say nearly the same."""
    return vote["example"]["id"] == example["id"] or example["text"] in vote.get("twins", ())


def content_of(studio: Studio, model: ExplainedModel, found: Explanation) -> dict[str, Any]:
    """Collect what a receipt shows, as JSON values."""
    figures = figures_of_receipt(figures_of(studio, model), found, judge_on_tests(studio, model))
    return {
        "explanation": asdict(found),
        "map": _map(studio, model, found),
        "figures": [asdict(one) for one in figures],
        "labelled": _labelled(studio, model),
        "right": _act_if_right(studio, model, found),
    }


def _act_if_right(studio: Studio, model: ExplainedModel, found: Explanation) -> RightAct:
    if model.project is None:
        return Occurrences().act_if_right(found.answer)
    return known_texts(studio, model.project.id, [found.text]).act_if_right(found.answer)


def _labelled(studio: Studio, model: ExplainedModel) -> dict[str, int]:
    """Count how the examples got their labels; empty where no log tells it."""
    if model.project is None or not model.revision:
        return {}
    ids = [exemplar.id for exemplar in model.pipeline.exemplars]
    with studio.database.read() as connection:
        return asdict(label_ways(connection, model.project.id, ids, model.revision))


def figures_of_receipt(
    metrics: Mapping[str, Any], found: Explanation, judged: JudgedVersion
) -> list[Figure]:
    """Return how good the model is: by its answers now, as in its report, then by its training."""
    figures = _figures_now(found, judged)
    if not figures and metrics.get("accuracy") is not None:
        figures = [_right_when_trained(metrics)]
    error = metrics.get("expected_calibration_error")
    if error is not None:
        figures.append(
            Figure(
                _GAP,
                f"{100 * error:.0f} of 100 apart",
                "on average, when it was trained: of answers that are 80 of 100 sure, so many more "
                "or fewer are right",
            )
        )
    return figures


def _figures_now(found: Explanation, judged: JudgedVersion) -> list[Figure]:
    """Return the share of right answers and how well the shown intents are found; none untested."""
    checked = checked_on(judged, found.task)
    if not checked.n or not checked.on_tests:
        return []
    name = "Right answers" if found.task == "single-label" else _SETS
    basis = f"{checked.right:,} of {counted(checked.n, 'test text')} answered right today"
    by_intent = figures_by_intent(judged.answers, found.task)
    shown = dict.fromkeys(reason.intent for reason in found.reasons)
    return [
        Figure(name, percent(checked.share, 1), basis),
        *(_found_figure(intent, by_intent[intent]) for intent in shown if intent in by_intent),
    ]


def _found_figure(intent: str, of: IntentFigures) -> Figure:
    basis = f"of {of.support:,} test texts today"
    if of.support < FEW:
        basis = "test texts today, too few to be sure"
    return Figure(f"“{intent}” is found", share_of(of.recall or 0.0, of.support), basis)


def _right_when_trained(metrics: Mapping[str, Any]) -> Figure:
    """Return the share of right answers as pages count it: a refused text is not answered."""
    name = _SETS if metrics.get("task") == "multi-label" else "Right answers"
    given = metrics.get("answered_right")
    share = metrics["accuracy"] if given is None else given
    return Figure(name, percent(share, 1), measured_on(metrics))


def _map(studio: Studio, model: ExplainedModel, found: Explanation) -> dict[str, Any]:
    """Return the map of examples and the text, in the units of the picture."""
    points = example_map(model, model.name, _POINTS)
    embedding = model.pipeline.encoder.encode([found.text])[0]
    landing = land(model, embedding, AnsweredBy(found.rule, found.reasons[0].intent))
    every = [*points.points, landing.place, *landing.neighbours]
    xs, ys = [x for x, _ in every], [y for _, y in every]
    scale = min(
        (_WIDE - 2 * _EDGE) / max(max(xs) - min(xs), 1e-6),
        (_HIGH - 2 * _EDGE) / max(max(ys) - min(ys), 1e-6),
    )
    middle = (max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2

    def fit(place: tuple[float, float]) -> list[float]:
        x = _WIDE / 2 + scale * (place[0] - middle[0])
        return [round(x, 1), round(_HIGH / 2 - scale * (place[1] - middle[1]), 1)]

    colours = _colours(studio, model)
    label_colours = [colours.get(label[0], GREY) if label else GREY for label in points.labels]
    return {
        "points": [
            [*fit(place), label_colours[code]]
            for place, code in zip(points.points, points.codes, strict=True)
        ],
        "here": fit(landing.place),
        "near": [fit(place) for place in landing.neighbours],
        "words": landing.words,
        "nearest": None if landing.nearest is None else asdict(landing.nearest),
        "total": points.total,
        "colours": {reason.intent: colours.get(reason.intent, GREY) for reason in found.reasons},
    }


def _colours(studio: Studio, model: ExplainedModel) -> dict[str, str]:
    if model.project is not None:
        return {one.name: one.color for one in load_overview(studio, model.project.name)[1]}
    return {name: position_colour(at) for at, name in enumerate(model.pipeline.head.intents)}


def _told(reason: Mapping[str, Any], nearest: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what is drawn: the lines of the Try page with their bars, and the strengths of words.

    These are the heaviest votes, and that of the most similar example.
    """
    rest = reason["votes"][_VOTES:]
    near = [vote for vote in rest if nearest is not None and _is_of(vote, nearest)]
    shown = [*reason["votes"][:_VOTES], *near]
    left = [vote for vote in rest if vote not in near]
    voice = reason.get("voice", 0.0)  # missing in receipts from before names had a voice
    single = [*(vote["vote"] for vote in shown), reason["prior"], voice]
    others = _rest(reason["score"], single)
    parts = [*single, others]
    largest = max(1e-9, *(abs(part) for part in parts))
    words = reason["words"]
    strength = [_strength(word) for word in words["words"]] if words else []
    strongest = max(1e-9, *(abs(one) for one in strength)) if strength else 1.0
    return {
        # A head such as `linear` adds up no votes: its examples are the most similar ones alone.
        "voted": reason.get("by_name") or not shown or any(vote["vote"] for vote in shown),
        "votes": [
            {**vote, "width": 50 * abs(vote["vote"]) / largest, "is_near": vote in near}
            for vote in shown
        ],
        "others": {"vote": others, "width": 50 * abs(others) / largest},
        "prior": {"vote": reason["prior"], "width": 50 * abs(reason["prior"]) / largest},
        "voice": {"vote": voice, "width": 50 * abs(voice) / largest} if voice else None,
        "n_others": reason["n_others"] + sum(map(examples_in, left)),
        "strength": [one / strongest for one in strength],
    }


def _rest(score: float, parts: Sequence[float]) -> float:
    """Return the score without its other parts, each as it is written: in tenths of a point.

    A reader adds up what is written, so what rounding takes from the parts is in the rest.
    """
    written = [float(f"{100 * value:.1f}") for value in (score, *parts)]
    return round(written[0] - sum(written[1:]), 1) / 100


def _strength(word: Mapping[str, Any]) -> float:
    share = word["share"]
    return float(word["effect"] if share is None else share)
