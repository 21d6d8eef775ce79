import numpy as np

from core.maps.islands import island_centre


def blob(centre: tuple[float, float], n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(centre, 0.01, (n, 2)).astype(np.float32)


def test_the_centre_is_in_the_densest_part_and_the_mean_is_not() -> None:
    scattered = np.random.default_rng(1).uniform(0, 1, (45, 2)).astype(np.float32)
    points = np.concatenate([blob((0.2, 0.3), 55), scattered])
    assert np.linalg.norm(island_centre(points) - (0.2, 0.3)) < 0.01
    assert np.linalg.norm(points.mean(0) - (0.2, 0.3)) > 0.1


def test_of_two_parts_the_denser_has_the_name_and_not_the_gap_between_them() -> None:
    wide = np.random.default_rng(2).normal((0.8, 0.8), 0.05, (50, 2)).astype(np.float32)
    centre = island_centre(np.concatenate([blob((0.2, 0.2), 50), wide]))
    assert np.linalg.norm(centre - (0.2, 0.2)) < 0.02


def test_few_and_equal_points_have_a_centre() -> None:
    assert np.allclose(island_centre(np.array([[0.4, 0.6]], np.float32)), (0.4, 0.6))
    assert np.allclose(island_centre(np.full((7, 2), 0.5, np.float32)), 0.5)
    assert np.isfinite(island_centre(np.array([[0, 0], [1, 1]], np.float32))).all()


def test_a_large_group_is_thinned_and_its_centre_stays() -> None:
    points = blob((0.6, 0.1), 20_000)
    assert np.linalg.norm(island_centre(points) - (0.6, 0.1)) < 0.005


def test_of_few_texts_the_name_does_not_stand_at_the_one_that_lies_apart() -> None:
    """Each of three texts was as dense as the others, so that the first one had the name."""
    for near in (2, 3, 4):
        places = np.array([[9.0, 9.0], *([0.1 * turn, 0.0] for turn in range(near))])
        assert np.linalg.norm(island_centre(places)) < 1
