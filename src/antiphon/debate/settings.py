"""Settings of a debate from a TOML or JSON file, overridden by flags."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from antiphon.debate.machine.config import FieldProblem, InvalidConfig


def load_settings(path: str | Path) -> dict[str, Any]:
    """Load the settings of a file: JSON if its name ends in `.json`, else TOML."""
    file = Path(path)
    try:
        text = file.read_text("utf-8")
        settings = json.loads(text) if file.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise _unreadable(file, error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise _unreadable(file, "it is not a text in UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise _unreadable(file, str(error)) from error
    if not isinstance(settings, dict):
        raise InvalidConfig([FieldProblem("file", f"{str(file)!r} contains no settings; it must contain an object")])
    return settings


def _unreadable(file: Path, reason: str) -> InvalidConfig:
    return InvalidConfig([FieldProblem("file", f"{str(file)!r} cannot be read: {reason}")])


def merged_settings(path: str | Path | None, flags: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the settings of a file, if there is one, with flags; flags win."""
    overrides = {key: value for key, value in flags.items() if value is not None}
    return {**(load_settings(path) if path is not None else {}), **overrides}
