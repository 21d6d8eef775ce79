"""What an erasure takes out of stored words, and what it leaves."""

from storage.log.scrubbing import ERASED, scrubber_of


def test_a_twin_is_a_text_though_an_intent_has_its_name() -> None:
    """It stayed in the receipts of answers for which it had voted."""
    vote = {
        "example": {"text": "a refund please", "intents": ["refund"]},
        "twins": ["refund", "my refund"],
    }
    found = scrubber_of(["refund"], ["refund"]).of({"votes": [vote]})
    assert found == {"votes": [{**vote, "twins": [ERASED, "my refund"]}]}
