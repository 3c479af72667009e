"""The same wish is written as each generation of models takes it."""

import pytest

from antiphon.messages import user
from antiphon.providers.base import Request, Tool
from antiphon.providers.formats.families import (
    CLAUDE,
    GEMINI,
    GPT,
    claude_settings,
    gemini_thinking,
    gpt_settings,
    version_in,
)

TOOL = Tool("look", "Look.", {"type": "object"})
ADAPTIVE = {"type": "adaptive", "display": "summarized"}


def asked(**settings):
    return Request((user("hi"),), **settings)


@pytest.mark.parametrize(
    ("pattern", "model", "version"),
    [
        (CLAUDE, "claude-opus-4-7", (4, 7)),
        (CLAUDE, "claude-opus-4-5-20251101", (4, 5)),
        (CLAUDE, "claude-sonnet-4-20250514", (4, 0)),
        (CLAUDE, "claude-3-5-sonnet-20241022", (3, 5)),
        (CLAUDE, "claude-3-haiku-20240307", (3, 0)),
        (CLAUDE, "claude-opus-5", (5, 0)),
        (CLAUDE, "claude-fable-5-1", (5, 1)),
        (CLAUDE, "claude-2.1", (2, 1)),
        (CLAUDE, "claude-opus-12-3", (12, 3)),
        (CLAUDE, "anthropic/claude-opus-4.7", (4, 7)),
        (CLAUDE, "us.anthropic.claude-opus-4-7-v1:0", (4, 7)),
        (CLAUDE, "claude-opus-latest", None),
        (CLAUDE, "other-7", None),
        (GPT, "gpt-4o-mini", (4, 0)),
        (GPT, "gpt-4.1", (4, 1)),
        (GPT, "gpt-5.6-sol", (5, 6)),
        (GPT, "gpt-6-luna", (6, 0)),
        (GPT, "gpt-10.2-sol", (10, 2)),
        (GPT, "ft:gpt-4o-mini:us::x1", (4, 0)),
        (GPT, "chatgpt-4o-latest", (4, 0)),
        (GPT, "o3", None),
        (GEMINI, "gemini-2.5-pro", (2, 5)),
        (GEMINI, "gemini-3-pro-preview", (3, 0)),
        (GEMINI, "gemma-4", None),
    ],
)
def test_a_version_is_read_from_a_name(pattern, model, version):
    assert version_in(pattern, model) == version


@pytest.mark.parametrize(
    ("model", "kept"),
    [
        ("claude-opus-4-6", True),
        ("claude-opus-4-7", False),
        ("claude-haiku-5-5", False),
        ("my-proxy-model", True),
        ("claude-next", False),
        ("claude-opus-99", False),
    ],
)
def test_claude_has_a_temperature_until_4_7(model, kept):
    assert ("temperature" in claude_settings(model, asked(temperature=0.5))) == kept


@pytest.mark.parametrize(
    ("model", "thinking", "expected"),
    [
        ("claude-sonnet-4-5", "low", {"type": "enabled", "budget_tokens": 2_048}),
        ("claude-opus-4-6", "low", ADAPTIVE),
        ("claude-opus-4-6", 3_000, {"type": "enabled", "budget_tokens": 3_000}),
        ("claude-opus-4-7", 3_000, ADAPTIVE),
        ("claude-opus-5", "high", ADAPTIVE),
        ("my-proxy-model", "high", ADAPTIVE),
        ("my-proxy-model", 3_000, {"type": "enabled", "budget_tokens": 3_000}),
        ("claude-opus-4-5", "none", {"type": "disabled"}),
        ("claude-opus-4-7", "none", None),
        ("claude-opus-5", "none", {"type": "disabled"}),
        ("claude-next", 3_000, ADAPTIVE),
        ("claude-opus-99", 3_000, ADAPTIVE),
        ("claude-3-5-sonnet-20241022", "high", None),
        ("claude-3-7-sonnet-20250219", 2_000, {"type": "enabled", "budget_tokens": 2_000}),
        ("claude-3-haiku-20240307", "none", None),
    ],
)
def test_claude_thinks_by_budget_before_4_6_and_adaptively_after(model, thinking, expected):
    sent = claude_settings(model, asked(thinking=thinking))

    assert sent.get("thinking") == expected
    assert ("effort" in sent.get("output_config", {})) == (expected == ADAPTIVE)


