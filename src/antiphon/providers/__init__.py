"""Models: a request in, a stream of deltas out, whatever the provider."""

from typing import TYPE_CHECKING

from antiphon.lazy import lazy_names

if TYPE_CHECKING:
    from antiphon.errors import Code
    from antiphon.messages import (
        AttachedDocument,
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
    from antiphon.providers.catalog import ModelListing, list_models
    from antiphon.providers.circuit import CircuitLimits
    from antiphon.providers.errors import ProviderError
    from antiphon.providers.http.client import HttpTransport
    from antiphon.providers.keys import Keys, Secret
    from antiphon.providers.local.settings import LocalSettings
    from antiphon.providers.prices import Price, Prices
    from antiphon.providers.rate_limits import RateLimits
    from antiphon.providers.references import Reference, parse_reference
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
            "AttachedDocument",
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
            "ModelListing",
            "list_models",
        ),
        "circuit": ("CircuitLimits",),
        "errors": ("ProviderError",),
        "http.client": ("HttpTransport",),
        "keys": (
            "Keys",
            "Secret",
        ),
        "local.settings": ("LocalSettings",),
        "prices": (
            "Price",
            "Prices",
        ),
        "rate_limits": ("RateLimits",),
        "references": (
            "Reference",
            "parse_reference",
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
    "AttachedDocument",
    "CircuitLimits",
    "Code",
    "Cost",
    "Delta",
    "Done",
    "HttpTransport",
    "Image",
    "Keys",
    "LocalSettings",
    "Message",
    "Model",
    "ModelListing",
    "Models",
    "OutputSchema",
    "Part",
    "Price",
    "Prices",
    "Provider",
    "ProviderError",
    "RateLimits",
    "Reference",
    "Reply",
    "Request",
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
    "list_models",
    "message_from_json",
    "message_to_json",
    "parse_reference",
    "script_names",
    "system",
    "tool",
    "user",
]
