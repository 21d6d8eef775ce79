"""Benchmark of response selection: the right one of 100 replies, by encoders and keywords."""

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from core.encoders.loading import load_encoder
from core.errors import InvalidInput
from core.formats.dialogues import Pair, stream_pairs
from core.metrics.bm25 import fit_bm25
from core.metrics.retrieval import mean_reciprocal_rank, recall_at
from core.recipes.conversations import ConvertRecipe, DialoguesRecipe
from core.responses import Ranker
from core.training.events import Event, drain
from core.training.from_conversations.runs import RankingInputs, run_ranking
from core.types import ScoreArray

CANDIDATES = 100
_QUESTIONS = 5_000
_SEED = 100  # of the draw of questions; figures of different draws cannot be compared
_DEEP = 2
Blocks = Sequence[Sequence[Pair]]
Score = Callable[[Blocks], ScoreArray]
"""Scores the responses of each block for its contexts, (questions, 100)."""


@dataclass(frozen=True, slots=True)
class ResponseFigures:
    """Figures of one encoder; shares in percent, seconds of training, MB of 1,000,000 bytes.

    Attributes:
        r100_at_1: Share of contexts whose right response ranks first of 100.
        mrr: Mean reciprocal rank of the right response.
        r100_at_1_deep: The same as `r100_at_1`, on turns with at least two earlier turns.
    """

    r100_at_1: float
    mrr: float
    r100_at_1_deep: float | None
    seconds: float
    file_mb: float
    steps: int


def draw_blocks(pairs: Iterator[Pair], questions: int = _QUESTIONS) -> list[list[Pair]]:
    """Draw questions in blocks of 100; each response of a block is a candidate for each context.

    Equal pairs give equal blocks. A pair whose response is in the block already moves to a later
    block, because two equal replies cannot be told apart.

    Raises:
        InvalidInput: There are fewer than 100 pairs with different responses.
    """
    distinct = list(dict.fromkeys(pairs))
    waiting = [distinct[row] for row in np.random.default_rng(_SEED).permutation(len(distinct))]
    blocks: list[list[Pair]] = []
    while len(blocks) * CANDIDATES < questions:
        block: dict[str, Pair] = {}
        rest: list[Pair] = []
        for at, pair in enumerate(waiting):
            if len(block) == CANDIDATES:
                rest += waiting[at:]
                break
            key = pair.response.casefold().strip()
            if key in block:
                rest.append(pair)
            else:
                block[key] = pair
        if len(block) < CANDIDATES:
            break
        blocks.append(list(block.values()))
        waiting = rest
    if not blocks:
        raise InvalidInput(
            f"Response selection needs {CANDIDATES} different responses.", "Name a longer log."
        )
    return blocks


def judge(blocks: Blocks, score: Score) -> tuple[float, float, float | None]:
    """Return R100@1, MRR and R100@1 on turns with two earlier turns or more (or None); percent."""
    scores = score(blocks)
    right = np.tile(np.arange(CANDIDATES), len(blocks))
    deep = np.array([len(pair.history) >= _DEEP for block in blocks for pair in block])
    of_deep = _percent(recall_at(scores[deep], right[deep], 1)) if deep.any() else None
    best, reciprocal = recall_at(scores, right, 1), mean_reciprocal_rank(scores, right)
    return _percent(best), _percent(reciprocal), of_deep


def _percent(share: float) -> float:
    return round(100 * share, 2)


def score_by_ranker(ranker: Ranker, contexts: int = 0) -> Score:
    """Score by cosines, with `contexts` earlier turns."""

    def score(blocks: Blocks) -> ScoreArray:
        pairs = [pair for block in blocks for pair in block]
        asked = [Pair(p.context, p.response, p.history[:contexts]) for p in pairs]
        rows = ranker.encode_contexts(asked).astype(np.float64)
        columns = ranker.encode_responses([pair.response for pair in pairs])
        shape = (len(blocks), CANDIDATES, -1)
        found: ScoreArray = rows.reshape(shape) @ columns.reshape(shape).transpose(0, 2, 1)
        return found.reshape(-1, CANDIDATES)

    return score


def keyword_baselines(train: Callable[[], Iterator[Pair]]) -> dict[str, Score]:
    """Build TF-IDF and BM25 with the word frequencies of the training responses."""
    tfidf = TfidfVectorizer().fit(pair.response for pair in train())
    bm25 = fit_bm25(pair.response for pair in train())

    def by_tfidf(block: Sequence[Pair]) -> ScoreArray:
        contexts = tfidf.transform([pair.context for pair in block])
        responses = tfidf.transform([pair.response for pair in block])
        return np.asarray((contexts @ responses.T).toarray())

    def by_bm25(block: Sequence[Pair]) -> ScoreArray:
        texts = [pair.response for pair in block]
        return np.stack([bm25.scores(pair.context, texts) for pair in block])

    return {"tfidf": _by_block(by_tfidf), "bm25": _by_block(by_bm25)}


def _by_block(score: Callable[[Sequence[Pair]], ScoreArray]) -> Score:
    return lambda blocks: np.concatenate([score(block) for block in blocks])


def response_selection(
    recipe: DialoguesRecipe | ConvertRecipe,
    base: str,
    files: tuple[Path, Path],
    watch: Callable[[Event], None],
) -> tuple[ResponseFigures, dict[str, float], Ranker]:
    """Train on one log, evaluate on another; return figures, baselines' R100@1 and the ranker."""
    train, test = files
    blocks = draw_blocks(stream_pairs([test], contexts=10))

    def pairs() -> Iterator[Pair]:
        return stream_pairs([train], recipe.contexts)

    untuned = load_encoder(base)
    baselines = {**keyword_baselines(pairs), "untuned": score_by_ranker(Ranker(untuned))}
    baseline_figures = {name: judge(blocks, score)[0] for name, score in baselines.items()}
    began = time.perf_counter()
    steps = 0

    def count(event: Event) -> None:
        nonlocal steps
        steps = getattr(event, "step", steps)
        watch(event)

    ranker = drain(run_ranking(recipe, RankingInputs(pairs, untuned)), count)
    seconds = round(time.perf_counter() - began, 1)
    best, reciprocal, deep = judge(blocks, score_by_ranker(ranker, recipe.contexts))
    figures = ResponseFigures(best, reciprocal, deep, seconds, _file_mb(ranker), steps)
    return figures, baseline_figures, ranker


def _file_mb(ranker: Ranker) -> float:
    with tempfile.TemporaryDirectory() as folder:
        ranker.save(Path(folder) / "encoder")
        sizes = [p.stat().st_size for p in Path(folder).rglob("*.safetensors")]
    return round(sum(sizes) / 1e6, 2)
