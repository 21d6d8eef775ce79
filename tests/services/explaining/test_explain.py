"""Why a text gets its answer: figures that add up, and statements that hold when tried."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.services.answering.opened import Space, open_space
from app.services.explaining import counterfactuals
from app.services.explaining import explain as explaining
from app.services.explaining.explain import explain, explain_reference, explain_text
from app.services.explaining.explained_model import explained_bundle, explained_live_model
from app.services.explaining.views import Explanation
from app.services.explaining.words import nothing_words
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.review.fence import save_fence
from app.services.review.fence_views import FenceSetting
from app.services.studio import Studio
from app.services.versions.bundles import export_model
from core.encoders.packed.encoder import TransformerEncoder
from core.errors import InvalidInput, NotFound
from core.explain.attribution import attribute
from core.explain.load_bearing import LoadBearingExemplars, Needed
from core.heads.votes.fit import fit_votes
from core.intent_names import names_alone
from core.text import points
from core.types import Decision, Intent
from storage import models, projects
from tests.builders.tiny_encoder import randomly_adapted
from tests.builders.trained_home import POOL, change, intent_ids, label, train
from tests.conftest import SENTENCES

ASSETS = Path(__file__).parents[3] / "assets"
ASKED = "please give my money back"


@pytest.fixture
def live_studio(home: Studio) -> LiveStudio:
    return open_live_studio(home)


def pipeline_of(live_studio: LiveStudio, number: int):
    with live_studio.studio.database.read() as connection:
        project = projects.find(connection, "p")
        space = Space(project, models.find(connection, project.id, number))
    return open_space(live_studio.studio, space).pipeline


def adds_up(found: Explanation) -> None:
    for reason in found.reasons:
        shown = sum(vote.vote for vote in reason.votes)
        assert shown + reason.others == pytest.approx(reason.total, abs=1e-6)
        assert reason.prior + reason.total == pytest.approx(reason.score, abs=1e-6)


def test_the_votes_of_all_examples_add_up_to_the_score(live_studio: LiveStudio) -> None:
    found = explain(live_studio, "p", ASKED)
    adds_up(found)
    [reason] = found.reasons
    assert found.answer == (reason.intent,) == (found.ranked[0].intent,)
    assert reason.n_others + sum(1 + len(vote.twins) for vote in reason.votes) == 20
    sizes = [abs(vote.vote) for vote in reason.votes]
    assert sizes == sorted(sizes, reverse=True)
    shares = [vote.share for vote in reason.votes if vote.vote > 0]
    assert 0 < sum(shares) <= 1 + 1e-9
    assert found.margin == pytest.approx(found.ranked[0].score - found.ranked[1].score)
    assert found.scope.distance == pytest.approx(reason.score - reason.limit)
    assert found.scope.inside is (found.scope.distance >= 0)
    assert f"“{reason.votes[0].example.text}”" in found.sentence


def test_an_answer_names_whose_label_speaks_for_it(live_studio: LiveStudio) -> None:
    before = explain(live_studio, "p", POOL[0])
    origins = {vote.origin for vote in before.reasons[0].votes}
    assert {origin.how for origin in origins} == {"import labelled.csv"}
    assert {origin.dataset_version for origin in origins} == {1}
    label(live_studio.studio, POOL[1], "refund")
    found = explain(live_studio, "p", POOL[1])
    [own] = [vote for vote in found.reasons[0].votes if vote.example.text == POOL[1]]
    assert own.since_training
    assert (own.origin.how, own.origin.by, own.origin.dataset_version) == ("label", "local", None)
    assert found.rule == "exact"
    assert found.since_training == 1
    assert found.plain.startswith("Somebody has labelled just this text")
    adds_up(found)


def test_without_the_load_bearing_examples_the_answer_is_the_one_foretold(
    live_studio: LiveStudio,
) -> None:
    """Fitting again without them, prior included, answers as the explanation says."""
    found = explain(live_studio, "p", ASKED, model=1)
    carried = found.reasons[0].load_bearing
    assert carried.examples
    pipeline = pipeline_of(live_studio, 1)
    gone = {example.id for example in carried.examples}
    kept = [row for row, e in enumerate(pipeline.exemplars) if e.id not in gone]
    head = pipeline.head
    again = fit_votes(
        pipeline.embeddings[kept], head.targets[kept], head.intents, head.tau, head.ridge
    )
    scores = again.scores(pipeline.encoder.encode([ASKED]))[0]
    limit = pipeline.calibration.threshold
    verdict = head.intents[int(scores.argmax())] if scores.max() >= limit else "out of scope"
    assert verdict == carried.after != found.words
    # “At least 2 would have to go” told nobody what that says of the answer, and "second now",
    # "perhaps fewer", "leave them" were four more things to think of.
    n = len(carried.examples)
    those, them = ("1 example", "it") if n == 1 else (f"{n} examples", "them")
    is_named = carried.after in found.speaking or carried.after == "out of scope"
    after = carried.after if is_named else "another intent"
    then = f": without {them} it would be {after}."
    if not any(found.answer[0] in pipeline.exemplars[row].intents for row in kept):
        every = all(found.answer[0] in one.intents for one in carried.examples)
        which = "all" if every else "among them all"
        then = f", {which} that {found.answer[0]} has: only its name would be left."
    assert carried.words == f"The answer rests on {those}{then}"
    assert "Strongest votes: “" in found.sentence
    assert "because" not in found.sentence


def test_without_all_its_examples_an_intent_still_has_its_name(
    live_studio: LiveStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """“Without it it would be parcel” of an only example: its intent is then answered by name.

    The preview of the same deletion knew that, and said that no answer changes.
    """
    pipeline = explained_live_model(live_studio, "p").pipeline
    [voted] = explain(live_studio, "p", ASKED).answer
    column = pipeline.head.intents.index(voted)
    rows = [at for at, one in enumerate(pipeline.exemplars) if voted in one.intents]

    def words_without(some: list[int]) -> str:
        found = LoadBearingExemplars(tuple(some), column, -1, (), len(some))
        monkeypatch.setattr(counterfactuals, "load_bearing", lambda *_: found)
        return explain(live_studio, "p", ASKED).reasons[0].load_bearing.words

    assert words_without(rows) == (
        f"The answer rests on 5 examples, all that {voted} has: only its name would be left."
    )
    other = next(at for at in range(20) if at not in rows)
    assert words_without([*rows, other]) == (
        f"The answer rests on 6 examples, among them all that {voted} has: "
        "only its name would be left."
    )
    assert words_without(rows[1:]) == (
        "The answer rests on 4 examples: without them it would be out of scope."
    )


def test_why_not_another_intent_is_told_in_examples_that_would_do(live_studio: LiveStudio) -> None:
    found = explain(live_studio, "p", ASKED, model=1, against="parcel")
    why_not = found.why_not
    assert (why_not.intent, why_not.holds) == ("parcel", "exact")
    assert why_not.copies == 1
    assert "Adding this text to parcel would make that the answer." in why_not.words
    assert why_not.adds == ("A near tie." in why_not.words) == (why_not.behind <= 0.05)
    assert found.reasons[0].words.rival == "parcel"


@pytest.mark.parametrize(
    ("needed", "words"),
    [
        (Needed(2, ()), "it would take 2 more examples of these words to make it"),
        (None, "not even 1,000 more examples of these words make it"),
    ],
)
def test_one_example_of_the_words_decides_whatever_the_votes(
    live_studio: LiveStudio, monkeypatch: pytest.MonkeyPatch, needed: Needed | None, words: str
) -> None:
    """“It would take 2 examples that say just this”: one was enough, for equal words decide."""
    monkeypatch.setattr(counterfactuals, "copies_needed", lambda *_: needed)
    before = explain(live_studio, "p", POOL[1])
    names = (one.intent for one in before.ranked)
    rival = next(one for one in names if one not in before.answer)
    why_not = explain(live_studio, "p", POOL[1], against=rival).why_not
    assert why_not.copies == 1
    assert f"Adding this text to {rival} would make that the answer." in why_not.words
    label(live_studio.studio, POOL[1], rival)
    found = explain(live_studio, "p", POOL[1], against="parcel" if rival != "parcel" else "refund")
    assert found.answer == (rival,)
    other = found.why_not
    assert other.copies == (None if needed is None else 2)
    assert f"By votes alone, {words} {other.intent}." in other.words


def test_an_answer_by_the_label_of_its_own_words_rests_on_no_other_example(
    live_studio: LiveStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """“The answer rests on 2 examples: without them it would be parcel” of a text labelled parcel.

    “Labelling this unlabelled text refund would be enough” was as wrong: the label still decides.
    """
    live_studio.pools.wait(1)
    [voted] = explain(live_studio, "p", ASKED).answer
    label_of_it = "parcel" if voted != "parcel" else "password"
    case_of = explaining._case

    def labelled_otherwise(*asked: object) -> object:
        case = case_of(*asked)
        decision = replace(case.prediction.decision, intents=(label_of_it,), rule="exact")
        return replace(case, prediction=replace(case.prediction, decision=decision))

    monkeypatch.setattr(explaining, "_case", labelled_otherwise)
    found = explain(live_studio, "p", ASKED)
    [reason] = found.reasons
    assert (found.answer, reason.intent) == ((label_of_it,), voted)
    bearing = reason.load_bearing
    assert (bearing.examples, bearing.after) == ((), label_of_it)
    assert bearing.words == (
        "The answer is the label of just this text, so it rests on no other example."
    )
    for name in {"refund", "parcel", "password", "greeting"} - {label_of_it}:
        why_not = explain(live_studio, "p", ASKED, against=name).why_not
        # Of `voted`, which votes lead to, the page jumped to another intent, or to “Choose …”.
        assert (why_not.intent, why_not.examples, why_not.adds) == (name, (), False)


def test_unlabelled_texts_that_would_do_speak_for_the_intent_themselves(
    live_studio: LiveStudio,
) -> None:
    """The nearest unlabelled text was advised for any intent, whatever it was itself about."""
    live_studio.pools.wait(1)
    pipeline = live_studio.models.get(1).pipeline
    named = set[str]()
    for asked in POOL[:3]:
        for rival in pipeline.head.intents:
            why_not = explain(live_studio, "p", f"so {asked}", against=rival).why_not
            for example in () if why_not is None else why_not.examples:  # None: it is the answer
                [said] = pipeline.predict([example.text])
                assert said.ranked[0].intent == why_not.intent
                cosines = pipeline.embeddings @ pipeline.encoder.encode([example.text])[0]
                near = [pipeline.exemplars[row].intents for row in np.argsort(-cosines)[:5]]
                assert sum(why_not.intent in intents for intents in near) >= 3
                assert "unlabelled text" in why_not.words
                named.add(example.text)
    assert named
    assert named <= set(POOL)


def test_an_unlabelled_text_that_has_got_a_label_is_not_named(live_studio: LiveStudio) -> None:
    """“Label it” stood beside it until the texts were read again, and replaced the newer label."""
    live_studio.pools.wait(1)
    rivals = live_studio.models.get(1).pipeline.head.intents
    asked = ((f"so {text}", rival) for text in POOL[:3] for rival in rivals)
    found = ((one, explain(live_studio, "p", one[0], against=one[1]).why_not) for one in asked)
    (text, rival), shown = next((one, why) for one, why in found if why and why.examples)
    live_studio.pools.kept[1].rest_until = float("inf")
    change(live_studio.studio, shown.examples[0].text, "labels", [])  # so no vote changes
    again = explain(live_studio, "p", text, against=rival).why_not
    assert again is not None
    assert shown.examples[0].id not in {one.id for one in again.examples}
    assert again.revision > shown.revision


def test_where_an_intent_has_its_own_limit_nothing_is_told_by_that_of_the_others(
    live_studio: LiveStudio,
) -> None:
    """“Without them it would be parcel” was told by a limit of -9, where parcel's own is 9."""
    parcel = intent_ids(live_studio.studio)["parcel"]
    for limits, is_told in (({parcel: -9.0}, True), ({parcel: 9.0}, False)):
        save_fence(live_studio, "p", FenceSetting(-9.0, limits))
        found = explain(live_studio, "p", ASKED, against="parcel")
        assert (found.reasons[0].load_bearing is not None) == is_told
        assert (found.why_not is not None) == is_told
        assert any("a limit of its own" in note for note in found.notes) != is_told


