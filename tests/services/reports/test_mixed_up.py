"""A report counts the texts by which two intents are mixed up as the review and the map do."""

from dataclasses import replace

from app.services.live.live_studio import open_live_studio
from app.services.reports.model_report import report, report_page
from app.services.review.review import review
from app.services.studio import Studio
from app.services.what_if.repairs import Repair, apply_repair
from storage.queries import dataset, utterances
from tests.builders.trained_home import change, tuned_elsewhere


def test_two_intents_are_mixed_up_by_as_many_test_texts_in_a_report_as_in_the_review(
    home: Studio,
) -> None:
    """One mix-up was counted in three ways on the map, at its border and in the report."""
    tuned_elsewhere(home)
    live_studio = open_live_studio(home)
    with home.database.read() as connection:
        by = utterances.intent_ids(connection, 1)
    texts = ("the parcel is late", "track the parcel for me", "when does the parcel come")
    for text in texts:
        change(home, text, "split", "test")
    with home.database.read() as connection:
        ids = tuple(r.id for r in dataset.utterances(connection, 1) if r.text in texts)
    apply_repair(home, "p", Repair("relabel", ids, (by["password"],)), "relabelled-1")
    made = report(live_studio, "p", 2)
    told = {frozenset((one.actual, one.said)): one.measure for one in made.confusions if one.said}
    names = {key: name for name, key in by.items()}
    found = review(live_studio, "p", "confusion").findings
    assert found
    pairs = {frozenset(names[key] for key in one.intents): one.measure for one in found}
    tests = {pair: measure.split(", ")[0] for pair, measure in pairs.items() if "test" in measure}
    assert tests
    assert {pair: told[pair] for pair in tests} == tests
    # 15 of 25 wrong answers were shown as if there were no more.
    shown = sum(len(one.texts) for one in made.confusions)
    assert made.n_wrong == shown == sum(one.count for one in made.confusions)
    assert "wrong answers" not in report_page(made, "", {})
    cut = report_page(replace(made, n_wrong=shown + 9), "", {})
    assert f"These pairs hold {shown} of {shown + 9} wrong answers" in cut
