"""A version answers with the present names of its intents, on the command line and in a bundle."""

from pathlib import Path

from app.services.answering.stored import load_model
from app.services.data.intents import change_intent
from app.services.studio import Studio
from app.services.versions.bundles import export_model
from core.bundle.archive import verify_bundle
from storage.queries import utterances as browse


def test_an_intent_that_was_renamed_is_called_so_by_versions_and_bundles(
    home: Studio, tmp_path: Path
) -> None:
    with home.database.read() as connection:
        by = browse.intent_ids(connection, 1)
    old, key = next(iter(by.items()))
    change_intent(home, "p", key, {"name": "called otherwise"})
    out = tmp_path / "renamed.zip"
    manifest = export_model(home, "p", out)
    for reference in ("p", "p@1", str(out)):
        pipeline = load_model(home, reference)
        example = next(e for e in pipeline.exemplars if "called otherwise" in e.intents)
        [said] = pipeline.predict([example.text])
        assert said.decision.intents == ("called otherwise",)
        assert old not in pipeline.head.intents
        assert all(old not in e.intents for e in pipeline.exemplars)
    assert old not in [one["name"] for one in manifest.facts["intents"]]
    assert verify_bundle(out).files == manifest.files
