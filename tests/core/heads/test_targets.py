"""The 0/1 matrix of labels that heads are fitted to."""

from core.heads.targets import target_matrix


def test_each_label_is_a_row_and_intents_without_a_column_are_left_out() -> None:
    labels = [("refund",), ("parcel", "refund"), (), ("archived", "parcel")]
    assert target_matrix(labels, ("parcel", "refund")).tolist() == [[0, 1], [1, 1], [0, 0], [1, 0]]
    assert target_matrix([], ("parcel",)).shape == (0, 1)
