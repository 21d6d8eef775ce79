"""The page on reliability is what the tests of faults say of themselves."""

from tests.faults import table


def test_the_page_is_made_of_the_tests() -> None:
    told = "run `python -m tests.faults.table`"
    assert table.PAGE.read_text(encoding="utf-8") == table.page(table.kept()), told


def test_what_was_measured_is_of_files_that_are_there() -> None:
    assert set(table.kept()) <= {path for _, path in table.lines()}
