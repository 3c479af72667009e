"""Parts of requests that the routes share."""

from collections.abc import Mapping
from typing import Any


def drop_nulls(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body without its nulls, which stand for absent parameters."""
    return {name: value for name, value in body.items() if value is not None}


def is_streamed(body: Mapping[str, Any]) -> bool:
    """Return whether the reply is to be streamed."""
    return bool(body.get("stream"))
