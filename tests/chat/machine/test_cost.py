"""The cost of long conversations: work is counted, not timed."""

import sys
from collections.abc import Mapping

from antiphon.chat.machine.operations import confirm_fork, plan_fork, rewind
from antiphon.chat.machine.windows import view
from tests.fixtures.conversations import Talk

MODEL = "scripted:demo"


class Counted(Mapping):
    """A map that counts how often it is read."""

    def __init__(self, inner):
        self.inner = inner
        self.reads = 0

    def __getitem__(self, key):
        self.reads += 1
        return self.inner[key]

    def __iter__(self):
        raise AssertionError("nobody should read all messages")

    def __len__(self):
        return len(self.inner)


def calls(work):
    """Count the calls of functions, those written in C included."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def copied_entries(context):
    """How many entries are copied when each container that is not shared between versions is copied once."""
    shared = ("messages", "checkpoints", "closed")
    return len(context) + sum(
        len(value) for key, value in context.items() if key not in shared and isinstance(value, dict | list)
    )


def test_ten_thousand_messages_are_stored_once():
    talk = Talk()
    talk.says("first")
    first = talk.context["messages"]
    small = copied_entries(talk.context)
    for _ in range(9_999):
        talk.says("word")

    assert len(talk.context["messages"]) == 10_000
    assert talk.context["messages"]._buffer is first._buffer
    assert len(first) == 1
    assert copied_entries(talk.context) == small


def test_the_last_messages_of_ten_thousand_cost_what_the_first_did():
    talk = Talk()
    first = calls(lambda: talk.says(*["word"] * 100))
    talk.says(*["word"] * 9_800)
    last = calls(lambda: talk.says(*["word"] * 100))

    assert last <= first * 1.05


def test_with_a_window_the_last_replies_cost_what_the_first_did():
    def turns(count):
        for _ in range(count):
            talk.says("x" * 36).reply("y" * 36)

    talk = Talk(model=MODEL, contextLimit=400)
    turns(50)  # the window is full
    first = calls(lambda: turns(50))
    turns(1_000)
    last = calls(lambda: turns(50))

    assert last <= first * 1.05


def test_checkpoints_and_branches_do_not_make_messages_dearer():
    talk = Talk(maxBranches=2)
    talk.says("word")
    small = copied_entries(talk.context)
    for _ in range(300):
        talk.says("word").do("checkpoint").do("fork").do("confirm_fork").do("merge", source="main")
        talk.do("cancel_merge").do("switch", branch="main")
        talk.do("close", branch=list(talk.context["branches"])[1])

    assert (len(talk.context["checkpoints"]), len(talk.context["closed"])) == (300, 300)
    assert copied_entries(talk.context) == small


def long_talk():
    talk = Talk(model=None)
    for _ in range(3_000):
        talk.says("word")
    messages = Counted(talk.context["messages"])
    return {**talk.context, "messages": messages}, messages


def test_a_fork_from_any_message_reads_that_message_only():
    context, messages = long_talk()

    confirm_fork(plan_fork(context, {"type": "fork", "from": "m17"}))

    assert messages.reads == 1


def test_a_rewind_reads_as_many_messages_as_it_goes_back():
    context, messages = long_talk()

    rewind(context, {"type": "rewind", "turns": 5})

    assert messages.reads <= 5 + 2


def test_a_window_reads_as_much_as_it_shows():
    talk = Talk(model=MODEL, contextLimit=400)
    for _ in range(1_000):
        talk.says("x" * 36).reply("y" * 36)
    messages = Counted(talk.context["messages"])

    window = view({**talk.context, "messages": messages}, "main")

    assert len(window.recent) < 40
    assert messages.reads <= 3 * len(window.recent)
