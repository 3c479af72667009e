"""Document 000, the story of the streaming machine: criteria, machine, hook and lists of tests, line by line."""

import asyncio
from typing import get_type_hints

import pytest

import antiphon.chat
from antiphon import create_actor
from antiphon.chat import StreamingChat, StreamingContext, StreamState, streaming_machine
from antiphon.errors import RECOVERABLE, Code
from antiphon.providers.scripted import ScriptedModel
from antiphon.threads import permission_machine
from tests.seeds.reading import Reading, differences, listed

SEND = {"type": "SEND", "prompt": "Hello"}
FIRST = {"type": "FIRST_EVENT"}
TEXT = {"type": "TEXT_CHUNK", "content": "a"}
THINKING = {"type": "THINKING_CHUNK", "content": "b"}
TOOL = {"type": "TOOL_START", "toolId": "t1", "toolName": "search"}
TOOL_END = {"type": "TOOL_COMPLETE", "toolId": "t1", "isError": False, "durationMs": 40}
COMPLETE = {"type": "COMPLETE", "costUsd": 0.05, "durationMs": 1200, "totalTokens": 300}
ERROR = {"type": "ERROR", "code": "9001", "message": "No", "recoverable": False}
RESET = {"type": "RESET"}
NOTHING = {
    "requestId": None,
    "sessionId": None,
    "text": "",
    "thinking": "",
    "tools": {},
    "error": None,
    "costUsd": None,
    "durationMs": None,
    "totalTokens": None,
}
FILLED = [SEND, TEXT, THINKING, TOOL, COMPLETE]
FAILED = [SEND, TEXT, THINKING, TOOL, ERROR]
LAST = (*FILLED, {**SEND, "sessionId": "s1"}, COMPLETE)


def talk(*events):
    """The machine after some events, without an event loop."""
    actor = create_actor(streaming_machine).start()
    for event in events:
        actor.send(event)
    return actor.get_snapshot()


def state(*events):
    return talk(*events).value


def context(*events):
    """The nine keys of the document."""
    return {key: value for key, value in talk(*events).context.items() if key in NOTHING}


def criteria():
    states = set(streaming_machine.root.states)
    yield Reading(31, "states exist", states, {"idle", "sending", "streaming", "complete", "error"})
    yield Reading(34, "idle -> sending", state(SEND), "sending")
    yield Reading(35, "sending -> streaming", state(SEND, FIRST), "streaming")
    yield Reading(36, "streaming -> complete", state(SEND, FIRST, COMPLETE), "complete")
    yield Reading(38, "reachable", (state(SEND, ERROR), state(SEND, FIRST, ERROR)), ("error", "error"))
    yield Reading(40, "resets", state(*FILLED, SEND), "idle")


def boundaries():
    yield Reading(66, "Allow/deny", set(permission_machine.root.states) >= {"allowed", "denied", "expired"}, True)
    names = (streaming_machine.id, permission_machine.id)
    yield Reading(83, "Machines", names, ("streaming", "permission"))
    yield Reading(93, "isLoading", isinstance(StreamingChat.is_loading, property), True)
    yield Reading(94, "Status enum", isinstance(StreamingChat.state, property), True)
    yield Reading(95, "matching", talk(SEND).matches("sending"), True)
    first = {digit: {code in RECOVERABLE for code in Code if code.value[0] == digit} for digit in "1239"}
    yield Reading(101, "1xxx", first["1"], {True})
    yield Reading(102, "2xxx", first["2"], {False})
    yield Reading(103, "3xxx", first["3"], {True})
    yield Reading(104, "9xxx", first["9"], {False})
    keys = {"text", "thinking", "tools", "is_complete", "cost_usd", "duration_ms"}
    yield Reading(115, "StreamState", keys <= set(get_type_hints(StreamState)), True)
    failure = talk(SEND, ERROR).context["error"]
    yield Reading(132, "SessionErrorPayload", set(failure), {"code", "message", "recoverable"})


