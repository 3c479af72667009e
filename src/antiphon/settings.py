"""Settings by name: values of declared forms, read from TOML files and texts, with errors that say what is expected."""

import difflib
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import Any, Literal, Protocol

Kind = Literal["text", "texts", "path", "flag", "whole", "number", "choice", "secret"]
YES = ("1", "true", "yes", "on")
NO = ("0", "false", "no", "off")


class SettingError(Exception):
    """A setting is unknown or wrong; the message says where it stands and what is expected."""


class Form(Protocol):
    """Form of a value: its kind, the least and the greatest value of a number, and the values to choose from."""

    @property
    def kind(self) -> Kind:
        """Kind of the value."""
        ...

    @property
    def low(self) -> float:
        """Least number."""
        ...

    @property
    def high(self) -> float:
        """Greatest number."""
        ...

    @property
    def choices(self) -> tuple[str, ...]:
        """Values to choose from."""
        ...


def read_toml(file: Path) -> dict[str, Any]:
    """Read a TOML file; raise `SettingError` if it cannot be read."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingError(f"{file}: cannot be read: {error.strerror or error}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingError(f"{file}: is not TOML: {error}") from error


def suggest(name: str, names: Sequence[str]) -> str:
    """Return the end of a message about an unknown name: the nearest known name, or all of them."""
    matches = difflib.get_close_matches(name, names, 1)
    return f"; did you mean {matches[0]}?" if matches else f"; known: {', '.join(names)}"


def parse_value(form: Form, value: Any, place: str) -> Any:
    """Return a value, given as text or of its own type; raise `SettingError` if it has not the form."""
    match form.kind:
        case "flag":
            return _parse_flag(value, place)
        case "whole" | "number":
            return _parse_number(form, value, place)
        case "texts":
            values = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
            if not isinstance(values, list) or not all(isinstance(part, str) and part for part in values):
                raise SettingError(f"{place} is {value!r}; it must be a list of names")
            return tuple(values)
    if isinstance(value, Path):
        return value
    if not isinstance(value, str) or (not value and form.kind != "secret"):
        raise SettingError(f"{place} must be a text")
    if form.kind == "choice" and value not in form.choices:
        raise SettingError(f"{place} is {value!r}; it must be one of {', '.join(form.choices)}")
    return Path(value) if form.kind == "path" else value


def _parse_flag(value: Any, place: str) -> bool:
    if isinstance(value, bool):
        return value
    if not isinstance(value, str) or value.lower() not in (*YES, *NO):
        raise SettingError(f"{place} is {value!r}; it must be true or false")
    return value.lower() in YES


def _parse_number(form: Form, value: Any, place: str) -> float | int:
    kind = "a whole number" if form.kind == "whole" else "a number"
    expected = f"{kind} from {form.low:,g} to {form.high:,g}"
    if form.kind == "whole":
        expected = f"{kind} from {int(form.low):,} to {int(form.high):,}"
    number: Any = value
    if isinstance(value, str):
        with suppress(ValueError):
            number = int(value) if form.kind == "whole" else float(value)
    is_number = type(number) is int or (form.kind == "number" and type(number) is float)
    if not is_number or not isfinite(number) or not form.low <= number <= form.high:
        raise SettingError(f"{place} is {value!r}; it must be {expected}")
    result: float | int = number
    return result
