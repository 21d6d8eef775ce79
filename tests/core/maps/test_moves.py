import numpy as np

from core.maps.alignment import align
from core.maps.layouts import pca_layout
from core.maps.moves import Placed, moved_most
from tests.builders.toy_embeddings import cloud, groups


def test_moved_most_finds_the_texts_that_changed_sides() -> None:
    before, which = groups(120)
    planted = [7, 44, 100]
    after = before.copy()
    for row in planted:
        other = (which[row] + 1) % 3
        after[row] = before[which == other].mean(0)
    reference = pca_layout(before)
    old, new = Placed(before, reference), Placed(after, align(pca_layout(after), reference))
    found = moved_most(old, new, 3)
    assert {move.row for move in found} == set(planted)
    assert {move.change for move in found} == {1.0}
    assert found[0].distance >= found[1].distance >= found[2].distance > 0.5
    among = moved_most(old, new, 5, rows=np.array([3, 44, 5]))
    assert among[0].row == 44
    assert {move.row for move in among} == {3, 44, 5}


def test_nothing_moved_between_a_map_and_itself() -> None:
    rows = cloud(60)
    same = Placed(rows, pca_layout(rows))
    assert {(m.change, m.distance) for m in moved_most(same, same, 60)} == {(0.0, 0.0)}