@pytest.mark.parametrize(
    "model", ["claude-fable-5", "claude-mythos-5", "claude-opus-5-5", "claude-opus-6", "claude-next"]
)
def test_claudes_that_always_think_are_asked_to_think_little(model):
    sent = claude_settings(model, asked(thinking="none"))

    assert "thinking" not in sent
    assert sent["output_config"] == {"effort": "low"}


@pytest.mark.parametrize(
    ("model", "settings", "limit"),
    [
        ("claude-3-haiku-20240307", {}, 4_096),
        ("claude-opus-5", {}, 16_384),
        ("claude-sonnet-4-5", {"thinking": 20_000}, 28_192),
        ("claude-sonnet-4-5", {"max_tokens": 3_000, "thinking": "high"}, 3_000),
    ],
)
def test_claude_always_has_a_limit_with_room_for_thoughts(model, settings, limit):
    sent = claude_settings(model, asked(**settings))

    assert sent["max_tokens"] == limit
    assert sent.get("thinking", {}).get("budget_tokens", 0) < limit


@pytest.mark.parametrize(
    ("model", "settings", "expected"),
    [
        ("gpt-4o", {"temperature": 0.5, "thinking": "low"}, {"temperature": 0.5}),
        ("gpt-5", {"temperature": 0.5}, {}),
        ("gpt-5-chat-latest", {"temperature": 0.5}, {"temperature": 0.5}),
        ("o3", {"temperature": 0.5, "thinking": "none"}, {"reasoning_effort": "low"}),
        ("gpt-5", {"thinking": "none"}, {"reasoning_effort": "minimal"}),
        ("gpt-5.1", {"thinking": "none", "temperature": 0.5}, {"reasoning_effort": "none", "temperature": 0.5}),
        ("gpt-5.1", {"thinking": 20_000, "tools": (TOOL,)}, {"reasoning_effort": "high"}),
        ("gpt-5.6-sol", {"thinking": "high", "tools": (TOOL,)}, {"reasoning_effort": "none"}),
        ("gpt-6-luna", {"tools": (TOOL,), "temperature": 0.5}, {"reasoning_effort": "none", "temperature": 0.5}),
        ("gpt-5.4", {"thinking": "high", "tools": (TOOL,), "temperature": 0.5}, {}),
        ("gpt-5.5", {"tools": (TOOL,)}, {"reasoning_effort": "none"}),
        ("gpt-5.2-chat-latest", {"temperature": 0.5, "thinking": "high", "tools": (TOOL,)}, {}),
        ("o3", {"thinking": "high", "tools": (TOOL,)}, {"reasoning_effort": "high"}),
        ("ft:gpt-4o-mini:us::x1", {"temperature": 0.5}, {"temperature": 0.5}),
        ("unheard-of", {"temperature": 0.5, "thinking": "high"}, {"reasoning_effort": "high"}),
        ("unheard-of", {"thinking": "none", "temperature": 0.5}, {"reasoning_effort": "none", "temperature": 0.5}),
        ("unheard-of", {"tools": (TOOL,)}, {"reasoning_effort": "none"}),
    ],
)
def test_openais_models_take_a_temperature_or_reason(model, settings, expected):
    assert gpt_settings(model, asked(**settings)) == expected


@pytest.mark.parametrize(
    ("model", "thinking", "expected"),
    [
        ("gemini-2.5-flash", "none", {"thinkingBudget": 0}),
        ("gemini-2.5-pro", "none", {"thinkingBudget": 128}),
        ("gemini-2.5-pro", "high", {"thinkingBudget": 24_576, "includeThoughts": True}),
        ("gemini-3.8-flash", "none", {"thinkingLevel": "LOW"}),
        ("gemini-3.8-flash", "high", {"thinkingLevel": "HIGH", "includeThoughts": True}),
        ("gemini-2.5-flash", 500, {"thinkingBudget": 500, "includeThoughts": True}),
        ("gemini-3.8-flash", 500, {"thinkingLevel": "LOW", "includeThoughts": True}),
        ("gemini-3-pro-preview", "medium", {"thinkingLevel": "HIGH", "includeThoughts": True}),
        ("gemini-3.1-pro-preview", "medium", {"thinkingLevel": "MEDIUM", "includeThoughts": True}),
        ("gemini-flash-latest", "medium", {"thinkingLevel": "MEDIUM", "includeThoughts": True}),
        ("gemini-2.0-flash", "high", {}),
    ],
)
def test_gemini_thinks_by_budget_before_3_and_by_level_after(model, thinking, expected):
    assert gemini_thinking(model, thinking) == expected
