"""Reading what servers say when something goes wrong."""

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from antiphon.providers.errors import ProviderError, classify

LONGEST_MESSAGE = 500
DURATION = re.compile(r"(\d+(?:\.\d+)?)s")


@dataclass(frozen=True, slots=True)
class Fault:
    """A server's own account of a failure."""

    kinds: tuple[str, ...]
    message: str
    # The whole account in one string, for words that decide what kind it is.
    text: str
    status: int | None = None
    retry_after_ms: int | None = None


def is_fault(frame: Mapping[str, Any]) -> bool:
    """Whether a frame of a stream tells of a failure instead of carrying the reply."""
    return bool(frame.get("error")) or frame.get("object") == "error" or frame.get("type") == "error"


def read_fault(value: Any) -> Fault:
    """What a decoded body or frame says; every provider has its own shape."""
    if isinstance(value, list):
        value = value[0] if value else {}
    inner = value.get("error", value) if isinstance(value, dict) else value
    if not isinstance(inner, dict):
        return Fault((), _shortened(str(inner)), str(inner))
    details = [detail for detail in inner.get("details") or () if isinstance(detail, dict)]
    if isinstance(inner.get("details"), dict):
        details = [inner["details"]]
    # OpenAI's `code` says more than its `type`; Google's reason says more than its status.
    words = [*(detail.get("reason") for detail in details), *(detail.get("error_code") for detail in details)]
    words += [inner.get("code"), inner.get("type"), inner.get("status")]
    kinds = tuple(word.lower() for word in words if isinstance(word, str))
    message = inner.get("message") or inner.get("detail") or inner.get("error") or "no reason given"
    status = inner.get("code") if isinstance(inner.get("code"), int) else None
    return Fault(kinds, _shortened(_plain(message)), json.dumps(inner), status, _delay_in(details))


def fault_error(value: Any, *, request_id: str | None = None) -> ProviderError:
    """The error for a failure told inside a stream, under HTTP 200."""
    fault = read_fault(value)
    code = classify(fault.status, fault.kinds, fault.text)
    return ProviderError(code, fault.message, retry_after_ms=fault.retry_after_ms, request_id=request_id)


def status_error(status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
    """The error for an answer whose HTTP status is not 200."""
    try:
        fault = read_fault(json.loads(body))
    except ValueError:
        said = body.decode("utf-8", "replace").strip()
        fault = Fault((), _shortened(said) if said and not said.startswith("<") else f"HTTP {status}", said)
    delay = retry_after(headers)
    message = "the server sends us elsewhere, and a key does not follow" if 300 <= status < 400 else fault.message
    return ProviderError(
        classify(status, fault.kinds, fault.text),
        f"{message} (HTTP {status})",
        retry_after_ms=delay if delay is not None else fault.retry_after_ms,
        status=status,
        request_id=request_id(headers),
    )


def request_id(headers: Mapping[str, str]) -> str | None:
    """The provider's name for a request, for its support."""
    for name in ("request-id", "x-request-id", "mistral-correlation-id", "x-goog-request-id"):
        if name in headers:
            return headers[name]
    return None


def retry_after(headers: Mapping[str, str]) -> int | None:
    """How many milliseconds the server asks to wait."""
    precise = _number(headers.get("retry-after-ms"))
    if precise is not None:
        return max(0, round(precise))
    said = headers.get("retry-after")
    seconds = _number(said)
    if seconds is None and said:
        seconds = _seconds_until(said, headers.get("date"))
    return None if seconds is None else max(0, round(seconds * 1000))


def _seconds_until(moment: str, server_now: str | None) -> float | None:
    # Needed so rarely that everyone else need not load it.
    from email.utils import parsedate_to_datetime

    # The server's own clock is the fair one: ours may be off by minutes.
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
    # "nan" and "inf" are numbers to Python and nonsense as a delay.
    return value if value is not None and abs(value) < 1e9 else None


def _plain(message: Any) -> str:
    return message if isinstance(message, str) else json.dumps(message)


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_MESSAGE else text[:LONGEST_MESSAGE] + "…"
