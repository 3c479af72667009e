"""`@tool` makes tools from functions: described by hints and docstring, called with values of the hinted types."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from antiphon.messages import ToolCall, ToolResult
from antiphon.tools import Bundle, Context, InvalidTool, NameTaken, PythonTool, ToolCallError, tool


@dataclass
class Range:
    low: int
    high: int = 10

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError("low is above high")


@tool
async def count(range: Range, step: float = 1, label: str | None = None) -> dict[str, Any]:
    """Count numbers.

    Args:
        range: the numbers
        step: the distance
            of two numbers
    """
    return {"range": range, "step": step, "label": label}


def call(function: PythonTool[..., Any], arguments: str = "{}") -> ToolResult:
    return asyncio.run(Bundle(function).call(ToolCall("1", function.tool.name, arguments)))


def text(result: ToolResult) -> str:
    return str(getattr(result.parts[0], "text", ""))


def test_a_tool_is_described_by_the_hints_and_the_docstring() -> None:
    assert (count.tool.name, count.tool.description) == ("count", "Count numbers.")
    assert count.tool.parameters == {
        "type": "object",
        "properties": {
            "range": {
                "type": "object",
                "properties": {"low": {"type": "integer"}, "high": {"type": "integer", "default": 10}},
                "required": ["low"],
                "additionalProperties": False,
                "description": "the numbers",
            },
            "step": {"type": "number", "description": "the distance of two numbers", "default": 1},
            "label": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        },
        "required": ["range"],
        "additionalProperties": False,
    }


def test_a_function_gets_values_of_its_types_and_its_result_is_json() -> None:
    result = call(count, '{"range": {"low": 2}, "step": 3}')

    assert text(result) == '{"range": {"low": 2, "high": 10}, "step": 3.0, "label": null}'
    assert not result.is_error


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("{}", "$.range is missing"),
        ('{"range": {"low": "a"}}', "$.range.low must be of type integer"),
        ('{"range": {"low": 1}, "stp": 1}', "$.stp is unknown; known: range, step, label"),
        ("[1", "are not a JSON object"),
        ('{"range": {"low": 11}}', "low is above high"),
    ],
)
def test_wrong_arguments_are_an_error_that_the_model_can_read(arguments: str, problem: str) -> None:
    result = call(count, arguments)

    assert result.is_error
    assert problem in text(result)


def test_a_decorated_function_can_still_be_called() -> None:
    @tool
    def double(number: int) -> int:
        """Double a number."""
        return 2 * number

    assert double(3) == 6


@pytest.mark.parametrize(("requires_approval", "risk"), [(None, "write"), (True, "destructive"), (False, "read")])
def test_the_need_of_approval_is_the_risk(requires_approval: bool | None, risk: str) -> None:
    @tool(name="other-name", description="Another text.", requires_approval=requires_approval)
    def function() -> None:
        """Do nothing."""

    assert (function.tool.name, function.tool.description, function.tool.risk) == ("other-name", "Another text.", risk)
    assert text(call(function)) == "Done."


def test_a_function_that_is_not_async_runs_in_another_thread_while_the_loop_continues() -> None:
    released = threading.Event()

    @tool
    def wait() -> str:
        """Wait for the event loop."""
        return f"{released.wait(10)} {threading.current_thread() is threading.main_thread()}"

    async def main() -> ToolResult:
        task = asyncio.ensure_future(Bundle(wait).call(ToolCall("1", "wait", "{}")))
        asyncio.get_running_loop().call_soon(released.set)
        return await task

    assert text(asyncio.run(main())) == "True False"


def test_a_cancelled_tool_in_a_thread_sees_it_and_has_ended_when_the_call_has() -> None:
    started = threading.Event()
    ended: list[bool] = []

    @tool
    def work(context: Context) -> None:
        """Work until cancelled."""
        started.set()
        context.cancellation.wait(10)
        ended.append(context.is_cancelled)
        context.check_cancelled()

    async def main() -> None:
        task = asyncio.ensure_future(Bundle(work).call(ToolCall("1", "work", "{}")))
        await asyncio.to_thread(started.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())

    assert ended == [True]


def test_the_context_is_no_parameter_of_the_tool() -> None:
    @tool
    async def work(number: int, context: Context) -> str:
        """Work."""
        return f"{number} {len(context.key)} {context.is_cancelled}"

    assert list(work.tool.parameters["properties"]) == ["number"]
    assert text(call(work, '{"number": 1}')) == "1 32 False"


def test_an_error_of_a_function_is_a_result_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    @tool
    def fail() -> None:
        """Fail."""
        raise KeyError("shelf")

    @tool
    def refuse() -> None:
        """Refuse."""
        raise ToolCallError("Not on Sundays.")

    assert call(fail) == ToolResult.of(ToolCall("1", "fail", "{}"), "fail failed: KeyError: 'shelf'", is_error=True)
    assert [record.exc_info is not None for record in caplog.records] == [True]
    assert text(call(refuse)) == "Not on Sundays."


def test_a_result_that_is_not_json_is_an_error() -> None:
    @tool
    def give() -> object:
        """Give an object."""
        return object()

    result = call(give)

    assert result.is_error
    assert "a value of type object is not JSON" in text(result)


def no_hint(title) -> str:  # type: ignore[no-untyped-def]
    """Find."""
    return str(title)


def wrong_hint(title: set[str]) -> str:
    """Find."""
    return str(title)


def unresolved(title: "Missing") -> str:  # type: ignore[name-defined]  # noqa: F821
    """Find."""
    return str(title)


def no_docstring(title: str) -> str:
    return title


def variadic(*titles: str) -> str:
    """Find."""
    return str(titles)


def by_position(title: str, /) -> str:
    """Find."""
    return title


def wrong_default(title: str = 3) -> str:  # type: ignore[assignment]
    """Find."""
    return title


def wrong_name(title: str) -> str:
    """Find.

    Args:
        titel: the title
    """
    return title


def two_contexts(one: Context, two: Context) -> str:
    """Find."""
    return one.key + two.key


async def generator() -> AsyncIterator[str]:
    """Find."""
    yield "a"


REFUSED: list[tuple[Callable[..., Any], str]] = [
    (no_hint, "the parameter 'title' has no type hint"),
    (wrong_hint, r"the parameter 'title': set\[str\] has no JSON Schema"),
    (unresolved, "a type hint cannot be resolved: name 'Missing'"),
    (no_docstring, "it has no description"),
    (variadic, "cannot be given by name"),
    (by_position, "cannot be given by name"),
    (wrong_default, "the default of the parameter 'title', 3, does not fit"),
    (wrong_name, "its docstring describes 'titel', which is not a parameter; known: title"),
    (two_contexts, "only one parameter may be a Context"),
    (generator, "that returns its result"),
    (lambda: None, "its name must have letters"),
    (Range, "it must be a function"),
]


@pytest.mark.parametrize(("function", "problem"), REFUSED, ids=[function.__name__ for function, _ in REFUSED])
def test_a_function_that_a_model_could_not_call_is_refused_at_once(function: Callable[..., Any], problem: str) -> None:
    with pytest.raises(InvalidTool, match=f"cannot be a tool: .*{problem}") as caught:
        tool(function)

    assert caught.value.name == function.__name__


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(NameTaken, match="there are two tools 'count'"):
        Bundle(count, count)