def test_words_are_shared_out_and_left_out(live_studio: LiveStudio) -> None:
    found = explain(live_studio, "p", ASKED).reasons[0].words
    assert [word.text for word in found.words] == ASKED.split()
    total = found.blank + sum(word.share for word in found.words)
    assert abs(total - found.difference) <= 0.02 * abs(found.difference) + 1e-6
    assert found.error <= 0.02
    assert found.note == ""


def test_every_way_of_deciding_is_asked(live_studio: LiveStudio) -> None:
    found = explain(live_studio, "p", "where is my parcel now")
    assert [head.kind for head in found.heads] == ["votes", "neighbours", "prototypes", "linear"]
    assert [head.decides for head in found.heads] == [True, False, False, False]
    assert found.heads[0].intent == found.ranked[0].intent
    assert all(head.agrees == (head.intent == found.ranked[0].intent) for head in found.heads)


def test_a_bundle_explains_itself_without_a_project(live_studio: LiveStudio, tmp_path) -> None:
    out = tmp_path / "p.zip"
    export_model(live_studio.studio, "p@1", out)
    found = explain_reference(live_studio.studio, str(out), ASKED)
    stored = explain_reference(live_studio.studio, "p@1", ASKED)
    adds_up(found)
    assert found.answer == stored.answer
    assert found.reasons[0].score == pytest.approx(stored.reasons[0].score, abs=1e-6)
    assert all(vote.origin is None for vote in found.reasons[0].votes)
    assert found.model == "p.zip"


