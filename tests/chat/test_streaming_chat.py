"""A conversation with any model: sending, waiting, cancelling, trying again, and what to do when busy."""

import asyncio
import re
from decimal import Decimal

import pytest

from antiphon import NoEventLoop, SimulatedClock
from antiphon.chat.streaming_chat import StreamingChat
from antiphon.errors import Code
from antiphon.messages import Usage, system
from antiphon.providers.base import Done, TextDelta, ThinkingDelta, ToolArgs, ToolStart, UsageDelta
from antiphon.providers.errors import ProviderError
from antiphon.providers.prices import Price, Prices
from antiphon.providers.scripted import ScriptedModel
from antiphon.threads.errors import Busy, NothingToRetry, NotOpen, OverBudget, Refused, UnknownSetting
from tests.fixtures.puppet import WHOLE, Puppet, run, settle
from tests.fixtures.streaming import text, tool_end

OVERLOADED = ProviderError(Code.OVERLOADED, "Busy")
REFUSED = ProviderError(Code.REFUSED, "No")
PRICED = Prices({"openai:puppet": Price(Decimal(100_000), Decimal(0))})


class Scene:
    """A chat with a puppet, on a clock that stands still; `ask` sends without waiting for the end."""

    def __init__(self, reference="scripted:puppet", **options):
        self.puppet = Puppet(reference)
        self.clock = SimulatedClock()
        ids = iter(f"r{number}" for number in range(1, 100))
        self.chat = StreamingChat(self.puppet, clock=self.clock, new_id=lambda: next(ids), jitter=lambda: 0, **options)

    async def __aenter__(self):
        await self.chat.__aenter__()
        return self

    async def __aexit__(self, *exception):
        await self.chat.__aexit__(*exception)

    async def ask(self, prompt="Hello", **options):
        asking = asyncio.create_task(self.chat.send(prompt, **options))
        await settle()
        return asking

    async def say(self, *deltas):
        self.puppet.say(*deltas)
        await settle()

    async def wait(self, ms):
        self.clock.increment(ms)
        await settle()


def scene(test=None, **options):
    """A test with a scene."""

    def decorate(test):
        def run_test():
            async def main():
                async with Scene(**options) as stage:
                    await test(stage)

            run(main)

        run_test.__name__ = test.__name__
        run_test.__doc__ = test.__doc__
        return run_test

    return decorate if test is None else decorate(test)


@pytest.mark.requirement("S0-T23", "S0-56", "S0-57")
@scene
async def test_a_chat_begins_idle(stage):
    chat = stage.chat

    assert (chat.state, chat.context["text"]) == ("idle", "")
    assert (chat.is_loading, chat.is_error, chat.is_complete) == (False, False, False)


@pytest.mark.requirement("S0-T24", "S0-58", "S0-B2")
@scene
async def test_send_sends_and_asks_the_model(stage):
    await stage.ask("Hello", session_id="s1")

    assert (stage.chat.state, stage.chat.context["lastPrompt"], stage.chat.context["sessionId"]) == (
        "sending",
        "Hello",
        "s1",
    )
    assert [message.text for message in stage.puppet.requests[0].messages] == ["Hello"]
    assert stage.chat.context["requestId"] == "r1"


@pytest.mark.requirement("S0-T25", "S0-60")
@scene
async def test_reset_goes_back_to_the_beginning(stage):
    stage.puppet.say(*WHOLE)
    await stage.chat.send("Hello")

    stage.chat.reset()

    assert (stage.chat.state, stage.chat.context["messages"]) == ("idle", [])


@pytest.mark.requirement("S0-T26", "S0-61")
@scene
async def test_is_loading_while_sending_and_streaming(stage):
    asking = await stage.ask()
    assert (stage.chat.state, stage.chat.is_loading) == ("sending", True)

    await stage.say(TextDelta("Good"))
    assert (stage.chat.state, stage.chat.is_loading) == ("streaming", True)

    await stage.say(Done("end"))
    assert not stage.chat.is_loading
    await asking


@pytest.mark.requirement("S0-T27", "S0-62")
@scene
async def test_is_error_after_an_error(stage):
    stage.puppet.say(REFUSED)

    context = await stage.chat.send("Hello")

    assert stage.chat.is_error
    assert context["error"] == {"code": "9002", "message": "No", "recoverable": False}


@pytest.mark.requirement("S0-T28", "S0-63")
@scene
async def test_is_complete_after_the_end(stage):
    stage.puppet.say(*WHOLE)

    await stage.chat.send("Hello")

    assert stage.chat.is_complete