def first_context():
    lines = dict(zip(range(229, 238), NOTHING, strict=True))
    begun = talk().context
    for line, key in lines.items():
        yield Reading(line, f"{key}:", begun[key], NOTHING[key])
    hints = get_type_hints(StreamingContext)
    for line, key in ((201, "requestId"), (203, "sessionId"), (205, "text"), (207, "thinking"), (209, "tools")):
        yield Reading(line, f"{key}:", key in hints, True)
    for line, key in ((215, "error"), (221, "costUsd"), (223, "durationMs"), (225, "totalTokens")):
        yield Reading(line, f"{key}:", key in hints, True)
    running, done = (context(SEND, TOOL, *more)["tools"]["t1"] for more in ((), (TOOL_END,)))
    yield Reading(210, "name", running["name"], "search")
    failed = context(SEND, TOOL, {**TOOL_END, "isError": True})["tools"]["t1"]
    yield Reading(211, "status", [one["status"] for one in (running, done, failed)], ["running", "complete", "error"])
    yield Reading(212, "durationMs", (running.get("durationMs"), done["durationMs"]), (None, 40))
    failure = context(SEND, ERROR)["error"]
    for line, key in ((216, "code"), (217, "message"), (218, "recoverable")):
        yield Reading(line, key, failure[key], ERROR[key])


def events():
    declared = streaming_machine.event_types
    started = {"type": "REQUEST_STARTED", "requestId": "r1"}
    lines = {251: {**SEND, "sessionId": "s1"}, 253: started, 255: FIRST, 257: TEXT, 259: THINKING, 261: TOOL}
    lines |= {263: TOOL_END, 265: COMPLETE, 267: ERROR, 269: RESET}
    for line, event in lines.items():
        yield Reading(line, event["type"], declared.check(event), None)


def transitions():
    """Every transition of the machine: where it leads, and what it does to the context."""
    chart = streaming_machine.config["states"]
    yield Reading(283, "id:", streaming_machine.id, "streaming")
    yield Reading(284, "initial", state(), "idle")
    yield Reading(285, "initialContext", context(), NOTHING)
    yield Reading(295, "SEND", state(SEND), "sending")
    yield Reading(306, "sessionId", context({**SEND, "sessionId": "s1"})["sessionId"], "s1")
    known = talk(SEND, {"type": "REQUEST_STARTED", "requestId": "r1"})
    yield Reading(319, "REQUEST_STARTED", (known.value, known.context["requestId"]), ("sending", "r1"))
    yield Reading(325, "FIRST_EVENT", state(SEND, FIRST), "streaming")
    for line, event, key in ((329, TEXT, "text"), (334, THINKING, "thinking"), (339, TOOL, "tools")):
        after = talk(SEND, event)
        yield Reading(line, event["type"], (after.value, bool(after.context[key])), ("streaming", True))
    yield Reading(344, "ERROR", state(SEND, ERROR), "error")
    for line, event, action in ((358, TEXT, "appendText"), (362, THINKING, "appendThinking"), (366, TOOL, "startTool")):
        does = chart["streaming"]["on"][event["type"]]["actions"]
        yield Reading(line, event["type"], (state(SEND, FIRST, event), action in does), ("streaming", True))
    yield Reading(369, "TOOL_COMPLETE", state(SEND, TOOL, TOOL_END), "streaming")
    yield Reading(373, "COMPLETE", state(SEND, FIRST, COMPLETE), "complete")
    yield Reading(378, "ERROR", state(SEND, FIRST, ERROR), "error")
    for line, before in ((392, FILLED), (410, FAILED)):
        yield Reading(line, "SEND", (state(*before, SEND), context(*before, SEND)), ("sending", NOTHING))
    for line, before in ((396, FILLED), (414, FAILED)):
        yield Reading(line, "RESET", (state(*before, RESET), context(*before, RESET)), ("idle", NOTHING))


def actions():
    yield Reading(426, "appendText", context(SEND, TEXT, TEXT)["text"], "aa")
    yield Reading(434, "appendThinking", context(SEND, THINKING, THINKING)["thinking"], "bb")
    running = {"name": "search", "status": "running"}
    yield Reading(442, "startTool", context(SEND, TOOL)["tools"], {"t1": running})
    ended = {"t1": {**running, "status": "complete", "durationMs": 40}}
    yield Reading(457, "completeTool", context(SEND, TOOL, TOOL_END)["tools"], ended)
    yield Reading(462, "existing", context(SEND, FIRST, TOOL_END)["tools"], {})
    failure = {key: ERROR[key] for key in ("code", "message", "recoverable")}
    yield Reading(477, "setError", context(SEND, ERROR)["error"], failure)
    for line, key in ((493, "costUsd"), (494, "durationMs"), (495, "totalTokens")):
        yield Reading(line, key, context(SEND, COMPLETE)[key], COMPLETE[key])
    yield Reading(500, "Preserves sessionId", context(*LAST, SEND)["sessionId"], "s1")
    yield Reading(511, "?? null", context(*LAST, SEND)["sessionId"], None)
    yield Reading(518, "fullReset", context(*LAST, RESET), NOTHING)


