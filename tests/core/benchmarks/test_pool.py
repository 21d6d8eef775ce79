"""A benchmark's pool: what is in it, and how right the labels were that it got."""

from collections.abc import Sequence

import pytest

from core.benchmarks.few_shot import FewShotTexts
from core.benchmarks.inputs import LabelledTexts
from core.benchmarks.pool import mixed_pool, pool_figures, summarise_pools, without_twins
from core.training.from_labels.rounds import PoolGain
from core.training.from_labels.tuning import Lesson


def texts(names: Sequence[str], intent: str = "a") -> LabelledTexts:
    return LabelledTexts(tuple(names), (intent,) * len(names))


def test_a_share_of_the_pool_is_out_of_scope_whatever_the_sizes_of_both_files() -> None:
    inside, outside = texts([f"in {n}" for n in range(700)]), [f"out {n}" for n in range(900)]
    for n_in, n_out in ((700, 900), (700, 100), (50, 900)):
        mixed = mixed_pool(texts(inside.texts[:n_in]), outside[:n_out], 0.3, seed=1)
        n_foreign = sum(intent == "" for intent in mixed.intents)
        assert n_foreign / len(mixed.texts) == pytest.approx(0.3, abs=0.01)
        assert len(mixed.texts) in {n_in + n_foreign, round(n_out / 0.3)}
        pairs = zip(mixed.texts, mixed.intents, strict=True)
        assert all(text.startswith("in") == (intent == "a") for text, intent in pairs)
    whole = mixed_pool(inside, outside, None, seed=1)
    assert sorted(whole.texts) == sorted([*inside.texts, *outside])
    assert mixed_pool(inside, outside, 0.3, 1) == mixed_pool(inside, outside, 0.3, 1)
    assert mixed_pool(inside, outside, 0.3, 1) != mixed_pool(inside, outside, 0.3, 2)


def test_texts_of_train_and_test_are_no_part_of_the_pool() -> None:
    pool = LabelledTexts(("One!", "two", "three", "FOUR"), ("a", "b", "c", "d"))
    given = FewShotTexts(texts(["one"]), texts(["four?"]), pool)
    assert given.pool_alone() == LabelledTexts(("two", "three"), ("b", "c"))
    assert FewShotTexts(texts(["one"]), texts(["four?"])).pool_alone() == LabelledTexts((), ())
    assert without_twins(pool) == pool


def test_right_labels_are_counted_over_the_texts_learned_from() -> None:
    pool = LabelledTexts(("p", "q", "r", "s", "t"), ("a", "b", "a", "", "b"))
    lesson = Lesson("retuning", ("p", "q", "r", "s"), (0, 1, 1, 0))
    found = pool_figures(PoolGain(lesson, 1, 20, 18, 16), pool, ["a", "b"])
    assert (found.texts, found.outside, found.kept) == (4, 1, True)
    assert found.right == 50.0  # r is wrong; s is out of scope and should not have been learned
    left_out = pool_figures(None, pool, ["a", "b"])
    assert (left_out.texts, left_out.kept, left_out.right) == (0, False, None)
    told = summarise_pools([found, left_out])
    assert told["pool_right"] == 50.0
    assert told["pool"] == {
        "texts": [4, 0],
        "outside": [1, 0],
        "kept": [True, False],
        "held_out": [[18, 16, 20], [0, 0, 0]],
    }
    assert summarise_pools([left_out])["pool_right"] is None
