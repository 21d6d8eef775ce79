"""The routes of a model server."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from app.prometheus import MEDIA_TYPE
from app.serving.batching import Batcher
from app.serving.bodies import checked, own_texts, read_object, tensor_texts
from app.serving.counts import ServingCounts, exposition_of
from app.serving.limits import Serving
from app.serving.model import ServedModel
from app.serving.replies import platforms, shapes
from app.serving.replies.shapes import Answer
from app.serving.shadow import Shadow
from core.errors import NotFound
from core.text import is_blank

_OFF = ("0", "false", "no")


@dataclass(frozen=True, slots=True, eq=False)
class InUse:
    """A model, and the texts that wait for it."""

    model: ServedModel
    batcher: Batcher


@dataclass(slots=True, eq=False)
class Service:
    """What the routes of one server share.

    Attributes:
        current: What answers new requests; each request is answered by one model.
        shadow: A second model, which answers the same texts unseen; None for none.
        ready: Whether texts are answered; not before the first was, nor while it ends.
    """

    serving: Serving
    current: InUse
    shadow: Shadow | None = None
    counts: ServingCounts = field(default_factory=ServingCounts)
    ready: bool = False

    def routes(self) -> list[Route]:
        """Return all routes."""
        own, version = "/v2/models/{model}", "/v2/models/{model}/versions/{version}"
        return [
            Route("/predict", self.predict, methods=["POST"]),
            Route("/model/parse", self.parse, methods=["POST"]),
            Route("/language/:analyze-conversations", self.clu, methods=["POST"]),
            Route("/v2/projects/{session:path}:detectIntent", self.es, methods=["POST"]),
            Route("/v3/projects/{session:path}:detectIntent", self.cx, methods=["POST"]),
            Route("/v3/projects/{session:path}:matchIntent", self.cx_matches, methods=["POST"]),
            Route("/health/live", self.live),
            Route("/health/ready", self.is_ready),
            Route("/metrics", self.metrics),
            Route("/v2", self.server),
            Route("/v2/health/live", self.live),
            Route("/v2/health/ready", self.is_ready),
            *(Route(path, self.described) for path in (own, version)),
            *(Route(f"{path}/ready", self.is_ready) for path in (own, version)),
            *(Route(f"{path}/infer", self.infer, methods=["POST"]) for path in (own, version)),
        ]

    async def predict(self, request: Request) -> Response:
        """Answer one or many texts with intents, probability, scope and votes."""
        began = time.perf_counter()
        texts = own_texts(read_object(await request.body()), self.serving)
        evidence = request.query_params.get("evidence", "1").lower() not in _OFF
        model, answers = await self._answers(texts)
        told = [
            shapes.own(text, one, evidence=evidence)
            for text, one in zip(texts, answers, strict=True)
        ]
        milliseconds = round((time.perf_counter() - began) * 1e3, 3)
        return JSONResponse({**model.facts, "latency_ms": milliseconds, "predictions": told})

    async def parse(self, request: Request) -> Response:
        """Answer one text as Rasa's `/model/parse` does."""
        body = read_object(await request.body())
        return JSONResponse(shapes.rasa(*await self._answer(body.get("text"))))

    async def clu(self, request: Request) -> Response:
        """Answer one text as CLU does."""
        text = platforms.clu_text(read_object(await request.body()))
        return JSONResponse(platforms.clu(*await self._answer(text)))

    async def es(self, request: Request) -> Response:
        """Answer one text as `detectIntent` of Dialogflow ES does."""
        agent = platforms.agent_of(request.path_params["session"], is_cx=False)
        said, language = platforms.dialogflow_text(read_object(await request.body()))
        text, answer = await self._answer(said)
        return JSONResponse(platforms.es(text, language, agent, answer))

    async def cx(self, request: Request) -> Response:
        """Answer one text as `detectIntent` of Dialogflow CX does."""
        agent = platforms.agent_of(request.path_params["session"], is_cx=True)
        said, language = platforms.dialogflow_text(read_object(await request.body()))
        text, answer = await self._answer(said)
        return JSONResponse(platforms.cx(text, language, agent, answer))

    async def cx_matches(self, request: Request) -> Response:
        """Rank the intents of one text as `matchIntent` of Dialogflow CX does."""
        agent = platforms.agent_of(request.path_params["session"], is_cx=True)
        said, _ = platforms.dialogflow_text(read_object(await request.body()))
        text, answer = await self._answer(said)
        return JSONResponse(platforms.cx_matches(text, agent, answer))

    async def infer(self, request: Request) -> Response:
        """Answer texts as the Open Inference Protocol says."""
        self._require_named(request)
        body = read_object(await request.body())
        model, answers = await self._answers(tensor_texts(body, self.serving))
        outputs = shapes.tensors(answers)
        wanted = [one.get("name") for one in body.get("outputs", []) if isinstance(one, dict)]
        told = {
            "model_name": model.name,
            "model_version": model.number,
            "outputs": [one for one in outputs if not wanted or one["name"] in wanted],
        }
        return JSONResponse(told | ({"id": str(body["id"])} if "id" in body else {}))

    async def described(self, request: Request) -> Response:
        """Describe the model as the Open Inference Protocol says."""
        self._require_named(request)
        outputs = [
            {"name": one["name"], "datatype": one["datatype"], "shape": [-1]}
            for one in shapes.tensors([])
        ]
        return JSONResponse(
            {
                "name": self.current.model.name,
                "versions": [self.current.model.number],
                "platform": "onnxruntime_onnx",
                "inputs": [{"name": "text", "datatype": "BYTES", "shape": [-1]}],
                "outputs": outputs,
            }
        )

    async def server(self, _request: Request) -> Response:
        """Describe the server as the Open Inference Protocol says."""
        return JSONResponse({"name": "intent-studio", "version": "2", "extensions": []})

    async def live(self, _request: Request) -> Response:
        """Say that the server runs."""
        return JSONResponse({"live": True})

    async def is_ready(self, request: Request) -> Response:
        """Say whether texts are answered."""
        if "model" in request.path_params:
            self._require_named(request)
        return JSONResponse({"ready": self.ready}, 200 if self.ready else 503)

    async def metrics(self, _request: Request) -> Response:
        """Tell all measures to Prometheus."""
        words = exposition_of(self.counts, self.current.model, self.current.batcher, self.shadow)
        return Response(words, media_type=MEDIA_TYPE)

    async def _answer(self, said: object) -> tuple[str, Answer]:
        """Check one text, and answer it."""
        (text,) = checked([said], self.serving)
        _, (answer,) = await self._answers([text])
        return text, answer

    async def _answers(self, texts: Sequence[str]) -> tuple[ServedModel, list[Answer]]:
        """Answer texts together with those of other requests; blank ones get no answer."""
        current = self.current
        said = [text for text in texts if not is_blank(text)]
        found = await current.batcher.answer(said) if said else []
        if self.shadow is not None:
            self.shadow.offer(found)
        known = iter(found)
        answers: list[Answer] = [None if is_blank(text) else next(known) for text in texts]
        self.counts.answered(answers)
        return current.model, answers

    def _require_named(self, request: Request) -> None:
        """Refuse the name or the version of another model."""
        asked: dict[str, Any] = request.path_params
        model = self.current.model
        if asked["model"] != model.name:
            raise NotFound(f"There is no model '{asked['model'][:80]}' here.")
        if asked.get("version", model.number) != model.number:
            raise NotFound(f"There is no version '{asked['version'][:80]}' of it here.")
