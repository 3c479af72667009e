"""The settings of a chat: their rules, and the context of a new chat."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from antiphon.chat.machine.context import DEFAULTS, FlowConfig, FlowContext, empty_context
from antiphon.chat.machine.history import BadHistory, with_history
from antiphon.threads.machine.consent_settings import CONSENT_FORM, is_consent

Check = Callable[[object], bool]
LARGEST = 10**12  # in milliseconds some 30 years; a timer that is due later cannot be stored


def _one_of(*values: str) -> tuple[Check, str]:
    return (lambda value: value in values), f"one of {', '.join(values)}"


def _at_least(least: int, *, optional: bool = False) -> tuple[Check, str]:
    def fits(value: object) -> bool:
        return (optional and value is None) or (type(value) is int and least <= value <= LARGEST)

    return fits, f"a whole number from {least} to {LARGEST}" + (", or null" if optional else "")


def _is_optional_text(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_amount(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool) and value > 0)


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and 0 < value <= 1


_TEXT = (_is_optional_text, "a text, or null")
_AMOUNT = (_is_amount, "a number above 0, or null")
_BOOL = ((lambda value: isinstance(value, bool)), "true or false")
_SHARE = (_is_share, "a number above 0, up to 1")


RULES: dict[str, tuple[Check, str]] = {
    "model": _TEXT,
    "system": _TEXT,
    "systemPlacement": _one_of("prepend", "inject"),
    "settings": ((lambda value: isinstance(value, Mapping)), "an object"),
    "strategy": _one_of("none", "sliding", "summarise", "forget"),
    "summaries": _one_of("model", "plain"),
    "contextLimit": _at_least(1),
    "compressAt": _SHARE,
    "resumeAt": _SHARE,
    "onBusy": _one_of("reject", "queue", "interrupt", "merge"),
    "onStop": _one_of("finish", "cut"),
    "maxBranches": _at_least(1),
    "maxTurns": _at_least(0, optional=True),
    "maxQueue": _at_least(0),
    "turnTimeoutMs": _at_least(1, optional=True),
    "maxToolRounds": _at_least(0, optional=True),
    "maxThreadToolRounds": _at_least(0, optional=True),
    "maxCostUsd": _AMOUNT,
    "maxThreadCostUsd": _AMOUNT,
    "maxWallMs": _at_least(1, optional=True),
    "maxThreadWallMs": _at_least(1, optional=True),
    "warnAt": _SHARE,
    "autoStart": _BOOL,
    "consent": (is_consent, CONSENT_FORM),
    "clientTools": _BOOL,
}


def event_settings(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings in an event, given beside `type` or under `config`."""
    settings = {key: value for key, value in event.items() if key not in ("type", "config", "at")}
    return {**settings, **(event.get("config") or {})}


def problem_with(settings: Mapping[str, object]) -> str | None:
    """Return the first problem with some settings, or None."""
    for key, value in settings.items():
        if key not in RULES:
            return f"unknown setting {key!r}; known: {', '.join(sorted(DEFAULTS))}"
        fits, requirement = RULES[key]
        if not fits(value):
            return f"{key} is {value!r}; it must be {requirement}"
    return None


def initial_context(input: Mapping[str, Any] | None = None) -> FlowContext:
    """Return the context of a new chat.

    The input has settings, on their own or under `config`, `reportsToParent`, and maybe a `history` to continue.
    """
    options = dict(input or {})
    reports = bool(options.get("reportsToParent"))
    settings = {key: value for key, value in {**options, **(options.get("config") or {})}.items() if key in DEFAULTS}
    problem = problem_with(settings)
    if problem:
        raise ValueError(f"chat: {problem}")
    # A parent sends messages and never the event `start`.
    config = cast(FlowConfig, {**DEFAULTS, "autoStart": reports, **settings})
    context = empty_context(config, reports, 1, 1)
    if options.get("history") is None:
        return context
    try:
        return with_history(context, options["history"])
    except BadHistory as error:
        raise ValueError(f"chat: history: {error}") from error