@pytest.mark.requirement("S0-T29", "S0-64", "X-1")
@scene
async def test_everything_a_model_says_reaches_the_machine(stage):
    await stage.ask()

    await stage.say(
        ThinkingDelta("Hm."), TextDelta("Look"), ToolStart("t", "search"), ToolArgs("t", "{}"), TextDelta("ing")
    )
    stage.chat.receive({**tool_end("t"), "requestId": "r1"})

    context = stage.chat.context
    assert (context["thinking"], context["text"]) == ("Hm.", "Looking")
    assert context["tools"] == {"t": {"name": "search", "status": "complete", "durationMs": 40, "input": {}}}


@pytest.mark.requirement("S0-T30", "S0-02")
@scene
async def test_the_whole_way_from_send_to_complete(stage):
    states = []
    stage.chat.subscribe(lambda snapshot: states.append(snapshot.value))
    stage.puppet.say(*WHOLE)

    context = await stage.chat.send("Hello")

    assert list(dict.fromkeys(states)) == ["sending", "streaming", "complete"]
    assert (context["text"], context["totalTokens"], context["stop"]) == ("Good day.", 15, "end")


@pytest.mark.requirement("S0-T31", "S0-03")
@scene
async def test_the_way_into_an_error(stage):
    states = []
    stage.chat.subscribe(lambda snapshot: states.append(snapshot.value))
    stage.puppet.say(REFUSED)

    await stage.chat.send("Hello")

    assert list(dict.fromkeys(states)) == ["sending", "error"]


@pytest.mark.requirement("S0-T32", "S0-81")
@scene
async def test_the_way_out_of_an_error(stage):
    stage.puppet.say(REFUSED)
    await stage.chat.send("Hello")

    stage.puppet.say(*WHOLE)
    context = await stage.chat.send("Again")

    assert (stage.chat.state, context["text"], context["error"]) == ("complete", "Good day.", None)


@pytest.mark.requirement("S0-T33", "S0-04", "S0-B8")
@scene
async def test_one_message_after_the_other(stage):
    for prompt in ("One", "Two"):
        stage.puppet.say(*WHOLE)
        await stage.chat.send(prompt)

    assert [message.text for message in stage.puppet.requests[1].messages] == ["One", "Good day.", "Two"]


@pytest.mark.requirement("S0-59")
@scene
async def test_an_exception_of_the_provider_is_a_recoverable_network_error(stage):
    asking = await stage.ask()

    await stage.say(OSError("no route"))

    assert stage.chat.context["error"] == {"code": "1001", "message": "no route", "recoverable": True}
    stage.chat.cancel()
    await asking


@pytest.mark.requirement("S0-B5")
@scene
async def test_a_busy_chat_rejects_by_default_and_asks_nobody(stage):
    await stage.ask("One")

    with pytest.raises(Busy, match="sending"):
        await stage.chat.send("Two")

    assert (len(stage.puppet.requests), stage.chat.context["lastPrompt"]) == (1, "One")


@pytest.mark.requirement("S0-B5")
@scene(on_busy="queue")
async def test_a_queueing_chat_sends_one_after_the_other(stage):
    asking = [await stage.ask(prompt) for prompt in ("One", "Two", "Three")]
    assert len(stage.puppet.requests) == 1

    for _ in asking:
        await stage.say(*WHOLE)
    ended = await asyncio.gather(*asking)

    assert [context["lastPrompt"] for context in ended] == ["One", "Two", "Three"]
    assert [context["requestId"] for context in ended] == ["r1", "r2", "r3"]


@pytest.mark.requirement("S0-B5", "X-5")
@scene
async def test_an_interrupting_message_wins(stage):
    first = await stage.ask("One")
    await stage.say(TextDelta("Half"))

    second = await stage.ask("Two", on_busy="interrupt")
    interrupted = await first
    await stage.say(*WHOLE)
    won = await second

    assert (interrupted["cancelled"], interrupted["text"], interrupted["requestId"]) == (True, "Half", "r1")
    assert (won["lastPrompt"], won["text"], stage.puppet.closed) == ("Two", "Good day.", 2)


@pytest.mark.requirement("S0-B5")
@scene(on_busy="queue")
async def test_whoever_queues_waits_for_an_interrupting_message_too(stage):
    first = await stage.ask("One")
    queued = await stage.ask("Two")
    urgent = await stage.ask("Now", on_busy="interrupt")
    assert len(stage.puppet.requests) == 2

    await stage.say(*WHOLE)
    await stage.say(*WHOLE)

    assert [(await reply)["lastPrompt"] for reply in (first, urgent, queued)] == ["One", "Now", "Two"]


