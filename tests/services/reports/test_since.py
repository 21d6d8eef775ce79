"""What a report says has changed since another version."""

from pathlib import Path

from app.services.live.live_studio import open_live_studio
from app.services.reports.model_report import report, report_page
from app.services.studio import Studio
from app.services.versions.bundles import Handover, export_model, import_bundle


def test_an_imported_version_is_not_said_to_have_learned_from_the_same_examples(
    home: Studio, tmp_path: Path
) -> None:
    """It was trained elsewhere, and nobody here knows from what."""
    live_studio = open_live_studio(home)
    of_here = report(live_studio, "p", 2)
    assert of_here.since is not None
    assert of_here.since.data is not None
    bundle = tmp_path / "p.zip"
    export_model(home, "p@1", bundle, Handover(without_texts=True))
    number = int(import_bundle(home, bundle, "p").partition("@")[2])
    told = report(live_studio, "p", number)
    assert told.since is not None
    assert (told.since.name, told.since.data) == ("p@2", None)
    page = report_page(told, "", {})
    assert "What changed in its data is not known: one of the two was imported." in page
    assert "It learned from the same examples." not in page
