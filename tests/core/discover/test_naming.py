"""Groups are named by the words that set them apart."""

import numpy as np

from core.discover import naming
from core.discover.naming import group_terms, name_after, name_of

TEXTS = (
    "where is my parcel",
    "my parcel is late",
    "track my parcel please",
    "I want a refund",
    "refund my order please",
    "when do I get the refund",
)


def test_a_word_of_one_group_alone_comes_before_words_of_all() -> None:
    terms = group_terms(TEXTS, np.array([0, 0, 0, 1, 1, 1]), 2)
    assert "parcel" in name_of(terms[0])
    assert "refund" in name_of(terms[1])


def test_a_name_is_in_the_order_in_which_people_speak() -> None:
    """Groups were called “declined card” and “alarm set”."""
    texts = ("my card was declined", "the card is declined again", "why declined, my card", "hello")
    [terms, _] = group_terms(texts, np.array([0, 0, 0, 1]), 2)
    assert name_of(terms) == "card declined"


def test_a_name_is_what_most_texts_say_around_its_two_words() -> None:
    """Groups were called “change pin” and “charged fee”, as nobody speaks."""
    asked = ("I want to change my pin", "how to change my pin", "change pin", "pin to be changed")
    [terms, _] = group_terms([*asked, "hello"], np.array([0, 0, 0, 0, 1]), 2)
    assert set(terms[:2]) == {"change", "pin"}
    assert name_of(terms, asked) == "change my pin"
    assert name_of(terms, ["change the pin", "change my pin"]) == "change my pin"  # the shorter
    six = ["change the pin of my card", "change the pin of my card", "a pin change"]
    assert name_of(("change", "card"), six) == "change the pin of my card"
    far = ["change, as soon as ever you can, the secret pin"] * 2
    assert name_of(terms, far) == "change pin"


def test_what_no_two_texts_say_alike_is_named_by_the_shortest_text_that_has_both_words() -> None:
    """A group was called “long top”."""
    asked = ("Where does all of my money come from?", "where did this money come from?")
    assert name_of(("where", "money"), asked) == "where did this money come from"
    assert name_of(("where", "money"), asked[:1]) == "Where does all of my money come from"
    assert name_of(("where", "money"), (asked[0] * 2,)) == "where money"  # too long for a name
    assert name_of(("where", "money"), ("where from", "money back")) == "where money"


def test_only_the_first_sixty_words_of_a_long_text_name_its_group() -> None:
    """Of 20,000 e-mails some ten million words and pairs were held at once."""
    mails = [
        " ".join(["refund", "now", *(f"own{letter}{n}" for n in range(58)), "zebra", "sincerely"])
        for letter in "ab"
    ]
    terms = group_terms([*mails, "hello", "hello you"], np.array([0, 0, 1, 1]), 2)[0]
    assert terms == ("refund", "now")
    assert len(set(naming._terms(" ".join(f"word{n}" for n in range(800))))) == 60 + 59


def test_words_that_tell_nothing_are_no_name() -> None:
    """Groups were called “where come” and “which a”: they are named after a text instead."""
    assert name_of(("where", "come"), ("where from", "come on")) == ""
    assert name_of(("which", "a"), ("which a", "which a")) == ""
    assert name_of(("where",), ("where is it",)) == ""
    asked = ("where does my money come from", "where did your money come from")
    assert name_of(("where", "come"), asked) == "where does my money come from"


def test_two_forms_of_a_word_are_no_name() -> None:
    """Groups were called “activate activating” and “currencies currency”."""
    for one, other in (("activate", "activating"), ("currencies", "currency")):
        asked = [
            f"{one} it",
            f"is it {one}",
            f"{other} now",
            f"{other} please",
            "hello",
            "hello you",
        ]
        words = group_terms(asked, np.array([0, 0, 0, 0, 1, 1]), 2)[0]
        assert sum(word.startswith(one[:6]) for term in words for word in term.split()) == 1
    for one, other in (("interest", "internet"), ("identity", "identification")):
        asked = (
            [f"{one} {n}" for n in "ab"] + [f"{other} {n}" for n in "cd"] + ["hello", "hello you"]
        )
        words = group_terms(asked, np.array([0, 0, 0, 0, 1, 1]), 2)[0]
        assert {one, other} <= set(words)


def test_the_second_word_of_a_name_is_no_form_of_the_first() -> None:
    """A group was called “expire expires”."""
    asked = ["when does it expire", "my card expires", "it expires, does it expire", "my card"]
    terms = group_terms([*asked, "hello"], np.array([0, 0, 0, 0, 1]), 2)[0]
    assert len({word[:6] for term in terms for word in term.split()} & {"expire"}) == 1
    assert sum(word.startswith("expire") for term in terms for word in term.split()) == 1


