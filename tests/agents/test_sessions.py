"""Sessions of runs: opened with the first request, closed at the end, and other models to fall back to."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from antiphon.app import App
from antiphon.errors import Code
from antiphon.messages import Usage
from antiphon.providers.base import Delta, Done, Model, Request, TextDelta, UsageDelta
from antiphon.providers.errors import ProviderError
from antiphon.providers.registry import Models
from antiphon.stores.memory import MemoryStore
from antiphon.threads.errors import Refused
from tests.fixtures.agents import decision, idle
from tests.fixtures.orchestrator import agent

PATIENCE_S = 30
FORBIDDEN = ProviderError(Code.FORBIDDEN, "not for you")
POET = agent("poet")
RULES = {"kind": "rules"}


class Speaker:
    """A model that answers every request alike, or fails; it remembers what it was asked."""

    def __init__(self, name: str, reply: str | ProviderError | None, provider: str = "scripted") -> None:
        self.model = Model(f"{name}:m", provider, name)
        self._reply = reply
        self.asked: list[Request] = []
        self.was_asked = asyncio.Event()

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Answer or fail; without a reply, stay silent."""
        self.asked.append(request)
        self.was_asked.set()
        if isinstance(self._reply, ProviderError):
            raise self._reply
        if self._reply is None:
            await asyncio.Event().wait()
            return
        yield UsageDelta(Usage(input=3, output=2), self.model.name)
        yield TextDelta(self._reply)
        yield Done("end")


def models_of(**speakers: Speaker) -> Models:
    return Models(openers={name: lambda reference, speaker=speaker: speaker for name, speaker in speakers.items()})


def run_with(speakers: dict[str, Speaker], **settings: Any) -> tuple[dict[str, Any], list[Any]]:
    """A run of one poet: its record, and what happened; at the end no session is open."""

    async def main() -> tuple[dict[str, Any], list[Any]]:
        async with App(MemoryStore(), models=models_of(**speakers)) as app, asyncio.timeout(PATIENCE_S):
            id = await app.runs.create([settings.pop("agent", POET)], backoffMs=1, **settings)
            heard = await idle(app.runs, id, "rhyme")
            await app.sessions.wait_closed()
            assert app.sessions.ids == []
            return await app.runs.read(id), heard

    return asyncio.run(main())


def of_kind(heard: list[Any], kind: str) -> list[dict[str, Any]]:
    return [dict(activity.facts) for activity in heard if activity.kind == kind]


@pytest.mark.requirement("S1-109", "S1-B14", "S1-23")
def test_a_session_begins_with_the_first_request_and_has_the_key_of_all_its_requests() -> None:
    arbiter = Speaker("b", decision("SELECT_MODE", mode="poet", reason="go"))
    poet = Speaker("a", "A poem.")
    settings = {"model": "a:m", "arbiter": {"model": "b:m"}, "maxIterations": 2}
    run, heard = run_with({"a": poet, "b": arbiter}, **settings)

    opened = of_kind(heard, "session_opened")
    assert [facts["name"] for facts in opened] == ["@arbiter", "poet"]
    assert [facts["session"]["model"] for facts in opened] == ["b:m", "a:m"]
    assert {request.cache_key for request in poet.asked} == {opened[1]["session"]["id"]}
    assert {request.cache_key for request in arbiter.asked} == {opened[0]["session"]["id"]}
    assert (len(poet.asked), run["outcome"]["reason"]) == (2, "max_iterations")


@pytest.mark.requirement("S1-83", "S1-109", "S1-68")
@pytest.mark.parametrize(("reply", "reason"), [("A poem.", "completed"), (FORBIDDEN, "failed")])
def test_every_session_is_closed_at_the_end(reply: Any, reason: str) -> None:
    run, heard = run_with({"a": Speaker("a", reply)}, model="a:m", arbiter=RULES)

    [opened] = of_kind(heard, "session_opened")
    assert of_kind(heard, "session_closed") == [{"session": opened["session"]}]
    assert run["outcome"]["reason"] == reason


@pytest.mark.requirement("S1-83", "S1-109")
def test_a_cancelled_run_closes_its_session() -> None:
    async def main() -> tuple[list[str], list[str], list[Any]]:
        silent = Speaker("a", None)
        async with App(MemoryStore(), models=models_of(a=silent)) as app, asyncio.timeout(PATIENCE_S):
            id = await app.runs.create([POET], model="a:m", arbiter=RULES)
            await app.runs.start(id, "rhyme")
            await silent.was_asked.wait()
            before = app.sessions.ids
            receipt = await app.runs.stop(id)
            heard = [activity async for activity in app.runs.until_idle(id, receipt.seq - 1)]
            await app.sessions.wait_closed()
            return before, app.sessions.ids, heard

    before, after, heard = asyncio.run(main())

    assert (len(before), after) == (1, [])
    assert [facts["session"]["id"] for facts in of_kind(heard, "session_closed")] == before


