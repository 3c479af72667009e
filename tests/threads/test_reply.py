"""A model's reply becomes the events of the streaming machine."""

import asyncio
from decimal import Decimal

import pytest

from antiphon import SimulatedClock
from antiphon.errors import RECOVERABLE, Code
from antiphon.json_schema import Checker
from antiphon.messages import Usage, assistant, message_to_json, user
from antiphon.providers.base import (
    Done,
    Request,
    SignatureDelta,
    TextDelta,
    ThinkingDelta,
    Tool,
    ToolArgs,
    ToolStart,
    UsageDelta,
)
from antiphon.providers.errors import ProviderError
from antiphon.providers.prices import Price, Prices
from antiphon.providers.scripted import ScriptedModel
from antiphon.threads.reply import reply_events, request_of, stream_reply
from tests.fixtures.puppet import WHOLE, Puppet, run, settle

ASKED = Request((user("Hello"),))
PRICED = Prices({"openai:puppet": Price(Decimal(100_000), Decimal(200_000))})


def events_of(*deltas, reference="scripted:puppet", jitter=0.5, **known):
    """The events for some deltas, with time standing still."""

    async def collect():
        puppet = Puppet(reference)
        puppet.say(*deltas)
        events = reply_events(
            puppet, ASKED, request_id="r1", clock=SimulatedClock(1_000), jitter=lambda: jitter, **known
        )
        return [event async for event in events]

    return run(collect)


def types(events):
    return [event["type"] for event in events]


@pytest.mark.requirement("S0-64", "S0-58", "S0-T29", "X-1")
def test_a_reply_is_told_from_its_start_to_its_end():
    events = events_of(ThinkingDelta("Hm."), *WHOLE)

    assert types(events) == [
        "REQUEST_STARTED", "FIRST_EVENT", "THINKING_CHUNK", "TEXT_CHUNK", "TEXT_CHUNK", "USAGE", "COMPLETE",
    ]  # fmt: skip
    assert [event["content"] for event in events if "content" in event] == ["Hm.", "Good ", "day."]


@pytest.mark.requirement("S0-76", "X-4")
def test_every_event_names_its_request():
    events = [*events_of(*WHOLE), *events_of(ProviderError(Code.NETWORK, "gone"))]

    assert {event["requestId"] for event in events} == {"r1"}


@pytest.mark.requirement("S0-27", "X-3")
def test_the_end_carries_the_whole_message_and_what_it_took():
    [*_, complete] = events_of(*WHOLE)

    assert complete == {
        "type": "COMPLETE",
        "requestId": "r1",
        "costUsd": 0.0,
        "durationMs": 0,
        "totalTokens": 15,
        "usage": {
            "input": 10, "output": 5, "cachedRead": 0, "cachedWrite": 0, "reasoning": 0, "estimated": False,
        },
        "message": {"role": "assistant", "parts": [{"type": "text", "text": "Good day."}], "source": "scripted"},
        "stop": "end",
        "at": 1_000,
    }  # fmt: skip


@pytest.mark.requirement("X-3")
def test_the_cost_goes_by_the_price_of_the_model():
    [*_, complete] = events_of(
        TextDelta("x"), UsageDelta(Usage(10, 5), "puppet"), Done("end"), prices=PRICED, reference="openai:puppet"
    )

    assert complete["costUsd"] == 2.0


@pytest.mark.requirement("X-3")
def test_an_unknown_price_is_no_cost_rather_than_a_free_one():
    [*_, complete] = events_of(*WHOLE, reference="openai:puppet", prices=Prices(policy="warn"))

    assert complete["costUsd"] is None


@pytest.mark.requirement("X-3")
def test_a_model_without_a_price_is_not_asked_when_money_is_limited():
    [started, error] = events_of(*WHOLE, reference="openai:puppet", prices=Prices(limited=True))

    assert (started["type"], error["code"], error["recoverable"]) == ("REQUEST_STARTED", "9007", False)


