"""Add, remove or relabel exemplars of a trained model in closed form, without training."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from app.services.embedding import embed_texts
from core.heads.targets import target_matrix
from core.heads.votes.amending import (
    Amendment,
    Basis,
    BasisRow,
    Newcomer,
    amend,
    basis_of,
    basis_rows,
    newcomers,
    widen,
    widen_head,
)
from core.heads.votes.fit import VoteHead
from core.pipeline import IntentPipeline, exact_answers
from core.types import Exemplar, Pause, no_pause
from storage.database import Database

Said = tuple[str, tuple[str, ...]]
"""An exemplar's text, and its sorted intent ids."""

Changes = Mapping[str, Said | None]
"""Current text and intents of utterances by id; None for one that is no exemplar."""

_MOST = 16_000
"""The votes of more exemplars would not fit into memory; their labels wait for a training."""

_MANY, _LARGE_SHARE = 256, 8
"""With more changes than 256 and an eighth of the exemplars, the votes are solved again."""


@dataclass(frozen=True, slots=True, eq=False)
class Base:
    """A pipeline to which changes are joined.

    Attributes:
        pipeline: The pipeline as trained, or as of the last time its votes were solved.
        columns: Intent id of each score column ("" where the project has no such intent).
        said: Texts and intents of its exemplars, by id.
        rows: Row of each exemplar among the votes, by id.
        made: Sources of the synthetic exemplars, and of those that may join, by id.
        basis: The votes, prepared for changes; None before the first change.
        met: Solutions for new exemplars, by text.
        moved: Solutions for changed exemplars, by row.
    """

    pipeline: IntentPipeline = field(repr=False)
    columns: tuple[str, ...]
    said: Mapping[str, Said] = field(repr=False)
    rows: Mapping[str, int] = field(repr=False)
    made: Mapping[str, str] = field(default_factory=dict, repr=False)
    basis: Basis | None = field(default=None, repr=False)
    met: Mapping[str, Newcomer] = field(default_factory=dict, repr=False)
    moved: Mapping[int, BasisRow] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Joining:
    """The inputs of joining besides the base; `names` maps the project's intent ids to names."""

    database: Database
    names: Mapping[str, str]
    pause: Pause = no_pause


def base_of(pipeline: IntentPipeline, columns: tuple[str, ...]) -> Base:
    """Return a pipeline to which changes can be joined."""
    by_name = dict(zip(pipeline.head.intents, columns, strict=True))
    said = {
        e.id: (e.text, tuple(sorted(by_name.get(name, "") for name in e.intents)))
        for e in pipeline.exemplars
    }
    rows = {e.id: row for row, e in enumerate(pipeline.exemplars)}
    made = {e.id: e.synthetic for e in pipeline.exemplars if e.synthetic}
    return Base(pipeline, columns, said, rows, made)


def with_sources(base: Base, made: Mapping[str, str]) -> Base:
    """Add the sources of synthetic utterances that may join, by id."""
    return base if made.items() <= base.made.items() else replace(base, made={**base.made, **made})


def can_join(base: Base, changes: Changes) -> bool:
    """Whether changes can join the pipeline's votes without training."""
    head = base.pipeline.head
    if not isinstance(head, VoteHead) or head.carriers is not None:
        return False
    # Votes need at least one exemplar, so the last ones are kept.
    return 0 < _n_exemplars(base, changes) <= _MOST


def are_too_many(base: Base, changes: Changes) -> bool:
    """Whether changes leave more exemplars than can vote without a training."""
    return _n_exemplars(base, changes) > _MOST


def _n_exemplars(base: Base, changes: Changes) -> int:
    left = len(base.said) - len(base.said.keys() & changes.keys())
    return left + sum(said is not None for said in changes.values())


def differing(base: Base, now: Changes) -> dict[str, Said | None]:
    """Return those of utterances whose text and intents differ from the exemplars of a base."""
    return {key: said for key, said in now.items() if base.said.get(key) != said}


