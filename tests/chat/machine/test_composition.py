"""A turn from the question to the answer: thread, chat, reply, tools and permission, one inside the other."""

import json

import pytest

from antiphon import SimulatedClock, assign, create_actor, create_machine, from_callback
from antiphon.chat.machine.flow import flow_machine
from antiphon.chat.machine.tree import head_of, path
from antiphon.threads.machine.content import text_of
from antiphon.threads.machine.streaming import streaming_machine
from antiphon.threads.machine.thread import RESUME_PREFIXES, thread_machine
from antiphon.threads.machine.tools import tools_machine

TOOLS = [{"name": "look", "risk": "read"}, {"name": "edit", "risk": "write"}, {"name": "format_disk"}]
LOST = {"code": "interrupted", "message": "the process is gone", "recoverable": True}
CONFIG = {
    "model": "scripted:demo",
    "settings": {"options": {"tools": TOOLS}},
    "consent": {"mode": "ask", "timeoutMs": 60_000},
}

# A tool that works until the test gives its result.
tool = create_machine(
    {
        "id": "tool",
        "context": {"parts": []},
        "initial": "working",
        "states": {"working": {"on": {"GIVE": {"target": "done", "actions": "keep"}}}, "done": {"type": "final"}},
        "output": lambda context: {"parts": context["parts"]},
    },
    actions={"keep": assign({"parts": lambda context, event: [{"type": "text", "text": event["text"]}]})},
)


class World:
    """A thread with everything in it; the test is the person, the model and the tools."""

    def __init__(self, saved=None, clock=None, **config):
        self.asked = []
        self.statuses = []
        self.clock = clock or SimulatedClock()

        def stream(input, scope):
            self.asked.append(input)
            self.tell = scope.send_back

        reply = streaming_machine.provide(actors={"streamReply": from_callback(stream)})
        chat = flow_machine.provide(actors={"reply": reply, "tools": tools_machine.provide(actors={"tool": tool})})
        options = {"input": {"threadId": "t", "kind": "chat", "config": {**CONFIG, **config}}}
        machine = thread_machine.provide(actors={"chat": chat})
        self.thread = create_actor(machine, clock=self.clock, **({"snapshot": saved} if saved else options))
        self.thread.on("status", lambda event: self.statuses.append(event["status"]))
        self.thread.start()

    def do(self, type, **payload):
        """A person asks the thread for something."""
        self.thread.send({"type": type, **payload})
        return self

    def answer(self, type, **answer):
        """A person answers the request at its address."""
        actor = self.thread
        for id in self.facts["requests"][0]["address"].split("/"):
            actor = actor.get_snapshot().children[id]
        actor.send({"type": type, "id": self.facts["requests"][0]["id"], **answer})
        return self

    def says(self, *parts, cost=0.25):
        """The model says something, or asks for tools."""
        message = {"role": "assistant", "parts": [_part(part) for part in parts]}
        for part in parts:
            if isinstance(part, str):
                self.tell({"type": "TEXT_CHUNK", "content": part})
        self.tell({"type": "COMPLETE", "costUsd": cost, "durationMs": 10, "totalTokens": 3, "message": message})
        return self

    def gives(self, child, text):
        """A tool gives its result."""
        self.tools.get_snapshot().children[child].send({"type": "GIVE", "text": text})
        return self

    def ends(self, child, error):
        """A child of the tools has failed, as the runtime tells it."""
        self.tools.send({"type": f"xstate.error.actor.{child}", "actorId": child, "error": error})
        return self

    def reborn(self):
        """The same after a journey through JSON; whoever was at work begins again, as a task would."""
        saved = json.loads(json.dumps(self.thread.get_persisted_snapshot(timers=True)))
        return World(saved, self.clock)

    @property
    def chat(self):
        return self.thread.get_snapshot().children["chat"]

    @property
    def tools(self):
        return self.chat.get_snapshot().children["tools"]

    @property
    def status(self):
        return self.thread.get_snapshot().value

    @property
    def facts(self):
        return self.thread.get_snapshot().context

    @property
    def story(self):
        """Return role and text of the messages of the branch."""
        context = self.chat.get_snapshot().context
        return [(message["role"], _words(message["parts"])) for message in path(context["messages"], head_of(context))]


