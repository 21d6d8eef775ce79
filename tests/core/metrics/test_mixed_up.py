"""Two intents are mixed up both ways, by test texts and examples told apart."""

from core.metrics.mixed_up import WrongAnswer, mixed_up


def wrong(label: str, answer: str, text: str, *, is_test: bool = False) -> WrongAnswer[str]:
    return WrongAnswer(label, answer, text, is_test)


def test_both_ways_are_one_pair_and_test_texts_come_first() -> None:
    found = mixed_up(
        [
            wrong("b", "a", "1"),
            wrong("c", "a", "2"),
            wrong("a", "b", "3", is_test=True),
            wrong("b", "a", "4"),
        ]
    )
    assert [one.pair for one in found] == [("b", "a"), ("c", "a")]
    first = found[0]
    assert [one.text for one in first.wrong] == ["3", "1", "4"]
    assert first.n_back == 1
    assert first.measure == "1 test text, 2 examples"
    assert found[1].measure == "1 example"


def test_without_a_wrong_answer_no_two_are_mixed_up() -> None:
    assert mixed_up([]) == []
