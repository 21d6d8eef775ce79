"""Which trainings a project can choose: Quick, Best, more ways, and those it cannot use yet.

The rule, by what the project has:

1. Quick uses the examples as they are: nothing else is ready in seconds.
2. Best learns from the examples how the intents differ. It is the most accurate recipe measured,
   for texts of one and of several intents.
3. With fewer than two examples of an intent on average, names tell more than examples: Best learns
   from them, too, where a text has one intent.
4. Both start from the encoder that the live version started from: a project that was begun with
   another encoder, such as one of another language, keeps it.

The figures are in docs/experiments.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from app.services.answering.pinned import open_pins
from app.services.studio import Studio
from app.services.training.bases import live_base
from app.services.training.estimate import Estimate, Size, estimate_of, size_now
from core.errors import InvalidInput
from core.recipes.base import Makes, Recipe, Source
from core.recipes.labels import ConvfitRecipe, InstantRecipe, LabelEncoderRecipe
from core.recipes.read import RECIPES, read_recipe
from core.types import Task
from storage import conversation_logs, projects
from storage.database import Transaction
from storage.queries import slots, utterances
from storage.records import ProjectRecord

Role = Literal["quick", "best", "more", "unusable"]
_OUTSIDE = utterances.Filter(split="train", state="out-of-scope")
_FEW = 2
"""Examples for each intent, on average, below which names tell more than examples."""
_SEVERAL = "Here a text may have several intents; this way knows one intent a text."
_LACKS: Mapping[Source, str] = {
    "labels": "It needs labels of at least two intents: there {now}.",
    "conversations": "It learns from conversations, and there are none yet. Import a log on the "
    "page Conversations.",
    "templates": "It learns from marked values, and there are none yet. Mark some on the page "
    "Slots, or import a file that has them.",
}


@dataclass(frozen=True, slots=True)
class ProjectData:
    """What a project has to learn from."""

    task: Task
    examples: int
    intents: int
    has_conversations: bool
    has_marked: bool

    def has(self, source: Source) -> bool:
        """Whether a recipe that learns from this source has enough to start."""
        return {
            "labels": self.intents >= 2,
            "conversations": self.has_conversations,
            "templates": self.has_marked,
        }[source]


@dataclass(frozen=True, slots=True)
class TrainingChoice:
    """A training that a person may choose.

    Attributes:
        name: Name of the choice: Quick, Best, or what the recipe is for.
        title: The recipe's own title.
        learns_from: The data it would learn from, in words; "" where it cannot be used.
        time: How long it takes here, in words; "" where it cannot be used.
        why_not: Why it cannot be used, and what to do; "" where it can.
    """

    recipe: str
    role: Role
    name: str
    title: str
    summary: str
    makes: Makes
    needs_base: bool
    learns_from: str
    time: str
    why_not: str


@dataclass(frozen=True, slots=True)
class TrainingChoices:
    """All choices, Quick and Best first, and the encoder that they start from.

    Attributes:
        base: `bundled`, a folder, a hub id or a model version `PROJECT@N`.
        base_words: What this base is, in words.
        examples: Texts of the training set that have an intent, but those made of a test text.
        outside: Texts labelled out of scope there; of several intents a text, they are examples.
        tests: Labelled texts of the test set, from which nothing learns.
        labelled: All labelled texts of the project.
        pins: Texts with an answer that each new version is to keep.
    """

    choices: tuple[TrainingChoice, ...]
    base: str
    base_words: str
    examples: int = 0
    outside: int = 0
    tests: int = 0
    labelled: int = 0
    pins: int = 0


def training_choices(studio: Studio, project: str) -> TrainingChoices:
    """Return what a project can train, by what it has; raises NotFound for an unknown project."""
    with studio.database.read() as connection:
        record = projects.find(connection, project)
        data = _data_of(connection, record)
        size = size_now(connection, record)
        found = [_choice(connection, record, data, recipe, size) for recipe in ordered(data)]
        base, words = live_base(connection, record)
        tests, labelled = (_count(connection, record, split) for split in ("test", None))
        outside = 0
        if record.task == "single-label":
            outside = utterances.count_all(connection, record.id, _OUTSIDE)
        pins = len(open_pins(connection, record.id))
    return TrainingChoices(tuple(found), base, words, data.examples, outside, tests, labelled, pins)


def _count(connection: Transaction, project: ProjectRecord, split: str | None) -> int:
    """Count the texts of a set, or of all, that have a label, out of scope too."""
    states: tuple[utterances.LabelState, ...] = ("labelled", "out-of-scope")
    which = (utterances.Filter(split=split, state=state) for state in states)
    return sum(utterances.count_all(connection, project.id, one) for one in which)


def quick_and_best(data: ProjectData) -> tuple[type[Recipe], type[Recipe]]:
    """Return the recipes behind Quick and Best, by the rule of this module."""
    few = data.examples < _FEW * data.intents
    names = data.task in LabelEncoderRecipe.tasks and few
    return InstantRecipe, LabelEncoderRecipe if names else ConvfitRecipe


def ordered(data: ProjectData) -> list[type[Recipe]]:
    """Return all recipes: Quick and Best, then others that can be used, then the rest."""
    first = quick_and_best(data)
    others = [recipe for recipe in RECIPES.values() if recipe not in first]
    return [*first, *sorted(others, key=lambda recipe: bool(why_not(recipe, data)))]


def why_not(recipe: type[Recipe], data: ProjectData) -> str:
    """Return why a project cannot use a recipe, in words; "" if it can."""
    if data.task not in recipe.tasks:
        return _SEVERAL
    if data.has(recipe.learns_from):
        return ""
    now = {0: "are none yet", 1: "is one"}.get(data.intents, f"are {data.intents}")
    return _LACKS[recipe.learns_from].format(now=now)


def _data_of(connection: Transaction, project: ProjectRecord) -> ProjectData:
    examples, intents = utterances.taught(connection, project.id, project.task)
    return ProjectData(
        project.task,
        examples,
        intents,
        conversation_logs.totals(connection, project.id).dialogues > 0,
        slots.is_any_marked(connection, project.id),
    )


def _choice(
    connection: Transaction,
    project: ProjectRecord,
    data: ProjectData,
    recipe: type[Recipe],
    size: Size,
) -> TrainingChoice:
    quick, best = quick_and_best(data)
    named: dict[type[Recipe], tuple[Role, str]] = {quick: ("quick", "Quick")}
    named[best] = ("best", "Best")
    role, name = named.get(recipe, ("more", recipe.plain_title or recipe.title))
    reason = why_not(recipe, data)
    told = Estimate(0.0, "")
    if not reason:
        try:
            usual = read_recipe(recipe.name(), {}, project.task)
            told = estimate_of(connection, project, usual, size)
        except InvalidInput as error:  # the data changed in between
            reason = error.message
    return TrainingChoice(
        recipe=recipe.name(),
        role="unusable" if reason and role == "more" else role,
        name=name,
        title=recipe.title,
        summary=recipe.summary,
        makes=recipe.makes,
        needs_base=recipe.needs_base,
        learns_from=told.learns_from,
        time=told.time,
        why_not=reason,
    )
