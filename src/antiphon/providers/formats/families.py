"""Reasoning and temperature settings by model family and version.

The same setting is written differently, or must be left out, depending on the version in a model's name.

1. A model newer than all known versions is treated like the newest known one, and so is a model of the family
   without a version in its name: a setting that it might reject is left out, or written as the newest accept it.
2. A name of another family, on a compatible server, gets all settings as requested.
"""

import re
from typing import Any

from antiphon.providers.base import Effort, Request

Version = tuple[int, int]
NEWEST: Version = (99, 0)
# The name may have the prefix of a gateway or a fine-tuned model; a date after the version is not part of it.
CLAUDE = re.compile(r"(?:.*[/.:])?claude-(?:[a-z]+-)*(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")
GPT = re.compile(r"(?:.*[/.:])?(?:chat)?gpt-(\d{1,2})(?:\.(\d{1,2}))?(?!\d)")
GEMINI = re.compile(r"(?:.*[/.:])?gemini-(\d{1,2})(?:\.(\d{1,2}))?(?!\d)")
O_SERIES = re.compile(r"(?:.*[/.:])?o\d")
# Of the fifth generation, reasoning can be disabled only for these.
CAN_DISABLE_REASONING = re.compile(r"opus|sonnet|haiku")

CLAUDE_BUDGETS: dict[Effort, int] = {"low": 2_048, "medium": 8_192, "high": 16_384}
GEMINI_BUDGETS: dict[Effort, int] = {"low": 1_024, "medium": 8_192, "high": 24_576}
MIN_BUDGET = 1_024
REPLY_TOKENS = 8_192


def version_in(pattern: re.Pattern[str], model: str) -> Version | None:
    """Return the version in a model's name, or None."""
    match = pattern.match(model)
    return (int(match[1]), int(match[2] or 0)) if match else None


def effort_of(thinking: Effort | int) -> Effort:
    """Convert a budget of tokens to an effort."""
    if isinstance(thinking, str):
        return thinking
    return "low" if thinking < 4_096 else "medium" if thinking < 16_384 else "high"


def claude_settings(model: str, request: Request) -> dict[str, Any]:
    """Return temperature, reasoning and the token limit for a Claude model."""
    version = version_in(CLAUDE, model) or (NEWEST if "claude" in model else None)
    settings: dict[str, Any] = {}
    # From 4.7 on, the field is an error.
    if request.temperature is not None and (version is None or version < (4, 7)):
        settings["temperature"] = request.temperature
    thinking = request.thinking
    if thinking == "none":
        settings |= _claude_without_reasoning(model, version)
    elif thinking is not None and (version is None or version >= (3, 7)):
        old = version is not None and version < (4, 6)
        if old or (isinstance(thinking, int) and (version is None or version < (4, 7))):
            budget = thinking if isinstance(thinking, int) else _claude_budget(thinking, request.max_tokens)
            settings["thinking"] = {"type": "enabled", "budget_tokens": budget}
        else:
            settings["thinking"] = {"type": "adaptive", "display": "summarized"}
            settings["output_config"] = {"effort": effort_of(thinking)}
    return settings | {"max_tokens": _claude_limit(version, request, settings)}


def gpt_settings(model: str, request: Request) -> dict[str, Any]:
    """Return temperature and reasoning effort for an OpenAI model."""
    o_series = O_SERIES.match(model) is not None
    version = version_in(GPT, model) or (None if o_series else NEWEST)
    reasons = version is None or (version >= (5, 0) and "chat" not in model)
    settings: dict[str, Any] = {}
    if request.tools and reasons and version is not None and version >= (5, 4):
        # In chat completions these models accept tools only without reasoning; 5.4 does not reason by default
        # and rejects "none", later ones require it.
        if version >= (5, 5):
            settings["reasoning_effort"] = "none"
    elif request.thinking is not None and reasons:
        settings["reasoning_effort"] = _gpt_effort(effort_of(request.thinking), version)
    # The temperature is fixed while a model reasons, and for chat models after 5.
    if request.temperature is not None and (
        settings.get("reasoning_effort") == "none" or (not reasons and (version or NEWEST) < (5, 1))
    ):
        settings["temperature"] = request.temperature
    return settings


def gemini_thinking(model: str, thinking: Effort | int) -> dict[str, Any]:
    """Return the reasoning of a Gemini model: a level from 3 on, a budget from 2.5 on, nothing before."""
    version = version_in(GEMINI, model) or NEWEST
    if version < (2, 5):
        return {}
    if version < (3, 0):
        if thinking == "none":
            # The larger models cannot disable reasoning.
            return {"thinkingBudget": 128 if "pro" in model else 0}
        budget = thinking if isinstance(thinking, int) else GEMINI_BUDGETS[thinking]
        return {"thinkingBudget": budget, "includeThoughts": True}
    effort = effort_of(thinking)
    if effort == "none":
        # Reasoning cannot be disabled; this is the lowest level that all of them accept.
        return {"thinkingLevel": "LOW"}
    if effort == "medium" and version == (3, 0) and "pro" in model:
        effort = "high"
    return {"thinkingLevel": effort.upper(), "includeThoughts": True}


def _claude_without_reasoning(model: str, version: Version | None) -> dict[str, Any]:
    # 4.7 and 4.8 do not reason by default and reject the setting, versions before 3.7 do not have it.
    if version is None or (3, 7) <= version < (4, 7) or (version == (5, 0) and CAN_DISABLE_REASONING.search(model)):
        return {"thinking": {"type": "disabled"}}
    if version < (5, 0):
        return {}
    # The newest always reason and reject "disabled"; this is the lowest effort they accept.
    return {"output_config": {"effort": "low"}}


def _claude_budget(effort: Effort, limit: int | None) -> int:
    budget = CLAUDE_BUDGETS[effort]
    return budget if limit is None else max(MIN_BUDGET, min(budget, limit // 2))


def _claude_limit(version: Version | None, request: Request, settings: dict[str, Any]) -> int:
    # The format requires a limit, which includes reasoning.
    if request.max_tokens is not None:
        return request.max_tokens
    budget: int = settings.get("thinking", {}).get("budget_tokens", 0)
    if budget:
        return budget + REPLY_TOKENS
    if version is not None and version < (4, 0):
        return 4_096
    return 2 * REPLY_TOKENS


def _gpt_effort(effort: Effort, version: Version | None) -> str:
    if effort != "none" or (version is not None and version >= (5, 1)):
        return effort
    return "low" if version is None else "minimal"
