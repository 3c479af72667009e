"""Route of the Responses API."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from antiphon.server.callers import RequestCaller
from antiphon.server.context import Context
from antiphon.server.contracts import Routes, read_body
from antiphon.server.facades.known_conversations import Position
from antiphon.server.facades.openai import conversations, options, previous
from antiphon.server.facades.openai.bodies import ErrorReply, ResponseObject, ResponseRequest
from antiphon.server.facades.openai.conversations import ClientConversation
from antiphon.server.facades.openai.exchange import MEDIA_TYPES, Exchange
from antiphon.server.facades.openai.items import read_input
from antiphon.server.facades.openai.requests import drop_nulls, is_streamed
from antiphon.server.facades.openai.response_events import ResponseWriter

Json = Mapping[str, Any]
routes = Routes("openai", errors=(ErrorReply,))


@routes.add(
    "POST",
    "/v1/responses",
    "Create a response, as the API of OpenAI does",
    takes=ResponseRequest,
    gives=ResponseObject,
    media_types=MEDIA_TYPES,
)
async def create_response(request: Request, context: Context, caller: RequestCaller) -> Response:
    """It is the reply of a chat, which is created, or continued by `previous_response_id`."""
    body = drop_nulls(await read_body(request, ResponseRequest))
    options.check_neutral(body)
    chosen = options.read_response_options(body)
    earlier: Sequence[Json] = ()
    position: Position | None = None
    if "previous_response_id" in body:
        earlier, position = await previous.find_previous(context, caller, body["previous_response_id"])
    prompt = read_input(body["input"], body.get("instructions"), earlier)
    settings = options.chat_settings(body["model"], prompt.system, chosen)
    if position is not None and not await previous.has_settings(context, position.thread, settings):
        position = None
    turn = await conversations.begin(
        context, ClientConversation(caller, settings, prompt, body.get("store", True)), position
    )
    writer = ResponseWriter(f"{previous.ID_PREFIX}{turn.thread}_{turn.input}", int(time.time()), _echo(body))
    exchange = Exchange(context, request, turn, lambda reply: None)
    if is_streamed(body):
        return await exchange.stream(writer)
    return await exchange.answer(lambda reply: writer.write_whole(reply.text, reply.thought, reply.end))


def _echo(body: Json) -> dict[str, Any]:
    """Return the parameters that a response repeats."""
    return {
        "model": body["model"],
        "instructions": body.get("instructions"),
        "previous_response_id": body.get("previous_response_id"),
        "max_output_tokens": body.get("max_output_tokens"),
        "temperature": body.get("temperature"),
        "top_p": body.get("top_p"),
        "tools": body.get("tools", []),
        "tool_choice": body.get("tool_choice", "auto"),
        "parallel_tool_calls": True,
        "text": body.get("text") or {"format": {"type": "text"}},
        "reasoning": body.get("reasoning"),
        "store": body.get("store", True),
        "metadata": body.get("metadata", {}),
        "truncation": "disabled",
    }
