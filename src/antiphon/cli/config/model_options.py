"""Options of a request to a model, as `-o KEY VALUE` and templates give them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from antiphon.cli.frame import UsageError
from antiphon.settings import suggest

EFFORTS = ("none", "low", "medium", "high")
MOST_TOKENS = 10_000_000


def _temperature(value: Any) -> float:
    number = float(value)
    if not 0 <= number <= 2:
        raise ValueError
    return number


def _count(value: Any) -> int:
    number = int(value) if isinstance(value, str) else value
    if type(number) is not int or not 1 <= number <= MOST_TOKENS:
        raise ValueError
    return number


def _thinking(value: Any) -> str | int:
    return value if value in EFFORTS else _count(value)


def _texts(value: Any) -> list[str]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
        raise ValueError
    return texts


# By name: the key of a thread's settings, the function that reads a value, and its form in words.
OPTIONS: Mapping[str, tuple[str, Callable[[Any], Any], str]] = {
    "temperature": ("temperature", _temperature, "a number from 0 to 2"),
    "max_tokens": ("maxTokens", _count, f"a whole number from 1 to {MOST_TOKENS:,}"),
    "stop": ("stop", _texts, "a text at which the reply ends"),
    "thinking": ("thinking", _thinking, f"{', '.join(EFFORTS)}, or a number of tokens"),
}


def parse_options(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return the settings of a request from pairs of names and values; texts of `stop` add up."""
    settings: dict[str, Any] = {}
    for name, value in pairs:
        if name not in OPTIONS:
            raise UsageError(f"there is no option {name!r}{suggest(name, [*OPTIONS])}")
        key, parse, form = OPTIONS[name]
        try:
            parsed = parse(value)
        except (ValueError, TypeError, OverflowError):
            raise UsageError(f"the option {name} is {value!r}; it must be {form}") from None
        settings[key] = [*settings.get(key, []), *parsed] if isinstance(parsed, list) else parsed
    return settings
