"""The settings of a chat: what they may be, and the context they begin with."""

from collections.abc import Callable, Mapping
from typing import Any

from antiphon.chat.machine.context import DEFAULTS, FlowConfig, FlowContext, emptied
from antiphon.chat.machine.history import BadHistory, with_history
from antiphon.threads.machine.permission_rules import MODES


def _one_of(*known: str) -> tuple[Callable[[Any], bool], str]:
    return (lambda value: value in known), f"one of {', '.join(known)}"


def _at_least(least: int, *, optional: bool = False) -> tuple[Callable[[Any], bool], str]:
    def fits(value: Any) -> bool:
        return (optional and value is None) or (type(value) is int and value >= least)

    return fits, f"a whole number from {least}" + (", or null" if optional else "")


_TEXT = (lambda value: value is None or isinstance(value, str)), "a text, or null"
_SHARE = (lambda value: isinstance(value, int | float) and 0 < value <= 1), "a number above 0, up to 1"


def _are(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list | tuple) and all(fits(one) for one in value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_override(value: Any) -> bool:
    return isinstance(value, Mapping) and _is_text(value.get("pattern")) and value.get("decision") in ("allow", "deny")


CONSENT: dict[str, Callable[[Any], bool]] = {
    "mode": lambda value: value in MODES,
    "blocked": _are(_is_text),
    "tripped": _are(_is_text),
    "autoAllow": _are(_is_text),
    "overrides": _are(_is_override),
    "timeoutMs": _at_least(1)[0],
}


def _is_consent(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, Mapping) and all(fits(value[key]) for key, fits in CONSENT.items() if key in value)


RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
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
    "autoStart": ((lambda value: isinstance(value, bool)), "true or false"),
    "consent": (_is_consent, f"null, or {', '.join(CONSENT)} in an object, each as the permission machine takes it"),
}


def given_settings(event: Mapping[str, Any]) -> dict[str, Any]:
    """The settings an event brings, on their own or under `config`."""
    alone = {key: value for key, value in event.items() if key not in ("type", "config", "at")}
    return {**alone, **(event.get("config") or {})}


def problem_with(settings: Mapping[str, Any]) -> str | None:
    """What is wrong with some settings, or nothing."""
    for key, value in settings.items():
        if key not in RULES:
            return f"unknown setting {key!r}; known: {', '.join(sorted(DEFAULTS))}"
        fits, wanted = RULES[key]
        if not fits(value):
            return f"{key} is {value!r}; it must be {wanted}"
    return None


def initial_context(input: Mapping[str, Any] | None = None) -> FlowContext:
    """The context of a new chat.

    The input has settings, on their own or under `config`, `reportsToParent`, and maybe the `history` it goes on from.
    """
    given = dict(input or {})
    reports = bool(given.get("reportsToParent"))
    found = {key: value for key, value in {**given, **(given.get("config") or {})}.items() if key in DEFAULTS}
    problem = problem_with(found)
    if problem:
        raise ValueError(f"chat: {problem}")
    # A parent sends messages and never says start.
    defaults: FlowConfig = {**DEFAULTS, "autoStart": reports}
    config: Any = {**defaults, **found}
    context = emptied(config, reports, 1, 1)
    if given.get("history") is None:
        return context
    try:
        return with_history(context, given["history"])
    except BadHistory as error:
        raise ValueError(f"chat: history: {error}") from error
