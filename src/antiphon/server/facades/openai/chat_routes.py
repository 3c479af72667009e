"""Route of chat completions."""

import time
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from antiphon.server.callers import RequestCaller
from antiphon.server.context import Context
from antiphon.server.contracts import Routes, read_body
from antiphon.server.facades.openai import conversations, options
from antiphon.server.facades.openai.bodies import ChatCompletion, ChatCompletionRequest, ErrorReply
from antiphon.server.facades.openai.completions import CompletionWriter, completion, reply_parts
from antiphon.server.facades.openai.conversations import ClientConversation
from antiphon.server.facades.openai.exchange import MEDIA_TYPES, CollectedReply, Exchange
from antiphon.server.facades.openai.prompts import read_messages
from antiphon.server.facades.openai.requests import drop_nulls, is_streamed

Json = Mapping[str, Any]
routes = Routes("openai", errors=(ErrorReply,))
THREAD_PREFIX = "thread:"  # model names that continue a thread


@routes.add(
    "POST",
    "/v1/chat/completions",
    "Create a chat completion, as the API of OpenAI does",
    takes=ChatCompletionRequest,
    gives=ChatCompletion,
    media_types=MEDIA_TYPES,
)
async def create_chat_completion(request: Request, context: Context, caller: RequestCaller) -> Response:
    """It is the reply of a chat, which is created or continued."""
    body = drop_nulls(await read_body(request, ChatCompletionRequest))
    options.check_neutral(body)
    prompt = read_messages(body["messages"])
    has_usage = is_streamed(body) and _has_usage(body)
    model: str = body["model"]
    conversation: ClientConversation | None = None
    if model.startswith(THREAD_PREFIX):
        options.check_no_settings(body)
        turn = await conversations.continue_thread(context, caller, model.removeprefix(THREAD_PREFIX), prompt)
    else:
        settings = options.chat_settings(model, prompt.system, options.read_chat_options(body))
        conversation = ClientConversation(caller, settings, prompt, body.get("store", True))
        known = context.conversations.find(conversation.digest(prompt.earlier))
        turn = await conversations.begin(context, conversation, known)
    id = f"chatcmpl-{turn.thread}-{turn.input}"
    created = int(time.time())

    def remember(reply: CollectedReply) -> None:
        if conversation is not None and conversation.is_kept:
            parts = reply_parts(reply.text, reply.end)
            conversations.remember(context, conversation, parts, turn.thread, reply.end.head)

    exchange = Exchange(context, request, turn, remember)
    if is_streamed(body):
        return await exchange.stream(CompletionWriter(id, model, created, has_usage=has_usage))
    return await exchange.answer(lambda reply: completion(id, model, created, reply.text, reply.thought, reply.end))


def _has_usage(body: Json) -> bool:
    return bool((body.get("stream_options") or {}).get("include_usage"))
