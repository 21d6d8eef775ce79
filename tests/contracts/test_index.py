"""What every index promises, on each of them; the exact one is the reference."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import NotFound
from core.indexes import build as building
from core.indexes.base import Index
from core.indexes.build import build_index
from core.indexes.exact import ExactIndex
from core.indexes.faiss_flat import FaissIndex

Make = Callable[[int], Index]
INDEXES = [ExactIndex, FaissIndex]

every_index = pytest.mark.parametrize("make", INDEXES, ids=lambda m: m.__name__)


def drawn(n: int, dim: int = 8, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, dim)).astype(np.float32)


def filled(make: Make, n: int = 20) -> tuple[Index, np.ndarray]:
    index, vectors = make(8), drawn(n)
    index.upsert([f"u{row}" for row in range(n)], vectors)
    return index, vectors


@every_index
def test_each_vector_finds_itself_first_with_cosine_one(make: Make) -> None:
    index, vectors = filled(make)
    ids, cosines = index.search(vectors * 5, 1)
    assert ids == [(f"u{row}",) for row in range(20)]
    np.testing.assert_allclose(cosines, 1.0, atol=1e-6)
    assert cosines.max() <= 1.0
    assert (len(index), index.dim) == (20, 8)


@every_index
def test_neighbours_come_nearest_first_with_their_cosines(make: Make) -> None:
    index, vectors = filled(make)
    queries = drawn(6, seed=3)
    ids, cosines = index.search(queries, 4)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = queries @ unit.T / np.linalg.norm(queries, axis=1, keepdims=True)
    order = np.argsort(-expected, axis=1)[:, :4]
    assert ids == [tuple(f"u{column}" for column in row) for row in order]
    np.testing.assert_allclose(cosines, np.take_along_axis(expected, order, 1), atol=1e-6)
    assert cosines.dtype == np.float64


@every_index
def test_upsert_replaces_the_vector_of_an_id_that_is_held(make: Make) -> None:
    index, vectors = filled(make)
    index.upsert(["u3", "new"], np.stack([-vectors[3], vectors[3]]))
    assert len(index) == 21
    ids, cosines = index.search(vectors[3:4], 21)
    assert ids[0][0] == "new"
    assert ids[0][-1] == "u3"
    np.testing.assert_allclose(cosines[0, [0, -1]], [1.0, -1.0], atol=1e-6)


@every_index
def test_of_one_id_given_twice_the_last_vector_counts(make: Make) -> None:
    index = make(2)
    index.upsert(["a", "b", "a"], np.array([[1, 0], [1, 1], [0, 1]], np.float32))
    ids, cosines = index.search(np.array([[0.0, 1.0]], np.float32), 5)
    assert (len(index), ids) == (2, [("a", "b")])
    np.testing.assert_allclose(cosines, [[1.0, np.sqrt(0.5)]], atol=1e-6)


@every_index
def test_a_removed_id_is_found_no_more_and_can_come_back(make: Make) -> None:
    index, vectors = filled(make)
    index.remove(["u0", "u7", "u0"])
    assert len(index) == 18
    found = {name for line in index.search(vectors, 50)[0] for name in line}
    assert found == {f"u{row}" for row in range(20)} - {"u0", "u7"}
    index.upsert(["u7"], vectors[7:8])
    assert index.search(vectors[7:8], 1)[0] == [("u7",)]


@every_index
def test_removing_an_unknown_id_removes_nothing(make: Make) -> None:
    index, _ = filled(make)
    with pytest.raises(NotFound, match="'ghost'"):
        index.remove(["u1", "ghost"])
    assert len(index) == 20


@every_index
def test_asking_for_more_than_there_are_gives_all(make: Make) -> None:
    index, vectors = filled(make, n=3)
    ids, cosines = index.search(vectors, 10)
    assert cosines.shape == (3, 3)
    assert all(sorted(line) == ["u0", "u1", "u2"] for line in ids)


@every_index
def test_an_empty_index_finds_nothing(make: Make) -> None:
    index = make(8)
    ids, cosines = index.search(drawn(2), 3)
    assert (ids, cosines.shape, len(index)) == ([(), ()], (2, 0), 0)
    index.upsert([], np.zeros((0, 8), np.float32))
    index.remove([])
    assert len(index) == 0


@every_index
def test_an_emptied_index_can_be_filled_again(make: Make) -> None:
    index, vectors = filled(make, n=2)
    index.remove(["u0", "u1"])
    index.upsert(["again"], vectors[:1])
    assert index.search(vectors[:1], 4)[0] == [("again",)]


@every_index
def test_no_query_gives_no_answer_and_k_zero_no_neighbour(make: Make) -> None:
    index, vectors = filled(make)
    assert index.search(vectors[:0], 3)[0] == []
    assert index.search(vectors[:2], 0)[0] == [(), ()]


@every_index
def test_equal_vectors_under_different_ids_are_all_found(make: Make) -> None:
    index = make(2)
    index.upsert(["a", "b", "far"], np.array([[1, 1], [2, 2], [1, -1]], np.float32))
    ids, cosines = index.search(np.array([[3.0, 3.0]], np.float32), 2)
    assert set(ids[0]) == {"a", "b"}
    np.testing.assert_allclose(cosines, 1.0, atol=1e-6)


@every_index
def test_ids_vectors_and_queries_that_do_not_fit_are_refused(make: Make) -> None:
    index, _ = filled(make)
    with pytest.raises(ValueError, match="2 ids of width 8"):
        index.upsert(["a", "b"], drawn(3))
    with pytest.raises(ValueError, match="2 ids of width 8"):
        index.upsert(["a", "b"], drawn(2, dim=5))
    with pytest.raises(ValueError, match="width 8"):
        index.search(drawn(2, dim=5), 1)
    assert len(index) == 20


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 1_000),
    steps=st.lists(st.tuples(st.booleans(), st.integers(0, 9)), max_size=25),
)
def test_any_sequence_of_changes_leaves_both_indexes_equal(
    seed: int, steps: list[tuple[bool, int]]
) -> None:
    generator = np.random.default_rng(seed)
    exact, fast = ExactIndex(6), FaissIndex(6)
    held: set[str] = set()
    for adding, number in steps:
        name = f"u{number}"
        if adding:
            vector = generator.normal(size=(1, 6)).astype(np.float32)
            for index in (exact, fast):
                index.upsert([name], vector)
            held.add(name)
        elif name in held:
            for index in (exact, fast):
                index.remove([name])
            held.remove(name)
    queries = generator.normal(size=(3, 6)).astype(np.float32)
    (ids, cosines), (other_ids, other_cosines) = exact.search(queries, 4), fast.search(queries, 4)
    assert ids == other_ids
    np.testing.assert_allclose(cosines, other_cosines, atol=1e-6)
    assert len(exact) == len(fast) == len(held)


def test_few_vectors_are_held_exactly_and_many_by_faiss(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "EXACT_UP_TO", 4)
    for n, kind in ((4, ExactIndex), (5, FaissIndex)):
        index = build_index([str(row) for row in range(n)], drawn(n))
        assert isinstance(index, kind)
        assert len(index) == n
