"""The routes of a model server."""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from app.log_lines import note
from app.prometheus import MEDIA_TYPE
from app.serving.beside.tracing import Tracing
from app.serving.bodies import (
    checked,
    echoed,
    named_model,
    own_texts,
    read_object,
    tensor_texts,
    wanted_outputs,
)
from app.serving.counts import ServingCounts, exposition_of
from app.serving.limits import Serving
from app.serving.model import ServedModel
from app.serving.models import InUse, NamedModel, NamedModels
from app.serving.replies import platforms, shapes
from app.serving.replies.shapes import Answer
from core.errors import NotFound
from core.text import is_blank

_LOG = logging.getLogger("app.serving.texts")
_OFF = ("0", "false", "no")
_NAMED = "/models/{model}"
"""Stands before the address of a server for a client that is to be answered by this model."""


@dataclass(slots=True, eq=False)
class Service:
    """What the routes of one server share.

    Attributes:
        models: Each by its name; the first answers whoever names none.
        tracing: Makes spans; None where nobody asked for them.
        ready: Whether texts are answered. uvicorn takes no connection before that, nor while it
            ends.
    """

    serving: Serving
    models: NamedModels
    tracing: Tracing | None = None
    counts: ServingCounts = field(default_factory=ServingCounts)
    ready: bool = False

    @property
    def current(self) -> InUse:
        """What answers whoever names no model."""
        return self.models.default.current

    def routes(self) -> list[Route]:
        """Return all routes."""
        own, version = "/v2/models/{model}", "/v2/models/{model}/versions/{version}"
        asked = {
            "/predict": self.predict,
            "/model/parse": self.parse,
            "/language/:analyze-conversations": self.clu,
            "/v2/projects/{session:path}:detectIntent": self.es,
            "/v3/projects/{session:path}:detectIntent": self.cx,
            "/v3/projects/{session:path}:matchIntent": self.cx_matches,
        }
        return [
            *(Route(path, act, methods=["POST"]) for path, act in asked.items()),
            *(Route(f"{_NAMED}{path}", act, methods=["POST"]) for path, act in asked.items()),
            Route("/health/live", self.live),
            Route("/health/ready", self.is_ready),
            Route("/metrics", self.metrics),
            Route("/v2", self.server),
            Route("/v2/health/live", self.live),
            Route("/v2/health/ready", self.is_ready),
            Route("/v2/models", self.listed),
            *(Route(path, self.described) for path in (own, version)),
            *(Route(f"{path}/ready", self.is_ready) for path in (own, version)),
            *(Route(f"{path}/infer", self.infer, methods=["POST"]) for path in (own, version)),
        ]

    async def predict(self, request: Request) -> Response:
        """Answer one or many texts with intents, probability, scope and votes."""
        began = time.perf_counter()
        body = read_object(await request.body())
        texts = own_texts(body, self.serving)
        evidence = request.query_params.get("evidence", "1").lower() not in _OFF
        named = self._asked(request, named_model(body))
        model, answers = await self._answers(request, named, texts)
        told = [
            shapes.own(text, one, evidence=evidence)
            for text, one in zip(texts, answers, strict=True)
        ]
        milliseconds = round((time.perf_counter() - began) * 1e3, 3)
        return JSONResponse({**model.facts, "latency_ms": milliseconds, "predictions": told})

    async def parse(self, request: Request) -> Response:
        """Answer one text as Rasa's `/model/parse` does."""
        body = read_object(await request.body())
        return JSONResponse(shapes.rasa(*await self._answer(request, body.get("text"))))

    async def clu(self, request: Request) -> Response:
        """Answer one text as CLU does."""
        text = platforms.clu_text(read_object(await request.body()))
        return JSONResponse(platforms.clu(*await self._answer(request, text)))

    async def es(self, request: Request) -> Response:
        """Answer one text as `detectIntent` of Dialogflow ES does."""
        agent = platforms.agent_of(request.path_params["session"], is_cx=False)
        text, language, answer = await self._dialogflow(request)
        return JSONResponse(platforms.es(text, language, agent, answer))

    async def cx(self, request: Request) -> Response:
        """Answer one text as `detectIntent` of Dialogflow CX does."""
        agent = platforms.agent_of(request.path_params["session"], is_cx=True)
        text, language, answer = await self._dialogflow(request)
        return JSONResponse(platforms.cx(text, language, agent, answer))

    async def cx_matches(self, request: Request) -> Response:
        """Rank the intents of one text as `matchIntent` of Dialogflow CX does."""
        agent = platforms.agent_of(request.path_params["session"], is_cx=True)
        text, _, answer = await self._dialogflow(request)
        return JSONResponse(platforms.cx_matches(text, agent, answer))

    async def infer(self, request: Request) -> Response:
        """Answer texts as the Open Inference Protocol says."""
        named = self._asked(request)
        body = read_object(await request.body())
        texts = tensor_texts(body, self.serving)
        wanted = wanted_outputs(body, shapes.OUTPUTS)
        key = body.get("id")  # some clients write null for none
        asked = {} if key is None else {"id": echoed(key, "id")}
        model, answers = await self._answers(request, named, texts)
        outputs = shapes.tensors(answers)
        told = {
            "model_name": model.name,
            "model_version": model.number,
            "outputs": [one for one in outputs if not wanted or one["name"] in wanted],
        }
        return JSONResponse({**told, **asked})

    async def described(self, request: Request) -> Response:
        """Describe a model as the Open Inference Protocol says."""
        model = self._asked(request).current.model
        outputs = [
            {"name": one["name"], "datatype": one["datatype"], "shape": [-1]}
            for one in shapes.tensors([])
        ]
        return JSONResponse(
            {
                "name": model.name,
                "versions": [model.number],
                "platform": "onnxruntime_onnx",
                "inputs": [{"name": "text", "datatype": "BYTES", "shape": [-1]}],
                "outputs": outputs,
            }
        )

    async def listed(self, _request: Request) -> Response:
        """Name the models, the default first."""
        return JSONResponse({"models": [one.name for one in self.models.all]})

    async def server(self, _request: Request) -> Response:
        """Describe the server as the Open Inference Protocol says."""
        return JSONResponse({"name": "intent-studio", "version": "2", "extensions": []})

    async def live(self, _request: Request) -> Response:
        """Say that the server runs."""
        return JSONResponse({"live": True})

    async def is_ready(self, request: Request) -> Response:
        """Say whether texts are answered."""
        named = {}
        if "model" in request.path_params:
            named["name"] = self._asked(request).name
        return JSONResponse({**named, "ready": self.ready}, 200 if self.ready else 503)

    async def metrics(self, _request: Request) -> Response:
        """Tell all measures to Prometheus."""
        words = exposition_of(self.counts, [one.measures for one in self.models.all])
        return Response(words, media_type=MEDIA_TYPE)

    async def _answer(self, request: Request, said: object) -> tuple[str, Answer]:
        """Check one text, and answer it."""
        (text,) = checked([said], self.serving)
        _, (answer,) = await self._answers(request, self._asked(request), [text])
        return text, answer

    async def _dialogflow(self, request: Request) -> tuple[str, str, Answer]:
        """Answer the text of a request to Dialogflow; its language is the second value."""
        said, language = platforms.dialogflow_text(read_object(await request.body()))
        text, answer = await self._answer(request, said)
        return text, language, answer

    async def _answers(
        self, request: Request, named: NamedModel, texts: Sequence[str]
    ) -> tuple[ServedModel, list[Answer]]:
        """Answer texts together with those of other requests; blank ones get no answer."""
        current = named.current
        said = [text for text in texts if not is_blank(text)]
        found = await current.batcher.answer(said) if said else []
        if named.shadow is not None:
            named.shadow.offer(found)
        if named.pusher is not None:
            named.pusher.offer(said)
        known = iter(found)
        answers: list[Answer] = [None if is_blank(text) else next(known) for text in texts]
        named.counts.answered(answers)
        request.state.texts = len(texts)  # for the log
        if self.serving.log_texts:
            _log(request, current.model, texts, answers)
        return current.model, answers

    def _asked(self, request: Request, name: str = "") -> NamedModel:
        """Return the model that the address names, or else `name`; refuse another version of it."""
        asked: dict[str, Any] = request.path_params
        found = self.models.find(asked.get("model", name))
        number = found.current.model.number
        if asked.get("version", number) != number:
            raise NotFound(f"There is no version '{asked['version'][:80]}' of it here.")
        request.state.model = found.name  # for the counts
        return found


def _log(
    request: Request, model: ServedModel, texts: Sequence[str], answers: Sequence[Answer]
) -> None:
    """Log texts with what they were answered, which somebody has asked for."""
    for text, one in zip(texts, answers, strict=True):
        intents = [] if one is None else list(one.decision.intents)
        about = {"id": request.state.request_id, "model_version": model.model_version or ""}
        note(_LOG, "answer", {**about, "text": text, "intents": intents})