def test_a_text_far_from_all_is_told_with_its_limit(live_studio: LiveStudio) -> None:
    asked = ["zzzz 999", "???", "0 0 0 0", "xylophone quartz", "qqqq"]
    outside = [one for text in asked if not (one := explain(live_studio, "p", text)).scope.inside]
    assert outside
    for found in outside:
        assert found.answer == ()
        assert found.scope.distance < 0
        held, line = points(found.scope.score), points(found.scope.limit)
        assert found.scope.words == f"Its score is {held} points; {line} points would be needed."
        closest = found.reasons[0].intent
        told = (
            f"Out of scope. Closest: {closest}, but too unlike its examples: "
            f"{held} points of the {line} needed."
        )
        assert (found.plain, found.sentence) == (told, told)
        # Advice named intents that had nothing to do with the text; asked for, they are told.
        assert found.why_not is None or found.why_not.intent in found.speaking
        why_not = explain(live_studio, "p", found.text, against=closest).why_not
        assert why_not.intent == closest  # kept out by the limit alone
        assert why_not.behind == pytest.approx(-found.scope.distance)


def test_a_refusal_tells_by_how_much_it_missed_the_line() -> None:
    """Nothing said how near a refused text was; a percent of the intent that lost would mislead."""
    near = Decision((), "out-of-scope", 0.5496, 0.54999, "refund")
    assert nothing_words(near).endswith(": 54.96 points of the 55.00 needed.")
    far = replace(near, measure="nearest", familiarity=-1.204, threshold=-0.8)
    assert nothing_words(far) == (
        "Out of scope. Closest: refund, but too unlike its examples: "
        "a familiarity of \N{MINUS SIGN}1.20; \N{MINUS SIGN}0.80 is needed."
    )
    several = replace(near, rule="no-intent", score=0.2)
    assert nothing_words(several) == (
        "No intent. Closest: refund, but not likely enough: 20.0 points of the 55.0 needed."
    )
    assert "%" not in nothing_words(near) + nothing_words(far) + nothing_words(several)