@pytest.mark.parametrize(("policy", "asked"), [("warn", False), ("assume", True)])
def test_a_reply_with_a_budget_needs_a_cost_to_count(policy, asked):
    events = events_of(*WHOLE, reference="openai:puppet", prices=Prices(policy=policy), limited=True)

    assert (events[-1]["type"], events[-1].get("code")) == (("COMPLETE", None) if asked else ("ERROR", "9007"))


@pytest.mark.requirement("S0-28", "S0-71..S0-74", "S0-B11", "X-2")
@pytest.mark.parametrize("code", list(Code))
def test_an_error_of_the_provider_is_an_event_with_its_class(code):
    [_, error] = events_of(ProviderError(code, "No", retry_after_ms=50), jitter=0.25)

    assert error == {
        "type": "ERROR",
        "requestId": "r1",
        "code": code.value,
        "message": "No",
        "recoverable": code in RECOVERABLE,
        "retryAfterMs": 50,
        "jitter": 0.25,
    }


@pytest.mark.requirement("X-3")
def test_an_error_after_the_first_words_says_what_they_cost():
    [*_, error] = events_of(
        UsageDelta(Usage(10, 1), "puppet"), TextDelta("x" * 40), ProviderError(Code.NETWORK, "gone"),
        prices=PRICED, reference="openai:puppet",
    )  # fmt: skip

    assert error["usage"]["output"] == 10
    assert error["usage"]["estimated"] is True
    assert error["costUsd"] == 3.0
    assert "retryAfterMs" not in error


def test_a_stream_that_just_ends_is_an_error():
    async def stream(request):
        yield TextDelta("Half")

    puppet = Puppet()
    puppet.stream = stream

    async def collect():
        return [event async for event in reply_events(puppet, ASKED, request_id="r1")]

    assert run(collect)[-1]["code"] == "1004"


@pytest.mark.requirement("S0-25")
def test_a_tool_call_is_told_when_it_is_whole():
    events = events_of(
        ToolStart("a", "search"), ToolArgs("a", '{"q":'), ToolArgs("a", ' "x"}'), TextDelta("More."),
        ToolStart("b", "now"), UsageDelta(Usage(1, 1), "puppet"), Done("tool_calls"),
    )  # fmt: skip

    assert types(events) == [
        "REQUEST_STARTED", "FIRST_EVENT", "TOOL_START", "TEXT_CHUNK", "USAGE", "TOOL_START", "COMPLETE",
    ]  # fmt: skip
    calls = [event for event in events if event["type"] == "TOOL_START"]
    assert [(call["toolId"], call["toolName"], call["input"]) for call in calls] == [
        ("a", "search", {"q": "x"}),
        ("b", "now", {}),
    ]


def test_tool_calls_whose_arguments_mix_are_told_whole():
    begun = (ToolStart("a", "f"), ToolStart("b", "f"), ToolArgs("a", '{"n"'), ToolStart("c", "f"))
    events = events_of(*begun, ToolArgs("b", '{"n": 2}'), ToolArgs("a", ": 1}"), Done("tool_calls"))

    calls = {event["toolId"]: event["input"] for event in events if event["type"] == "TOOL_START"}
    assert calls == {"a": {"n": 1}, "b": {"n": 2}, "c": {}}


def test_a_tool_call_that_is_not_json_is_told_without_its_input():
    events = events_of(ToolStart("a", "f"), ToolArgs("a", "{nonsense"), Done("tool_calls"))

    [call] = [event for event in events if event["type"] == "TOOL_START"]
    assert "input" not in call


def test_signatures_are_in_the_message_only():
    events = events_of(ThinkingDelta("Hm."), SignatureDelta("s"), *WHOLE)

    assert events[-1]["message"]["parts"][0] == {"type": "thinking", "text": "Hm.", "signature": "s"}


@pytest.mark.requirement("X-3")
def test_a_long_reply_tells_what_it_has_used_about_every_second():
    """Also while nothing is shown, as with long arguments of a tool."""
    clock = SimulatedClock()

    async def collect():
        puppet = Puppet()
        events_of = []

        async def read():
            async for event in reply_events(puppet, ASKED, request_id="r1", clock=clock):
                events_of.append(event["type"])

        reading = asyncio.create_task(read())
        await settle()
        puppet.say(ToolStart("a", "write"))
        for _ in range(5):
            await settle()
            clock.increment(600)
            puppet.say(ToolArgs("a", "xxxx"))
        await settle()
        reading.cancel()
        return events_of

    assert run(collect) == ["REQUEST_STARTED", "FIRST_EVENT", "USAGE", "USAGE"]