def hook():
    """The driver of the machine, which in the document is a React hook."""
    model = ScriptedModel({"replies": [{"steps": [{"thinking": "Hm."}, {"text": "Good evening."}]}]})
    broken = ScriptedModel({"replies": [{"steps": [{"error": "9001", "message": "No"}]}]})
    seen = []

    async def run(provider):
        async with StreamingChat(provider) as chat:
            first = (chat.state, chat.is_loading, chat.is_error, chat.is_complete)
            chat.subscribe(lambda snapshot: seen.append((snapshot.value, chat.is_loading)))
            context = await chat.send("Hello", "s1")
            last = (chat.state, chat.is_loading, chat.is_error, chat.is_complete)
            chat.reset()
            return first, context, last, chat.state

    first, context, last, after = asyncio.run(run(model))
    loading = dict(seen)
    yield Reading(539, "state:", first[0], "idle")
    yield Reading(541, "context:", context["text"], "Good evening.")
    yield Reading(543, "send:", (last[0], context["sessionId"]), ("complete", "s1"))
    yield Reading(545, "reset:", after, "idle")
    yield Reading(578, "REQUEST_STARTED", context["requestId"] is not None, True)
    failed, error, ended, _ = asyncio.run(run(broken))
    yield Reading(581, "sendEvent", (ended[0], error["error"]["message"]), ("error", "No"))
    yield Reading(594, "TEXT_CHUNK", context["text"], "Good evening.")
    yield Reading(596, "THINKING_CHUNK", context["thinking"], "Hm.")
    yield Reading(641, "isLoading", (loading["sending"], loading["streaming"], first[1]), (True, True, False))
    yield Reading(642, "isError", (ended[2], failed[2]), (True, False))
    yield Reading(643, "isComplete", (last[3], first[3]), (True, False))
    for line, name in ((662, "streaming_machine"), (664, "StreamingContext"), (665, "StreamingEvent")):
        yield Reading(line, "treaming", name in antiphon.chat.__all__, True)
    for line, name in ((670, "StreamingChat"), (671, "StreamingSnapshot")):
        yield Reading(line, "seStreamingMachine", name in antiphon.chat.__all__, True)


def unit_tests():
    steps = {806: (), 807: (SEND,), 808: (SEND, TEXT), 809: (SEND, THINKING), 810: (SEND, TOOL), 811: (SEND, FIRST)}
    steps |= {812: (SEND, FIRST, COMPLETE), 813: (SEND, ERROR), 814: (SEND, FIRST, ERROR), 815: (*FILLED, SEND)}
    steps |= {816: (*FAILED, SEND), 817: (*FILLED, RESET), 818: (*FAILED, RESET)}
    ends = ["idle", "sending", *["streaming"] * 4, "complete", "error", "error", "sending", "sending", "idle", "idle"]
    for (line, walk), end in zip(steps.items(), ends, strict=True):
        yield Reading(line, f"UNIT-{line - 805:03}", state(*walk), end)
    yield Reading(819, "UNIT-014", context(SEND, TEXT, TEXT)["text"], "aa")
    yield Reading(820, "UNIT-015", context(SEND, THINKING, THINKING)["thinking"], "bb")
    yield Reading(821, "UNIT-016", context(SEND, TOOL)["tools"]["t1"]["status"], "running")
    yield Reading(822, "UNIT-017", context(SEND, TOOL, TOOL_END)["tools"]["t1"]["status"], "complete")
    yield Reading(823, "UNIT-018", context(SEND, ERROR)["error"]["message"], "No")
    paid = context(SEND, COMPLETE)
    yield Reading(824, "UNIT-019", [paid[key] for key in ("costUsd", "durationMs", "totalTokens")], [0.05, 1200, 300])
    yield Reading(825, "UNIT-020", context(*FILLED, SEND), NOTHING)
    yield Reading(826, "UNIT-021", context(*FAILED, SEND), NOTHING)
    yield Reading(827, "UNIT-022", context(*LAST, SEND)["sessionId"], "s1")


