"""Limits of callers: in a minute, at once, and in bounded memory."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from antiphon.server.authentication import OPERATOR, Caller
from antiphon.server.limits import CallerLimits, RateLimiter, network_of
from antiphon.server.problems import ProblemError
from antiphon.server.settings import ServerSettings
from antiphon.server.tokens import TokenFile
from tests.fixtures.server import CheckedClient, LiveServer, live_server

SSE = {"accept": "text/event-stream"}


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_a_key_has_so_many_events_in_a_minute_and_each_key_its_own() -> None:
    clock = Clock()
    limiter = RateLimiter(60, clock)

    assert [limiter.take("a") for _ in range(60)] == [0.0] * 60
    assert limiter.take("a") == 1.0
    assert limiter.take("b") == 0.0
    clock.now_s = 0.5
    assert limiter.take("a") == 0.5
    clock.now_s = 1.0
    assert limiter.take("a") == 0.0
    clock.now_s = 1000.0
    assert [limiter.take("a") for _ in range(61)] == [0.0] * 60 + [1.0]


def test_many_keys_take_bounded_memory() -> None:
    limiter = RateLimiter(1, Clock(), most_keys=10)
    for number in range(1000):
        limiter.take(str(number))

    assert len(limiter) == 10
    assert limiter.take("999") > 0


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("10.0.0.7", "10.0.0.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2::9", "2001:db8:1:2::"),
        ("::ffff:10.0.0.7", "10.0.0.7"),
        ("no address", ""),
    ],
)
def test_addresses_of_one_person_are_counted_together(address: str, network: str) -> None:
    assert network_of(address) == network


def client_of(server: LiveServer, folder: Path, name: str) -> CheckedClient:
    _, token = TokenFile(folder).add(name, user="ann", scope="write", expires=None, now=1)
    return CheckedClient(server, {"authorization": f"Bearer {token}"})


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LiveServer]:
    limits = {"token_requests_per_minute": 5, "failed_logins_per_minute": 3, "most_user_streams": 1}
    with live_server(folder=tmp_path, **limits) as server:
        yield server


def test_a_token_has_so_many_requests_in_a_minute_and_is_told_when_to_try_again(
    server: LiveServer, tmp_path: Path
) -> None:
    with client_of(server, tmp_path, "one") as first, client_of(server, tmp_path, "two") as second:
        statuses = [first.request("GET", "/threads").status_code for _ in range(6)]
        refused = first.request("GET", "/threads")

        assert statuses == [200] * 5 + [429]
        assert (refused.json()["code"], refused.json()["recoverable"]) == ("too_many_requests", True)
        assert 1 <= int(refused.headers["retry-after"]) <= 12
        assert refused.json()["retryAfter"] == int(refused.headers["retry-after"])
        assert second.request("GET", "/threads").status_code == 200
    with server.client() as operator:
        assert {operator.request("GET", "/threads").status_code for _ in range(10)} == {200}


def test_wrong_tokens_of_an_address_are_limited_and_right_ones_are_not(server: LiveServer) -> None:
    with httpx2.Client(base_url=server.address, headers={"authorization": "Bearer wrong"}) as client:
        responses = [client.get("/threads") for _ in range(5)] + [client.get("/?token=wrong")]

    assert [response.status_code for response in responses] == [401, 401, 401, 429, 429, 429]
    assert all(int(response.headers["retry-after"]) > 0 for response in responses[3:])
    with server.client() as operator:
        assert operator.request("GET", "/threads").status_code == 200


def test_a_user_has_so_many_streams_at_once(server: LiveServer, tmp_path: Path) -> None:
    with client_of(server, tmp_path, "one") as first, client_of(server, tmp_path, "two") as second:
        with first.http.stream("GET", "/events", headers=SSE) as response:
            lines = response.iter_lines()  # the stream is closed with it
            assert next(lines).startswith("retry")
            refused = second.request("GET", "/events", headers=SSE)

            assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
            assert second.get("/threads")["items"] == []
        with server.client() as operator, operator.http.stream("GET", "/events", headers=SSE) as response:
            assert response.status_code == 200


def test_a_user_has_so_many_requests_at_once() -> None:
    limits = CallerLimits(ServerSettings(most_user_requests=2, most_user_streams=2))
    ann = Caller("ann", "write", "one", "1")
    other = Caller("ann", "write", "two", "2")
    with limits.request(ann), limits.request(other):
        with pytest.raises(ProblemError, match="2 requests at once"), limits.request(ann):
            pass
        with limits.request(Caller("bob", "write", "b", "3")), limits.request(OPERATOR):
            pass
        with limits.stream(ann), limits.request(ann):  # a stream is not counted as a request
            pass
    with limits.request(ann), limits.request(ann):
        pass