def _part(part):
    if isinstance(part, str):
        return {"type": "text", "text": part}
    return {"type": "toolCall", "id": part[0], "name": part[1], "arguments": '{"path": "x"}'}


def _words(parts):
    texts = [text_of(part["parts"]) for part in parts if part["type"] == "toolResult"]
    return "; ".join(texts) or text_of(parts)


def asking(**config):
    """A thread in which a person is asked for permission."""
    return World(**config).do("START", message={"text": "Tidy up"}).says("I would edit.", ("c1", "edit"))


# -- the whole story -------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S3-38")
def test_a_turn_without_tools():
    world = World().do("START", message={"text": "Hello"})
    running = world.status
    world.says("Hello yourself.")

    assert (running, world.status) == ("running", "completed")
    assert world.asked[0]["messages"] == [{"role": "user", "parts": [{"type": "text", "text": "Hello"}]}]
    assert world.story == [("user", "Hello"), ("assistant", "Hello yourself.")]
    assert world.facts["cost"] == 0.25


@pytest.mark.requirement("S3-38", "S3.4-7", "S3.4-13")
def test_a_turn_in_which_a_person_is_asked_and_says_yes():
    """The whole way down and up again."""
    world = asking()
    assert (world.status, world.facts["waitingReason"], world.facts["cost"]) == ("waiting", "permission", 0.25)

    world.answer("ALLOW")
    assert (world.status, world.tools.get_snapshot().value) == ("running", "running")

    world.gives("call-0", "edited").says("Done.")
    assert world.statuses == ["pending", "running", "waiting", "running", "completed"]
    assert world.story == [
        ("user", "Tidy up"),
        ("assistant", "I would edit."),
        ("tool", "edited"),
        ("assistant", "Done."),
    ]
    assert world.facts["resultInfo"] == {"status": "completed", "cost": 0.5, "duration": 20}
    assert set(world.chat.get_snapshot().children) == set()


def test_reads_pass_without_a_question_and_several_calls_are_made_side_by_side():
    world = World().do("START", message={"text": "Look"}).says(("c1", "look"), ("c2", "look"))
    assert world.status == "running"

    world.gives("call-1", "second").gives("call-0", "first").says("I see.")
    assert world.story[2] == ("tool", "first; second")
    assert world.statuses == ["pending", "running", "completed"]


def test_a_person_who_says_no_is_quoted_to_the_model():
    world = asking().answer("DENY", reason="not now")

    assert world.story[-1] == ("tool", "not allowed: not now")
    assert world.says("Then not.").status == "completed"


def test_an_answer_that_cannot_be_meant_leaves_the_thread_waiting():
    world = asking().answer("ALLOW", id="r9")
    assert (world.status, world.facts["waitingReason"]) == ("waiting", "permission")

    world.answer("ALLOW")
    assert world.tools.get_snapshot().value == "running"


def test_what_was_allowed_by_a_scope_is_not_asked_about_again():
    world = asking().answer("ALLOW", scope="tool").gives("call-0", "edited")
    world.says(("c2", "edit"))

    assert (world.status, world.tools.get_snapshot().value) == ("running", "running")
    world.gives("call-0", "edited").says("Done.").do("FOLLOW_UP", message={"text": "More"}).says(("c3", "edit"))
    assert (world.status, world.tools.get_snapshot().value) == ("running", "running")


def test_a_tool_of_unknown_risk_is_asked_about_each_time():
    world = World(consent={"mode": "auto"}).do("START", message={"text": "Go"}).says(("c1", "format_disk"))
    assert world.status == "waiting"

    world.answer("ALLOW", scope="tool")
    assert world.status == "waiting"
    world.answer("ALLOW").gives("call-0", "ok").says(("c2", "format_disk"))
    assert world.status == "waiting"


