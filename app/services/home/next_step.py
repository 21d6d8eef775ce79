"""What to do next in a project: one action, chosen by the first rule that fits.

The rules stand in the order of what helps most. Nothing is computed for them: where a figure is not
known yet, its rule does not apply and the next one decides.

1. Without texts there is nothing to do but to import some.
2. A model that does not load answers nobody.
3. Without a model: labels first, of whole groups where there are many texts, then a training.
4. A trained version that waits for a decision helps at once.
5. Somebody waits for what a person says to a proposal.
6. Wrong labels make answers wrong, and the next training would learn them.
7. Labels that the encoder has not learned, once there are enough to make a difference.
8. More labels, those first of which the model is unsure.
9. The few labels that are left to learn; then a look for wrong ones, if nobody has looked since the
   training; then a test set, without which accuracy is unknown.
"""

from dataclasses import dataclass, field
from typing import Literal

from app.services.live.pool import NEXT
from core.text import FEW, counted

StepKind = Literal[
    "import",
    "repair",
    "discover",
    "label",
    "train",
    "wait",
    "decide",
    "review",
    "test-set",
    "try",
]
A_FEW_LABELS = 20
"""Labels that make a first training worth while."""
ENOUGH_NEW = 10
"""New labels that make another training worth while."""
_MANY = 100
"""Texts without any label of which it is quicker to label groups than one at a time."""
_IMPORT = {"import": "1"}
"""What brings the box for an import into sight."""
_IMPORT_TESTS = {"import": "test"}
"""The same, and a file is taken for test texts."""


@dataclass(frozen=True, slots=True)
class ProjectFacts:
    """What the rules look at; a figure is None where it is not computed yet.

    Attributes:
        examples: Labelled texts that a training learns from.
        taught_intents: Number of their intents.
        tests: Labelled texts of the test split.
        outside: Labelled texts of either split that fit no intent.
        champion: Number of the version that answers, or None.
        failed: Whether it does not load.
        candidate: Number of a newer version that waits for a decision, or None.
        left: Number of a newer version that answered before, or None.
        is_training: Whether a training is queued or runs.
        changes: Examples that are new, changed or gone since the training of the champion.
        proposals: Proposals that wait for a person.
        label_errors: Likely label errors; None also until Review is opened.
        knows_doubt: Whether it is known of which unlabelled texts the model is unsure.
        answered_badly: Number of the texts to label next that the model likely answers wrongly or
            not at all; None where it is not known of now.
    """

    texts: int
    unlabelled: int
    examples: int
    taught_intents: int
    tests: int
    champion: int | None = None
    failed: bool = False
    candidate: int | None = None
    left: int | None = None
    is_training: bool = False
    changes: int | None = None
    label_errors: int | None = None
    knows_doubt: bool = False
    answered_badly: int | None = None
    outside: int = 0
    proposals: int = 0


@dataclass(frozen=True, slots=True)
class NextStep:
    """An action in words, its reason, and the page that does it with what its address holds."""

    kind: StepKind
    action: str
    reason: str
    page: str
    query: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """Which of the three steps of a new project are done."""

    imported: bool
    labelled: bool
    trained: bool


def first_steps(facts: ProjectFacts) -> FirstSteps:
    """Tell which of the three steps of a new project are done."""
    return FirstSteps(
        imported=facts.texts > 0,
        labelled=_can_train(facts),
        trained=facts.champion is not None,
    )


def next_step(facts: ProjectFacts) -> NextStep:
    """Return the one action that helps most."""
    if not facts.texts:
        return NextStep("import", "Import texts", "This project has no texts yet.", "data")
    if facts.champion is None:
        return _towards_a_model(facts)
    if facts.failed:
        reason = f"Version {facts.champion} does not load, so nothing is answered."
        return NextStep("repair", "Choose another version", reason, "versions")
    if facts.candidate is not None:
        reason = (
            f"Version {facts.candidate} is trained: compare it with version {facts.champion}, "
            "which answers now."
        )
        return NextStep("decide", f"Decide on version {facts.candidate}", reason, "train")
    return _improvement(facts, facts.champion)


