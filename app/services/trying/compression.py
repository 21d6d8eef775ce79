"""Semantic compression at inference: texts and examples move towards templates (TaDSE Eq. 5).

A way to look at what a model would answer; it is no setting of the project.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from app.services.answering.stored import no_model_yet
from app.services.embedding import embed_texts
from app.services.live.live_model import LiveModel
from app.services.live.server_state import LiveStudio, open_live
from app.services.slots.matcher import MarkedValues, read_marked_values, tokens_of
from app.services.studio import Studio
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

STEPS = tuple(step / 10 for step in range(11))
"""The strengths that a slider has."""

_MOST = 3_000
"""Of more examples so many vote here: each strength fits them anew, in a second or so."""

_JUDGED = 1_000
_FOLDS = 5
_NEAREST = 5


@dataclass(frozen=True, slots=True)
class CompressionView:
    """Whether a project's answers can be looked at compressed.

    Attributes:
        ready: Whether they can.
        reason: Why not; else empty.
        hint: What to do about it; else empty.
        marked: Examples with a marked value: those that move.
        voting: Examples that vote, compressed.
        total: Examples of the model.
    """

    ready: bool
    reason: str = ""
    hint: str = ""
    marked: int = 0
    voting: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class StrengthChoice:
    """How well held-out examples are answered at each strength.

    Attributes:
        strengths: Lambda^comp, rising.
        accuracies: Share of right answers at each, in [0, 1].
        suggested: The strength of the highest accuracy; of equals the smallest.
        n: Examples that were asked.
        basis: How, in words.
    """

    strengths: tuple[float, ...]
    accuracies: tuple[float, ...]
    suggested: float
    n: int
    basis: str


@dataclass(frozen=True, slots=True)
class Near:
    """One of the nearest examples, compressed.

    Attributes:
        id: Of the utterance.
        text: What it says.
        intents: Its label.
        cosine: To the text, compressed both.
        before: Which of the nearest it is without compression, from 1.
    """

    id: str
    text: str
    intents: tuple[str, ...]
    cosine: float
    before: int


@dataclass(frozen=True, slots=True)
class Compressed:
    """What compression made of a text.

    Attributes:
        strength: Lambda^comp.
        template: The text without its values, as far as they were recognised.
        values: Those values, each with the name of its slot.
        nearest: The nearest examples, the nearest first.
    """

    strength: float
    template: str
    values: tuple[tuple[str, str], ...]
    nearest: tuple[Near, ...]


@dataclass(frozen=True, slots=True, eq=False)
class CompressedModel:
    """A live model as it answers compressed, and texts as it sees them.

    Attributes:
        live: The model with its examples moved and its votes fitted anew.
        embeddings: The texts, moved, (n, d) float32.
        strength: How far.
        texts: The texts with the values that were recognised in them.
        plain: The texts where they lie without compression, unit rows, (n, d).
        ground: The examples.
    """

    live: LiveModel
    embeddings: FloatArray = field(repr=False)
    strength: float
    texts: tuple[SlottedText, ...]
    plain: FloatArray = field(repr=False)
    ground: "_Ground" = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class _Ground:
    """The examples of a live model with their templates.

    Attributes:
        key: Stands for everything here.
        rows: Which of the model's examples these are.
        texts: What they say, with the values that were marked.
        pair: Where they and their templates lie.
        head: Settings and labels of their votes.
        marks: Of the project.
        tokens: What stands for a value in a template.
    """

    key: tuple[object, ...]
    rows: Rows
    texts: tuple[SlottedText, ...]
    pair: "Paired"
    head: "VoteHead"
    marks: MarkedValues
    tokens: Tokens

    @property
    def marked(self) -> int:
        """How many move."""
        return sum(bool(one.slots) for one in self.texts)


def compression_view(live_studio: LiveStudio, project: str) -> CompressionView:
    """Say whether a project's answers can be looked at compressed, and if not, what to do.

    Raises:
        NotFound: There is no such project.
    """
    with live_studio.studio.database.read() as connection:
        found = projects.find(connection, project)
    live = live_studio.models.get(found.id)
    if live is None:
        refusal = no_model_yet(project)
        return CompressionView(ready=False, reason=refusal.message, hint=refusal.hint)
    refused = _refusal(live_studio.studio, live)
    total = len(live.pipeline.exemplars)
    if refused is not None:
        return CompressionView(ready=False, reason=refused[0], hint=refused[1], total=total)
    ground = _ground(live_studio.studio, live)
    voting = len(ground.rows)
    return CompressionView(ready=True, marked=ground.marked, voting=voting, total=total)


def look_compressed(
    live_studio: LiveStudio, live: LiveModel, texts: Sequence[str], strength: float
) -> CompressedModel:
    """Move a live model's examples, and texts that are asked, towards their templates.

    The values of examples are those that somebody marked; those of the texts are proposed.

    Args:
        live_studio: The open studio and its live models.
        live: The model.
        texts: What is asked.
        strength: Lambda^comp; tenths count.

    Raises:
        InvalidInput: The model does not decide by votes, or no value is marked in its examples.
    """
    moved = compressed_model(live_studio.studio, live, strength)
    ground = _ground(live_studio.studio, live)
    found = tuple(ground.marks.matcher.propose(text) for text in texts)
    asked = _paired_texts(live.pipeline.encoder, found, ground.tokens)
    strength = round(strength, 1)
    return CompressedModel(moved, asked.at(strength), strength, found, asked.utterances, ground)


def compressed_model(studio: Studio, live: LiveModel, strength: float) -> LiveModel:
    """Return a live model with its examples moved and its votes fitted anew.

    Raises:
        InvalidInput: It does not decide by votes, or no value is marked in its examples.
    """
    refused = _refusal(studio, live)
    if refused is not None:
        raise InvalidInput(*refused)
    ground = _ground(studio, live)
    return replace(live, pipeline=_pipeline(studio, live, ground, round(strength, 1)))


def told(look: CompressedModel) -> Compressed:
    """Say what compression made of the first of the texts."""
    [found, *_] = look.texts
    exemplars = look.live.pipeline.exemplars
    cosines = look.live.pipeline.embeddings @ look.embeddings[0]
    plain = look.ground.pair.utterances @ look.plain[0]
    near = nearest(cosines[None].astype(np.float64), min(_NEAREST, len(cosines)))[0].tolist()
    return Compressed(
        strength=look.strength,
        template=template_of(found, look.ground.tokens),
        values=tuple((slot.name, found.value(slot)) for slot in found.slots),
        nearest=tuple(
            Near(
                exemplars[row].id,
                exemplars[row].text,
                exemplars[row].intents,
                float(cosines[row]),
                1 + int((plain > plain[row]).sum()),
            )
            for row in near
        ),
    )


def strength_choice(live_studio: LiveStudio, project: str) -> StrengthChoice:
    """Let held-out examples be answered at each strength, and choose one.

    In five parts, each part is answered by the votes of the others, and its values are proposed
    from those marked in the others: so would a text come that nobody has seen.

    Raises:
        InvalidInput: Nothing can be compressed; why.
        NotFound: There is no such project, or it has no trained model yet.
    """
    _, live = open_live(live_studio, project)
    refused = _refusal(live_studio.studio, live)
    if refused is not None:
        raise InvalidInput(*refused)
    ground = _ground(live_studio.studio, live)
    return live_studio.studio.cache.get(
        ("strength", *ground.key),
        lambda: _choose(live_studio.studio, live, ground),
        lambda _: 1_000,
    )


def _choose(studio: Studio, live: LiveModel, ground: _Ground) -> StrengthChoice:
    from core.heads.mixture import voices_of
    from core.heads.votes.compression import Paired, choose_strength, held_out_accuracies
    from core.heads.votes.subset import spread_choice

    # Synthetic examples are not what anybody asks, and would answer for their own sources.
    ids = [live.pipeline.exemplars[row].id for row in ground.rows]
    said = np.array([at for at, key in enumerate(ids) if key not in ground.marks.synthetic])
    rows = said[spread_choice(ground.head.targets[said], _JUDGED)]
    texts = [ground.texts[row] for row in rows]
    folds = stratified_folds(
        [str(row) for row in ground.head.targets[rows].argmax(1)], min(_FOLDS, len(rows)), 0
    )
    templates = [""] * len(texts)
    for fold in folds:
        held = set(fold.tolist())
        matcher = learn_matcher(one for at, one in enumerate(texts) if one.slots and at not in held)
        for at in held:
            templates[at] = template_of(matcher.propose(texts[at].text), ground.tokens)
    known = Paired(ground.pair.templates[rows], ground.pair.utterances[rows])
    proposed = unit_rows(embed_texts(studio.database, live.pipeline.encoder, templates))
    asked = Paired(proposed, known.utterances)
    head = replace(ground.head, targets=ground.head.targets[rows])
    mixed = live.pipeline.head
    found = held_out_accuracies(head, known, asked, folds, STEPS, lambda at: voices_of(mixed, at))
    basis = (
        f"{counted(len(rows), 'example')} in {len(folds)} parts, each answered by the votes of the "
        "others, its values proposed from theirs"
    )
    if is_tuned_on_labels(live.version.lineage.get("recipe", {})):
        basis += "; the encoder was tuned on them, which flatters weak compression"
    return StrengthChoice(STEPS, tuple(found.values()), choose_strength(found), len(rows), basis)


def _refusal(studio: Studio, live: LiveModel) -> tuple[str, str] | None:
    """Say why nothing can be compressed, and what to do; None where it can."""
    from core.heads.mixture import without_names

    kind = without_names(live.pipeline.head).kind
    if kind != "votes":
        return (
            f"This model decides by the head '{kind}', not by votes.",
            "Compression fits votes anew: train with the head 'votes'.",
        )
    with studio.database.read() as connection:
        project = projects.get(connection, live.version.project_id)
    utterances = read_marked_values(studio, project).utterances
    if not any(one.id in utterances for one in live.pipeline.exemplars):
        return (
            "No value is marked in the examples.",
            "Mark values in utterances on the Label page, or import a file that has them marked.",
        )
    return None


def _ground(studio: Studio, live: LiveModel) -> _Ground:
    with studio.database.read() as connection:
        project = projects.get(connection, live.version.project_id)
        tokens = tokens_of(connection, live.version)
    key = ("compression", live.version.id, live.revision, project.head_revision)
    marks = read_marked_values(studio, project)
    return studio.cache.get(
        key,
        lambda: _lay_ground(studio, live, marks, key, tokens),
        lambda made: 2 * int(made.pair.templates.nbytes),
    )


def _lay_ground(
    studio: Studio, live: LiveModel, marks: MarkedValues, key: tuple[object, ...], tokens: Tokens
) -> _Ground:
    from core.heads.mixture import without_names
    from core.heads.votes.compression import Paired
    from core.heads.votes.subset import spread_choice

    pipeline = live.pipeline
    votes: Any = without_names(pipeline.head)
    rows = spread_choice(votes.targets, _MOST)
    texts = tuple(marks.of(pipeline.exemplars[r].id, pipeline.exemplars[r].text) for r in rows)
    utterances = pipeline.embeddings[rows]
    templates = utterances.copy()
    moving = [at for at, one in enumerate(texts) if one.slots]
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
    return _Ground(key, rows, texts, Paired(templates, utterances), head, marks, tokens)


def _paired_texts(encoder: Any, texts: Sequence[SlottedText], tokens: Tokens) -> "Paired":
    from core.heads.votes.compression import Paired

    templates = [template_of(one, tokens) for one in texts]
    rows = unit_rows(encoder.encode([*(one.text for one in texts), *templates]))
    return Paired(rows[len(texts) :], rows[: len(texts)])


def _pipeline(studio: Studio, live: LiveModel, ground: _Ground, strength: float) -> Any:
    """Return the live pipeline with its examples moved; names and limits stay those without."""
    from core.heads.mixture import MixtureHead
    from core.heads.votes.compression import compressed_votes

    votes = studio.cache.get(
        (*ground.key, strength),
        lambda: compressed_votes(ground.head, ground.pair, strength),
        lambda made: int(made.exemplars.nbytes + made.targets.nbytes + made.weights.nbytes),
    )
    mixed = live.pipeline.head
    return replace(
        live.pipeline,
        head=replace(mixed, first=votes) if isinstance(mixed, MixtureHead) else votes,
        exemplars=tuple(live.pipeline.exemplars[row] for row in ground.rows),
        embeddings=votes.exemplars,
    )
