"""A chat begins with a conversation from elsewhere only if every word of it holds together."""

import copy

import pytest

from antiphon.chat.machine.adapter import ChatPolynomialAdapter
from antiphon.chat.machine.history import KEYS, problem_with_history
from antiphon.chat.machine.settings import initial_context


def make_talk():
    """A conversation with two branches, a closed one, a checkpoint and a pin, as JSON."""
    chat = ChatPolynomialAdapter()
    chat.perform("start")
    chat.perform("message", text="Tabs or spaces?", at=1000, tags=["REQUIRED"])
    chat.perform("message", role="assistant", text="Tabs.")
    chat.perform("checkpoint", name="first")
    for name in ("doubts", "closed"):
        chat.perform("fork", name=name)
        chat.perform("confirm_fork")
        chat.perform("message", text=f"On {name}?")
        chat.perform("switch", branch="main")
    chat.perform("close", branch="closed")
    chat.perform("pin", message="m1")
    context = chat.context
    plain = {key: context[key] for key in KEYS}
    return copy.deepcopy({**plain, **{key: dict(plain[key]) for key in ("messages", "closed", "checkpoints")}})


def test_a_conversation_goes_on_as_it_was():
    history = make_talk()
    context = initial_context({"config": {"model": "m"}, "history": history})

    assert {key: context[key] for key in KEYS} == history
    assert context["nextMessage"] == 5


def test_the_order_of_messages_does_not_matter():
    history = make_talk()
    history["messages"] = dict(reversed(history["messages"].items()))

    assert problem_with_history(history) is None


def test_what_a_message_says_of_all_before_it_is_computed_anew():
    history = make_talk()
    stripped = {id: {key: message[key] for key in message if key not in ("hash", "turn", "tokens")}
            for id, message in history["messages"].items()}  # fmt: skip

    assert initial_context({"history": {**history, "messages": stripped}})["messages"] == history["messages"]


def test_a_word_that_was_changed_is_found():
    history = make_talk()
    history["messages"]["m1"]["parts"][0]["text"] = "Spaces or tabs?"

    assert problem_with_history(history) == (
        "messages.m1.hash: does not fit what was said; the message or one before it was changed"
    )
    with pytest.raises(ValueError, match=r"chat: history: messages\.m1\.hash"):
        initial_context({"history": history})


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        (["messages"], [], "messages: must be an object"),
        (["extra"], 1, "history: unknown key 'extra'"),
        (["messages", "m2", "parent"], "m9", "messages.m2.parent: there is no message 'm9'"),
        (["messages", "m1", "parent"], "m2", "messages.m1.parent: leads back to the message itself"),
        (["messages", "m1", "role"], "nobody", "messages.m1.role: unknown role 'nobody'"),
        (["messages", "m1", "parts"], [{"type": "noise"}], "messages.m1.parts: unknown part 'noise'"),
        (["messages", "m1", "parts"], "words", "messages.m1.parts: must be a list"),
        (["messages", "m1", "at"], "now", "messages.m1.at: is 'now', which is not valid"),
        (["messages", "m1", "id"], "m7", "messages.m1.id: is 'm7', but stands under 'm1'"),
        (["messages", "m1", "copiedFrom"], "m7", "messages.m1.copiedFrom: there is no message 'm7'"),
        (["messages", "m1", "evil"], 1, "messages.m1: unknown key 'evil'"),
        (["branch"], "nowhere", "branch: 'nowhere' is no open branch; open: main, doubts"),
        (["branches", "main", "head"], "m9", "branches.main: there is no message 'm9'"),
        (["branches", "main", "name"], "other", "branches.main.name: is 'other'"),
        (["branches", "main", "parent"], 3, "branches.main.parent: is 3"),
        (["branches", "main", "window"], {"cut": "m1"}, "branches.main.window: 'kept' is missing"),
        (["closed", "main"], {"name": "main", "head": None}, "closed.main: is among the open branches too"),
        (
            ["checkpoints", "x"],
            {"id": "y", "head": None, "branch": "main", "turn": 0},
            "checkpoints.x: is no checkpoint",
        ),
        (["pinned"], ["m9"], "pinned: there is no message 'm9'"),
        (["metrics", "costUsd"], -1, "metrics.costUsd: is -1; it must be a number from 0"),
        (["metrics", "costUsd"], float("nan"), "metrics.costUsd: is nan"),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(path, value, problem):
    history = make_talk()
    *way, last = path
    place = history
    for key in way:
        place = place[key]
    place[last] = value

    assert (problem_with_history(history) or "nothing").startswith(problem)


def test_a_window_goes_along():
    history = make_talk()
    history["branches"]["main"]["window"] = {"cut": "m1", "kept": ["m1"], "summary": None, "armed": True}

    assert initial_context({"history": history})["branches"]["main"]["window"]["kept"] == ["m1"]
