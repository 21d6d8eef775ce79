"""Whether a group is an intent that is there already, by what the version in use answers."""

from dataclasses import replace

from app.services.discover.stored import FITS, OpenedGroup
from app.services.embedding import embed_texts
from app.services.live.live_studio import LiveStudio
from app.services.live.pool import Pool, judged
from storage import projects
from storage.queries import dataset, utterances


def fitted(live_studio: LiveStudio, project: str, group: OpenedGroup) -> OpenedGroup:
    """Return a group with the intent as `same` that answers most of its typical texts.

    It is among `intents`, whether it is near by meaning or not. `refused` is how many texts are
    answered with no intent; `typical` has each answer.

    The nearest centre alone put broken cards into lost ones. It decides only where the model is
    not in memory yet, or does not know the intent.

    Raises:
        NotFound: There is no such project.
    """
    database = live_studio.studio.database
    with database.read() as connection:
        target = projects.find(connection, project)
        ids = [one.id for one in group.typical]
        records = tuple(utterances.by_ids(connection, target.id, ids).values())
        usable = dataset.open_intents(connection, target.id)
    pool = live_studio.pools.get(target.id)
    if pool is None or not records or (group.same and group.same not in pool.live.columns):
        return group
    texts = [record.text for record in records]
    rows = embed_texts(database, pool.live.pipeline.encoder, texts)
    found = judged(pool.live, records, rows)
    answered = _answered(found, (*group.intents, *usable))
    best = max(answered, key=lambda intent: answered[intent], default="")
    same = best if answered.get(best, 0.0) >= FITS else ""
    answers = _answers(found)
    typical = tuple(replace(one, answer=answers.get(one.id)) for one in group.typical)
    intents = group.intents
    if same and same not in intents:
        intents = (same, *intents[:1])
    refused = int(found.outside.sum())
    return replace(group, same=same, refused=refused, typical=typical, intents=intents)


def _answers(found: Pool) -> dict[str, str]:
    """Return the intent that answers each text, by ids; empty: none. Only for one intent a text."""
    if found.task == "multi-label":
        return {}
    best = [found.live.columns[at] for at in found.probabilities.argmax(1).tolist()]
    rows = zip(found.records, best, found.outside.tolist(), strict=True)
    return {record.id: "" if outside else intent for record, intent, outside in rows}


def _answered(judged_texts: Pool, intents: tuple[str, ...]) -> dict[str, float]:
    """Return the share of texts, in [0, 1], that get each intent as an answer in scope."""
    columns = judged_texts.live.columns
    known = [intent for intent in intents if intent in columns]
    if judged_texts.task == "multi-label":
        return {
            one: float((judged_texts.margins[:, columns.index(one)] >= 0).mean()) for one in known
        }
    best = judged_texts.probabilities.argmax(1)
    inside = ~judged_texts.outside
    return {one: float((inside & (best == columns.index(one))).mean()) for one in known}
