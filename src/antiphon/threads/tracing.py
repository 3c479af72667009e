"""Requests to models and calls of tools as spans, with the names of the conventions for generative AI."""

from asyncio import CancelledError
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing

from antiphon.messages import ToolCall, ToolResult, Usage
from antiphon.providers.base import Delta, Model, Provider, Request, Tool, UsageDelta
from antiphon.providers.errors import ProviderError
from antiphon.runtime.tasks import CURRENT
from antiphon.telemetry import OpenSpan, is_recording

CHAT = "chat"
EXECUTE_TOOL = "execute_tool"
OPERATION = "gen_ai.operation.name"
MODEL_LABELS = (OPERATION, "gen_ai.provider.name", "gen_ai.request.model")
TOOL_LABELS = (OPERATION, "gen_ai.tool.name")
ERROR = "error.type"
CANCELLED = "cancelled"
FAILED_TOOL = "tool_error"
UNKNOWN_TOOL = "_OTHER"  # the name of a tool that does not exist is a text of the model


class TracedProvider:
    """Provider whose requests are spans where they are recorded."""

    __slots__ = ("_provider", "model")

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self.model = provider.model

    def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Send the request and yield the deltas of the reply."""
        # Where nothing is recorded, deltas are not passed through another generator.
        return self._stream(request) if is_recording() else self._provider.stream(request)

    async def _stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        operation = _start_chat(self.model)
        usage: Usage | None = None
        error: str | None = None
        try:
            async with aclosing(self._provider.stream(request)) as deltas:
                async for delta in deltas:
                    if isinstance(delta, UsageDelta):
                        usage = delta.usage
                    yield delta
        except BaseException as problem:
            error = _error_type(problem)
            raise
        finally:
            _end_chat(operation, usage, error)


def _start_chat(model: Model) -> OpenSpan:
    attributes = {OPERATION: CHAT, "gen_ai.provider.name": model.provider, "gen_ai.request.model": model.name}
    return OpenSpan(f"{CHAT} {model.name}", "CLIENT", {**attributes, **_conversation()})


def _end_chat(operation: OpenSpan, usage: Usage | None, error: str | None) -> None:
    if usage is not None:
        operation.set({"gen_ai.usage.input_tokens": usage.input, "gen_ai.usage.output_tokens": usage.output})
        operation.record_tokens("input", usage.input, *MODEL_LABELS)
        operation.record_tokens("output", usage.output, *MODEL_LABELS)
    operation.end(error)
    operation.record_duration(*MODEL_LABELS, ERROR)


async def call_traced(
    call: ToolCall, make: Callable[[ToolCall], Awaitable[ToolResult]], tools: Callable[[], Sequence[Tool]]
) -> ToolResult:
    """Make a call of one of some tools; it is a span where spans are recorded."""
    if not is_recording():
        return await make(call)
    name = call.name if any(tool.name == call.name for tool in tools()) else UNKNOWN_TOOL
    attributes = {OPERATION: EXECUTE_TOOL, "gen_ai.tool.name": name, **_conversation()}
    operation = OpenSpan(f"{EXECUTE_TOOL} {name}", "INTERNAL", attributes)
    error: str | None = None
    try:
        result = await make(call)
        error = FAILED_TOOL if result.is_error else None
        return result
    except BaseException as problem:
        error = _error_type(problem)
        raise
    finally:
        operation.end(error)
        operation.record_duration(*TOOL_LABELS, ERROR)


def _conversation() -> dict[str, str]:
    """Return the id of the thread whose task runs, as an attribute."""
    task = CURRENT.get()
    return {} if task is None else {"gen_ai.conversation.id": task.root}


def _error_type(error: BaseException) -> str:
    """Return the type of an error: the code of a provider's, or the name of its class, never its text."""
    match error:
        case ProviderError():
            return error.code.value
        case GeneratorExit() | CancelledError():
            return CANCELLED
        case _:
            return type(error).__name__
