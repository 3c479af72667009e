"""A chat of version 1 that asks for permission is migrated, and answered at the address of its request."""

import json

import pytest

from antiphon import SimulatedClock, create_actor, create_machine, from_callback
from antiphon.chat.machine.flow import flow_machine
from antiphon.chat.machine.version_1.flow import flow_machine_1
from antiphon.chat.machine.version_1.migration import CHANGES as CHAT_CHANGES
from antiphon.threads.machine.former import migrate_by
from antiphon.threads.machine.streaming import streaming_machine
from antiphon.threads.machine.thread import thread_machine
from antiphon.threads.machine.tools import tools_machine
from antiphon.threads.machine.version_1.migration import CHANGES as THREAD_CHANGES
from antiphon.threads.machine.version_1.thread import thread_machine_1
from antiphon.threads.machine.version_1.tools import tools_machine_1

CALL = {"type": "toolCall", "id": "c1", "name": "edit", "arguments": "{}"}
TOOLS = [{"name": "edit", "risk": "write"}]
CONFIG = {"model": "scripted:demo", "settings": {"options": {"tools": TOOLS}}, "consent": {"timeoutMs": 60_000}}
ASKING = {"consent": {"timeoutMs": 60_000, "approver": True}}
# Stands for an approver that is still at work.
busy = create_machine({"id": "busy"})


class Thread:
    """A thread of a version; the test is the model and the person."""

    def __init__(self, thread, chat, tools, saved=None, **config):
        self.clock = SimulatedClock()

        def stream(input, scope):
            self.tell = scope.send_back

        reply = streaming_machine.provide(actors={"streamReply": from_callback(stream)})
        calls = tools.provide(actors={"approver": busy})
        self.machine = thread.provide(actors={"chat": chat.provide(actors={"reply": reply, "tools": calls})})
        input = {"threadId": "t", "kind": "chat", "config": {**CONFIG, **config}}
        options = {"input": input} if saved is None else {"snapshot": saved}
        self.actor = create_actor(self.machine, clock=self.clock, **options).start()

    def ask(self):
        self.actor.send({"type": "START", "message": {"text": "Tidy up"}})
        facts = {"costUsd": 0.25, "durationMs": 1, "totalTokens": 3}
        self.tell({"type": "COMPLETE", "message": {"parts": [CALL]}, **facts})
        return self

    def at(self, address):
        actor = self.actor
        for id in address.split("/"):
            actor = actor.get_snapshot().children[id]
        return actor

    @property
    def status(self):
        return self.actor.get_snapshot().value

    @property
    def requests(self):
        return self.actor.get_snapshot().context["requests"]


def migrated(former):
    """The thread after its migration, through JSON."""
    saved = json.loads(json.dumps(former.actor.get_persisted_snapshot(timers=True)))
    present = Thread(thread_machine, flow_machine, tools_machine).machine
    changes = {**THREAD_CHANGES, **CHAT_CHANGES}
    return Thread(thread_machine, flow_machine, tools_machine, migrate_by(present, changes)(saved, 1))


def former(**config):
    return Thread(thread_machine_1, flow_machine_1, tools_machine_1, **config)


@pytest.mark.parametrize(("answer", "value"), [("ALLOW", "running"), ("DENY", None)])
def test_a_request_of_version_1_is_answered_at_its_address(answer, value):
    thread = migrated(former().ask())
    (request,) = thread.requests
    asked_by = thread.at("chat/tools")
    thread.at(request["address"]).send({"type": answer, "id": "r0"})
    still = thread.status
    thread.at(request["address"]).send({"type": answer, "id": request["id"]})

    assert (request["id"], request["reason"], request["address"]) == ("r1", "permission", "chat/tools/permission")
    assert [call["name"] for call in request["calls"]] == ["edit"]
    assert (still, thread.status, thread.requests) == ("waiting", "running", [])
    assert value is None or asked_by.get_snapshot().value == value


def test_a_request_of_version_1_times_out_when_it_would_have():
    thread = migrated(former().ask())
    thread.clock.increment(59_999)
    before = thread.status
    thread.clock.increment(1)

    assert (before, thread.status) == ("waiting", "running")


def test_an_approver_of_version_1_decides_after_the_migration():
    thread = migrated(former(**ASKING).ask())
    tools = thread.at("chat/tools")
    asked = tools.get_snapshot().children["permission"].get_snapshot().context["verdict"]["calls"]
    request = {"id": "r1", "calls": asked, "timeoutMs": 60_000}
    tools.send({"type": "xstate.done.actor.approver", "output": {"request": request, "answer": None}})

    assert [request["address"] for request in thread.requests] == ["chat/tools/permission"]
    assert thread.status == "waiting"


def test_a_thread_that_did_not_wait_has_no_requests():
    thread = migrated(former())

    assert (thread.status, thread.requests) == ("pending", [])


def test_a_thread_of_another_program_that_waited_can_be_answered():
    waiting = former()
    waiting.actor.send({"type": "SET_STATUS", "status": "waiting", "reason": "plan"})
    thread = migrated(waiting)
    (request,) = thread.requests
    thread.actor.send({"type": "RESPOND", "requestId": request["id"]})

    assert (request["reason"], request["address"], thread.status) == ("plan", "", "running")


def test_version_1_passes_an_answer_down_to_its_tools():
    """Journals of release 0.1 have answers to the thread."""
    thread = former().ask()
    thread.actor.send({"type": "RESPOND", "answer": {"decision": "allow", "id": "r9"}})
    wrong = thread.status
    thread.actor.send({"type": "RESPOND", "answer": {"decision": "allow", "scope": "thread", "reason": "go"}})

    assert (wrong, thread.status, thread.at("chat/tools").get_snapshot().value) == ("waiting", "running", "running")


def test_version_1_goes_on_when_nobody_answers_in_time():
    thread = former().ask()
    thread.clock.increment(60_000)

    assert thread.status == "running"


def test_settings_that_a_chat_lacks_are_those_of_today():
    old = former().ask()
    saved = old.actor.get_persisted_snapshot(timers=True)
    del saved["children"]["chat"]["snapshot"]["context"]["config"]["maxQueue"]
    present = Thread(thread_machine, flow_machine, tools_machine).machine
    chat = migrate_by(present, CHAT_CHANGES)(saved, 1)["children"]["chat"]["snapshot"]

    assert chat["context"]["config"]["maxQueue"] == flow_machine.config["context"]({})["config"]["maxQueue"]
