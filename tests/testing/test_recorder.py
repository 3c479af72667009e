"""A stream can be recorded without its secrets and played back through the same decoder."""

import json

import pytest

from antiphon.actors.clock import SimulatedClock
from antiphon.messages import assistant, user
from antiphon.providers.base import Request, ToolStart
from antiphon.providers.http.client import HttpTransport
from antiphon.testing.recorder import Recorder, Replay
from tests.fixtures.providers import CANARY, FORMATS, HELLO, read, run, stand


def record(path, format, *scenarios, request=HELLO):
    async def work():
        async with stand(transport=Recorder(HttpTransport(), path)) as here:
            return [await read(here.open(format, scenario), request) for scenario in scenarios]

    return run(work())


def replay(path, format, count, **how):
    async def work():
        async with stand(transport=Replay(path, **how)) as here:
            return [await read(here.open(format, "ok"), HELLO) for _ in range(count)]

    return run(work())


@pytest.mark.parametrize("scenario", ["ok", "split", "429", "eof", "drop", "overload"])
@pytest.mark.parametrize("format", FORMATS)
def test_a_recording_plays_what_was_seen(tmp_path, format, scenario):
    path = tmp_path / "one.jsonl"
    (live,) = record(path, format, scenario)
    (played,) = replay(path, format, 1)

    assert (played.text, played.thoughts) == (live.text, live.thoughts)
    assert len(played.deltas) == len(live.deltas)
    assert (played.error and played.error.to_json()) == (live.error and live.error.to_json())


@pytest.mark.parametrize("format", FORMATS)
def test_a_recording_has_no_key_and_no_id(tmp_path, format):
    path = tmp_path / "one.jsonl"
    (live,) = record(path, format, "ok", request=Request((user("a"), assistant("b"), user("c"))))
    written = path.read_text("utf-8")

    assert CANARY not in written
    assert "req_1" not in written
    for delta in live.deltas:
        if isinstance(delta, ToolStart):
            assert delta.id not in written
    for id in ("msg_1", "chatcmpl-1", '"r1"'):
        assert id not in written


def test_an_id_keeps_its_meaning_under_its_new_name(tmp_path):
    path = tmp_path / "one.jsonl"
    record(path, "mistral", "ok")
    (played,) = replay(path, "mistral", 1)
    ids = {delta.id for delta in played.deltas if hasattr(delta, "id")}

    assert len(ids) == 1


def test_several_exchanges_are_played_in_order_and_then_it_is_over(tmp_path):
    path = tmp_path / "two.jsonl"
    record(path, "openai", "text", "429")
    first, second, third = replay(path, "openai", 3)

    assert first.done
    assert second.error.code == "3001"
    assert third.error.code == "1001"


def test_a_recording_can_be_played_at_its_own_pace(tmp_path):
    path = tmp_path / "slow.jsonl"
    lines = [
        {"call": {}},
        {"answer": {"status": 200, "headers": {}}},
        {"at": 500, "data": 'data: {"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]}\n\n'},
        {"at": 700, "data": "data: [DONE]\n\n"},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    clock = HurryingClock()
    (played,) = replay(path, "openai", 1, paced=True, clock=clock)

    assert played.text == "a"
    assert clock.now() == 700


class HurryingClock(SimulatedClock):
    """A clock that is wherever someone waits for it to be."""

    def set_timeout(self, callback, delay_ms):
        handle = super().set_timeout(callback, delay_ms)
        self.increment(delay_ms)
        return handle
