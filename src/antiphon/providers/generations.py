"""What providers take from which generation of their models: how hard to think, and whether there is a temperature.

The same wish is written differently, or must not be written at all, depending on the version in a model's name.
A name without a version that we know is taken at its word: the wish is sent as it is.
"""

import re
from typing import Any

from antiphon.providers.base import Effort, Request

Version = tuple[int, int]
# A date after the version is no part of it.
CLAUDE = re.compile(r"claude-(?:[a-z]+-)*(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")
GPT = re.compile(r"gpt-(\d{1,2})(?:\.(\d{1,2}))?(?!\d)")
GEMINI = re.compile(r"gemini-(\d{1,2})(?:\.(\d{1,2}))?(?!\d)")
O_SERIES = re.compile(r"o\d")

CLAUDE_BUDGETS: dict[Effort, int] = {"low": 2_048, "medium": 8_192, "high": 16_384}
GEMINI_BUDGETS: dict[Effort, int] = {"low": 1_024, "medium": 8_192, "high": 24_576}
LEAST_BUDGET = 1_024
ROOM_TO_SPEAK = 8_192


def version_in(pattern: re.Pattern[str], model: str) -> Version | None:
    """The version in a model's name."""
    match = pattern.match(model)
    return (int(match[1]), int(match[2] or 0)) if match else None


def effort_of(thinking: Effort | int) -> Effort:
    """A number of tokens in words."""
    if isinstance(thinking, str):
        return thinking
    return "low" if thinking < 4_096 else "medium" if thinking < 16_384 else "high"


def claude_settings(model: str, request: Request) -> dict[str, Any]:
    """Temperature, thinking and the token limit of a Claude model."""
    version = version_in(CLAUDE, model)
    settings: dict[str, Any] = {}
    # From 4.7 on, sampling is the model's own business: the field is an error.
    if request.temperature is not None and (version is None or version < (4, 7)):
        settings["temperature"] = request.temperature
    thinking = request.thinking
    if thinking == "none":
        # 4.7 and 4.8 do not think unasked and refuse the word for it; later ones think unasked.
        if version is None or not (4, 7) <= version < (5, 0):
            settings["thinking"] = {"type": "disabled"}
    elif thinking is not None:
        old = version is not None and version < (4, 6)
        if old or (isinstance(thinking, int) and (version is None or version < (4, 7))):
            budget = thinking if isinstance(thinking, int) else _claude_budget(thinking, request.max_tokens)
            settings["thinking"] = {"type": "enabled", "budget_tokens": budget}
        else:
            settings["thinking"] = {"type": "adaptive", "display": "summarized"}
            settings["output_config"] = {"effort": effort_of(thinking)}
    return settings | {"max_tokens": _claude_limit(version, request, settings)}


def gpt_settings(model: str, request: Request) -> dict[str, Any]:
    """Temperature and reasoning effort of an OpenAI model."""
    version = version_in(GPT, model)
    reasons = O_SERIES.match(model) is not None or (version is not None and version >= (5, 0) and "chat" not in model)
    plain = not reasons and version is not None
    settings: dict[str, Any] = {}
    if request.tools and version is not None and version >= (5, 4) and reasons:
        # Chat completions take functions from these models only without reasoning.
        settings["reasoning_effort"] = "none"
    elif request.thinking is not None and not plain:
        settings["reasoning_effort"] = _gpt_effort(effort_of(request.thinking), version, reasons)
    # While a model reasons, its temperature is fixed.
    if request.temperature is not None and (not reasons or settings.get("reasoning_effort") == "none"):
        settings["temperature"] = request.temperature
    return settings


def gemini_thinking(model: str, thinking: Effort | int) -> dict[str, Any]:
    """The thinking of a Gemini model: a level from 3 on, a budget before."""
    version = version_in(GEMINI, model)
    if isinstance(thinking, int):
        return {"thinkingBudget": thinking, "includeThoughts": True}
    if version is not None and version < (3, 0):
        if thinking != "none":
            return {"thinkingBudget": GEMINI_BUDGETS[thinking], "includeThoughts": True}
        # The larger ones cannot do without.
        return {"thinkingBudget": 128 if "pro" in model else 0}
    # From 3 on none can be kept from thinking; this is the least that all of them take.
    return (
        {"thinkingLevel": "LOW"} if thinking == "none" else {"thinkingLevel": thinking.upper(), "includeThoughts": True}
    )


def _claude_budget(effort: Effort, limit: int | None) -> int:
    budget = CLAUDE_BUDGETS[effort]
    return budget if limit is None else max(LEAST_BUDGET, min(budget, limit // 2))


def _claude_limit(version: Version | None, request: Request, settings: dict[str, Any]) -> int:
    # The format demands a limit, and thoughts count as well.
    if request.max_tokens is not None:
        return request.max_tokens
    budget: int = settings.get("thinking", {}).get("budget_tokens", 0)
    if budget:
        return budget + ROOM_TO_SPEAK
    if version is not None and version < (4, 0):
        return 4_096
    return 2 * ROOM_TO_SPEAK


def _gpt_effort(effort: Effort, version: Version | None, reasons: bool) -> str:
    if effort != "none" or not reasons or (version is not None and version >= (5, 1)):
        return effort
    return "low" if version is None else "minimal"
