import csv
from collections import Counter
from importlib.resources import files


def rows(name: str) -> list[dict[str, str]]:
    content = (files("assets") / "sample" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(content.splitlines()))


def test_the_sample_has_what_its_readme_promises() -> None:
    names = [row["name"] for row in rows("intents.csv")]
    assert len(names) == len(set(names)) >= 15
    assert all(row["description"] for row in rows("intents.csv"))
    counts = Counter(row["intent"] for row in rows("labelled.csv"))
    assert set(counts) == set(names)
    assert all(20 <= count <= 40 for count in counts.values())
    assert Counter(row["intent"] for row in rows("test.csv")) == dict.fromkeys(names, 18)


def test_the_pool_holds_three_hundred_texts_of_which_sixty_are_out_of_scope() -> None:
    pool = [row["text"] for row in rows("pool.csv")]
    outside = {row["text"] for row in rows("pool_out_of_scope.csv")}
    assert len(pool) == 300
    assert len(outside) == 60
    assert outside <= set(pool)


def test_no_text_occurs_twice() -> None:
    texts = [
        row["text"].casefold()
        for name in ("labelled.csv", "test.csv", "pool.csv")
        for row in rows(name)
    ]
    assert [text for text, count in Counter(texts).items() if count > 1] == []
    assert all(0 < len(text) <= 300 for text in texts)
