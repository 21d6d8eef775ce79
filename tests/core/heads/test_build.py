import json

import numpy as np
import pytest

from core.errors import ArtifactDamaged, InvalidInput
from core.heads.base import Head
from core.heads.build import fit_head, head_from_arrays, head_to_arrays
from core.heads.votes.fit import VoteHead, leave_one_out
from core.recipes.heads import (
    HeadConfig,
    LinearConfig,
    NamesConfig,
    NeighboursConfig,
    PrototypesConfig,
    VotesConfig,
)
from tests.builders.toy_embeddings import clusters

TOY = clusters(4, 8, spread=0.9, seed=0)
NAMES = clusters(4, 1, spread=0.3, seed=3).rows
TEXTS = clusters(4, 15, spread=1.0, seed=1).rows
CONFIGS = [
    VotesConfig(),
    VotesConfig(tau=0.2, ridge=0.3, max_exemplars=12),
    NeighboursConfig(k=3),
    PrototypesConfig(),
    LinearConfig(),
    NamesConfig(),
]


def fitted(config: HeadConfig) -> Head:
    return fit_head(config, TOY.rows, TOY.targets, TOY.intents, NAMES)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: c.kind)
def test_a_head_taken_apart_and_put_together_scores_bit_for_bit_the_same(
    config: HeadConfig,
) -> None:
    head = fitted(config)
    facts, arrays = head_to_arrays(head)
    facts = json.loads(json.dumps(facts))
    copies = {name: np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape) for name, a in
              arrays.items()}  # fmt: skip
    again = head_from_arrays(facts, copies)
    np.testing.assert_array_equal(again.scores(TEXTS), head.scores(TEXTS))
    assert (again.kind, again.intents, type(again)) == (head.kind, head.intents, type(head))
    assert all(array.flags.c_contiguous for array in arrays.values())


def test_votes_keep_what_leave_one_out_needs_and_leave_out_the_inverse() -> None:
    head = fitted(VotesConfig())
    facts, arrays = head_to_arrays(head)
    assert sorted(arrays) == ["diagonal", "exemplars", "prior", "targets", "weights"]
    again = head_from_arrays(facts, arrays)
    assert isinstance(head, VoteHead)
    assert isinstance(again, VoteHead)
    np.testing.assert_array_equal(leave_one_out(again), leave_one_out(head))


def test_votes_of_a_subset_keep_which_rows_carry_them() -> None:
    head = fitted(CONFIGS[1])
    again = head_from_arrays(*head_to_arrays(head))
    assert isinstance(head, VoteHead)
    assert isinstance(again, VoteHead)
    np.testing.assert_array_equal(again.carriers, head.carriers)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: c.kind)
def test_a_stored_head_that_lacks_an_array_is_refused(config: HeadConfig) -> None:
    facts, arrays = head_to_arrays(fitted(config))
    for name in set(arrays) - {"diagonal", "carriers"}:
        rest = {key: array for key, array in arrays.items() if key != name}
        with pytest.raises(ArtifactDamaged, match=name):
            head_from_arrays(facts, rest)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: c.kind)
def test_a_stored_head_whose_arrays_do_not_fit_its_intents_is_refused(config: HeadConfig) -> None:
    facts, arrays = head_to_arrays(fitted(config))
    with pytest.raises(ArtifactDamaged, match="do not fit its 3 intents"):
        head_from_arrays({**facts, "intents": facts["intents"][:3]}, arrays)


def test_an_unknown_kind_and_a_broken_fact_are_refused() -> None:
    facts, arrays = head_to_arrays(fitted(VotesConfig()))
    with pytest.raises(ArtifactDamaged, match="'oracle' is not known"):
        head_from_arrays({**facts, "kind": "oracle"}, arrays)
    with pytest.raises(ArtifactDamaged, match="cannot be read"):
        head_from_arrays({**facts, "tau": "wide"}, arrays)


def test_names_without_names_and_other_heads_without_labels_are_refused() -> None:
    with pytest.raises(InvalidInput, match="needs intent names"):
        fit_head(NamesConfig(), TOY.rows, TOY.targets, TOY.intents, None)
    none = np.zeros((0, 12), np.float32), np.zeros((0, 4))
    for config in CONFIGS[:-1]:
        with pytest.raises(InvalidInput, match="there are none"):
            fit_head(config, *none, TOY.intents, NAMES)
    assert fit_head(NamesConfig(), *none, TOY.intents, NAMES).scores(TEXTS).shape == (60, 4)
