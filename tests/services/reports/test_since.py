"""What a report says has changed since another version."""

import sqlalchemy as sa

from app.services.live.live_studio import open_live_studio
from app.services.reports.model_report import report, report_page
from app.services.studio import Studio
from storage.tables import model_version

SAME = "It learned from the same examples."
UNKNOWN = "What changed in its data is not known: at least one of the two was imported."


def test_an_imported_version_is_not_said_to_have_learned_from_the_same_examples(
    home: Studio,
) -> None:
    """It was trained elsewhere, and nobody here knows from what."""
    this = sa.and_(model_version.c.project_id == 1, model_version.c.number == 2)
    with home.database.write() as connection:  # as an import stores a version
        connection.execute(sa.update(model_version).where(this).values(dataset_version_id=None))
    imported = report(open_live_studio(home), "p", 2)
    assert imported.since is not None
    assert (imported.since.name, imported.since.data) == ("p@1", None)
    page = report_page(imported, "", {})
    assert UNKNOWN in page
    assert SAME not in page
