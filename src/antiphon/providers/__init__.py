"""Models: a request in, a stream of deltas out, whatever the provider."""

from typing import TYPE_CHECKING

from antiphon.lazy import lazy_names

if TYPE_CHECKING:
    from antiphon.errors import Code
    from antiphon.messages import (
        Cost,
        Image,
        Message,
        Part,
        Text,
        Thinking,
        ToolCall,
        ToolResult,
        Usage,
        assistant,
        message_from_json,
        message_to_json,
        system,
        tool,
        user,
    )
    from antiphon.providers.base import (
        Delta,
        Done,
        Model,
        OutputSchema,
        Provider,
        Request,
        SignatureDelta,
        TextDelta,
        ThinkingDelta,
        Timeouts,
        Tool,
        ToolArgs,
        ToolStart,
        UsageDelta,
    )
    from antiphon.providers.catalog import Row, rows
    from antiphon.providers.errors import ProviderError
    from antiphon.providers.http.client import HttpCarrier
    from antiphon.providers.keys import Keys, Secret
    from antiphon.providers.prices import Price, Prices
    from antiphon.providers.references import Reference, parse
    from antiphon.providers.registry import Models
    from antiphon.providers.reply import Reply, collect
    from antiphon.providers.scripted import ScriptedModel, script_names
    from antiphon.providers.structured import Structured, ask

__getattr__ = lazy_names(
    __name__,
    {
        "antiphon.errors": ("Code",),
        "antiphon.messages": (
            "Cost",
            "Image",
            "Message",
            "Part",
            "Text",
            "Thinking",
            "ToolCall",
            "ToolResult",
            "Usage",
            "assistant",
            "message_from_json",
            "message_to_json",
            "system",
            "tool",
            "user",
        ),
        "base": (
            "Delta",
            "Done",
            "Model",
            "OutputSchema",
            "Provider",
            "Request",
            "SignatureDelta",
            "TextDelta",
            "ThinkingDelta",
            "Timeouts",
            "Tool",
            "ToolArgs",
            "ToolStart",
            "UsageDelta",
        ),
        "catalog": (
            "Row",
            "rows",
        ),
        "errors": ("ProviderError",),
        "http.client": ("HttpCarrier",),
        "keys": (
            "Keys",
            "Secret",
        ),
        "prices": (
            "Price",
            "Prices",
        ),
        "references": (
            "Reference",
            "parse",
        ),
        "registry": ("Models",),
        "reply": (
            "Reply",
            "collect",
        ),
        "scripted": (
            "ScriptedModel",
            "script_names",
        ),
        "structured": (
            "Structured",
            "ask",
        ),
    },
)

__all__ = [
    "Code",
    "Cost",
    "Delta",
    "Done",
    "HttpCarrier",
    "Image",
    "Keys",
    "Message",
    "Model",
    "Models",
    "OutputSchema",
    "Part",
    "Price",
    "Prices",
    "Provider",
    "ProviderError",
    "Reference",
    "Reply",
    "Request",
    "Row",
    "ScriptedModel",
    "Secret",
    "SignatureDelta",
    "Structured",
    "Text",
    "TextDelta",
    "Thinking",
    "ThinkingDelta",
    "Timeouts",
    "Tool",
    "ToolArgs",
    "ToolCall",
    "ToolResult",
    "ToolStart",
    "Usage",
    "UsageDelta",
    "ask",
    "assistant",
    "collect",
    "message_from_json",
    "message_to_json",
    "parse",
    "rows",
    "script_names",
    "system",
    "tool",
    "user",
]
