"""The 0/1 matrix of labels that heads are fitted to."""

import pytest

from core.heads.targets import target_matrix

LABELS = [("refund",), ("parcel", "refund"), (), ("archived", "parcel")]


def test_each_label_is_a_row_and_intents_without_a_column_are_left_out_where_asked() -> None:
    targets = target_matrix(LABELS, ("parcel", "refund"), others=True)
    assert targets.tolist() == [[0, 1], [1, 1], [0, 0], [1, 0]]
    assert target_matrix([], ("parcel",)).shape == (0, 1)


def test_a_training_does_not_pass_over_a_label_that_it_has_no_column_for() -> None:
    with pytest.raises(KeyError, match="archived"):
        target_matrix(LABELS, ("parcel", "refund"))
