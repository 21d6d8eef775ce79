"""Explain why a text gets its answer, with figures that add up."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from app.services.explaining.counterfactuals import AskedText, load_bearing_view, why_not_view
from app.services.explaining.explained_model import (
    ExplainedModel,
    explained_live_model,
    explained_reference,
    explained_version,
    solved_votes_of,
)
from app.services.explaining.other_heads import heads_say
from app.services.explaining.speaking import speaking_intents
from app.services.explaining.views import (
    Explanation,
    IntentReason,
    Scope,
    WhyNot,
    WordShare,
    WordsView,
)
from app.services.explaining.votes import shown_votes, vote_shares, with_twins
from app.services.explaining.words import UNCLEAR, notes_of, plain_words, scope_words, sentence_of
from app.services.live.asked import Which
from app.services.live.live_studio import LiveStudio
from app.services.studio import Studio
from core.errors import InvalidInput, NotFound
from core.explain.solved_votes import SolvedVotes
from core.heads.mixture import MixtureHead, without_names
from core.heads.votes.fit import VoteHead
from core.text import is_blank, is_storable, word_spans
from core.types import FloatArray, Prediction, Reason, ScoreArray
from core.vectors import cosines, unit_rows

_MOST_WORDS = 100

_AGREED = 0.5
"""Agreement of both measures of the words below which no word is told to decide alone."""


@dataclass(frozen=True, slots=True, eq=False)
class _ExplainedText:
    studio: Studio
    model: ExplainedModel
    votes: SolvedVotes | None
    text: str
    embedding: FloatArray
    scores: ScoreArray
    prediction: Prediction
    speaking: frozenset[str]

    @property
    def turnable(self) -> AskedText | None:
        """The text with the votes; None where votes alone cannot change the answer.

        They cannot where a fence by another method than votes rejects the text. What they do is
        not told where single intents have limits of their own.
        """
        decision = self.prediction.decision
        by_fence = decision.out_of_scope and decision.familiarity is not None
        calibration = self.model.pipeline.calibration
        if self.votes is None or by_fence or not calibration.has_one_limit(len(self.scores)):
            return None
        label = decision.words if decision.rule == "exact" else None
        return AskedText(self.model, self.votes, self.embedding, self.text, self.speaking, label)


def explain(
    live_studio: LiveStudio,
    project: str,
    text: str,
    model: Which | None = None,
    against: str | None = None,
) -> Explanation:
    """Say why a project answers a text as it does.

    `model` is the champion or a version's number, as trained; None is live, with every label.
    `against` names the intent to compare with; None is the runner-up.

    Raises:
        InvalidInput: The text is empty or cannot be stored.
        NotFound: There is no such project, model or intent.
    """
    return explain_text(
        live_studio.studio, explained_model(live_studio, project, model), text, against
    )


def explained_model(live_studio: LiveStudio, project: str, model: Which | None) -> ExplainedModel:
    """Return a version as it was trained, or the live model.

    Raises:
        NotFound: There is no such project or model.
    """
    if model in (None, "live"):
        return explained_live_model(live_studio, project)
    return explained_version(live_studio.studio, f"{project}@{model}")


def explain_reference(
    studio: Studio, reference: str, text: str, against: str | None = None
) -> Explanation:
    """Explain an answer of the model that a reference names, as `open_asked` reads it."""
    return explain_text(studio, explained_reference(studio, reference), text, against)


def explain_text(
    studio: Studio, model: ExplainedModel, text: str, against: str | None = None
) -> Explanation:
    """Say why a model answers a text as it does.

    Raises:
        InvalidInput: The text is empty or cannot be stored.
        NotFound: The model has no intent called `against`.
    """
    if is_blank(text) or not is_storable(text):
        raise InvalidInput("There is no text to explain.", "Type one first.")
    case = _case(studio, model, text)
    found, names = case.prediction, model.pipeline.head.intents
    reasons = found.reasons
    rival = _rival(case, against)
    shares = {one.intent: one.probability for one in found.ranked}
    scope = _scope(case)
    # With several intents allowed, an intent competes with its limit, not with a rival.
    compared = rival if against is not None or model.pipeline.task == "single-label" else None
    runner_up = next((one for one in found.ranked if one.intent != reasons[0].intent), None)
    if compared == reasons[0].intent:
        compared = _next_speaking(case, {compared})
    explained = tuple(_reason(case, one, compared) for one in reasons)
    return Explanation(
        text=text,
        model=model.name,
        dataset_version=model.dataset_version,
        since_training=model.later or 0,
        task=model.pipeline.task,
        answer=found.decision.intents,
        words=found.decision.words,
        rule=found.decision.rule,
        confidence=min(shares[name] for name in found.decision.intents or (reasons[0].intent,)),
        runner_up=runner_up,
        margin=None if runner_up is None else reasons[0].score - runner_up.score,
        sentence=sentence_of(found),
        plain=plain_words(found, explained),
        scope=scope,
        reasons=explained,
        why_not=_why_not(case, rival),
        heads=heads_say(studio, model, case.embedding, names[int(case.scores.argmax())]),
        ranked=found.ranked,
        notes=notes_of(model, found, asked=case.votes is not None),
        speaking=tuple(sorted(case.speaking)),
        shown_revision=model.shown_at(_bearing_ids(explained)),
    )


def _bearing_ids(reasons: Sequence[IntentReason]) -> set[str]:
    """Return the ids of the examples that answers depend on."""
    found = [one.load_bearing for one in reasons if one.load_bearing is not None]
    return {example.id for bearing in found for example in bearing.examples}


def _case(studio: Studio, model: ExplainedModel, text: str) -> _ExplainedText:
    pipeline = model.pipeline
    embeddings = pipeline.encoder.encode([text])
    [prediction] = pipeline.predict([text], embeddings)
    near = cosines(unit_rows(embeddings), pipeline.embeddings)[0]
    return _ExplainedText(
        studio,
        model,
        solved_votes_of(studio, model),
        text,
        embeddings[0],
        pipeline.head.scores(embeddings)[0],
        with_twins(pipeline, prediction, embeddings[0]),
        speaking_intents(pipeline, prediction, near),
    )


def _rival(case: _ExplainedText, against: str | None) -> str | None:
    """Return the intent that was not answered: `against`, else the next that speaks for the text.

    For an out-of-scope text that may be the leading intent, which only its limit excluded. What the
    votes say of a text with a label of its own is told if asked. None where no other intent could
    be meant.
    """
    found = case.prediction
    leading = set(found.decision.intents)
    if against is not None and against not in case.model.pipeline.head.intents:
        raise NotFound(
            f"The model knows no intent called '{against}'.",
            "Train it with a few examples of that intent first.",
        )
    if against is not None and against not in leading:
        return against
    if found.decision.rule == "exact":
        leading |= {one.intent for one in found.reasons}
    return _next_speaking(case, leading)


def _next_speaking(case: _ExplainedText, but: Set[str]) -> str | None:
    ranked = (one.intent for one in case.prediction.ranked)
    return next((name for name in ranked if name in case.speaking and name not in but), None)


def _scope(case: _ExplainedText) -> Scope:
    shares = vote_shares(case.model.pipeline, case.embedding, 0)
    found = case.prediction
    decision = found.decision
    inside = decision.rule in ("exact", "votes")
    nearest = float(shares.cosines.max(initial=-1.0))
    return Scope(
        inside,
        decision.held,
        decision.threshold,
        decision.held - decision.threshold,
        nearest,
        scope_words(decision, nearest),
        measure=decision.measure,
    )


def _reason(case: _ExplainedText, reason: Reason, rival: str | None) -> IntentReason:
    column = case.model.pipeline.head.intents.index(reason.intent)
    shares = vote_shares(case.model.pipeline, case.embedding, column)
    shown, found = shown_votes(case.studio, case.model, shares), case.prediction.decision
    total = float(shares.votes.sum())
    return IntentReason(
        intent=reason.intent,
        score=reason.score,
        limit=reason.threshold if found.familiarity is None else None,
        prior=shares.prior,
        voice=shares.voice,
        by_name=reason.by_name,
        votes=shown,
        others=total - sum(one.vote for one in shown),
        n_others=len(shares.votes) - sum(1 + len(one.twins) for one in shown),
        total=total,
        words=_words(case, column, rival),
        load_bearing=None if case.turnable is None else load_bearing_view(case.turnable, column),
    )


def _words(case: _ExplainedText, column: int, rival: str | None) -> WordsView | None:
    """Return which words carry an intent: by gradients where possible, and without each word."""
    from core.explain.attribution import agreement, attribute, leave_words_out

    if len(word_spans(case.text)) > _MOST_WORDS:
        return None
    pipeline = case.model.pipeline
    other = None if rival is None else pipeline.head.intents.index(rival)
    note = "This head has no gradients to share out; each word is left out instead."
    head = pipeline.head
    if isinstance(head, VoteHead | MixtureHead) and without_names(head).kind == "votes":
        try:
            found = attribute(pipeline.encoder, head, case.text, column, other)
        except InvalidInput as error:
            note = f"{error.message} Each word is left out instead."
        else:
            words = tuple(
                WordShare(one.text, one.start, one.end, one.share, one.effect)
                for one in found.words
            )
            unclear = "" if agreement(found.words) >= _AGREED else UNCLEAR
            return WordsView(
                rival, found.difference, words, found.blank, found.error, unclear=unclear
            )
    without = leave_words_out(pipeline.encoder, pipeline.head, case.text, column, other)
    pairs = zip(without.words, without.effects, strict=True)
    left_out = tuple(
        WordShare(case.text[start:end], start, end, None, effect) for (start, end), effect in pairs
    )
    return WordsView(rival, without.difference, left_out, None, None, note)


def _why_not(case: _ExplainedText, rival: str | None) -> WhyNot | None:
    asked = case.turnable
    if asked is None or rival is None:
        return None
    pipeline = case.model.pipeline
    column = pipeline.head.intents.index(rival)
    limit = float(pipeline.calibration.limits(len(case.scores))[column])
    if pipeline.task == "multi-label":
        bar = limit
    else:
        bar = float(case.scores.max())
        bar = max(bar, limit) if pipeline.calibration.familiarity_measure is None else bar
    return why_not_view(asked, column, bar - float(case.scores[column]))