def other_tests():
    """The lists for the hook, for whole flows and for what a person sees."""
    model = ScriptedModel({"replies": [{"when": "fail", "steps": [{"error": "9001", "message": "No"}]},
                                       {"steps": [{"text": "Good evening."}]}]})  # fmt: skip

    async def run(*prompts):
        seen = []
        async with StreamingChat(model) as chat:
            seen.append(chat.state)
            chat.subscribe(lambda snapshot: seen.append(snapshot.value))
            for prompt in prompts:
                context = await chat.send(prompt)
            flags = (chat.is_loading, chat.is_error, chat.is_complete)
            if not prompts:
                return list(seen), flags, {}
            chat.reset()
            return [state for place, state in enumerate(seen) if state != seen[place - 1]], flags, context

    seen, flags, context = asyncio.run(run("Hello"))
    yield Reading(833, "HOOK-001", asyncio.run(run())[0], ["idle"])
    yield Reading(834, "HOOK-002", context["messages"][0]["parts"][0]["text"], "Hello")
    yield Reading(835, "HOOK-003", seen[-1], "idle")
    yield Reading(836, "HOOK-004", [talk(SEND, *more).has_tag("loading") for more in ((), (FIRST,))], [True, True])
    yield Reading(837, "HOOK-005", asyncio.run(run("fail"))[1][1], True)
    yield Reading(838, "HOOK-006", flags[2], True)
    yield Reading(839, "HOOK-007", context["text"], "Good evening.")
    yield Reading(845, "INT-001", seen[:3], ["sending", "streaming", "complete"])
    yield Reading(846, "INT-002", asyncio.run(run("fail"))[0], ["sending", "error", "idle"])
    recovered = asyncio.run(run("fail", "Hello"))[0]
    yield Reading(847, "INT-003", recovered, ["sending", "error", "sending", "streaming", "complete", "idle"])
    twice = asyncio.run(run("Hello", "Again"))[0]
    yield Reading(848, "INT-004", twice[3:], ["sending", "streaming", "complete", "idle"])
    yield Reading(854, "E2E-001", asyncio.run(run())[1], (False, False, False))
    yield Reading(855, "E2E-002", {"sending", "streaming"} <= set(seen), True)
    yield Reading(856, "E2E-003", context["durationMs"] is not None and context["totalTokens"] > 0, True)
    yield Reading(857, "E2E-004", asyncio.run(run("fail"))[2]["error"]["message"], "No")
    yield Reading(858, "E2E-005", twice.count("complete"), 2)


def notes():
    both = context(SEND, TOOL, {**TOOL, "toolId": "t2"}, TOOL_END)["tools"]
    yield Reading(888, "snapshot.context", talk(SEND, TEXT).context["text"], "a")
    yield Reading(889, "snapshot.value", talk(SEND).value, "sending")
    yield Reading(907, "SEND", state(*FAILED, SEND), "sending")
    yield Reading(908, "RESET", state(*FAILED, RESET), "idle")
    yield Reading(925, "concurrent", set(both), {"t1", "t2"})
    yield Reading(926, "individual", [tool["status"] for tool in both.values()], ["complete", "running"])
    yield Reading(927, "timing", both["t1"]["durationMs"], 40)
    recoverable = {**ERROR, "code": "1001", "recoverable": True}
    yield Reading(
        931,
        "Retry",
        (state(*FAILED, {"type": "RETRY"}), talk(SEND, recoverable).context["retryDelayMs"]),
        ("sending", 1000),
    )
    yield Reading(932, "Cancel", state(SEND, TEXT, {"type": "CANCEL"}), "idle")
    yield Reading(933, "Timeout", set(streaming_machine.config["states"]["sending"]["after"]), {"firstEvent"})


PASSAGES = [criteria, boundaries, first_context, events, transitions, actions, hook, unit_tests, other_tests, notes]


@pytest.mark.requirement("S0-T40")
@pytest.mark.parametrize("passage", PASSAGES)
def test_the_story_holds_line_by_line(passage):
    readings = list(passage())

    assert differences(readings) == listed("000", readings)
