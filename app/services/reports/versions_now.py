"""Two versions side by side, both as they would answer if they were in use now."""

from dataclasses import replace

from app.services.live.in_use import as_in_use
from app.services.live.live_studio import LiveStudio
from app.services.versions.comparison import (
    Contender,
    compare_contenders,
    compare_models,
    stored_contender,
)
from app.services.versions.comparison_views import ModelComparison
from app.services.versions.registry import live_number


def compare_now(
    live_studio: LiveStudio, project: str, candidate: int, champion: int | None = None
) -> ModelComparison:
    """Compare two versions, by numbers, as each would answer now; None is the present champion.

    So the figures are those of the header: labels given since a training vote in both. Where so
    many labels vote that joining them takes long, both are compared as they were trained.

    Raises:
        NotFound: There is no such project or version, or no champion.
        ArtifactDamaged: The files of one are missing or damaged.
    """
    studio = live_studio.studio
    other = live_number(studio, project) if champion is None else champion
    if other is None:
        return compare_models(studio, project, candidate)
    pair = [_contender(live_studio, project, number) for number in (candidate, other)]
    newer, older = pair
    if newer is None or older is None:
        return compare_models(studio, project, candidate, other)
    return compare_contenders(studio, project, newer, older, "now")


def _contender(live_studio: LiveStudio, project: str, number: int) -> Contender | None:
    stored = stored_contender(live_studio.studio, project, number)
    opened = as_in_use(live_studio, project, number)
    if opened is None:
        return None
    pipeline = opened[1].pipeline
    return replace(stored, open=lambda: pipeline)
