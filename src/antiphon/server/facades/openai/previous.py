"""Earlier responses, which `previous_response_id` names: the id has the thread and the message that was answered."""

from collections.abc import Mapping
from typing import Any

from antiphon.chat.record import chat_of
from antiphon.server.callers import Caller
from antiphon.server.context import ServerContext
from antiphon.server.facades.known_conversations import Position
from antiphon.server.facades.openai.conversations import check_chat
from antiphon.server.facades.openai.errors import bad_parameter
from antiphon.server.problems import ProblemError
from antiphon.threads.errors import UnknownThread

Json = Mapping[str, Any]
ID_PREFIX = "resp_"


async def has_settings(context: ServerContext, thread: str, settings: Json) -> bool:
    """Return whether a thread has some settings, apart from the history that it began with."""
    config = await context.app.threads.config(thread)
    return {key: value for key, value in config.items() if key != "history"} == settings


async def find_previous(context: ServerContext, caller: Caller, id: str) -> tuple[list[Json], Position]:
    """Return the messages up to the end of an earlier response, and the position there."""
    thread, _, input = id.removeprefix(ID_PREFIX).rpartition("_")
    try:
        if not id.startswith(ID_PREFIX) or not thread:
            raise UnknownThread(id)
        await check_chat(context, caller, thread)
        path, end = await _read_until(context, thread, input)
    except (UnknownThread, ProblemError):
        raise bad_parameter("previous_response_id", f"there is no response {id[:100]!r}") from None
    return path, Position(thread, end)


async def _read_until(context: ServerContext, thread: str, input: str) -> tuple[list[Json], str | None]:
    """Return the messages of a thread up to the end of the reply to one of them, and the last one's id.

    Raise `UnknownThread` if there is no such message.
    """
    messages = chat_of(await context.app.threads.snapshot(thread))["messages"]
    if input not in messages:
        raise UnknownThread(f"thread {thread!r} has no message {input!r}")
    end: str = input
    for id, message in messages.items():  # a message follows its parent
        if message["parent"] == end and message["role"] in ("assistant", "tool") and not _is_input(id):
            end = id
    path: list[Json] = []
    step: str | None = end
    while step is not None:
        path.append(messages[step])
        step = messages[step]["parent"]
    return path[::-1], end


def _is_input(id: str) -> bool:
    return id.startswith("in")
