"""What would change an answer equals brute force: every set tried, every head fitted again."""

from itertools import combinations

import numpy as np
import pytest

from core.explain.decisions import OUT_OF_SCOPE, decided, leads
from core.explain.load_bearing import copies_needed, examples_needed, load_bearing
from core.explain.one_text import ask, with_more, without_each, without_sets
from core.explain.solved_votes import SolvedVotes, solve_votes
from core.heads.votes.amending import basis_of
from core.heads.votes.fit import VoteHead, fit_votes
from tests.builders.toy_votes import again, labels_of, random_votes, refitted_without, rows_of

CASES = 1_000


def verdict(head: VoteHead, text: np.ndarray, limit: float | None) -> int:
    return int(decided(head.scores(text[None, :]), limit)[0])


def fewest_by_brute_force(head: VoteHead, text: np.ndarray, limit: float | None) -> int | None:
    before = verdict(head, text, limit)
    n_exemplars = len(head.exemplars)
    for size in range(1, n_exemplars):
        for gone in combinations(range(n_exemplars), size):
            if verdict(refitted_without(head, gone), text, limit) != before:
                return size
    return None


def random_limit(random: np.random.Generator) -> float | None:
    return None if random.random() < 0.5 else float(random.uniform(0.1, 0.6))


def test_load_bearing_sets_are_the_smallest_that_refitting_finds() -> None:
    random = np.random.default_rng(0)
    sizes = list[int | None]()
    for _ in range(CASES):
        votes = random_votes(random, int(random.integers(4, 8)), int(random.integers(2, 4)))
        text, limit = rows_of(random, 1)[0], random_limit(random)
        found = load_bearing(ask(votes, text), limit)
        fewest = fewest_by_brute_force(votes.head, text, limit)
        sizes.append(fewest)
        assert found.before == verdict(votes.head, text, limit)
        assert (len(found.rows) or None) == fewest
        if found.rows:
            assert found.smallest
            head = refitted_without(votes.head, found.rows)
            assert found.after == verdict(head, text, limit) != found.before
            np.testing.assert_allclose(found.scores, head.scores(text[None, :])[0], atol=1e-8)
    assert sizes.count(1) > 100
    assert sum(size is not None and size > 1 for size in sizes) > 100
    assert sizes.count(None) > 10


def test_larger_sets_change_the_verdict_and_are_never_below_their_certificate() -> None:
    random = np.random.default_rng(1)
    several = 0
    for _ in range(25):
        centres = random.normal(size=(3, 8))
        columns = random.integers(0, 3, 300)
        rows = (centres[columns] + random.normal(size=(300, 8)) * 0.7).astype(np.float32)
        head = fit_votes(rows, np.eye(3)[columns], ("a", "b", "c"), 0.3, 0.1)
        text = rows[0] + 0.3 * rows[1]
        found = load_bearing(ask(solve_votes(basis_of(head)), text))
        assert 1 <= found.at_least <= (len(found.rows) or 51)
        if not found.rows:
            continue
        several += len(found.rows) > 1
        assert verdict(refitted_without(head, found.rows), text, None) == found.after
        for row in found.rows:  # none of them could stay
            others = [other for other in found.rows if other != row]
            assert verdict(refitted_without(head, others), text, None) == found.before
    assert several > 10


def test_the_certificate_never_excludes_what_brute_force_finds() -> None:
    from core.explain import load_bearing as influence

    random = np.random.default_rng(2)
    certified = 0
    for _ in range(300):
        votes = random_votes(random, 6, 3)
        text, limit = rows_of(random, 1)[0], random_limit(random)
        before = verdict(votes.head, text, limit)
        most = len(votes.head.exemplars) - 1
        excluded = influence._excluded(ask(votes, text), influence._Verdict(before, limit), most)
        fewest = fewest_by_brute_force(votes.head, text, limit)
        assert excluded < (fewest or most + 1)
        certified += excluded > 0
    assert certified


