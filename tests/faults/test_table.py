"""What parts of one long test measure stands in the table as one figure."""

from tests.faults.table import summed


def test_counts_are_added_and_of_seconds_the_most_are_told() -> None:
    parts = ["50 kills, 1,020 labels, p95 0.4 s.", "50 kills, 980 labels, p95 0.7 s."]
    assert summed([*parts, "erase: 4 points."]) == [
        "100 kills, 2,000 labels, p95 0.7 s.",
        "erase: 4 points.",
    ]
