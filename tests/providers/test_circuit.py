"""Circuit breakers: a server that fails again and again is left alone for a while, and tried again by one request."""

import pytest

from antiphon.actors.clock import SimulatedClock
from antiphon.errors import Code
from antiphon.providers import CircuitLimits
from antiphon.providers.circuit import Circuit
from antiphon.providers.errors import ProviderError
from tests.fixtures.providers import read, run, stand

pytestmark = pytest.mark.requirement("X-2")
LIMITS = CircuitLimits(failures=3, pause_ms=1_000)


def ask(circuit, code=None):
    """One request that ends with an error, or well; what it raises."""
    try:
        with circuit.attempt():
            if code is not None:
                raise ProviderError(code, "No")
    except ProviderError as error:
        return error
    return None


def opened():
    clock = SimulatedClock()
    circuit = Circuit("api.example", LIMITS, clock)
    for code in (Code.NETWORK, Code.OVERLOADED, Code.TIMEOUT):
        assert ask(circuit, code).message == "No"
    return circuit, clock


def test_after_some_failures_in_a_row_requests_are_refused_at_once():
    circuit, clock = opened()
    clock.increment(400)
    error = ask(circuit)

    assert (error.code, error.recoverable, error.retry_after_ms) == (Code.OVERLOADED, True, 600)
    assert (
        error.message
        == "api.example has failed 3 times in a row and is left alone; the next attempt is possible in 1 s"
    )


def test_after_the_pause_one_request_tries_and_closes_the_circuit():
    circuit, clock = opened()
    clock.increment(1_000)
    with circuit.attempt():
        second = ask(circuit)

    assert "one request tries it now" in second.message
    assert ask(circuit) is None


def test_a_trial_that_fails_opens_the_circuit_again():
    circuit, clock = opened()
    clock.increment(1_000)
    assert ask(circuit, Code.NETWORK).message == "No"

    assert ask(circuit).retry_after_ms == 1_000


def test_a_trial_that_is_cancelled_leaves_room_for_another():
    circuit, clock = opened()
    clock.increment(1_000)
    with pytest.raises(GeneratorExit), circuit.attempt():
        raise GeneratorExit

    assert ask(circuit) is None


@pytest.mark.parametrize("code", [None, Code.RATE_LIMITED, Code.BAD_REQUEST, Code.UNAUTHENTICATED])
def test_an_answer_of_any_other_kind_ends_the_row_of_failures(code):
    circuit = Circuit("api.example", LIMITS, SimulatedClock())
    for failure in (Code.NETWORK, Code.NETWORK, code, Code.NETWORK, Code.NETWORK):
        ask(circuit, failure)

    assert ask(circuit) is None


def test_all_models_of_a_failing_server_are_left_alone_and_others_are_not():
    async def work():
        async with stand(clock=SimulatedClock()) as here:
            failing = here.open("openai", "503")
            codes = [(await read(failing)).error.code for _ in range(5)]
            reached = len(here.fake.requests)
            refused = (await read(here.open("openai", "text"))).error
            other = (await read(here.open("anthropic", "text"))).error
            return codes, refused, len(here.fake.requests) - reached, other

    codes, refused, requests, other = run(work())
    assert set(codes) == {Code.OVERLOADED}
    assert "127.0.0.1 has failed 5 times in a row" in refused.message
    assert (requests, other) == (1, None)
