"""Exemplars that a model was not trained with, joined to its votes without training."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from app.services.embedding import embed_texts
from core.types import Exemplar, Pause, no_pause
from storage.database import Database

if TYPE_CHECKING:
    from core.heads.votes.amending import Amendment, Basis, BasisRow, Newcomer

Said = tuple[str, tuple[str, ...]]
"""What an exemplar says: its text, and the ids of its intents in order."""

Changes = Mapping[str, Said | None]
"""What utterances say now, by id; None where one is no exemplar."""

_MOST = 20_000
"""Of more exemplars the votes would not fit into memory: their labels wait for a training."""

_MANY, _LARGE_SHARE = 256, 8
"""With more changes, if they are an eighth of the exemplars, too, the votes are solved anew."""


@dataclass(frozen=True, slots=True, eq=False)
class Base:
    """A pipeline to which changes are joined.

    Attributes:
        pipeline: As it was trained, or as it was when its votes were last solved anew.
        columns: Intent id of each score column ("" where the project has no such intent).
        said: What its exemplars say, by id.
        rows: Where each of them is.
        basis: Its votes, ready for changes; None before the first.
        met: Newcomers solved for already, by their text.
        moved: Rows solved for already.
    """

    pipeline: Any = field(repr=False)
    columns: tuple[str, ...]
    said: Mapping[str, Said] = field(repr=False)
    rows: Mapping[str, int] = field(repr=False)
    basis: "Basis | None" = field(default=None, repr=False)
    met: "Mapping[str, Newcomer]" = field(default_factory=dict, repr=False)
    moved: "Mapping[int, BasisRow]" = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Joining:
    """What joining needs beside the base.

    Attributes:
        database: Where embeddings are kept.
        names: Of the project's intents, by id.
        pause: Called between heavy products, so that others come first.
    """

    database: Database
    names: Mapping[str, str]
    pause: Pause = no_pause


def base_of(pipeline: Any, columns: tuple[str, ...]) -> Base:
    """Take a pipeline as what changes are joined to."""
    by_name = dict(zip(pipeline.head.intents, columns, strict=True))
    said = {
        e.id: (e.text, tuple(sorted(by_name.get(name, "") for name in e.intents)))
        for e in pipeline.exemplars
    }
    rows = {e.id: row for row, e in enumerate(pipeline.exemplars)}
    return Base(pipeline, columns, said, rows)


def can_join(base: Base, changes: Changes) -> bool:
    """Whether the pipeline can answer as its exemplars say now, without training."""
    head = base.pipeline.head
    if getattr(head, "kind", "") != "votes" or head.carriers is not None:
        return False
    left = len(base.said) - len(base.said.keys() & changes.keys())
    n_exemplars = left + sum(said is not None for said in changes.values())
    return 0 < n_exemplars <= _MOST  # votes need one: the last ones stay until another comes


def has_many(base: Base, changes: Changes) -> bool:
    """Whether so much has changed that the votes are better solved anew."""
    return len(changes) > max(_MANY, len(base.said) // _LARGE_SHARE)


def labels_in(changes: Changes) -> list[str]:
    """Ids of the intents that changes name."""
    return list(dict.fromkeys(key for said in changes.values() if said for key in said[1]))


def with_intents(base: Base, keys: Iterable[str], names: Mapping[str, str]) -> Base:
    """Give the votes columns for intents that they have not met, without any vote for them yet."""
    more = [key for key in keys if key not in base.columns]
    if not more or getattr(base.pipeline.head, "kind", "") != "votes":
        return base
    from core.heads.votes.amending import widen, widen_head

    named = tuple(names[key] for key in more)
    return replace(
        base,
        columns=base.columns + tuple(more),
        pipeline=replace(base.pipeline, head=widen_head(base.pipeline.head, named)),
        basis=None if base.basis is None else widen(base.basis, named),
    )


def named_anew(base: Base, intents: tuple[str, ...]) -> Base:
    """Let the pipeline call the intents of its columns by other names."""
    old = base.pipeline.head.intents
    to = dict(zip(old, intents, strict=True))
    head = replace(base.pipeline.head, intents=intents)

    def renamed(found: Sequence[str]) -> tuple[str, ...]:
        return tuple(sorted(to.get(name, name) for name in found))

    pipeline = replace(
        base.pipeline,
        head=head,
        exemplars=tuple(replace(e, intents=renamed(e.intents)) for e in base.pipeline.exemplars),
        exact={key: renamed(found) for key, found in base.pipeline.exact.items()},
    )
    basis = None if base.basis is None else replace(base.basis, head=head)
    return replace(base, pipeline=pipeline, basis=basis)


def solved_for(how: Joining, base: Base, changes: Changes) -> Base:
    """Solve for what changes ask, keeping what was solved before."""
    from core.heads.votes.amending import basis_of, basis_rows, newcomers

    basis = base.basis or basis_of(base.pipeline.head, how.pause)
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


def joined(base: Base, changes: Changes) -> Any:
    """Return the pipeline as its exemplars say now; `base` is solved for these changes."""
    from core.heads.votes.amending import amend
    from core.pipeline import exact_answers

    if base.basis is None:
        message = "the base is not solved for these changes"
        raise ValueError(message)
    gone, coming, kept = _parts(base, changes)
    head = amend(base.basis, amendment(base, changes))
    names = dict(zip(base.columns, head.intents, strict=True))
    left = set(gone)
    shown = [
        _exemplar(e.id, kept[e.id], names) if e.id in kept else e
        for row, e in enumerate(base.pipeline.exemplars)
        if row not in left
    ]
    shown += [_exemplar(key, said, names) for key, said in coming]
    return replace(
        base.pipeline,
        head=head,
        exemplars=tuple(shown),
        embeddings=head.exemplars,
        exact=exact_answers(shown),
    )


def amendment(base: Base, changes: Changes) -> "Amendment":
    """Return what changes mean for the votes of a base that is solved for them."""
    from core.heads.targets import target_matrix
    from core.heads.votes.amending import Amendment

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
    """Tell rows that go, exemplars that come, and those that stay with another label."""
    stay = {key for key, said in changes.items() if said and _text(base, key) == said[0]}
    gone = [base.rows[key] for key in changes if key in base.rows and key not in stay]
    coming = [(key, said) for key, said in changes.items() if said and key not in stay]
    kept = {key: said for key, said in changes.items() if said and key in stay}
    return gone, coming, kept


def _text(base: Base, key: str) -> str | None:
    said = base.said.get(key)
    return None if said is None else said[0]


def _exemplar(key: str, said: Said, names: Mapping[str, str]) -> Exemplar:
    return Exemplar(key, said[0], tuple(sorted(names[label] for label in said[1])))
