"""Parse the errors that servers send, as responses or inside a stream."""

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from antiphon.providers.errors import ProviderError, classify

DURATION = re.compile(r"(\d+(?:\.\d+)?)s")


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """Error as described by a server."""

    kinds: tuple[str, ...]
    message: str
    # The whole error as text, searched to classify it.
    text: str
    status: int | None = None
    retry_after_ms: int | None = None


def is_error_frame(frame: Mapping[str, Any]) -> bool:
    """Return whether a frame of a stream is an error."""
    return bool(frame.get("error")) or frame.get("object") == "error" or frame.get("type") == "error"


def parse_error_body(value: Any) -> ErrorBody:
    """Parse a decoded body or frame; every provider has its own shape."""
    try:
        return _parse_error(value)
    except RecursionError:
        return ErrorBody((), "the server sent an error that is nested too deeply", "")


def _parse_error(value: Any) -> ErrorBody:
    if isinstance(value, list):
        value = value[0] if value else {}
    inner = value.get("error", value) if isinstance(value, dict) else value
    if not isinstance(inner, dict):
        return ErrorBody((), str(inner), str(inner))
    listed = inner.get("details")
    details = [detail for detail in (listed if isinstance(listed, list) else [listed]) if isinstance(detail, dict)]
    # OpenAI's `code` is more specific than its `type`, Google's reason more than its status.
    words = [*(detail.get("reason") for detail in details), *(detail.get("error_code") for detail in details)]
    words += [inner.get("code"), inner.get("type"), inner.get("status")]
    kinds = tuple(word.lower() for word in words if isinstance(word, str))
    message = inner.get("message") or inner.get("detail") or inner.get("error") or "no reason given"
    status = inner.get("code") if isinstance(inner.get("code"), int) else None
    return ErrorBody(kinds, _plain(message), json.dumps(inner), status, _delay_in(details))


def frame_error(value: Any, *, request_id: str | None = None) -> ProviderError:
    """Return the error for an error frame in a stream with HTTP status 200."""
    error_body = parse_error_body(value)
    code = classify(error_body.status, error_body.kinds, error_body.text)
    return ProviderError(code, error_body.message, retry_after_ms=error_body.retry_after_ms, request_id=request_id)


def status_error(status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
    """Return the error for a response whose HTTP status is not 200."""
    try:
        error_body = parse_error_body(json.loads(body))
    except (ValueError, RecursionError):
        text = body.decode("utf-8", "replace").strip()
        error_body = ErrorBody((), text if text and not text.startswith("<") else f"HTTP {status}", text)
    delay = retry_after(headers)
    message = error_body.message
    if 300 <= status < 400:
        message = "the server redirects to another address, which is not followed because of the key"
    return ProviderError(
        classify(status, error_body.kinds, error_body.text),
        message,
        retry_after_ms=delay if delay is not None else error_body.retry_after_ms,
        status=status,
        request_id=request_id(headers),
    )


def request_id(headers: Mapping[str, str]) -> str | None:
    """Return the provider's id of the request, for support."""
    for name in ("request-id", "x-request-id", "mistral-correlation-id", "x-goog-request-id"):
        if name in headers:
            return headers[name]
    return None


def retry_after(headers: Mapping[str, str]) -> int | None:
    """Return the delay in milliseconds that the server asks for."""
    precise = _number(headers.get("retry-after-ms"))
    if precise is not None:
        return max(0, round(precise))
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is None and text:
        seconds = _seconds_until(text, headers.get("date"))
    return None if seconds is None else max(0, round(seconds * 1000))


def _seconds_until(moment: str, server_now: str | None) -> float | None:
    # Imported here because it is rarely needed.
    from email.utils import parsedate_to_datetime

    # Compared with the server's clock, because ours may be off by minutes.
    try:
        now = parsedate_to_datetime(server_now).timestamp() if server_now else time.time()
        return parsedate_to_datetime(moment).timestamp() - now
    except ValueError:
        return None


def _delay_in(details: list[dict[str, Any]]) -> int | None:
    for detail in details:
        match = DURATION.fullmatch(str(detail.get("retryDelay", "")))
        if match:
            return round(float(match[1]) * 1000)
    return None


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text else None
    except ValueError:
        return None
    # `float` also accepts "nan" and "inf", which are not delays.
    return value if value is not None and abs(value) < 1e9 else None


def _plain(message: Any) -> str:
    return message if isinstance(message, str) else json.dumps(message)
