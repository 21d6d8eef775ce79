"""The schema of the REST interface: what FastAPI derives, completed for those who read it."""

import re
from typing import Any

from fastapi import FastAPI

_COOKIE = "intent-studio-PORT"
_SCHEMES = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "The launch token, from the address that the studio prints when it opens.",
    },
    "cookie": {
        "type": "apiKey",
        "in": "cookie",
        "name": _COOKIE,
        "description": "The cookie of a browser that opened the address with the token; its name "
        "ends with the server's port.",
    },
}
_PROBLEM = {"$ref": "#/components/schemas/Problem"}
_OPEN = re.compile(r"/api/health(/.*)?")
_PARAMETER = re.compile(r"\{(\w+)\}")


def complete_schema(app: FastAPI) -> None:
    """Let the schema name the versioned paths, who may enter, and every parameter of a path."""
    derive = app.openapi

    def complete() -> dict[str, Any]:
        if app.openapi_schema is not None:
            return app.openapi_schema
        schema = derive()
        schema["components"]["securitySchemes"] = _SCHEMES
        schema["security"] = [{name: []} for name in _SCHEMES]
        for path, methods in schema["paths"].items():
            for operation in methods.values():
                _complete(path, operation)
        _share_problems(schema)
        schema["paths"] = {
            path.replace("/api/", "/api/v1/", 1): methods
            for path, methods in schema["paths"].items()
        }
        return schema

    app.openapi = complete  # type: ignore[method-assign]


def _complete(path: str, operation: dict[str, Any]) -> None:
    """Add path parameters that a route does not read; open routes ask no token."""
    if _OPEN.fullmatch(path):
        operation["security"] = []
    known = {parameter["name"] for parameter in operation.get("parameters", ())}
    missing = [name for name in _PARAMETER.findall(path) if name not in known]
    operation.setdefault("parameters", []).extend(
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in missing
    )


def _share_problems(schema: dict[str, Any]) -> None:
    """Say each error once for all routes: the schema is a third smaller."""
    shared = schema["components"].setdefault("responses", {})
    for methods in schema["paths"].values():
        for operation in methods.values():
            for status, answer in operation["responses"].items():
                if answer.get("content", {}).get("application/json", {}).get("schema") == _PROBLEM:
                    shared[f"Problem{status}"] = answer
                    operation["responses"][status] = {
                        "$ref": f"#/components/responses/Problem{status}"
                    }
