"""A fence decides what is in scope, tells beforehand who goes in and out, and stands at once."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.services import browsing, fencing, repairing, trying
from app.services.blast import preview
from app.services.browsing import Edit
from app.services.exporting import export_model
from app.services.fencing import FenceSetting
from app.services.prediction import load_model
from app.services.repairing import Repair
from app.services.studio import Studio
from app.services.workbench import Workbench, open_workbench
from core.errors import InvalidInput, NotFound
from storage import browse, models
from storage.browse import Filter
from tests.services.trained import POOL, change, rows_of

JUDGED = ("my parcel has not arrived", "change my password", "hi", "good morning")


@pytest.fixture
def bench(home: Studio) -> Workbench:
    for text in JUDGED:
        change(home, text, "split", "test")
    keys = [key for key, (text, _) in rows_of(home).items() if text in POOL[:2]]
    which = Filter(ids=tuple(keys))
    browsing.change_many(home, "p", which, Edit("out-of-scope"), 2)
    return open_workbench(home)


def top(bench: Workbench, texts: tuple[str, ...]) -> np.ndarray:
    return np.asarray(bench.models.get(1).pipeline.scores(list(texts)).max(1))


def test_who_goes_in_and_out_is_told_and_then_happens(bench: Workbench) -> None:
    texts = (*JUDGED, *POOL)
    scores = top(bench, texts)
    limit = float(np.sort(scores)[5]) + 1e-9  # six of nine stay out
    asked = FenceSetting(limit)
    found = fencing.look(bench, "p", asked)
    said = trying.answer(bench, "p", texts)
    inside = {t for t, a in zip(texts, said, strict=True) if not a.prediction.decision.out_of_scope}
    stays = {t for t, score in zip(texts, scores, strict=True) if score >= limit}
    assert {c.text for c in found.leaving} == inside - stays
    assert {c.text for c in found.entering} == stays - inside
    assert found.judged == (4, 2)
    assert found.recall is not None
    assert found.recall[1] == np.mean([t not in stays for t in POOL[:2]])
    assert found.kept is not None
    assert found.kept[1] == np.mean([t in stays for t in JUDGED])
    assert fencing.look(bench, "p").stands == FenceSetting()
    fencing.save(bench, "p", asked)
    after = trying.answer(bench, "p", texts)
    assert {
        t for t, a in zip(texts, after, strict=True) if not a.prediction.decision.out_of_scope
    } == stays
    assert fencing.look(bench, "p").n_leaving == 0
    fencing.save(bench, "p", FenceSetting())
    assert [a.prediction.decision for a in trying.answer(bench, "p", texts)] == [
        a.prediction.decision for a in said
    ]


def test_an_intent_with_a_limit_of_its_own_goes_by_it_and_so_do_previews(bench: Workbench) -> None:
    with bench.studio.database.read() as connection:
        by = browse.intent_ids(connection, 1)
    said = [a.prediction for a in trying.answer(bench, "p", POOL)]
    best = said[0].ranked[0].intent
    fencing.save(bench, "p", FenceSetting(-9.0, {by[best]: 9.0}))
    after = [a.prediction.decision for a in trying.answer(bench, "p", POOL)]
    assert [d.out_of_scope for d in after] == [p.ranked[0].intent == best for p in said]
    parcel = next(key for key, (text, _) in rows_of(bench.studio).items() if "is late" in text)
    repair = Repair("relabel", (parcel,), (by["greeting"],))
    [told] = preview(bench, "p", [repair])
    before = {t: a.prediction.decision.words for t, a in _answers(bench).items()}
    repairing.act(bench.studio, "p", repair, "repair-01")
    now = {t: a.prediction.decision.words for t, a in _answers(bench).items()}
    assert {t.text: t.after for t in told.turns} == {
        text: words for text, words in now.items() if before[text] != words
    }


def test_the_command_line_and_a_bundle_answer_by_the_fence_as_the_pages_do(
    home: Studio, tmp_path: Path
) -> None:
    """A limit that was set on the page was forgotten when the model was handed over."""
    studio, bench = home, open_workbench(home)
    with studio.database.read() as connection:
        by = browse.intent_ids(connection, 1)
        version = models.champion(connection, 1)
    before = [a.prediction.decision for a in trying.answer(bench, "p", POOL)]
    plain, fence, again = (tmp_path / f"{name}.zip" for name in ("plain", "fence", "again"))
    export_model(studio, "p", plain)
    fencing.save(bench, "p", FenceSetting(-9.0, {by[before[0].leading]: 9.0}))
    export_model(studio, "p", fence)
    after = [a.prediction.decision.words for a in trying.answer(bench, "p", POOL)]
    assert after != [decision.words for decision in before]
    for reference, expected in (("p", after), (str(fence), after), (str(plain), before)):
        said = [one.decision.words for one in load_model(studio, reference).predict(POOL)]
        assert said == [getattr(one, "words", one) for one in expected]
    unpacked = tmp_path / "unpacked"
    with zipfile.ZipFile(fence) as archive:
        archive.extractall(unpacked)
    assert "The threshold was set by hand" in (unpacked / "README.md").read_text("utf-8")
    of_example = [[] if words == "out of scope" else [words] for words in after]
    assert [one["intents"] for one in example_answers(unpacked, POOL)] == of_example
    fencing.save(bench, "p", FenceSetting())
    export_model(studio, "p", again)  # what the studio keeps of the version was not touched
    assert again.read_bytes() == plain.read_bytes()
    with studio.database.read() as connection:
        assert models.champion(connection, 1) == version


def example_answers(folder: Path, texts: list[str]) -> list[dict[str, Any]]:
    """What a bundle's own program answers."""
    code = (
        "import json, pathlib, sys, predict; "
        "print(json.dumps(predict.Bundle().predict(sys.argv[1:])))"
    )
    command = [sys.executable, "-c", code, *texts]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=True, text=True)
    return json.loads(done.stdout)


def _answers(bench: Workbench) -> dict[str, trying.Answer]:
    texts = (*JUDGED, *POOL[2:])
    return dict(zip(texts, trying.answer(bench, "p", texts), strict=True))


def test_what_is_no_limit_is_refused(bench: Workbench) -> None:
    with pytest.raises(InvalidInput, match="no usable number"):
        fencing.save(bench, "p", FenceSetting(float("nan")))
    with pytest.raises(NotFound, match="no intent"):
        fencing.save(bench, "p", FenceSetting(0.1, {"nobody": 0.2}))
    suggested = fencing.look(bench, "p").suggested
    assert suggested.limit is not None
