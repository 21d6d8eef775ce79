"""The start page says one thing to do, the one that helps most."""

from dataclasses import replace

import pytest

from app.services.home.next_step import FirstSteps, ProjectFacts, first_steps, next_step

EMPTY = ProjectFacts(texts=0, unlabelled=0, examples=0, taught_intents=0, tests=0)
BARE = replace(EMPTY, texts=100, unlabelled=100)
BEGUN = replace(BARE, unlabelled=93, examples=7, taught_intents=2)
LABELLED = replace(BARE, unlabelled=60, examples=40, taught_intents=4)
LIVE = replace(LABELLED, champion=3, tests=10)
DONE = replace(LIVE, unlabelled=0)


@pytest.mark.parametrize(
    ("facts", "action", "page"),
    [
        (EMPTY, "Import texts", "data"),
        (BARE, "See what the texts are about", "discover"),
        (replace(BARE, unlabelled=99), "Name your intents and label 20 texts", "label"),
        (replace(BEGUN, taught_intents=1), "Label a second intent", "label"),
        (BEGUN, "Label 13 more", "label"),
        (replace(BEGUN, unlabelled=13), "Label 13 more", "label"),
        (replace(BEGUN, unlabelled=3), "Label the 3 that are left", "label"),
        (replace(BEGUN, unlabelled=1), "Label the last text", "label"),
        (replace(BARE, unlabelled=8), "Name your intents and label 8 texts", "label"),
        (LABELLED, "Train the first version", "train"),
        (replace(BEGUN, unlabelled=0), "Train the first version", "train"),
        (replace(EMPTY, texts=9, tests=9), "Import more texts", "data"),
        (replace(LABELLED, is_training=True), "Follow the training", "train"),
        (replace(LABELLED, candidate=1), "Use version 1", "versions"),
        (replace(LIVE, failed=True, candidate=4), "Choose another version", "versions"),
        (replace(LIVE, candidate=4, label_errors=5), "Decide on version 4", "train"),
        (replace(LIVE, label_errors=12, changes=30), "Check 12 labels", "review"),
        (replace(LIVE, label_errors=0, changes=12), "Train", "train"),
        (replace(LIVE, changes=12, is_training=True), "Label these 20", "label"),
        (replace(LIVE, changes=9), "Label these 20", "label"),
        (replace(LIVE, unlabelled=6), "Label these 6", "label"),
        (replace(LIVE, unlabelled=1), "Label the last text", "label"),
        (replace(DONE, changes=2), "Train", "train"),
        (replace(DONE, tests=0), "Import test texts", "data"),
        (replace(DONE, tests=0, changes=0), "Look for wrong labels", "review"),
        (replace(DONE, tests=0, changes=0, label_errors=0), "Import test texts", "data"),
        (DONE, "Try the model", "try"),
    ],
)
def test_the_first_rule_that_fits_decides(facts: ProjectFacts, action: str, page: str) -> None:
    step = next_step(facts)
    assert (step.action, step.page) == (action, page)
    assert step.reason.endswith(".")


def test_the_reason_has_the_figures_and_claims_no_doubt_that_is_not_computed() -> None:
    assert next_step(replace(LIVE, changes=12)).reason == "12 changes since version 3."
    # After a rollback a training was proposed without a word about the version gone back from.
    found = next_step(replace(LIVE, changes=12, left=4)).reason
    assert found.endswith("3. You went back to it from version 4, which you can use again.")
    assert next_step(LIVE).reason == "60 texts without a label."
    # "30 labels" stood under "32 of 37 texts labelled".
    assert next_step(LABELLED).reason == "40 labels to learn from."
    # Two test texts give no percentage, and nothing said so.
    assert next_step(replace(LABELLED, tests=2)).reason == (
        "40 labels to learn from, 2 to test with. With 20 test texts it can be told how good it is."
    )
    # "1,856 of 3,856 texts labelled" stood over 996 and 800.
    assert next_step(replace(LABELLED, tests=80, outside=6)).reason == (
        "40 labels to learn from, 80 to test with, 6 that fit no intent."
    )
    doubted = next_step(replace(LIVE, knows_doubt=True))
    assert doubted.reason.startswith("The model is unsure of them")
    assert doubted.query == {"order": "helps", "n": "20"}
    # What a round of labels is worth was not told.
    counted = next_step(replace(LIVE, knows_doubt=True, answered_badly=13))
    assert counted.reason.startswith("The model answers about 13 of them wrongly or not at all")
    assert next_step(replace(LIVE, label_errors=1)).query == {"kind": "label"}
    assert next_step(replace(DONE, tests=0)).query == {"import": "test"}
    # Of 3 texts "Label 13 more" was proposed, and the page counted "3 of these 13" for ever.
    assert next_step(replace(BEGUN, unlabelled=3)).query == {"n": "3"}
    assert next_step(BEGUN).query == {"n": "13"}
    # "These are all the texts that are left." stood there of one.
    assert next_step(replace(BEGUN, unlabelled=1)).reason.endswith(" One text is left.")
    # "Every text has a label" stood there while 40 were skipped.
    assert next_step(DONE).reason.startswith("Nothing is left to label, and")
    asked = next_step(replace(LIVE, label_errors=1, proposals=2))
    assert (asked.action, asked.query) == ("Decide about 2 proposals", {"kind": "proposal"})


def test_the_three_steps_of_a_new_project_are_ticked_as_they_are_done() -> None:
    assert first_steps(EMPTY) == FirstSteps(imported=False, labelled=False, trained=False)
    assert first_steps(BEGUN) == FirstSteps(imported=True, labelled=False, trained=False)
    assert first_steps(LABELLED) == FirstSteps(imported=True, labelled=True, trained=False)
    assert first_steps(LIVE).trained