@pytest.mark.requirement("S1-109", "S1-B14")
def test_another_model_answers_where_the_error_is_not_worth_another_try() -> None:
    first = Speaker("a", FORBIDDEN)
    run, heard = run_with({"a": first, "b": Speaker("b", "A poem.")}, model="a:m", fallback=["b:m"], arbiter=RULES)

    facts = {"from": "a:m", "to": "b:m", "code": "2002", "message": "not for you"}
    [turn] = run["history"]
    assert (len(first.asked), turn["output"], turn["fallbacks"]) == (1, "A poem.", [facts])
    [fell_back] = of_kind(heard, "fell_back")
    assert {key: fell_back[key] for key in facts} == facts
    assert fell_back["severity"] == "warning"
    assert fell_back["text"] == "Agent 'poet' falls back from a:m to b:m: not for you"
    assert [facts["session"]["model"] for facts in of_kind(heard, "session_closed")] == ["a:m", "b:m"]


@pytest.mark.requirement("S1-109")
def test_another_model_answers_where_retries_are_used_up() -> None:
    busy = Speaker("a", ProviderError(Code.OVERLOADED, "too busy", retry_after_ms=1))
    run, _ = run_with({"a": busy, "b": Speaker("b", "A poem.")}, model="a:m", fallback=["b:m"], arbiter=RULES)

    assert (len(busy.asked), run["history"][0]["output"]) == (4, "A poem.")


@pytest.mark.requirement("S1-109")
def test_an_agents_own_fallback_precedes_that_of_the_run_and_the_next_turn_keeps_the_model() -> None:
    speakers = {"a": Speaker("a", FORBIDDEN), "b": Speaker("b", "no"), "c": Speaker("c", "A poem.")}
    own = agent("poet", fallback=["c:m"], transitions={"onSuccess": "CONTINUE"})
    settings = {"model": "a:m", "fallback": ["b:m"], "arbiter": RULES, "agent": own, "maxIterations": 2}
    run, _ = run_with(speakers, **settings)

    assert [turn["output"] for turn in run["history"]] == ["A poem.", "A poem."]
    assert [len(speaker.asked) for speaker in speakers.values()] == [1, 0, 2]


@pytest.mark.requirement("S1-109")
def test_a_fallback_without_a_price_is_not_asked_under_a_cost_limit() -> None:
    unpriced = Speaker("b", "A poem.", provider="openai")
    speakers = {"a": Speaker("a", FORBIDDEN), "b": unpriced}
    run, heard = run_with(speakers, model="a:m", fallback=["b:m"], arbiter=RULES, maxCostUsd=1)

    assert unpriced.asked == []
    assert (run["outcome"]["success"], run["outcome"]["error"]["code"]) == (False, "9007")
    assert len(of_kind(heard, "fell_back")) == 1


@pytest.mark.requirement("S1-109")
def test_the_arbiter_falls_back_too() -> None:
    speakers = {"a": Speaker("a", "A poem."), "b": Speaker("b", FORBIDDEN)}
    speakers["c"] = Speaker("c", decision("SELECT_MODE", mode="poet", reason="go"))
    arbiter = {"model": "b:m", "fallback": ["c:m"]}
    _, heard = run_with(speakers, model="a:m", arbiter=arbiter, maxIterations=1)

    [fell_back] = of_kind(heard, "fell_back")
    assert fell_back["text"] == "The arbiter falls back from b:m to c:m: not for you"
    assert (len(speakers["b"].asked), len(speakers["c"].asked)) == (1, 2)


@pytest.mark.parametrize(("value", "words"), [("a:m", "fallback is 'a:m'"), ([1], r"fallback is \[1\]")])
def test_a_fallback_that_is_no_list_of_models_is_refused(value: Any, words: str) -> None:
    with pytest.raises(Refused, match=words):
        run_with({"a": Speaker("a", "x")}, model="a:m", fallback=value)


@pytest.mark.requirement("S1-108")
def test_severities_are_in_the_activities_the_record_and_the_export() -> None:
    async def main() -> tuple[Any, list[Any], str]:
        async with App(MemoryStore(), models=models_of(a=Speaker("a", FORBIDDEN))) as app:
            id = await app.runs.create([POET], model="a:m", arbiter=RULES)
            heard = await idle(app.runs, id, "rhyme")
            return await app.runs.read(id), heard, await app.library.export(id, "md")

    run, heard, page = asyncio.run(main())

    expected = [
        ("info", "Starting task: rhyme"),
        ("info", "Agent 'poet' starting (iteration 1)"),
        ("info", "Agent 'poet' opens a session with a:m"),
        ("error", "Agent 'poet' error: not for you"),
        ("error", "Task failed after 1 failures"),
    ]
    assert [(line["severity"], line["text"]) for line in run["log"]] == expected
    shown = [(activity.facts["severity"], activity.facts["text"]) for activity in heard if "severity" in activity.facts]
    assert shown == expected
    assert "| error | Task failed after 1 failures |" in page
