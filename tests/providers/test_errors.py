"""The words of providers become codes, and every code is explained."""

import json
import re

import pytest

from antiphon.errors import RECOVERABLE, Code
from antiphon.providers.errors import BY_KIND, ProviderError
from antiphon.providers.formats.error_bodies import frame_error, retry_after, status_error
from tests.paths import DOCS

pytestmark = pytest.mark.requirement("S0-71..S0-74", "S0-B11", "S1-73")

PAGE = DOCS / "providers.md"

TOLD = [
    (429, {"error": {"type": "rate_limit_error", "message": "slow down"}}, Code.RATE_LIMITED),
    (429, {"error": {"type": "requests", "code": "rate_limit_exceeded"}}, Code.RATE_LIMITED),
    (429, {"error": {"type": "insufficient_quota", "code": "insufficient_quota"}}, Code.QUOTA),
    (429, {"error": {"type": "insufficient_quota", "code": "credit_balance_exhausted"}}, Code.QUOTA),
    (
        429,
        {"error": {"type": "rate_limit_error", "details": {"error_code": "enforced_spend_limit_reached"}}},
        Code.QUOTA,
    ),
    (429, {"error": {"type": "rate_limit_error", "message": "Too many concurrent requests"}}, Code.CONCURRENCY),
    (
        429,
        {"error": {"status": "RESOURCE_EXHAUSTED", "details": [{"violations": [{"quotaId": "RequestsPerDay-Free"}]}]}},
        Code.QUOTA,
    ),
    (400, {"error": {"type": "invalid_request_error", "message": "Your credit balance is too low"}}, Code.QUOTA),
    (400, {"error": {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens"}}, Code.TOO_LONG),
    (400, {"error": {"code": "context_length_exceeded", "type": "invalid_request_error"}}, Code.TOO_LONG),
    (400, {"error": {"status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}, Code.UNAUTHENTICATED),
    (400, {"error": {"code": "content_filter", "message": "filtered"}}, Code.REFUSED),
    (400, {"error": "something else"}, Code.BAD_REQUEST),
    (401, {"detail": "Unauthorized"}, Code.UNAUTHENTICATED),
    (402, {"error": {"type": "billing_error"}}, Code.QUOTA),
    (403, {"error": {"type": "permission_error"}}, Code.FORBIDDEN),
    (404, {"error": 'model "x" not found, try pulling it first'}, Code.NOT_FOUND),
    (400, {"object": "error", "type": "invalid_request_error", "code": "unknown_model"}, Code.NOT_FOUND),
    (413, {"error": {"type": "request_too_large"}}, Code.TOO_LONG),
    (422, {"detail": [{"loc": ["body"], "msg": "field required"}]}, Code.BAD_REQUEST),
    (500, {"error": {"type": "api_error"}}, Code.OVERLOADED),
    (502, None, Code.OVERLOADED),
    (503, [{"error": {"code": 503, "status": "UNAVAILABLE", "message": "later"}}], Code.OVERLOADED),
    (504, None, Code.TIMEOUT),
    (529, {"error": {"type": "overloaded_error"}}, Code.OVERLOADED),
]


@pytest.mark.parametrize(("status", "body", "code"), TOLD)
def test_what_a_server_says_becomes_a_code(status, body, code):
    error = status_error(status, {}, b"" if body is None else json.dumps(body).encode())

    assert (error.code, error.status) == (code, status)


def test_an_error_under_http_200_is_an_error():
    error = frame_error({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})

    assert (error.code, error.message, error.recoverable) == (Code.OVERLOADED, "Overloaded", True)


def test_a_web_page_is_not_quoted():
    error = status_error(502, {}, b"<html><body>Bad gateway</body></html>")

    assert str(error) == "1002 HTTP 502 (HTTP 502)" or "<" not in str(error)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry-after": "3"}, 3_000),
        ({"retry-after": "0.5"}, 500),
        ({"retry-after": "-1"}, 0),
        ({"retry-after-ms": "250", "retry-after": "1"}, 250),
        ({"retry-after": "Sun, 15 Nov 2026 10:00:30 GMT", "date": "Sun, 15 Nov 2026 10:00:00 GMT"}, 30_000),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e400"}, None),
        ({}, None),
    ],
)
def test_the_wish_to_wait_is_read(headers, expected):
    assert retry_after(headers) == expected


def test_googles_wish_to_wait_is_read():
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "46.5s"}]

    assert frame_error({"error": {"code": 429, "details": details}}).retry_after_ms == 46_500


def test_the_request_id_is_kept_for_support():
    assert status_error(500, {"request-id": "req_7"}, b"{}").request_id == "req_7"


def test_an_error_is_an_event_as_json():
    error = ProviderError(Code.RATE_LIMITED, "slow down", retry_after_ms=20)

    assert error.to_json() == {"code": "3001", "message": "slow down", "recoverable": True, "retryAfterMs": 20}
    assert "retryAfterMs" not in ProviderError(Code.NETWORK, "gone").to_json()
    assert not ProviderError(Code.NETWORK, "gone for good", recoverable=False).recoverable
    assert str(error) == "3001 slow down"
    assert repr(error) == "ProviderError('3001', 'slow down', recoverable=True)"


@pytest.mark.parametrize("code", Code)
def test_the_class_of_a_code_says_what_to_do(code):
    assert code[0] in "1239"
    assert (code in RECOVERABLE) == (code[0] in "13" and code not in (Code.QUOTA, Code.OWNER_LIMIT))


def test_words_are_known_in_lower_case():
    assert all(kind == kind.lower() for kind in BY_KIND)


def test_every_code_has_a_row_in_the_docs():
    documented = set(re.findall(r"^\| `(\d{4})` \|", PAGE.read_text("utf-8"), re.MULTILINE))

    assert documented == {code.value for code in Code}
