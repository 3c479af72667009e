"""The settings of a debate from where people write them: a TOML or JSON file, and flags that win over it."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from antiphon.debate.machine.config import InvalidConfig, Problem


def load_settings(path: str | Path) -> dict[str, Any]:
    """The settings in a file; the end of its name says whether it is TOML or JSON."""
    file = Path(path)
    try:
        text = file.read_text("utf-8")
        found = json.loads(text) if file.suffix == ".json" else tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise InvalidConfig([Problem("file", f"{str(file)!r} cannot be read: {error}")]) from error
    if not isinstance(found, dict):
        raise InvalidConfig([Problem("file", f"{str(file)!r} has no settings: it must hold an object")])
    return found


def merged_settings(path: str | Path | None, flags: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a file, if there is one, and over them the flags that were given."""
    given = {key: value for key, value in flags.items() if value is not None}
    return {**(load_settings(path) if path is not None else {}), **given}
