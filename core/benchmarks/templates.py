"""Benchmark of templates: what an encoder learns from slots alone, evaluated by 1-NN."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np

from core.encoders.base import Encoder
from core.heads.votes.compression import choose_strength
from core.losses.template import compress
from core.metrics.geometry import alignment, uniformity
from core.recipes.templates import TemplatesRecipe, utterances_alone
from core.splits import Rows, stratified_folds
from core.templates.matching import learn_matcher
from core.templates.slots import SlottedText, Tokens, template_of
from core.training.events import Event, drain
from core.training.from_templates import TemplateInputs, run_templates
from core.types import FloatArray
from core.vectors import cosines, unit_rows

STRENGTHS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
"""Values of lambda^comp to choose from (TaDSE has 0.1, 0.2 and 0.5)."""

_FIFTHS = 5
_MOST_VALIDATION = 1_000
_CHUNK = 512
Watch = Callable[[str, Event], None]
"""Called with the name of the variant in training, and its event."""


@dataclass(frozen=True, slots=True)
class SlottedSet:
    """Utterances with their slots; each label joins all intents into one name."""

    utterances: tuple[SlottedText, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CompressedFigures:
    """Figures with templates mixed in by `strength` (lambda^comp), chosen on training texts."""

    accuracy: float
    strength: float
    alignment: float
    uniformity: float


@dataclass(frozen=True, slots=True)
class TemplateFigures:
    """Nearest neighbours on one set: accuracy in percent, uniformity and alignment (Eqs. 6 and 7).

    Attributes:
        proposed: With slots of queries proposed from the training values.
        annotated: With slots of queries as annotated; as in the paper.
    """

    accuracy: float
    uniformity: float
    alignment: float
    proposed: CompressedFigures
    annotated: CompressedFigures
    seconds: float


@dataclass(frozen=True, slots=True)
class Remembering:
    """Embeds each text once, since every source of slots asks for the same texts."""

    encoder: Encoder
    known: dict[str, FloatArray] = field(default_factory=dict, repr=False)

    def __call__(self, texts: Sequence[str]) -> FloatArray:
        """Embed texts in their order; (n, d) float32."""
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        if new:
            self.known.update(zip(new, self.encoder.encode(new), strict=True))
        return np.stack([self.known[text] for text in texts])


def template_bench(
    recipe: TemplatesRecipe,
    untuned: Remembering,
    sets: tuple[SlottedSet, SlottedSet],
    watch: Watch,
) -> dict[str, TemplateFigures]:
    """Train on the first set without its labels, and evaluate on the second.

    Further seeds should reuse `untuned`, which stores its embeddings. Returns figures of
    `untuned`, `utterances` (L^u alone, on the same utterances) and `templates`.
    """
    found = {"untuned": judge(untuned, sets, recipe, 0.0)}
    for name, variant in (("utterances", utterances_alone(recipe)), ("templates", recipe)):
        began = time.perf_counter()
        run = run_templates(variant, TemplateInputs(sets[0].utterances, untuned.encoder))
        tuned = drain(run, partial(watch, name))
        seconds = time.perf_counter() - began
        found[name] = judge(Remembering(tuned), sets, recipe, seconds)
    return found


def judge(
    embed: Remembering,
    sets: tuple[SlottedSet, SlottedSet],
    recipe: TemplatesRecipe,
    seconds: float,
) -> TemplateFigures:
    """Answer the second set by the nearest utterance of the first.

    The strength is chosen on a fifth of the first set (at most 1,000 utterances) as queries; no
    text of the second set takes part.
    """
    train, test = sets
    queries = _validation_rows(train.labels, recipe.seed)
    rest = np.setdiff1d(np.arange(len(train.labels)), queries)
    validation = (_part(train, rest), _part(train, queries))
    plain = embed([one.text for one in test.utterances])
    spaces = {
        proposed: (
            _Space.of(embed, validation, recipe.tokens, proposed=proposed),
            _Space.of(embed, sets, recipe.tokens, proposed=proposed),
        )
        for proposed in (True, False)
    }
    return TemplateFigures(
        accuracy=round(spaces[True][1].accuracy(0.0), 2),
        uniformity=round(uniformity(plain), 3),
        alignment=round(alignment(plain, test.labels), 3),
        proposed=_compressed(*spaces[True]),
        annotated=_compressed(*spaces[False]),
        seconds=round(seconds, 1),
    )


def _validation_rows(labels: Sequence[str], seed: int) -> Rows:
    fold = stratified_folds(labels, _FIFTHS, seed)[0]
    drawn = np.random.default_rng(seed).permutation(fold)[:_MOST_VALIDATION]
    return np.sort(drawn)


def _compressed(validation: "_Space", test: "_Space") -> CompressedFigures:
    strength = choose_strength({one: validation.accuracy(one) for one in STRENGTHS})
    queries = compress(*test.queries, strength)
    return CompressedFigures(
        accuracy=round(test.accuracy(strength), 2),
        strength=strength,
        alignment=round(alignment(queries, test.query_labels), 3),
        uniformity=round(uniformity(queries), 3),
    )


def summarise(seeds: Mapping[int, Mapping[str, TemplateFigures]]) -> dict[str, Any]:
    """Combine all figures into JSON: means over seeds (`proposed.accuracy`, ...), and each seed."""
    variants = next(iter(seeds.values()))
    means = {
        variant: _mean([_flat(asdict(found[variant])) for found in seeds.values()])
        for variant in variants
    }
    listed = {
        str(seed): {variant: asdict(figures) for variant, figures in found.items()}
        for seed, found in seeds.items()
    }
    return {"mean": means, "seeds": listed}


def _flat(figures: Mapping[str, Any]) -> dict[str, float]:
    flat: dict[str, float] = {}
    for name, value in figures.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{inner}": number for inner, number in value.items()}
        else:
            flat[name] = value
    return flat


def _mean(figures: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: round(fmean(one[name] for one in figures), 3) for name in figures[0]}


@dataclass(frozen=True, slots=True, eq=False)
class _Space:
    """Embeddings of templates and utterances, (n, d) float32 each, of references and queries."""

    references: tuple[FloatArray, FloatArray]
    queries: tuple[FloatArray, FloatArray]
    labels: tuple[str, ...]
    query_labels: tuple[str, ...]

    @classmethod
    def of(
        cls,
        embed: Remembering,
        sets: tuple[SlottedSet, SlottedSet],
        tokens: Tokens,
        *,
        proposed: bool,
    ) -> "_Space":
        known, asked = sets
        utterances = asked.utterances
        if proposed:
            matcher = learn_matcher(known.utterances)
            utterances = tuple(matcher.propose(one.text) for one in utterances)
        return cls(
            _both(embed, known.utterances, tokens),
            _both(embed, utterances, tokens),
            known.labels,
            asked.labels,
        )

    def accuracy(self, strength: float) -> float:
        """Share of queries whose nearest reference has their label, in percent."""
        references = unit_rows(compress(*self.references, strength))
        queries = unit_rows(compress(*self.queries, strength))
        return nearest_accuracy((references, self.labels), (queries, self.query_labels))


def nearest_accuracy(
    references: tuple[FloatArray, Sequence[str]], queries: tuple[FloatArray, Sequence[str]]
) -> float:
    """Share, in percent, of queries whose nearest reference has exactly their label; unit rows."""
    (rows, labels), (asked, truths) = references, queries
    right = 0
    for start in range(0, len(asked), _CHUNK):
        columns = cosines(asked[start : start + _CHUNK], rows).argmax(1)
        pairs = zip(columns, truths[start : start + _CHUNK], strict=True)
        right += sum(labels[column] == truth for column, truth in pairs)
    return 100.0 * right / max(1, len(asked))


def _both(
    embed: Remembering, utterances: Sequence[SlottedText], tokens: Tokens
) -> tuple[FloatArray, FloatArray]:
    templates = embed([template_of(one, tokens) for one in utterances])
    return templates, embed([one.text for one in utterances])


def _part(given: SlottedSet, rows: Rows) -> SlottedSet:
    return SlottedSet(
        tuple(given.utterances[row] for row in rows), tuple(given.labels[row] for row in rows)
    )
