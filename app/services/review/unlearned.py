"""Embeddings of examples by an encoder that has not learned their labels."""

from collections.abc import Sequence

from app.services.answering.ancestry import base_before_labels
from app.services.cache import of_version
from app.services.embedding import digest_of, embed_texts
from app.services.live.live_model import LiveModel
from app.services.live.live_studio import LiveStudio
from app.services.training.bases import load_base
from core.encoders.base import Encoder
from core.errors import StudioError
from core.types import FloatArray


def unlearned_rows(
    live_studio: LiveStudio, live: LiveModel, texts: Sequence[str]
) -> FloatArray | None:
    """Embed examples by the encoder from before the first training on labels, (texts, dim) float32.

    A training pulls each text to its label, also to a wrong one, so that it looks right afterwards:
    of errors planted before a training, leave-one-out votes on its embeddings found 66 %, on these
    92 % (docs/experiments.md). None where no training changed the encoder by labels, or where the
    encoder from before is not here any more, as for an imported bundle.
    """
    studio = live_studio.studio
    base = _base(live_studio, live)
    if base is None:
        return None
    try:
        return studio.cache.get_newest(
            ("unlearned", of_version(live.version), base),
            digest_of(texts),
            lambda: embed_texts(studio.database, load_base(studio, base), texts),
            lambda rows: int(rows.nbytes),
        )
    except (StudioError, OSError):
        return None


def unlearned_encoder(live_studio: LiveStudio, live: LiveModel) -> Encoder | None:
    """Load that encoder, or return None where there is none."""
    base = _base(live_studio, live)
    try:
        return None if base is None else load_base(live_studio.studio, base)
    except (StudioError, OSError):
        return None


def has_learned(live_studio: LiveStudio, live: LiveModel) -> bool:
    """Whether a training changed the encoder of a version by labels."""
    return _base(live_studio, live) is not None


def _base(live_studio: LiveStudio, live: LiveModel) -> str | None:
    with live_studio.studio.database.read() as connection:
        return base_before_labels(connection, live.version)
