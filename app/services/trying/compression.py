"""Semantic compression at inference: texts and examples move towards templates (TaDSE Eq. 5).

It previews what a model would answer; it is not a setting of the project.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from app.services.answering.stored import no_model_yet
from app.services.cache import of_version
from app.services.embedding import embed_texts
from app.services.live.live_model import LiveModel
from app.services.live.live_studio import LiveStudio, open_live
from app.services.slots.matcher import MarkedValues, read_marked_values, tokens_of
from app.services.studio import Studio
from app.services.trying.compression_views import (
    Compressed,
    CompressionView,
    Near,
    StrengthChoice,
)
from core.errors import InvalidInput
from core.recipes.read import is_tuned_on_labels
from core.splits import Rows, stratified_folds
from core.templates.matching import learn_matcher
from core.templates.slots import SlottedText, Tokens, template_of
from core.text import counted
from core.types import FloatArray
from core.vectors import nearest, unit_rows
from storage import projects

if TYPE_CHECKING:
    from core.heads.votes.compression import Paired
    from core.heads.votes.fit import VoteHead
    from core.pipeline import IntentPipeline

STEPS = tuple(step / 10 for step in range(11))
"""The strengths of the slider."""

_MOST = 3_000
"""Most examples that vote: each strength fits them again, in about a second."""

_JUDGED = 1_000
_FOLDS = 5
_NEAREST = 5


@dataclass(frozen=True, slots=True, eq=False)
class CompressedTexts:
    """Texts and a live model, both moved towards their templates.

    Attributes:
        embeddings: The texts, moved, (n, d) float32.
        strength: Lambda^comp, in tenths.
        plain: The texts without compression, unit rows, (n, d).
    """

    live: LiveModel
    embeddings: FloatArray = field(repr=False)
    strength: float
    texts: tuple[SlottedText, ...]
    plain: FloatArray = field(repr=False)
    examples: "_PairedExamples" = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class _PairedExamples:
    """The examples of a live model with their templates.

    Attributes:
        key: Identifies the model, its labels and the marked values in the cache.
        rows: Rows of the model's examples; of very many, a choice.
        pair: Embeddings of the examples and of their templates.
    """

    key: tuple[object, ...]
    rows: Rows
    texts: tuple[SlottedText, ...]
    pair: "Paired"
    head: "VoteHead"
    marks: MarkedValues
    tokens: Tokens


def compression_view(live_studio: LiveStudio, project: str) -> CompressionView:
    """Say whether a project's answers can be compressed, and if not, what to do.

    Raises:
        NotFound: There is no such project.
    """
    with live_studio.studio.database.read() as connection:
        record = projects.find(connection, project)
    live = live_studio.models.get(record.id)
    if live is None:
        missing = no_model_yet(project)
        return CompressionView(ready=False, reason=missing.message, hint=missing.hint)
    total = len(live.pipeline.exemplars)
    try:
        examples = _pair_examples(live_studio.studio, live)
    except InvalidInput as refusal:
        return CompressionView(ready=False, reason=refusal.message, hint=refusal.hint, total=total)
    marked = sum(bool(text.slots) for text in examples.texts)
    return CompressionView(ready=True, marked=marked, voting=len(examples.rows), total=total)


def compress_texts(
    studio: Studio, live: LiveModel, texts: Sequence[str], strength: float
) -> CompressedTexts:
    """Move a live model's examples, and texts, towards their templates.

    People marked the values of examples; those of the texts are proposed. `strength` is
    lambda^comp, rounded to tenths.

    Raises:
        InvalidInput: The model does not decide by votes, or no value is marked in its examples.
    """
    from core.heads.votes.compression import Paired

    examples, strength = _pair_examples(studio, live), round(strength, 1)
    slotted = tuple(examples.marks.matcher.propose(text) for text in texts)
    templates = [template_of(text, examples.tokens) for text in slotted]
    rows = unit_rows(live.pipeline.encoder.encode([*texts, *templates]))
    plain = rows[: len(texts)]
    moved = Paired(rows[len(texts) :], plain).at(strength)
    model = _compressed(studio, live, examples, strength)
    return CompressedTexts(model, moved, strength, slotted, plain, examples)


def compress_model(studio: Studio, live: LiveModel, strength: float) -> LiveModel:
    """Return a live model with its examples moved and its votes fitted again.

    Raises:
        InvalidInput: It does not decide by votes, or no value is marked in its examples.
    """
    return _compressed(studio, live, _pair_examples(studio, live), round(strength, 1))


def compressed_view(compressed: CompressedTexts) -> Compressed:
    """Return the effect of compression on the first of the texts."""
    [text, *_] = compressed.texts
    pipeline, examples = compressed.live.pipeline, compressed.examples
    cosines = pipeline.embeddings @ compressed.embeddings[0]
    plain = examples.pair.utterances @ compressed.plain[0]
    near = nearest(cosines[None].astype(np.float64), min(_NEAREST, len(cosines)))[0].tolist()
    return Compressed(
        strength=compressed.strength,
        template=template_of(text, examples.tokens),
        values=tuple((slot.name, text.value(slot)) for slot in text.slots),
        nearest=tuple(
            Near(
                pipeline.exemplars[row].id,
                pipeline.exemplars[row].text,
                pipeline.exemplars[row].intents,
                float(cosines[row]),
                1 + int((plain > plain[row]).sum()),
            )
            for row in near
        ),
    )


def strength_choice(live_studio: LiveStudio, project: str) -> StrengthChoice:
    """Evaluate each strength on held-out examples, and suggest one.

    Five-fold cross-validation: the votes of the other folds answer each fold. Values are proposed
    from those marked in the other folds, as for an unseen text.

    Raises:
        InvalidInput: Nothing can be compressed; the message says why.
        NotFound: There is no such project, or it has no trained model yet.
    """
    _, live = open_live(live_studio, project)
    examples = _pair_examples(live_studio.studio, live)
    *of, moment = examples.key
    return live_studio.studio.cache.get_newest(
        ("strength", *of),
        moment,
        lambda: _choose(live_studio.studio, live, examples),
        lambda _: 1_000,
    )


def _choose(studio: Studio, live: LiveModel, examples: _PairedExamples) -> StrengthChoice:
    from core.heads.mixture import voices_of
    from core.heads.votes.compression import Paired, choose_strength, held_out_accuracies
    from core.heads.votes.subset import spread_choice

    # Synthetic examples are not evaluated, because they repeat the words of their sources.
    ids = [live.pipeline.exemplars[row].id for row in examples.rows]
    real = np.array([at for at, key in enumerate(ids) if key not in examples.marks.synthetic])
    rows = real[spread_choice(examples.head.targets[real], _JUDGED)]
    texts = [examples.texts[row] for row in rows]
    folds = stratified_folds(
        [str(row) for row in examples.head.targets[rows].argmax(1)], min(_FOLDS, len(rows)), 0
    )
    templates = [""] * len(texts)
    for fold in folds:
        held = set(fold.tolist())
        matcher = learn_matcher(one for at, one in enumerate(texts) if one.slots and at not in held)
        for at in held:
            templates[at] = template_of(matcher.propose(texts[at].text), examples.tokens)
    known = Paired(examples.pair.templates[rows], examples.pair.utterances[rows])
    proposed = unit_rows(embed_texts(studio.database, live.pipeline.encoder, templates))
    asked = Paired(proposed, known.utterances)
    head = replace(examples.head, targets=examples.head.targets[rows])
    mixed = live.pipeline.head
    found = held_out_accuracies(head, known, asked, folds, STEPS, lambda at: voices_of(mixed, at))
    basis = f"on {counted(len(rows), 'example')}, each answered by the others"
    if is_tuned_on_labels(live.version.lineage.get("recipe", {})):
        basis += "; the model has learned them, which favours a low strength"
    return StrengthChoice(STEPS, tuple(found.values()), choose_strength(found), len(rows), basis)


def _pair_examples(studio: Studio, live: LiveModel) -> _PairedExamples:
    """Pair a model's examples with their templates, once for each state of labels and marks.

    Raises:
        InvalidInput: Nothing can be compressed; the message says why, and what to do.
    """
    from core.heads.mixture import without_names
    from core.heads.votes.fit import VoteHead

    head = without_names(live.pipeline.head)
    if not isinstance(head, VoteHead):
        raise InvalidInput(
            f"This model decides by the head '{head.kind}', not by votes.",
            "Compression fits votes anew: train with the head 'votes'.",
        )
    with studio.database.read() as connection:
        project = projects.get(connection, live.version.project_id)
        tokens = tokens_of(connection, live.version)
    marks = read_marked_values(studio, project)
    if not any(exemplar.id in marks.utterances for exemplar in live.pipeline.exemplars):
        raise InvalidInput(
            "No value is marked in the examples.",
            "Mark values in texts on the page Slots, or import a file that has them marked.",
        )
    series = ("compression", of_version(live.version))
    moment = (live.revision, project.head_revision, marks.imports)
    key = (*series, moment)
    return studio.cache.get_newest(
        series,
        moment,
        lambda: _embed_pairs(studio, live.pipeline, head, marks, tokens, key),
        lambda examples: 2 * int(examples.pair.templates.nbytes),
    )


def _embed_pairs(
    studio: Studio,
    pipeline: "IntentPipeline",
    votes: "VoteHead",
    marks: MarkedValues,
    tokens: Tokens,
    key: tuple[object, ...],
) -> _PairedExamples:
    from core.heads.votes.compression import Paired
    from core.heads.votes.subset import spread_choice

    rows = spread_choice(votes.targets, _MOST)
    texts = tuple(marks.of(pipeline.exemplars[r].id, pipeline.exemplars[r].text) for r in rows)
    utterances = pipeline.embeddings[rows]
    templates = utterances.copy()
    moving = [at for at, text in enumerate(texts) if text.slots]
    words = [template_of(texts[at], tokens) for at in moving]
    if moving:
        templates[moving] = unit_rows(embed_texts(studio.database, pipeline.encoder, words))
    head = replace(
        votes,
        exemplars=utterances,
        targets=votes.targets[rows],
        weights=votes.weights[rows],
        diagonal=None,
        root=None,
        carriers=None,
    )
    return _PairedExamples(key, rows, texts, Paired(templates, utterances), head, marks, tokens)


def _compressed(
    studio: Studio, live: LiveModel, examples: _PairedExamples, strength: float
) -> LiveModel:
    """Move a live model's examples; its names and thresholds are unchanged."""
    from core.calibration.fence import with_exemplars
    from core.heads.mixture import MixtureHead
    from core.heads.votes.compression import compressed_votes

    *of, moment = examples.key
    votes = studio.cache.get_newest(
        ("compressed", strength, *of),
        moment,
        lambda: compressed_votes(examples.head, examples.pair, strength),
        lambda votes: int(votes.exemplars.nbytes + votes.targets.nbytes + votes.weights.nbytes),
    )
    head, calibration = live.pipeline.head, live.pipeline.calibration
    measure = calibration.familiarity_measure
    if measure is not None:  # else texts that moved would be compared with examples that did not
        shapes = with_exemplars(votes.exemplars, votes.targets, measure.shapes.precision)
        measure = replace(measure, shapes=shapes)
        calibration = replace(calibration, familiarity_measure=measure)
    pipeline = replace(
        live.pipeline,
        calibration=calibration,
        head=replace(head, first=votes) if isinstance(head, MixtureHead) else votes,
        exemplars=tuple(live.pipeline.exemplars[row] for row in examples.rows),
        embeddings=votes.exemplars,
    )
    return replace(live, pipeline=pipeline)