def test_two_common_words_are_no_name() -> None:
    """A group of applications was called “for a”."""
    asked = [f"apply for a {thing}" for thing in ("card", "loan", "job")]
    others = ["is it for me", "what for", "give me a cat", "a dog", "a bird for him", "for her"]
    [terms, _] = group_terms([*asked, *others], np.array([0] * 3 + [1] * 6), 2)
    assert terms[0] == "apply" or terms[1] == "apply"
    assert "for a" not in terms[:2]


def test_words_of_most_groups_are_in_no_name_that_has_a_better_one() -> None:
    """Groups were called “is does” and “wifi in”, in whatever language."""
    things = ("karta", "konto", "kurs", "zwrot", "limit", "rata")
    asked = [f"czy {thing} jest {said}" for thing in things for said in ("w", "na", "dla")]
    names = group_terms(asked, np.repeat(np.arange(6), 3), 6)
    assert [name_of(terms) for terms in names] == list(things)
    # Without a better one they are all that there is to say.
    [one] = group_terms(asked, np.zeros(18, dtype=np.int64), 1)
    assert name_of(one) == "czy jest"


def test_domain_words_stay_beside_a_telling_one() -> None:
    asked = [f"my card is {what} {n}" for what in ("lost", "stuck") for n in range(3)]
    asked += [f"the {what} rate is {n}" for what in ("loan", "exchange", "tax") for n in range(3)]
    names = group_terms(asked, np.repeat(np.arange(5), 3), 5)
    assert [name_of(terms) for terms in names[:2]] == ["card lost", "card stuck"]


def test_words_that_many_intents_use_name_no_group() -> None:
    """In a pool of eight groups one was called “which a”: no other group said so."""
    asked = ["which phone has a plan", "which phone is it", "which one has a phone"]
    others = ["lost my card", "card is lost", "pay the bill", "bill is wrong"]
    of = np.array([0, 0, 0, 1, 1, 2, 2])
    assert "which" in name_of(group_terms([*asked, *others], of, 3)[0])
    beside = [[f"which {thing} is it", f"which {thing} broke"] for thing in ("sim", "box")]
    name = name_of(group_terms([*asked, *others], of, 3, beside)[0])
    assert "phone" in name
    assert "which" not in name


def test_words_keep_their_vowel_signs_and_long_ones_name_nothing() -> None:
    """Hindi words fell into single letters, and a sentence without spaces was a word."""
    texts = ("मेरा कार्ड", "कार्ड खो गया", "x" * 41, "x" * 41)
    terms = group_terms(texts, np.array([0, 0, 1, 1]), 2)
    assert name_of(terms[0]) == "कार्ड"
    assert name_of(terms[1]) == ""


def test_a_group_without_a_term_is_named_by_the_beginning_of_a_text() -> None:
    assert name_after("我的包裹在哪里") == "我的包裹在哪里"
    long = "one  word after\nthe other until nobody wants to read on"
    assert name_after(long) == "one word after the other until nobody"
    assert name_after("包裹" * 50) == "包裹" * 20


def test_no_word_stands_twice_in_a_name() -> None:
    for terms in group_terms(TEXTS, np.array([0, 0, 0, 1, 1, 1]), 2):
        words = [word for term in terms for word in term.split()]
        assert len(words) == len(set(words))


def test_texts_without_words_and_empty_groups_have_no_name() -> None:
    terms = group_terms(("!!", "??"), np.array([0, 0]), 2)
    assert [name_of(some) for some in terms] == ["", ""]
    assert group_terms(("hello there",), np.array([0]), 1)[0] == ("hello", "there")


def test_a_name_neither_begins_nor_ends_with_a_word_that_only_joins() -> None:
    """Groups were called “an uber”, “pets or” and “bill s minimum”."""
    assert name_of(("an", "uber"), ("get me an uber", "call an uber")) == "uber"
    assert name_of(("pets", "or"), ("have you pets or not", "pets or no pets")) == "pets"
    asked = ("what's my bill's minimum", "pay my bill's minimum")
    assert name_of(("bill", "minimum"), asked) == "bill minimum"


def test_somebodys_number_names_no_group() -> None:
    """A group about PINs was called “be 1234”."""
    texts = ("make it be 1234", "let the code be 1234", "set the code", "a cat", "a dog", "no cat")
    [first, _] = group_terms(texts, np.array([0, 0, 0, 1, 1, 1]), 2)
    assert "code" in first
    assert not any("1234" in term for term in first)
    [only] = group_terms(("1234", "1234"), np.zeros(2, dtype=np.int64), 1)
    assert only == ("1234",)
