"""Which examples of a live model its project holds, just as they vote."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.services.live.joining import Said
from app.services.live.live_model import LiveModel


@dataclass(frozen=True, slots=True, eq=False)
class HeldExamples:
    """The examples of a project, by whether its live model has them as they are now.

    Attributes:
        rows: Their rows among the examples of the model, rising, (held,) int64.
        others: Text and intents of the project's further examples, by id: they do not vote, or not
            with the label of now.
        foreign: Number of the model's examples of which the project knows nothing, as an imported
            version has them.
    """

    rows: NDArray[np.int64] = field(repr=False)
    others: Mapping[str, Said] = field(repr=False)
    foreign: int

    @property
    def total(self) -> int:
        """Number of the project's examples."""
        return len(self.rows) + len(self.others)


def held_examples(live: LiveModel) -> HeldExamples:
    """Tell the examples of a project by whether its live model has them as they are now."""
    is_imported = live.version.dataset_version_id is None  # all of the project was touched since
    now = {**({} if is_imported else live.taught), **live.said}
    exemplars = live.pipeline.exemplars
    rows = [
        row
        for row, one in enumerate(exemplars)
        if (said := now.get(one.id)) is not None and said == live.votes_as(one.id)
    ]
    mine = {exemplars[row].id for row in rows}
    others = {key: said for key, said in now.items() if said is not None and key not in mine}
    foreign = sum(one.id not in now for one in exemplars)
    return HeldExamples(np.array(rows, dtype=np.int64), others, foreign)