# -- leaving off -----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("X-5", "E-10", "S3-B8")
@pytest.mark.parametrize("allowed", [False, True])
def test_a_stop_reaches_tools_that_wait_or_work_and_the_next_run_has_a_valid_history(allowed):
    world = asking()
    if allowed:
        world.answer("ALLOW")
    tools = world.tools
    world.do("STOP")

    assert (world.status, tools.get_snapshot().status, world.facts["cost"]) == ("stopped", "stopped", 0.25)
    world.do("RESTART", message={"text": "Go on"})
    assert [message["role"] for message in world.asked[-1]["messages"]] == ["user", "assistant", "tool", "user"]
    assert world.asked[-1]["messages"][2]["parts"][0]["parts"][0]["text"] == "cancelled"
    assert world.says("Yes.").status == "completed"


@pytest.mark.requirement("X-5")
def test_a_stop_cuts_a_model_that_speaks_and_keeps_its_words():
    world = World().do("START", message={"text": "Hello"})
    world.tell({"type": "TEXT_CHUNK", "content": "Well, "})
    world.do("STOP")

    assert world.status == "stopped"
    assert world.story[-1] == ("assistant", "Well, ")
    assert world.chat.get_snapshot().context["reply"] is None


def test_a_message_that_is_refused_leaves_the_request_open():
    world = asking().do("RESPOND", message={"text": "Leave it", "branch": "nowhere"})

    assert world.statuses == ["pending", "running", "waiting", "running", "waiting"]
    assert [request["address"] for request in world.facts["requests"]] == ["chat/tools/permission"]
    assert world.answer("ALLOW").tools.get_snapshot().value == "running"


def test_a_message_instead_of_an_answer_drops_the_tools():
    world = asking()
    tools = world.tools
    world.do("RESPOND", message={"text": "Leave it"})

    assert (world.status, tools.get_snapshot().status) == ("running", "stopped")
    assert world.says("As you like.").status == "completed"
    assert world.story[-2:] == [("user", "Leave it"), ("assistant", "As you like.")]


@pytest.mark.parametrize("retry", [False, True])
def test_a_restart_instead_of_an_answer_drops_the_tools_and_asks_the_model_again(retry):
    world = asking()
    tools = world.tools
    world.do("RESTART", retry=retry)

    assert (world.status, tools.get_snapshot().status, world.facts["runId"]) == ("running", "stopped", "run-2")
    roles = [message["role"] for message in world.asked[-1]["messages"]]
    assert roles == (["user"] if retry else ["user", "assistant", "tool"])
    assert world.says("Well.").status == "completed"


def test_nobody_answers_in_time_and_the_thread_goes_on():
    world = asking()
    world.clock.increment(60_000)

    assert (world.status, world.facts["resumeReason"]) == ("running", "waiting-response")
    assert world.story[-1] == ("tool", "not allowed: nobody answered in time")
    assert world.says("Then not.").statuses == ["pending", "running", "waiting", "running", "completed"]


# -- what was lost ---------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S3-B13", "S3.4-7")
def test_a_request_that_its_process_left_behind_expires_and_is_asked_again_under_another_id():
    world = asking()
    (request,) = world.facts["requests"]
    story = world.story
    world.ends("process", LOST)

    assert world.status == "waiting"
    assert (world.facts["processLost"], world.facts["permissionExpired"]) == (True, True)
    assert (world.story, len(world.asked)) == (story, 1)

    world.do("RESTART")
    (again,) = world.facts["requests"]
    assert (world.status, world.facts["processLost"]) == ("waiting", False)
    assert (request["id"], again["id"]) == ("r1", "r2")
    assert again["calls"] == request["calls"]
    assert (world.story, len(world.asked)) == (story, 1)
    assert world.answer("DENY", id="r2").says("Then not.").status == "completed"


def test_a_message_instead_of_the_request_that_is_asked_again_answers_the_calls_with_errors():
    world = asking().ends("process", LOST)
    world.do("START", message={"text": "Leave it"})

    assert [message["role"] for message in world.asked[-1]["messages"]] == ["user", "assistant", "tool", "user"]
    assert world.says("As you like.").status == "completed"


