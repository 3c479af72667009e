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


# Messages of gateways and of servers behind them; the type is often missing, or that of any error.
LITELLM = "litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException - "
OVERFLOWS = [
    (400, LITELLM + "Input tokens exceed the configured limit of 272000 tokens."),
    (400, "This endpoint's maximum context length is 32768 tokens. However, you requested about 42832 tokens."),
    (400, "This model's maximum context length is 16384 tokens. However, your request has 19427 input tokens."),
    (400, "the request exceeds the available context size (512 tokens), try increasing it"),
    (400, "The prompt (total length 25938) is too long to fit into the model (context length 4096)."),
    (400, 'BedrockException - {"message":"Input is too long for requested model."}'),
    (400, "Please reduce the length of the messages or completion."),
    (500, "litellm.APIError: AnthropicException - prompt is too long: 209303 tokens > 200000 maximum"),
]
UNKNOWN_MODELS = [
    (400, "/chat/completions: Invalid model name passed in model=x. Call `/v1/models` to view available models."),
    (400, "litellm.BadRequestError: You passed in model=x. There is no 'model_name' with this string"),
    (400, "vendor/x:free is not a valid model ID"),
    (404, "No endpoints found for vendor/x:free."),
    (400, "The provided model identifier is invalid."),
    (400, "Model Not Exist"),
    (400, "The model `x` does not exist or you do not have access to it."),
    (500, 'upstream: model "x" not found, try pulling it first'),
    (400, "The requested model 'x' is not supported by any provider you have enabled."),
    (500, "litellm.NotFoundError: OpenAIException - the model 'x' does not exist"),
]
SHAPES = [
    lambda status, text: {"error": {"message": text, "type": None, "param": None, "code": str(status)}},
    lambda status, text: {"error": {"message": text, "type": "internal_server_error", "code": status}},
    lambda status, text: {"error": {"message": "Provider returned error", "metadata": {"raw": text}}},
    lambda status, text: {"detail": {"error": text}},
    lambda status, text: {"error": json.dumps({"error": {"message": text, "type": "invalid_request_error"}})},
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("status", "text", "code"),
    [(*case, Code.TOO_LONG) for case in OVERFLOWS] + [(*case, Code.NOT_FOUND) for case in UNKNOWN_MODELS],
)
def test_errors_behind_a_gateway_are_recognised(status, text, code, shape):
    value = shape(status, text)

    assert status_error(status, {}, json.dumps(value).encode()).code == code
    assert frame_error(value if "error" in value else {"error": value}).code == code


def test_an_error_of_a_server_that_only_mentions_a_model_is_not_an_unknown_model():
    body = {"error": {"message": "The model produced invalid content", "type": "server_error"}}

    assert status_error(500, {}, json.dumps(body).encode()).code == Code.OVERLOADED


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
    assert (code in RECOVERABLE) == (code[0] in "13" and code is not Code.QUOTA)


def test_words_are_known_in_lower_case():
    assert all(kind == kind.lower() for kind in BY_KIND)


def test_every_code_has_a_row_in_the_docs():
    documented = set(re.findall(r"^\| `(\d{4})` \|", PAGE.read_text("utf-8"), re.MULTILINE))

    assert documented == {code.value for code in Code}