@pytest.mark.requirement("S0-86", "X-5", "E-10")
@scene
async def test_cancel_reaches_the_running_call(stage):
    asking = await stage.ask()
    await stage.say(TextDelta("Half"))

    stage.chat.cancel()
    await settle()

    assert (stage.puppet.closed, stage.chat.state) == (1, "idle")
    assert ((await asking)["cancelled"], (await asking)["text"]) == (True, "Half")


@pytest.mark.requirement("X-5", "E-10")
@scene
async def test_who_stops_waiting_ends_the_call(stage):
    asking = await stage.ask()

    asking.cancel()
    await settle()

    assert (stage.chat.state, stage.puppet.closed) == ("idle", 1)


@pytest.mark.requirement("S0-B5")
@scene(on_busy="queue")
async def test_who_leaves_the_queue_disturbs_nobody(stage):
    first, second, third = [await stage.ask(prompt) for prompt in ("One", "Two", "Three")]

    second.cancel()
    await stage.say(*WHOLE)
    await stage.say(*WHOLE)

    assert [(await reply)["lastPrompt"] for reply in (first, third)] == ["One", "Three"]


@pytest.mark.requirement("S0-66", "E-10")
def test_leaving_ends_the_call_and_forgets_the_listeners():
    async def main():
        collected = []
        async with Scene() as stage:
            stage.chat.subscribe(lambda snapshot: collected.append(snapshot.value))
            asking = await stage.ask()
        await settle()

        assert stage.puppet.closed == 1
        assert (await asking)["cancelled"]
        assert collected[-1] == "idle"
        with pytest.raises(NotOpen):
            await stage.chat.send("More")
        with pytest.raises(NotOpen):
            stage.chat.reset()

    run(main)


@pytest.mark.requirement("S0-85", "S0-B12", "S0-73", "X-2")
@scene
async def test_an_overloaded_model_is_asked_again_until_it_answers(stage):
    asking = await stage.ask()
    await stage.say(OVERLOADED)
    assert (stage.chat.is_error, stage.chat.is_busy, asking.done()) == (True, True, False)

    await stage.wait(1_000)
    assert (stage.chat.state, stage.chat.context["attempt"]) == ("sending", 1)
    await stage.say(*WHOLE)

    assert (await asking)["text"] == "Good day."


@pytest.mark.requirement("S0-86")
@scene
async def test_a_chat_that_waits_for_another_attempt_is_busy_and_can_be_cancelled(stage):
    asking = await stage.ask()
    await stage.say(OVERLOADED)
    with pytest.raises(Busy):
        await stage.chat.send("Two")

    stage.chat.cancel()

    assert (await asking)["cancelled"]
    assert not stage.chat.is_busy


@pytest.mark.requirement("S0-85")
@scene
async def test_retry_asks_again(stage):
    stage.puppet.say(REFUSED)
    await stage.chat.send("Hello")

    stage.puppet.say(*WHOLE)
    context = await stage.chat.retry()

    assert (context["text"], context["requestId"]) == ("Good day.", "r1")
    assert stage.puppet.requests[0] == stage.puppet.requests[1]


@scene
async def test_there_must_be_something_to_retry(stage):
    with pytest.raises(NothingToRetry, match="'idle'"):
        await stage.chat.retry()


@pytest.mark.requirement("S0-87", "S0-B10", "E-11", "X-5")
@scene(settings={"firstEventMs": 500})
async def test_a_model_that_says_nothing_is_given_up_and_closed(stage):
    await stage.ask()

    await stage.wait(500)

    assert (stage.chat.context["error"]["code"], stage.puppet.closed) == ("1003", 1)
    stage.chat.cancel()


@scene
async def test_the_first_token_s_latency_is_measured(stage):
    asking = await stage.ask()
    await stage.wait(420)
    await stage.say(*WHOLE)

    context = await asking
    assert (context["firstTokenMs"], context["durationMs"]) == (420, 420)


@pytest.mark.requirement("S0-B1")
@scene
async def test_a_session_stays_until_another_is_given(stage):
    collected = []
    for session in ({"session_id": "s1"}, {}, {"session_id": None}):
        stage.puppet.say(*WHOLE)
        collected.append((await stage.chat.send("Hello", **session))["sessionId"])

    assert collected == ["s1", "s1", None]