@pytest.mark.requirement("S3.4-7")
def test_an_answer_to_a_request_that_has_expired_allows_nothing():
    """Never a silent yes."""
    world = asking()
    permission = world.tools.get_snapshot().children["permission"]
    world.ends("process", LOST)
    permission.send({"type": "ALLOW", "id": "r1"})
    world.do("RESPOND")

    assert (world.status, world.facts["requests"]) == ("waiting", [])
    assert (world.facts["cost"], len(world.asked)) == (0.25, 1)
    assert [request["id"] for request in world.do("RESTART").facts["requests"]] == ["r2"]


@pytest.mark.requirement("S3.4-4")
@pytest.mark.parametrize("code", ["interrupted", "unknown"])
def test_a_call_that_was_lost_interrupts_the_thread_and_is_in_the_history(code):
    world = asking().answer("ALLOW").ends("call-0", {**LOST, "code": code})

    assert world.status == "interrupted"
    assert world.story[-1] == ("tool", "nobody knows how this ended: the process is gone")
    assert len(world.asked) == 1

    world.do("RESTART")
    *_, results, note = world.asked[-1]["messages"]
    assert (results["role"], note["role"]) == ("tool", "user")
    assert note["parts"][0]["text"] == RESUME_PREFIXES["interrupted"].strip()
    assert world.says("It is done.").status == "completed"


def test_a_call_that_merely_fails_is_told_to_the_model():
    world = asking().answer("ALLOW").ends("call-0", {"code": "9001", "message": "no disk"})

    assert (world.status, world.story[-1]) == ("running", ("tool", "failed: no disk"))


@pytest.mark.requirement("S3.4-4")
def test_a_model_that_is_lost_interrupts_the_thread_and_the_question_is_asked_again():
    world = World().do("START", message={"text": "Hello"})
    reply = world.chat.get_snapshot().children["reply"]
    reply.send({"type": "xstate.error.actor.stream", "error": LOST})
    assert world.status == "interrupted"

    world.do("RESTART")
    (question,) = world.asked[-1]["messages"]
    assert [part["text"] for part in question["parts"]] == [RESUME_PREFIXES["interrupted"], "Hello"]
    assert world.says("Hello again.").story == [("user", "Hello"), ("assistant", "Hello again.")]


def test_the_last_question_is_asked_again_and_the_old_answer_stays_in_the_tree():
    world = World().do("START", message={"text": "Hello"}).says("First.").do("FOLLOW_UP", retry=True)
    assert world.status == "running"

    world.says("Second.")
    messages = world.chat.get_snapshot().context["messages"]
    assert world.story == [("user", "Hello"), ("assistant", "Second.")]
    assert [text_of(message["parts"]) for message in messages.values()] == ["Hello", "First.", "Second."]
    assert world.facts["cost"] == 0.5


def test_a_thread_with_nothing_to_go_on_with_says_so():
    world = World().do("START").do("STOP").do("RESTART")

    assert world.status == "failed"
    assert world.facts["resultInfo"]["error"]["message"] == "nothing was asked yet"


# -- restored --------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("E-17", "X-6")
def test_a_thread_that_waits_for_permission_survives_a_journey_through_json():
    """With the whole tree and its timers."""
    world = asking().reborn()
    assert (world.status, world.tools.get_snapshot().value) == ("waiting", "asking")

    world.answer("ALLOW").gives("call-0", "edited").says("Done.")
    assert world.status == "completed"
    assert world.story[-2:] == [("tool", "edited"), ("assistant", "Done.")]


def test_a_restored_request_times_out_when_the_first_would_have():
    world = asking()
    world.clock.increment(59_000)
    again = world.reborn()
    world.thread.stop()
    again.clock.increment(1_000)

    assert again.story[-1] == ("tool", "not allowed: nobody answered in time")
    assert again.status == "running"
