"""The table of abuses is whole, and the page shows it as it is."""

from tests.abuse import table


def test_each_of_the_22_cases_has_a_test() -> None:
    orders = [abuse.order for abuse, _ in table.lines()]
    assert set(range(1, table.N_CASES + 1)) <= set(orders)
    assert len(set(orders)) == len(orders)


def test_the_tests_that_a_line_names_are_there() -> None:
    root = table.HERE.parents[1]
    for abuse, path in table.lines():
        for each in (path, *abuse.also):
            assert (root / each).is_file(), (abuse.name, each)


def test_the_page_is_made_of_the_tests() -> None:
    """`python -m tests.abuse.table` writes it."""
    assert table.PAGE.read_text(encoding="utf-8") == table.page()