@pytest.mark.requirement("S0-B3")
@scene
async def test_events_that_are_early_are_held_for_their_request(stage):
    stage.chat.receive(text("early ", requestId="named"))
    stage.chat.receive(text("bird", requestId="named"))
    assert stage.chat.state == "idle"

    await stage.ask("Hello", request_id="named")

    assert stage.chat.context["text"] == "early bird"


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ({"type": "TEXT_CHUNK"}, "TEXT_CHUNK: content is missing: expected a text"),
        ({"type": "TEXT_CHUNK", "content": 3}, "TEXT_CHUNK: content is 3: expected a text"),
        ({**text("x"), "request_id": "r1"}, "TEXT_CHUNK: request_id is unknown: did you mean 'requestId'?"),
        ({"type": "SEND", "prompt": "x"}, "'SEND' is no event of a stream; known: "),
        ({}, "None is no event of a stream"),
    ],
)
def test_an_event_that_is_not_of_a_stream_or_not_as_declared_is_refused(event, text):
    @scene
    async def check(stage):
        await stage.ask("Hello")
        before = stage.chat.snapshot
        with pytest.raises(Refused, match=re.escape(text)):
            stage.chat.receive(event)

        assert stage.chat.snapshot is before

    check()


@pytest.mark.requirement("S0-B4", "S0-65")
@scene
async def test_events_that_are_late_are_counted(stage):
    stage.puppet.say(*WHOLE)
    await stage.chat.send("One")
    await stage.ask("Two")

    stage.chat.receive(text("late", requestId="r1"))

    assert (stage.chat.context["text"], stage.chat.context["staleEvents"]) == ("", 1)


@pytest.mark.requirement("X-3")
@scene(reference="openai:puppet", prices=PRICED, settings={"budgetUsd": 10})
async def test_the_budget_warns_and_then_ends_the_conversation(stage):
    warnings = []
    stage.chat.on("BUDGET_WARNING", warnings.append)
    stage.puppet.say(UsageDelta(Usage(90), "puppet"), TextDelta("x"), Done("end"))
    await stage.chat.send("One")
    assert [warning["spentUsd"] for warning in warnings] == [9.0]

    asking = await stage.ask("Two")
    await stage.say(UsageDelta(Usage(20), "puppet"))
    assert ((await asking)["error"]["code"], stage.puppet.closed) == ("3002", 2)

    with pytest.raises(OverBudget, match=r"11\.0 USD"):
        await stage.chat.send("Three")


@pytest.mark.requirement("X-3")
def test_a_budget_needs_prices():
    async def main():
        async with StreamingChat(Puppet("openai:unheard-of"), settings={"budgetUsd": 1}) as chat:
            context = await chat.send("Hello")
        return context["error"]["code"]

    assert run(main) == "9007"


def test_an_earlier_conversation_goes_on():
    async def main():
        async with Scene(messages=[system("Be kind.")], session_id="s0") as stage:
            stage.puppet.say(*WHOLE)
            context = await stage.chat.send("Hello")
            return context["sessionId"], [message.role for message in stage.puppet.requests[0].messages]

    assert run(main) == ("s0", ["system", "user"])


@pytest.mark.requirement("S0-76", "S0-B13")
def test_two_chats_do_not_disturb_each_other():
    async def main():
        async with Scene() as first_scene, Scene() as second_scene:
            await first_scene.ask("One")
            await second_scene.ask("Other")
            await first_scene.say(TextDelta("a"))
            await second_scene.say(TextDelta("b"))
            return first_scene.chat.context["text"], second_scene.chat.context["text"]

    assert run(main) == ("a", "b")


@pytest.mark.requirement("X-1")
def test_any_provider_will_do():
    model = ScriptedModel({"replies": [{"steps": [{"text": "Good day."}]}, {"steps": [{"text": "Good night."}]}]})

    async def main():
        async with StreamingChat(model) as chat:
            return [(await chat.send(prompt))["text"] for prompt in ("Hello", "Bye")]

    assert run(main) == ["Good day.", "Good night."]


def test_a_setting_that_does_not_exist_is_refused():
    with pytest.raises(UnknownSetting, match=r"unknown setting budgetUSD; known: .*budgetUsd"):
        StreamingChat(Puppet(), settings={"budgetUSD": 1})


def test_a_chat_without_an_event_loop_says_at_the_start_what_it_needs():
    chat = StreamingChat(ScriptedModel({"replies": [{"steps": [{"text": "Hi."}]}]}))

    with pytest.raises(NoEventLoop, match=r"needs a running asyncio event loop; open it inside asyncio\.run"):
        chat.__aenter__().send(None)