def has_many(base: Base, changes: Changes) -> bool:
    """Whether there are so many changes that solving the votes again is faster."""
    return len(changes) > max(_MANY, len(base.said) // _LARGE_SHARE)


def labels_in(changes: Changes) -> list[str]:
    """Return the ids of the intents in changes."""
    return list(dict.fromkeys(key for said in changes.values() if said for key in said[1]))


def with_intents(base: Base, keys: Iterable[str], names: Mapping[str, str]) -> Base:
    """Add score columns without votes for new intents."""
    head, more = base.pipeline.head, [key for key in keys if key not in base.columns]
    if not more or not isinstance(head, VoteHead):
        return base
    named = tuple(names[key] for key in more)
    return replace(
        base,
        columns=base.columns + tuple(more),
        pipeline=replace(base.pipeline, head=widen_head(head, named)),
        basis=None if base.basis is None else widen(base.basis, named),
    )


def with_names(base: Base, intents: tuple[str, ...]) -> Base:
    """Rename the intents of the columns."""
    pipeline = base.pipeline.renamed(intents)
    basis, head = base.basis, pipeline.head
    if basis is not None and isinstance(head, VoteHead):
        basis = replace(basis, head=head)
    return replace(base, pipeline=pipeline, basis=basis)


def solved_for(how: Joining, base: Base, changes: Changes) -> Base:
    """Solve the votes for changes that can join, reusing earlier solutions."""
    basis = base.basis
    if basis is None:
        if not isinstance(base.pipeline.head, VoteHead):
            message = "only votes can be solved"
            raise TypeError(message)
        basis = basis_of(base.pipeline.head, how.pause)
    texts = dict.fromkeys(said[0] for said in changes.values() if said)
    fresh = [text for text in texts if text not in base.met]
    rows = [base.rows[key] for key in changes if key in base.rows]
    unmoved = [row for row in rows if row not in base.moved]
    met, moved = dict(base.met), dict(base.moved)
    if fresh:
        embedded = embed_texts(how.database, base.pipeline.encoder, fresh)
        met |= dict(zip(fresh, newcomers(basis, embedded), strict=True))
    moved |= dict(zip(unmoved, basis_rows(basis, unmoved), strict=True))
    return replace(
        base,
        basis=basis,
        met={text: met[text] for text in texts},
        moved={row: moved[row] for row in rows},
    )


def joined(base: Base, changes: Changes) -> IntentPipeline:
    """Return the pipeline with changes joined to its votes; `base` is solved for them."""
    if base.basis is None:
        message = "the base is not solved for these changes"
        raise ValueError(message)
    gone, coming, kept = _parts(base, changes)
    head = amend(base.basis, amendment(base, changes))
    names = dict(zip(base.columns, head.intents, strict=True))
    left = set(gone)
    shown = [
        _exemplar(base, e.id, kept[e.id], names) if e.id in kept else e
        for row, e in enumerate(base.pipeline.exemplars)
        if row not in left
    ]
    shown += [_exemplar(base, key, said, names) for key, said in coming]
    return replace(
        base.pipeline,
        head=head,
        exemplars=tuple(shown),
        embeddings=head.exemplars,
        exact=exact_answers(shown),
    )


def amendment(base: Base, changes: Changes) -> Amendment:
    """Convert changes to an amendment of the votes of a base that is solved for them."""
    gone, coming, kept = _parts(base, changes)
    return Amendment(
        added=[base.met[said[0]] for _, said in coming],
        labels=target_matrix([labels for _, (_, labels) in coming], base.columns),
        removed=[base.moved[row] for row in gone],
        relabelled=[base.moved[base.rows[key]] for key in kept],
        relabels=target_matrix([labels for _, labels in kept.values()], base.columns),
    )


def _parts(
    base: Base, changes: Changes
) -> tuple[list[int], list[tuple[str, Said]], dict[str, Said]]:
    """Return rows to remove, exemplars to add, and exemplars to relabel."""
    stay = {key for key, said in changes.items() if said and _text(base, key) == said[0]}
    gone = [base.rows[key] for key in changes if key in base.rows and key not in stay]
    coming = [(key, said) for key, said in changes.items() if said and key not in stay]
    kept = {key: said for key, said in changes.items() if said and key in stay}
    return gone, coming, kept


def _text(base: Base, key: str) -> str | None:
    said = base.said.get(key)
    return None if said is None else said[0]


def _exemplar(base: Base, key: str, said: Said, names: Mapping[str, str]) -> Exemplar:
    intents = tuple(sorted(names[label] for label in said[1]))
    return Exemplar(key, said[0], intents, base.made.get(key, ""))
