"""The models that one server answers by, each under its name."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from app.serving.batching import BatchCounts, Batcher, BatchSpans
from app.serving.beside.pushing import PUSH_SECONDS, Pusher
from app.serving.counts import AnswerCounts, ModelMeasures
from app.serving.limits import Serving
from app.serving.model import ServedModel, open_model
from app.serving.shadow import Shadow
from core.errors import InvalidInput, NotFound
from intent_studio_client.connection import Connection


@dataclass(frozen=True, slots=True, eq=False)
class InUse:
    """A model, and the texts that wait for it."""

    model: ServedModel
    batcher: Batcher


@dataclass(slots=True, eq=False)
class NamedModel:
    """What answers under one name.

    Attributes:
        bundle: File that is watched for a new model.
        current: What answers new requests; each request is answered by one model.
        shadow: Another model, which answers the same texts unseen; None for none.
        pusher: Sends the texts to a studio; None for none.
    """

    bundle: str
    current: InUse
    shadow: Shadow | None = None
    pusher: Pusher | None = None
    counts: AnswerCounts = field(default_factory=AnswerCounts)

    @property
    def name(self) -> str:
        """The name in addresses; it stays when the bundle is replaced."""
        return self.current.model.name

    @property
    def measures(self) -> ModelMeasures:
        """What is told of it to Prometheus."""
        beside = self.shadow, self.pusher
        return ModelMeasures(self.current.model, self.current.batcher, self.counts, *beside)


@dataclass(frozen=True, slots=True, eq=False)
class NamedModels:
    """All models of a server; the first one answers whoever names none."""

    all: tuple[NamedModel, ...]

    @property
    def default(self) -> NamedModel:
        """What answers whoever names no model."""
        return self.all[0]

    def find(self, name: str) -> NamedModel:
        """Return the model of a name; "" for the default.

        Raises:
            NotFound: There is none of this name.
        """
        for one in self.all if name else (self.default,):
            if name in ("", one.name):
                return one
        raise NotFound(f"There is no model '{name[:80]}' here.")


def in_use(
    model: ServedModel, serving: Serving, spans: BatchSpans | None, done: BatchCounts
) -> InUse:
    """Put the texts that wait beside a model; what was answered before it is counted on."""
    return InUse(model, Batcher(model.engine.predict, serving.most_waiting, spans, done))


def opened_pusher(serving: Serving, model: ServedModel) -> Pusher | None:
    """Return what sends a model's texts to a studio; None where none is asked for.

    Raises:
        InvalidInput: The bundle does not name its project.
    """
    if not serving.push_to:
        return None
    project = serving.push_project or model.project
    if not project:
        raise InvalidInput(
            f"The bundle of {model.name} does not say of which project it is.",
            "Name the one that gets its texts: --push-project NAME.",
        )
    connection = Connection(serving.push_to, serving.push_token, PUSH_SECONDS, tries=1)
    return Pusher(connection, project, serving.push_source)


def opened_models(serving: Serving, shadow: Shadow | None, spans: BatchSpans | None) -> NamedModels:
    """Open all bundles; the shadow stands beside the first.

    Raises:
        InvalidInput: There is no such file, it holds no graph, or two have one name.
        ArtifactDamaged: A bundle does not match its manifest, or cannot be read.
    """
    found: list[NamedModel] = []
    for bundle, name in ((serving.bundle, serving.name), *serving.others.items()):
        model = open_model(bundle, name, serving.threads, serving.device)
        _require_new(model.name, bundle, found)
        pusher = opened_pusher(serving, model)
        current = in_use(model, serving, spans, BatchCounts())
        found.append(NamedModel(bundle, current, pusher=pusher))
    found[0].shadow = shadow
    return NamedModels(tuple(found))


def _require_new(name: str, bundle: str, found: Iterable[NamedModel]) -> None:
    for one in found:
        if one.name == name:
            raise InvalidInput(
                f"{one.bundle} and {bundle} are both named '{name[:80]}'.",
                "Give each a name of its own: NAME=FILE.",
            )
