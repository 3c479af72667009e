"""A run of version 1 whose agents ask is migrated, and each agent is answered at the address of its request."""

import json

from antiphon import SimulatedClock, create_actor, create_machine, from_callback
from antiphon.agents.machine.agent import agent_machine
from antiphon.agents.machine.crew import crew_machine
from antiphon.agents.machine.orchestrator import orchestrator_machine
from antiphon.agents.machine.version_1.agent import agent_machine_1
from antiphon.agents.machine.version_1.migration import CHANGES as RUN_CHANGES
from antiphon.agents.machine.version_1.orchestrator import crew_machine_1, orchestrator_machine_1
from antiphon.threads.machine.former import migrate_by
from antiphon.threads.machine.streaming import streaming_machine
from antiphon.threads.machine.thread import thread_machine
from antiphon.threads.machine.tools import tools_machine
from antiphon.threads.machine.version_1.migration import CHANGES as THREAD_CHANGES
from antiphon.threads.machine.version_1.thread import thread_machine_1
from antiphon.threads.machine.version_1.tools import tools_machine_1
from tests.fixtures.orchestrator import agent

SCHEMA = {"type": "object", "required": ["verdict"]}
AGENTS = {"red": agent("red", responseSchema=SCHEMA), "blue": agent("blue")}
PICK = {"type": "SELECT_MODE", "mode": "red", "parallel": [{"mode": "red", "step": 0}, {"mode": "blue", "step": 1}]}
TOOLS = [{"name": "edit", "risk": "write"}, {"name": "ask_user"}]
CREW = "run/executeAgent"
PRESENT = (thread_machine, orchestrator_machine, crew_machine, agent_machine, tools_machine)
FORMER = (thread_machine_1, orchestrator_machine_1, crew_machine_1, agent_machine_1, tools_machine_1)
silent = create_machine({"id": "silent"})


class Run:
    """A run of a version with two agents; the test is their models and the person."""

    def __init__(self, machines, saved=None):
        thread, orchestrator, crew, one, tools = machines
        self.clock = SimulatedClock()

        def stream(input, scope):
            pass

        reply = streaming_machine.provide(actors={"streamReply": from_callback(stream)})
        turn = one.provide(actors={"reply": reply, "tools": tools})
        arbiter = {"arbiterSelectAgent": silent, "arbiterEvaluate": silent}
        run = orchestrator.provide(actors={**arbiter, "agentExecutor": crew.provide(actors={"agent": turn})})
        self.machine = thread.provide(actors={"run": run})
        config = {"agents": AGENTS, "model": "m", "tools": TOOLS, "consent": {"mode": "ask"}}
        input = {"threadId": "t", "kind": "run", "config": config}
        options = {"input": input} if saved is None else {"snapshot": saved}
        self.actor = create_actor(self.machine, clock=self.clock, **options).start()

    def start(self):
        self.actor.send({"type": "START", "message": {"text": "paint", "plan": {"steps": ["red", "blue"]}}})
        done = {"type": "xstate.done.actor.selectAgent", "actorId": "selectAgent"}
        self.at("run").send({**done, "output": {"decision": PICK}})
        return self

    def reply(self, number, *calls, text=None):
        call = {"type": "toolCall", "id": "same"}
        parts = [{**call, "name": name, "arguments": json.dumps(given)} for name, given in calls]
        message = {"role": "assistant", "parts": [*parts, *([{"type": "text", "text": text}] if text else [])]}
        facts = {"costUsd": 0.25, "durationMs": 1, "totalTokens": 3, "stop": "end"}
        self.at(f"{CREW}/agent-{number}/reply").send({"type": "COMPLETE", "message": message, **facts})
        return self

    def ask(self):
        """Both agents ask a person."""
        return self.start().reply(0, ("edit", {})).reply(1, ("ask_user", {"question": "Which blue?"}))

    def at(self, address):
        actor = self.actor
        for id in address.split("/"):
            actor = actor.get_snapshot().children[id]
        return actor

    @property
    def requests(self):
        return {request["address"]: request for request in self.actor.get_snapshot().context["requests"]}


def migrated(former):
    saved = json.loads(json.dumps(former.actor.get_persisted_snapshot(timers=True)))
    return Run(PRESENT, migrate_by(Run(PRESENT).machine, {**THREAD_CHANGES, **RUN_CHANGES})(saved, 1))


def test_two_agents_of_version_1_are_answered_at_their_addresses():
    run = migrated(Run(FORMER).ask())
    requests = run.requests
    red = requests[f"{CREW}/agent-0/tools/permission"]
    blue = requests[f"{CREW}/agent-1"]
    run.at(blue["address"]).send({"type": "ANSWER", "id": blue["id"], "text": "light"})
    left = list(run.requests)
    run.at(red["address"]).send({"type": "ALLOW", "id": red["id"]})

    assert (red["reason"], blue["reason"], blue["question"]) == ("permission", "question", "Which blue?")
    assert (left, run.requests, run.actor.get_snapshot().value) == ([red["address"]], {}, "running")
    assert run.at(f"{CREW}/agent-1").get_snapshot().value == "replying"
    results = run.at(f"{CREW}/agent-1").get_snapshot().context["messages"][-1]["parts"]
    assert (results[0]["callId"], results[0]["parts"][0]["text"]) == ("same", "light")


def test_the_ids_of_questions_are_those_that_version_2_would_give():
    """Those of version 1 were ids of calls, which two models may share."""
    blue = migrated(Run(FORMER).ask()).requests[f"{CREW}/agent-1"]

    assert (blue["id"], blue["callId"]) == ("1-agent-1-question-1-0", "same")


def test_a_reply_in_flight_gets_the_schema_of_its_answer():
    run = migrated(Run(FORMER).start())
    options = [run.at(f"{CREW}/agent-{n}/reply").get_snapshot().context["settings"]["options"] for n in (0, 1)]

    assert [one.get("responseSchema") for one in options] == [SCHEMA, None]


def test_version_1_checks_answers_itself():
    run = Run(FORMER).start().reply(0, text="Hm.")
    complaint = run.at(f"{CREW}/agent-0").get_snapshot().context["messages"][-1]["parts"][0]["text"]
    run.reply(0, text="Hm again.")

    assert complaint == "That does not fit: there is no JSON in the reply."
    result = run.at(CREW).get_snapshot().context["results"]["agent-0"]
    assert result["error"]["message"] == "there is no JSON in the reply"


def test_version_1_passes_answers_down_to_the_agents():
    """Journals of release 0.1 have answers to the thread."""
    run = Run(FORMER).ask()
    run.actor.send({"type": "RESPOND", "answer": {"text": "light", "agentId": "agent-1"}})
    waiting = run.actor.get_snapshot().value
    run.actor.send({"type": "RESPOND", "answer": {"decision": "allow", "scope": "thread"}})

    assert (waiting, run.actor.get_snapshot().value) == ("waiting", "running")
    assert run.at(f"{CREW}/agent-0/tools").get_snapshot().value == "running"
    assert run.at(f"{CREW}/agent-1").get_snapshot().value == "replying"