def test_what_cannot_be_explained_is_said(live_studio: LiveStudio) -> None:
    with pytest.raises(InvalidInput, match="no text"):
        explain(live_studio, "p", "  ")
    with pytest.raises(NotFound, match="no intent called 'nope'"):
        explain(live_studio, "p", ASKED, against="nope")
    long = explain(live_studio, "p", "word " * 101)
    assert long.reasons[0].words is None
    for sign in ("カ", "ก"):  # each was left out in turn
        unspaced = explain(live_studio, "p", sign * 101)
        assert unspaced.reasons[0].words is None


def test_the_nearest_few_alone_vote_where_they_are_the_head(
    live_studio: LiveStudio, tiny_path: Path
) -> None:
    """Their votes add up too; what carries the answer can be told of votes of all alone."""
    train(
        live_studio.studio, tiny_path, {"kind": "instant", "head": {"kind": "neighbours", "k": 3}}
    )
    found = explain(live_studio, "p", ASKED, model=3)
    adds_up(found)
    [reason] = found.reasons
    assert 1 <= len(reason.votes) <= 3
    assert (reason.load_bearing, found.why_not) == (None, None)
    assert all(word.share is None for word in reason.words.words)
    assert "left out instead" in reason.words.note
    assert [head.kind for head in found.heads] == ["neighbours", "prototypes", "linear"]
    [note] = [one for one in found.notes if one.endswith("only where every example votes.")]
    headings = re.findall("“([^”]+)”", note)
    assert headings == ["What the answer depends on", "Why not"]
    for file in ("js/try/why.js", "report/receipt.html"):  # it named headings of an earlier page
        page = (ASSETS / file).read_text(encoding="utf-8")
        assert all(re.search(rf"(heading\('|<h2>){name}", page) for name in headings), file


def test_a_model_without_examples_is_explained_by_its_names(
    studio: Studio, tiny: TransformerEncoder
) -> None:
    """The most similar of no examples was a fault of the server."""
    pipeline = names_alone(tiny, [Intent("refund"), Intent("greeting")])
    found = explain_text(studio, explained_bundle("names.zip", pipeline), "a refund please")
    [reason] = found.reasons
    assert (reason.by_name, reason.votes, reason.others, reason.n_others) == (True, (), 0.0, 0)
    assert [head.kind for head in found.heads] == ["names"]


def test_an_adapted_encoder_shares_words_out_like_its_base(tiny: TransformerEncoder) -> None:
    adapted = randomly_adapted(tiny, "bottleneck")
    texts = [text for of_one in SENTENCES.values() for text in of_one]
    targets = np.repeat(np.eye(len(SENTENCES)), 5, axis=0)
    head = fit_votes(adapted.encode(texts), targets, list(SENTENCES), 0.3, 0.1)
    found = attribute(adapted, head, ASKED, 0, 1)
    total = found.blank + sum(word.share for word in found.words)
    assert abs(total - found.difference) <= 0.02 * abs(found.difference) + 1e-6
