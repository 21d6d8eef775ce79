"""Words of intent names meet texts by stems, and words that most names share say nothing."""

from core.review.name_words import one_stem, parts_of, reader_of, shared_parts, similar_names


def test_a_name_is_cut_at_humps_and_signs() -> None:
    assert parts_of("cardArrival") == parts_of("card_arrival") == {"card", "arrival"}


def test_endings_of_three_letters_make_no_other_word() -> None:
    assert one_stem("transfer", "transfers")
    assert one_stem("cancelled", "cancel")
    assert not one_stem("transfer", "transaction")
    assert not one_stem("car", "card")  # three letters are no stem


def test_a_word_of_most_names_is_shared_and_one_of_two_is_not() -> None:
    names = ["card_lost", "card_late", "card_new", "refund_late", "pin_new", "pin_lost"]
    assert shared_parts(names) == {"card"}


def test_a_text_is_read_in_the_words_of_the_names() -> None:
    cut = reader_of(["transfer_fee", "card_arrival"])
    assert cut("Two transfers have arrived") == {"two", "transfer", "have", "arrival"}


def test_a_new_name_leads_to_the_names_that_share_a_word_with_it() -> None:
    names = ["bill_question", "card_lost", "card_arrival", "card_blocked", "pay_bill_late"]
    assert similar_names("billing", names) == ("bill_question", "pay_bill_late")
    assert similar_names("Bill question", names)[0] == "bill_question"
    assert similar_names("card_stolen", names) == ()  # a word in many names tells nothing
    assert similar_names("weather", names) == ()
