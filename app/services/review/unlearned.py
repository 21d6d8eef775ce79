"""Embeddings of examples by an encoder that has not learned their labels."""

from app.services.embedding import digest_of, embed_texts
from app.services.live.live_model import LiveModel
from app.services.live.server_state import LiveStudio
from app.services.training.child import load_base
from app.services.versions.ancestry import base_before_labels
from core.errors import StudioError
from core.types import FloatArray


def unlearned_rows(live_studio: LiveStudio, live: LiveModel) -> FloatArray:
    """Embed the examples by the encoder from before the first training on labels, (m, dim) float32.

    A training pulls each text to its label, also to a wrong one, so that it looks right afterwards:
    of errors planted before a training, leave-one-out votes on its embeddings found 66 %, on these
    92 % (docs/experiments.md). Where that encoder is not here any more, as for an imported bundle,
    these are the model's own embeddings.
    """
    studio, pipeline = live_studio.studio, live.pipeline
    with studio.database.read() as connection:
        base = base_before_labels(connection, live.version)
    if base is None:
        return pipeline.embeddings
    texts = [exemplar.text for exemplar in pipeline.exemplars]

    def make() -> FloatArray:
        try:
            return embed_texts(studio.database, load_base(studio, base), texts)
        except (StudioError, OSError):
            return pipeline.embeddings

    key = ("unlearned", base, digest_of(texts))
    return studio.cache.get(key, make, lambda rows: int(rows.nbytes))
