"""Whether the texts of a group have little in common does not depend on their number."""

import numpy as np
import pytest

from core.discover.showing import is_mixed
from core.vectors import unit_rows


@pytest.mark.parametrize("size", [3, 6, 40])
@pytest.mark.parametrize("common", [0.05, 0.4])
def test_a_group_is_mixed_by_the_cosine_of_its_pairs(size: int, common: float) -> None:
    rng = np.random.default_rng(0)
    own = np.linalg.qr(rng.normal(size=(64, size + 1)))[0].T  # orthogonal directions
    rows = np.sqrt(common) * own[:1] + np.sqrt(1 - common) * own[1:]
    middle = unit_rows(rows.mean(0, keepdims=True).astype(np.float32))
    assert is_mixed(float((rows @ middle[0]).mean()), size) is (common < 0.2)


def test_one_text_is_not_mixed() -> None:
    assert not is_mixed(1.0, 1)
