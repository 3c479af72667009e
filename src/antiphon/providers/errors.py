"""The error of providers, and the mapping of their error types to codes.

`BY_KIND`, `BY_TEXT` and `BY_STATUS` are the only place where errors of providers are mapped to codes.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

from antiphon.errors import RECOVERABLE, Code

LONGEST_MESSAGE = 500
LONGEST_QUOTE = 80
# Characters that are searched for a key before a text is cut.
LONGEST_SEARCHED = 128 * 1024


class ProviderError(Exception):
    """Raised when a request to a model fails; `recoverable` says whether the same request may succeed later.

    `quote` is what a server sent; a part of it joins the message after the key was redacted.
    """

    def __init__(
        self,
        code: Code,
        message: str,
        *,
        recoverable: bool | None = None,
        retry_after_ms: int | None = None,
        status: int | None = None,
        request_id: str | None = None,
        quote: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.recoverable = code in RECOVERABLE if recoverable is None else recoverable
        self.retry_after_ms = retry_after_ms
        self.status = status
        self.request_id = request_id
        self.quote = quote

    def __str__(self) -> str:
        return f"{self.code} {self.message}"

    def __repr__(self) -> str:
        return f"ProviderError({self.code.value!r}, {self.message!r}, recoverable={self.recoverable})"

    def clean(self, redact: Callable[[str], str]) -> "ProviderError":
        """Return a copy that is redacted, then cut, and has no causes."""
        message = redact(self.message[:LONGEST_SEARCHED])
        if len(message) > LONGEST_MESSAGE:
            message = message[:LONGEST_MESSAGE] + "…"
        if self.quote is not None:
            message += f": {redact(self.quote[:LONGEST_SEARCHED])[:LONGEST_QUOTE]!r}"
        if self.status is not None:
            message += f" (HTTP {self.status})"
        return ProviderError(
            self.code,
            message,
            recoverable=self.recoverable,
            retry_after_ms=self.retry_after_ms,
            status=self.status,
            request_id=None if self.request_id is None else redact(self.request_id)[:LONGEST_MESSAGE],
        )

    def to_json(self) -> dict[str, Any]:
        """Convert the error to the JSON of an event."""
        value: dict[str, Any] = {
            "code": self.code.value,
            "message": self.message,
            "recoverable": self.recoverable,
            "retryAfterMs": self.retry_after_ms,
        }
        return {key: item for key, item in value.items() if item is not None}


# Error types, codes and statuses of the providers, in lower case.
BY_KIND: dict[str, Code] = {
    # Anthropic
    "overloaded_error": Code.OVERLOADED,
    "api_error": Code.OVERLOADED,
    "timeout_error": Code.TIMEOUT,
    "authentication_error": Code.UNAUTHENTICATED,
    "permission_error": Code.FORBIDDEN,
    "rate_limit_error": Code.RATE_LIMITED,
    "billing_error": Code.QUOTA,
    "enforced_spend_limit_reached": Code.QUOTA,
    "not_found_error": Code.NOT_FOUND,
    "request_too_large": Code.TOO_LONG,
    # OpenAI and compatible servers
    "server_error": Code.OVERLOADED,
    "server_is_overloaded": Code.OVERLOADED,
    "overloaded": Code.OVERLOADED,
    "engine_overloaded": Code.OVERLOADED,
    "service_unavailable_error": Code.OVERLOADED,
    "internal_server_error": Code.OVERLOADED,
    "internalservererror": Code.OVERLOADED,
    "unavailable_error": Code.OVERLOADED,
    "invalid_api_key": Code.UNAUTHENTICATED,
    "insufficient_permissions": Code.FORBIDDEN,
    "unsupported_country_region_territory": Code.FORBIDDEN,
    "rate_limit_exceeded": Code.RATE_LIMITED,
    "slow_down": Code.RATE_LIMITED,
    "requests": Code.RATE_LIMITED,
    "tokens": Code.RATE_LIMITED,
    "insufficient_quota": Code.QUOTA,
    "billing_not_active": Code.QUOTA,
    "billing_hard_limit_reached": Code.QUOTA,
    "credit_balance_exhausted": Code.QUOTA,
    "content_filter": Code.REFUSED,
    "content_policy_violation": Code.REFUSED,
    "model_not_found": Code.NOT_FOUND,
    "model_not_supported": Code.NOT_FOUND,
    "model_not_available": Code.NOT_FOUND,
    "deploymentnotfound": Code.NOT_FOUND,
    "notfounderror": Code.NOT_FOUND,
    "context_length_exceeded": Code.TOO_LONG,
    "context_window_exceeded": Code.TOO_LONG,
    "contextwindowexceedederror": Code.TOO_LONG,
    "prompt_too_long": Code.TOO_LONG,
    "string_above_max_length": Code.TOO_LONG,
    "exceed_context_size_error": Code.TOO_LONG,
    # Mistral
    "unknown_model": Code.NOT_FOUND,
    "invalid_model": Code.NOT_FOUND,
    "service_tier_capacity_exceeded": Code.OVERLOADED,
    # Google
    "unavailable": Code.OVERLOADED,
    "internal": Code.OVERLOADED,
    "deadline_exceeded": Code.TIMEOUT,
    "api_key_invalid": Code.UNAUTHENTICATED,
    "unauthenticated": Code.UNAUTHENTICATED,
    "permission_denied": Code.FORBIDDEN,
    "resource_exhausted": Code.RATE_LIMITED,
    "not_found": Code.NOT_FOUND,
}

# Parts of error messages, in lower case, for errors whose type is not specific enough.
BY_TEXT: tuple[tuple[str, Code], ...] = (
    ("credit balance is too low", Code.QUOTA),
    ("usage limits", Code.QUOTA),
    ("perday", Code.QUOTA),
    ("concurren", Code.CONCURRENCY),
    ("api key not valid", Code.UNAUTHENTICATED),
    # Context overflows, also those of a server behind a gateway, whose error the gateway quotes.
    ("prompt is too long", Code.TOO_LONG),
    ("context length", Code.TOO_LONG),
    ("context_length", Code.TOO_LONG),
    ("context window", Code.TOO_LONG),
    ("contextwindowexceeded", Code.TOO_LONG),
    ("context size", Code.TOO_LONG),
    ("exceed_context_size", Code.TOO_LONG),
    ("input token count", Code.TOO_LONG),
    ("input tokens exceed", Code.TOO_LONG),
    ("input is too long", Code.TOO_LONG),
    ("is too long to fit into the model", Code.TOO_LONG),
    ("reduce the length of", Code.TOO_LONG),
    ("max_model_len", Code.TOO_LONG),
    ("too many input tokens", Code.TOO_LONG),
    # Unknown models, in the words of gateways.
    ("try pulling it first", Code.NOT_FOUND),
    ("invalid model name", Code.NOT_FOUND),
    ("not a valid model", Code.NOT_FOUND),
    ("there is no 'model_name'", Code.NOT_FOUND),
    ("no endpoints found", Code.NOT_FOUND),
    ("unknown model", Code.NOT_FOUND),
    ("model not found", Code.NOT_FOUND),
    ("model_not_found", Code.NOT_FOUND),
    ("model not exist", Code.NOT_FOUND),
    ("model identifier is invalid", Code.NOT_FOUND),
    ("not supported by any provider", Code.NOT_FOUND),
)
# The model has a name between these words.
MODEL_MISSING = re.compile(r"\bmodel\b.{0,120}?\b(?:does not exist|not found|is not available)\b")

BY_STATUS: dict[int, Code] = {
    401: Code.UNAUTHENTICATED,
    402: Code.QUOTA,
    403: Code.FORBIDDEN,
    404: Code.NOT_FOUND,
    408: Code.TIMEOUT,
    409: Code.OVERLOADED,
    413: Code.TOO_LONG,
    425: Code.OVERLOADED,
    429: Code.RATE_LIMITED,
    504: Code.TIMEOUT,
}

# Types so broad that the message takes precedence: a gateway has one for every error of the server behind it.
VAGUE_KINDS = frozenset(
    {"api_error", "server_error", "internal_server_error", "internalservererror", "internal"}
    | {kind for kind, code in BY_KIND.items() if code is Code.RATE_LIMITED}
)


def classify(status: int | None, kinds: Iterable[str], text: str) -> Code:
    """Return the code of a server error, by its type, then its message, then the HTTP status."""
    kinds = [kind for kind in kinds if kind in BY_KIND]
    precise = next((kind for kind in kinds if kind not in VAGUE_KINDS), None)
    if precise is not None:
        return BY_KIND[precise]
    lowered = text.lower()
    for fragment, code in BY_TEXT:
        if fragment in lowered:
            return code
    if MODEL_MISSING.search(lowered):
        return Code.NOT_FOUND
    if kinds:
        return BY_KIND[kinds[0]]
    if status is None or status >= 500:
        return BY_STATUS.get(status or 0, Code.OVERLOADED)
    return BY_STATUS.get(status, Code.BAD_REQUEST)