def test_scores_without_some_equal_those_fitted_again() -> None:
    random = np.random.default_rng(3)
    for _ in range(200):
        votes = random_votes(random, 9, 3)
        text = rows_of(random, 1)[0]
        question = ask(votes, text)
        np.testing.assert_allclose(question.scores, votes.head.scores(text[None, :])[0])
        each = without_each(question)
        pairs = np.array(list(combinations(range(len(each)), 2)))
        both = without_sets(question, pairs)
        for row in range(len(each)):
            head = refitted_without(votes.head, [row])
            np.testing.assert_allclose(each[row], head.scores(text[None, :])[0], atol=1e-8)
        place = int(random.integers(len(pairs)))
        head = refitted_without(votes.head, pairs[place])
        np.testing.assert_allclose(both[place], head.scores(text[None, :])[0], atol=1e-8)


def test_why_not_counts_copies_and_texts_as_fitting_again_does() -> None:
    random = np.random.default_rng(4)
    counts = list[int | None]()
    for _ in range(CASES):
        votes = random_votes(random, int(random.integers(5, 10)), 3, smoothest=3.0)
        text, limit = votes.head.exemplars[0] + 0.2 * rows_of(random, 1)[0], random_limit(random)
        column = int(random.integers(0, 4))  # the last is a new intent
        question, near = ask(votes, text), text + 0.5 * rows_of(random, 6)
        copies = copies_needed(question, column, limit, most=6)
        texts = examples_needed(question, near, column, limit)
        wanted = count_by_fitting(votes, np.tile(text, (6, 1)), text, column, limit)
        assert (copies.count if copies else None) == wanted
        assert (texts.count if texts else None) == count_by_fitting(
            votes, near, text, column, limit
        )
        counts.append(wanted)
    assert counts.count(1) > 100
    assert sum(count is not None and count > 1 for count in counts) > 50


def count_by_fitting(
    votes: SolvedVotes, added: np.ndarray, text: np.ndarray, column: int, limit: float | None
) -> int | None:
    head = votes.head
    for count in range(1, len(added) + 1):
        targets = np.pad(head.targets, [(0, 0), (0, 1)])
        labels = np.tile(np.eye(4)[column], (count, 1))
        rows = np.concatenate([head.exemplars, added[:count]])
        if verdict(again(head, rows, np.concatenate([targets, labels])), text, limit) == column:
            return count
    return None


def test_more_exemplars_score_as_fitted_again() -> None:
    random = np.random.default_rng(5)
    for _ in range(100):
        votes = random_votes(random, 8, 3)
        head, text, more = votes.head, rows_of(random, 1)[0], rows_of(random, 4)
        labels = labels_of(random, 4, 3)
        scores = with_more(ask(votes, text), more, labels)
        for count in range(1, 5):
            rows = np.concatenate([head.exemplars, more[:count]])
            fitted = again(head, rows, np.concatenate([head.targets, labels[:count]]))
            np.testing.assert_allclose(
                scores[count - 1], fitted.scores(text[None, :])[0], atol=1e-8
            )


def test_nobody_can_be_missed_where_one_exemplar_is_all_there_is() -> None:
    head = fit_votes(np.eye(3, dtype=np.float32)[:1], np.eye(2)[:1], ("a", "b"), 0.3, 0.1)
    question = ask(solve_votes(basis_of(head)), np.eye(3, dtype=np.float32)[1])
    found = load_bearing(question)
    assert (found.rows, found.before, found.after, found.smallest) == ((), 0, 0, False)
    with pytest.raises(ValueError, match="at least one"):
        without_each(question)


def test_leads_measure_the_nearest_other_verdict() -> None:
    scores = np.array([[0.9, 0.2], [0.6, 0.5], [0.3, 0.1]])
    columns = decided(scores, limit=0.4)
    assert columns.tolist() == [0, 0, OUT_OF_SCOPE]
    np.testing.assert_allclose(leads(scores, columns, 0.4), [0.5, 0.1, 0.1])
    np.testing.assert_allclose(leads(scores, decided(scores)), [0.7, 0.1, 0.2])
