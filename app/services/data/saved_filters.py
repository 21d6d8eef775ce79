"""Filters of the Data page that a person keeps in a project by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.services.studio import Studio
from core.errors import InvalidInput
from core.text import is_storable, normalise
from storage import projects
from storage.people import preferences

MOST_FILTERS = 30
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class SavedFilter:
    """A filter by name; `query` holds the fields of the Data page's address that it sets."""

    name: str
    query: Mapping[str, Any]


def saved_filters(studio: Studio, project: str) -> list[SavedFilter]:
    """Return the filters of the person at this computer, by name."""
    with studio.database.read() as connection:
        project_id = projects.find(connection, project).id
        kept = preferences.kept(connection, project_id, studio.settings.actor, "filter")
    return [SavedFilter(name, query) for name, query in kept.items()]


def save_filter(
    studio: Studio, project: str, name: str, query: Mapping[Any, str]
) -> list[SavedFilter]:
    """Keep a filter under a name, which may be taken; return all.

    Raises:
        InvalidInput: The name cannot be used, or there are too many filters.
    """
    usable = normalise(name)
    if not usable or len(usable) > _LONGEST_NAME or not is_storable(usable):
        raise InvalidInput(
            f"'{name[:40]}' cannot be the name of a filter.",
            f"Write 1 to {_LONGEST_NAME} characters.",
        )
    with studio.database.write() as connection:
        project_id = projects.find(connection, project).id
        actor = studio.settings.actor
        kept = preferences.kept(connection, project_id, actor, "filter")
        if usable not in kept and len(kept) >= MOST_FILTERS:
            raise InvalidInput(
                f"{MOST_FILTERS} filters are kept already.", "Delete one that you do not use."
            )
        preferences.keep(connection, project_id, actor, "filter", {usable: dict(query)})
    return saved_filters(studio, project)


def delete_filter(studio: Studio, project: str, name: str) -> list[SavedFilter]:
    """Delete a filter, if it is there; return the others."""
    with studio.database.write() as connection:
        project_id = projects.find(connection, project).id
        preferences.drop(connection, project_id, studio.settings.actor, "filter", name)
    return saved_filters(studio, project)