@pytest.mark.requirement("X-5", "E-10", "S0-66")
def test_closing_the_events_closes_the_call():
    async def main():
        puppet = Puppet()
        puppet.say(TextDelta("x"))
        events = reply_events(puppet, ASKED, request_id="r1")
        async for event in events:
            if event["type"] == "TEXT_CHUNK":
                break
        await events.aclose()
        return puppet.closed

    assert run(main) == 1


def test_the_end_is_told_after_the_call_is_closed():
    async def main():
        puppet = Puppet()
        puppet.say(*WHOLE)
        async for event in reply_events(puppet, ASKED, request_id="r1"):
            if event["type"] == "COMPLETE":
                return puppet.closed
        return None

    assert run(main) == 1


@pytest.mark.requirement("X-1")
def test_the_same_script_tells_the_same_story():
    script = ScriptedModel({"replies": [{"steps": [{"thinking": "Hm."}, {"text": "Good day."}, {"tool": "f"}]}]})

    async def collect():
        events = reply_events(script, ASKED, request_id="r1", clock=SimulatedClock())
        return [event async for event in events]

    assert run(collect) == run(collect)


def test_a_request_is_made_of_the_machine_s_messages_and_options():
    history = [
        message_to_json(user("Hello")),
        {**message_to_json(assistant("Hi.")), "requestId": "r0", "partial": True},
    ]
    options = {
        "maxTokens": 9, "temperature": 0.5, "thinking": "low", "stop": ["."], "toolChoice": "any",
        "tools": [{"name": "f", "description": "F.", "parameters": {"type": "object"}}],
    }  # fmt: skip

    request = request_of({"messages": history, "options": options, "sessionId": "s"})

    assert request == Request(
        (user("Hello"), assistant("Hi.")),
        (Tool("f", "F.", {"type": "object"}),),
        "any",
        temperature=0.5,
        max_tokens=9,
        stop=(".",),
        thinking="low",
        cache_key="s",
    )


VERDICT = Checker({"type": "object", "required": ["verdict"], "properties": {"verdict": {"enum": ["good", "bad"]}}})


@pytest.mark.requirement("S1.4-5")
@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ('Well: {"verdict": "good"}', []),
        ('{"verdict": "odd"}', ['$.verdict must be one of "good", "bad", not "odd"']),
        ("Hm.", ["there is no JSON in the reply"]),
    ],
)
def test_a_whole_answer_brings_the_problems_that_its_schema_has_with_it(text, problems):
    [*_, complete] = events_of(TextDelta(text), Done("end"), checker=VERDICT)

    assert complete["problems"] == problems


def test_a_reply_that_calls_tools_is_no_answer_yet():
    [*_, complete] = events_of(ToolStart("c1", "look"), Done("tool_calls"), checker=VERDICT)

    assert "problems" not in complete


@pytest.mark.requirement("S1.4-5")
@pytest.mark.parametrize(
    ("schema", "end"), [({"type": "object"}, "COMPLETE"), ({"type": "nothing"}, "ERROR"), (None, "COMPLETE")]
)
def test_a_schema_that_is_not_valid_is_an_error_before_the_model_is_asked(schema, end):
    async def collect():
        puppet = Puppet("scripted:puppet")
        puppet.say(*WHOLE)
        sent = []
        options = {} if schema is None else {"responseSchema": schema}
        given = {"requestId": "r1", "model": "m", "messages": [], "options": options}
        await stream_reply(lambda reference: puppet).call(given, Back(sent))
        return sent

    sent = run(collect)

    assert sent[-1]["type"] == end
    assert (len(sent) == 1) == (end == "ERROR")


class Back:
    """Keeps what a task sends back."""

    def __init__(self, sent):
        self._sent = sent

    def send_back(self, event, grows=None):
        self._sent.append(event)
