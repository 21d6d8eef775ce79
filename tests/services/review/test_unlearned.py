"""Labels are doubted by an encoder that has not learned them."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from app.services.live.live_studio import LiveStudio, open_live, open_live_studio
from app.services.live.row_answers import answer_rows, exemplar_scores
from app.services.review import examples as findings_about_examples
from app.services.review import review
from app.services.review.unlearned import unlearned_rows
from app.services.studio import Studio
from app.services.versions.registry import promote
from core.encoders.loading import load_folder
from core.heads.votes.fit import fit_votes, leave_one_out
from tests.builders.tiny_encoder import tiny_folder
from tests.builders.trained_home import POOL, label, train


@pytest.fixture
def tuned(home: Studio) -> LiveStudio:
    """A studio whose second version, tuned on its labels, answers."""
    promote(home, "p", 2)
    return open_live_studio(home)


def test_a_version_that_changed_no_encoder_doubts_labels_by_its_own(home: Studio) -> None:
    promote(home, "p", 1)
    live_studio = open_live_studio(home)
    _, live = open_live(live_studio, "p")
    assert unlearned_rows(live_studio, live, POOL) is None


def test_a_tuned_version_doubts_labels_by_the_encoder_it_started_from(
    tuned: LiveStudio, tiny_path: Path
) -> None:
    """A tuning hid a quarter of planted errors: it had pulled them to their wrong labels."""
    _, live = open_live(tuned, "p")
    texts = [exemplar.text for exemplar in live.pipeline.exemplars]
    rows = unlearned_rows(tuned, live, texts)
    assert rows is not None
    np.testing.assert_allclose(rows, load_folder(tiny_path).encode(texts), atol=1e-6)
    assert np.abs(rows - live.pipeline.embeddings).max() > 0.001
    head = live.pipeline.head
    scores = leave_one_out(fit_votes(rows, head.targets, head.intents, 0.3, 0.1))
    wrong = scores.argmax(1) != head.targets.argmax(1)
    findings = [f for kind in ("label", "doubt") for f in review.review(tuned, "p", kind).findings]
    doubted = {finding.texts[0].text for finding in findings}
    assert doubted == {texts[row] for row in np.flatnonzero(wrong)}
    assert 0 < len(doubted) < len(texts)


def test_a_corrected_label_is_not_doubted_by_the_encoder_that_learned_the_old_one(
    tuned: LiveStudio,
) -> None:
    """Data said “The other examples say” the old label, which Review had called wrong."""
    _, live = open_live(tuned, "p")
    text, had = next(
        (e.text, e.intents[0])
        for e, answer in zip(
            live.pipeline.exemplars,
            answer_rows(
                tuned.studio, tuned.models, "p", [e.id for e in live.pipeline.exemplars]
            ).answers,
            strict=True,
        )
        if not answer.differs
    )
    other = next(name for name in live.pipeline.head.intents if name != had)
    label(tuned.studio, text, other)
    _, live = open_live(tuned, "p")
    [row] = [e.id for e in live.pipeline.exemplars if e.text == text]
    [answer] = answer_rows(tuned.studio, tuned.models, "p", [row]).answers
    [at] = [n for n, e in enumerate(live.pipeline.exemplars) if e.id == row]
    scores = exemplar_scores(tuned.studio, live)
    assert scores is not None
    assert live.pipeline.head.intents[int(scores[0][at].argmax())] == had  # what the others say
    assert not answer.differs
    assert answer.intents == live.votes_as(row)[1]


def test_the_number_of_duplicates_does_not_depend_on_the_version(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tuned encoder lays texts of one intent together: 37 duplicates became 132, no text new."""
    monkeypatch.setattr(findings_about_examples, "DUPLICATE", 0.6)  # the tiny encoder spreads texts

    def duplicates(version: int) -> set[tuple[str, ...]]:
        promote(home, "p", version)
        found = review.review(open_live_studio(home), "p", "duplicate").findings
        return {tuple(sorted(text.text for text in finding.texts)) for finding in found}

    before, after = duplicates(1), duplicates(2)
    assert before == after
    assert before


def test_without_that_encoder_only_the_same_words_are_duplicates(
    home: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(findings_about_examples, "DUPLICATE", -1.0)  # else everything would be one
    base = tiny_folder(tmp_path / "lent")
    train(home, base, {"kind": "convfit", "epochs": 1})
    promote(home, "p", 3)
    assert review.review(open_live_studio(home), "p", "duplicate").findings
    shutil.rmtree(base)
    home.cache.clear()
    assert not review.review(open_live_studio(home), "p", "duplicate").findings


def test_without_that_encoder_it_doubts_them_by_its_own(home: Studio, tmp_path: Path) -> None:
    base = tiny_folder(tmp_path / "lent")
    train(home, base, {"kind": "convfit", "epochs": 1})
    promote(home, "p", 3)
    shutil.rmtree(base)
    live_studio = open_live_studio(home)
    _, live = open_live(live_studio, "p")
    assert unlearned_rows(live_studio, live, POOL) is None