def _towards_a_model(facts: ProjectFacts) -> NextStep:
    if facts.candidate is not None:
        reason = "It is trained. Nothing answers before you use it."
        return NextStep("decide", f"Use version {facts.candidate}", reason, "versions")
    if facts.is_training:
        reason = "The first version is being trained. You can label on meanwhile."
        return NextStep("wait", "Follow the training", reason, "train")
    if _can_train(facts):
        return NextStep("train", "Train the first version", _learned_words(facts), "train")
    if not facts.unlabelled:
        reason = "No text is left to label, and a training needs labels of at least two intents."
        return NextStep("import", "Import more texts", reason, "data", _IMPORT)
    if not facts.examples and facts.unlabelled >= _MANY:
        reason = (
            f"{counted(facts.unlabelled, 'text')} without a label. Similar ones form groups, and "
            "one key labels a whole group."
        )
        return NextStep("discover", "See what the texts are about", reason, "discover")
    return _first_labels(facts)


def _first_labels(facts: ProjectFacts) -> NextStep:
    """Propose no more labels than there are texts for."""
    wanted = A_FEW_LABELS - facts.examples
    few = min(wanted, facts.unlabelled)
    if not facts.examples:
        reason = f"{counted(facts.unlabelled, 'text')} without a label."
        action = f"Name your intents and label {counted(few, 'text')}"
        return NextStep("label", action, reason, "label")
    if facts.taught_intents < 2:
        reason = "A training needs labels of at least two intents."
        return NextStep("label", "Label a second intent", reason, "label")
    reason = f"About {A_FEW_LABELS} labels make a first training worth while."
    action = f"Label {few} more"
    if few < wanted:
        is_last = few == 1
        reason += " One text is left." if is_last else " These are all the texts that are left."
        action = "Label the last text" if is_last else f"Label the {few} that are left"
    return NextStep("label", action, reason, "label", {"n": str(few)})


def _learned_words(facts: ProjectFacts) -> str:
    """Say what becomes of labels; those of synthetic texts made of a test text are not counted."""
    parts = [f"{counted(facts.examples, 'label')} to learn from"]
    if facts.tests:
        parts.append(f"{facts.tests:,} to test with")
    if facts.outside:
        parts.append(f"{facts.outside:,} that fit no intent")
    few = ""
    if 0 < facts.tests < FEW:
        few = f" With {FEW} test texts it can be told how good it is."
    return f"{', '.join(parts)}.{few}"


def _can_train(facts: ProjectFacts) -> bool:
    enough = facts.examples >= A_FEW_LABELS or not facts.unlabelled
    return facts.taught_intents >= 2 and enough


def _improvement(facts: ProjectFacts, champion: int) -> NextStep:
    if facts.proposals:
        action = f"Decide about {counted(facts.proposals, 'proposal')}"
        reason = "Somebody proposes changes. Nothing changes before you accept it."
        return NextStep("review", action, reason, "review", {"kind": "proposal"})
    if facts.label_errors:
        labels = counted(facts.label_errors, "label")
        reason = "A wrong label makes answers wrong, and the next training would learn it."
        return NextStep("review", f"Check {labels}", reason, "review", {"kind": "label"})
    new = 0 if facts.is_training else facts.changes or 0
    if new >= ENOUGH_NEW:
        return _training(facts, champion)
    if facts.unlabelled:
        few = min(NEXT, facts.unlabelled)  # those of which the pool tells what they are worth
        action = f"Label these {few}" if few > 1 else "Label the last text"
        reason = _worth_words(facts, few)
        return NextStep("label", action, reason, "label", {"order": "helps", "n": str(few)})
    if new:
        return _training(facts, champion)
    return _when_all_is_learned(facts)


def _worth_words(facts: ProjectFacts, few: int) -> str:
    """Say what so many labels are worth, as far as it is known."""
    if few == 1 or not facts.knows_doubt:
        return f"{counted(facts.unlabelled, 'text')} without a label."
    if facts.answered_badly:
        badly = f"The model answers about {facts.answered_badly} of them wrongly or not at all"
        return f"{badly}, by its own estimate: their labels teach it most."
    return "The model is unsure of them: their labels teach it most."


def _when_all_is_learned(facts: ProjectFacts) -> NextStep:
    if facts.label_errors is None and facts.changes is not None:
        reason = "Nothing is left to label. Review lists the labels that may be wrong."
        return NextStep("review", "Look for wrong labels", reason, "review")
    if not facts.tests:
        reason = "Without labelled test texts nobody knows how often the answers are right."
        return NextStep("test-set", "Import test texts", reason, "data", _IMPORT_TESTS)
    reason = "Nothing is left to label, and the model has learned the labels."
    return NextStep("try", "Try the model", reason, "try")


def _training(facts: ProjectFacts, champion: int) -> NextStep:
    reason = f"{counted(facts.changes or 0, 'change')} since version {champion}."
    if facts.left is not None:
        reason += f" You went back to it from version {facts.left}, which you can use again."
    return NextStep("train", "Train", reason, "train")
