"""`@tool`: a Python function as a tool, described by its type hints and its docstring."""

import dataclasses
import inspect
import json
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Generic, ParamSpec, TypeVar, get_type_hints, overload

from antiphon.providers.base import Tool
from antiphon.tools.arguments import Parameters
from antiphon.tools.context import Context, ToolCancelled, take_context
from antiphon.tools.docstrings import Docstring, parse_docstring
from antiphon.tools.errors import InvalidTool, ToolCallError, ToolsError
from antiphon.tools.functions import Function, ToolFunction, run_in_thread
from antiphon.tools.hints import (
    MISSING,
    BadHint,
    Mismatch,
    ParameterField,
    compile_hint,
    fields_schema,
    json_default,
    read_fields,
)

P = ParamSpec("P")
R = TypeVar("R")
NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]{0,63}")
BY_KEYWORD = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PythonTool(ToolFunction, Generic[P, R]):
    """Tool made from a Python function, which can still be called as before."""

    original: Callable[P, R] = field(kw_only=True)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the original function."""
        return self.original(*args, **kwargs)


@overload
def tool(function: Callable[P, R], /) -> PythonTool[P, R]: ...


@overload
def tool(
    *, name: str | None = None, description: str | None = None, requires_approval: bool | None = None
) -> Callable[[Callable[P, R]], PythonTool[P, R]]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    requires_approval: bool | None = None,
) -> Any:
    """Make a tool from a function, async or not; raise `InvalidTool` if a model could not call it.

    With `requires_approval=True` every call needs approval, with `False` none does, because the tool only reads;
    otherwise the permission mode of the thread decides. A parameter that is annotated with `Context` gets the context
    of the call. A function that is not async runs in a thread.
    """
    if function is None:
        return lambda function: _make(function, name, description, requires_approval)
    return _make(function, name, description, requires_approval)


def _make(
    function: Callable[..., Any], name: str | None, description: str | None, requires_approval: bool | None
) -> PythonTool[..., Any]:
    own_name = getattr(function, "__name__", "") if name is None else name
    if not inspect.isroutine(function) or inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
        raise InvalidTool(own_name or repr(function), "it must be a function, async or not, that returns its result")
    if not NAME.fullmatch(own_name):
        raise InvalidTool(own_name, "its name must have letters, digits, _ and -; give another one with name=")
    docstring = parse_docstring(function.__doc__ or "")
    text = docstring.description if description is None else description
    if not text.strip():
        raise InvalidTool(own_name, "it has no description; add a docstring, or description=")
    fields, context_name = _parameters(own_name, function, docstring)
    risk = "write" if requires_approval is None else "destructive" if requires_approval else "read"
    offered = Tool(own_name, text, fields_schema(fields), risk)  # type: ignore[arg-type]
    try:
        Parameters(offered)
    except ToolsError as error:
        raise InvalidTool(own_name, str(error)) from None
    return PythonTool(offered, _call(own_name, function, fields, context_name), original=function)


def _parameters(
    name: str, function: Callable[..., Any], docstring: Docstring
) -> tuple[dict[str, ParameterField], str | None]:
    """Return the parameters that a model gives, and the name of the parameter for the context."""
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise InvalidTool(name, f"a type hint cannot be resolved: {error}") from None
    fields: dict[str, ParameterField] = {}
    contexts: list[str] = []
    for key, parameter in inspect.signature(function).parameters.items():
        if hints.get(key) is Context:
            contexts.append(key)
            continue
        if parameter.kind not in BY_KEYWORD:
            raise InvalidTool(name, f"the parameter {parameter} cannot be given by name, as models do")
        if key not in hints:
            raise InvalidTool(name, f"the parameter {key!r} has no type hint; add one, for example {key}: str")
        fields[key] = _field(name, parameter, hints[key], docstring.parameters.get(key, ""))
    if len(contexts) > 1:
        raise InvalidTool(name, f"only one parameter may be a Context, not {', '.join(contexts)}")
    if unknown := [key for key in docstring.parameters if key not in fields]:
        known = ", ".join(fields) or "none"
        raise InvalidTool(name, f"its docstring describes {unknown[0]!r}, which is not a parameter; known: {known}")
    return fields, contexts[0] if contexts else None


def _field(name: str, parameter: inspect.Parameter, hint: Any, description: str) -> ParameterField:
    try:
        compiled = compile_hint(hint)
    except BadHint as error:
        raise InvalidTool(name, f"the parameter {parameter.name!r}: {error}") from None
    if parameter.default is inspect.Parameter.empty:
        return ParameterField(compiled, True, MISSING, description)
    default = json_default(parameter.default)
    try:
        _ = default is MISSING or compiled.read(default)
    except Mismatch:
        problem = f"the default of the parameter {parameter.name!r}, {default!r}, does not fit its type hint"
        raise InvalidTool(name, problem) from None
    return ParameterField(compiled, False, default, description)


def _call(
    name: str, function: Callable[..., Any], fields: Mapping[str, ParameterField], context_name: str | None
) -> Function:
    """Return the function of the tool: checked arguments in, the text of the result out."""

    async def call(arguments: Mapping[str, Any]) -> str:
        context = take_context()
        try:
            values = read_fields(fields, arguments)
        except Mismatch:
            raise ToolCallError(f"The arguments of {name} are not valid: they do not fit their types.") from None
        except Exception as error:  # raised by a dataclass that checks its fields
            raise ToolCallError(f"The arguments of {name} are not valid: {error}") from error
        if context_name is not None:
            values[context_name] = context
        try:
            if inspect.iscoroutinefunction(function):
                result = await function(**values)
            else:
                result = await run_in_thread(lambda: function(**values), context.cancellation)
            return _text(result)
        except (ToolCallError, OSError, ToolCancelled):
            raise
        except Exception as error:
            log.warning("the tool %s failed", name, exc_info=True)
            raise ToolCallError(f"{name} failed: {type(error).__name__}: {error}") from error
        finally:
            # A part of the tool that is still running must see that the call is over.
            context.cancellation.set()

    return call


def _text(result: Any) -> str:
    """Return a result as the text that a model reads: a text as it is, anything else as JSON."""
    if isinstance(result, str) and not isinstance(result, Enum):
        return result
    return "Done." if result is None else json.dumps(result, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset | tuple):
        return list(value)
    raise TypeError(f"a value of type {type(value).__name__} is not JSON; return a text or values of JSON")
