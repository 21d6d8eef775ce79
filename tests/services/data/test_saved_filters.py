"""A person's filters are kept in the project by name."""

import pytest

from app.services.data.projects import create_project
from app.services.data.saved_filters import (
    MOST_FILTERS,
    delete_filter,
    save_filter,
    saved_filters,
)
from app.services.studio import Studio
from core.errors import InvalidInput


def test_a_filter_is_kept_replaced_and_deleted(studio: Studio) -> None:
    create_project(studio, "p")
    create_project(studio, "q")
    save_filter(studio, "p", "to check", {"state": "flagged"})
    save_filter(studio, "p", " to check ", {"state": "skipped", "text": "é"})
    kept = save_filter(studio, "p", "another", {"split": "test"})
    assert [(one.name, dict(one.query)) for one in kept] == [
        ("another", {"split": "test"}),
        ("to check", {"state": "skipped", "text": "é"}),
    ]
    assert saved_filters(studio, "q") == []
    assert [one.name for one in delete_filter(studio, "p", "to check")] == ["another"]
    assert [one.name for one in delete_filter(studio, "p", "no such")] == ["another"]


@pytest.mark.parametrize("name", ["", "  ", "x" * 61, "a\0b"])
def test_a_name_that_cannot_be_shown_is_refused(studio: Studio, name: str) -> None:
    create_project(studio, "p")
    with pytest.raises(InvalidInput):
        save_filter(studio, "p", name, {})


def test_there_is_an_end_to_what_is_kept(studio: Studio) -> None:
    create_project(studio, "p")
    for n in range(MOST_FILTERS):
        save_filter(studio, "p", f"filter {n}", {})
    with pytest.raises(InvalidInput):
        save_filter(studio, "p", "one more", {})
    assert len(save_filter(studio, "p", "filter 0", {"text": "changed"})) == MOST_FILTERS
