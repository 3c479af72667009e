"""Routes of models."""

import asyncio
from typing import Annotated, Any

from starlette.responses import Response

from antiphon.providers.catalog import list_models
from antiphon.server.contracts import Routes, json_response
from antiphon.server.facades.openai.bodies import ErrorReply, ModelObject, ModelObjects
from antiphon.server.parameters import Path
from antiphon.server.problems import ProblemError

routes = Routes("openai", errors=(ErrorReply,))


async def _read_models() -> list[dict[str, Any]]:
    rows = await asyncio.to_thread(list_models)  # it may ask a local server
    return [
        {"id": row.reference, "object": "model", "created": 0, "owned_by": row.reference.partition(":")[0]}
        for row in rows
        if row.usable
    ]


@routes.add("GET", "/v1/models", "Models that can be used here, as the API of OpenAI lists them", gives=ModelObjects)
async def list_model_objects() -> Response:
    """Those of `GET /models` that are usable."""
    return json_response({"object": "list", "data": await _read_models()})


@routes.add("GET", "/v1/models/{id}", "A model that can be used here", gives=ModelObject)
async def read_model_object(id: Annotated[str, Path(max_length=200, description="reference of a model")]) -> Response:
    """By its reference."""
    for model in await _read_models():
        if model["id"] == id:
            return json_response(model)
    raise ProblemError("unusable_model", f"there is no usable model {id!r}; see GET /v1/models")
