"""Events: making sure which one a function was given."""

from typing import Literal, TypedDict

import pytest

from antiphon import assert_event, assign, create_machine, initial_transition, takes, transition
from antiphon.chart.errors import ChartError, EventError
from antiphon.chart.functions import shape


class Chunk(TypedDict):
    type: Literal["TEXT_CHUNK"]
    content: str


class Key(TypedDict):
    type: Literal["key.up", "key.down"]


class Loud(Key):
    volume: int


class Nameless(TypedDict):
    type: str


def test_event_of_the_type_is_given_back():
    event = {"type": "a"}

    assert assert_event(event, "a") is event
    assert assert_event(event, ["b", "a"]) is event


@pytest.mark.parametrize(
    ("type", "descriptor"), [("a.b", "a.*"), ("a", "a.*"), ("a.b.c", "a.*"), ("a.b", "*"), ("a.b", ("x", "a.b"))]
)
def test_wildcards_match_as_in_transitions(type, descriptor):
    assert assert_event({"type": type}, descriptor)


@pytest.mark.parametrize(("type", "descriptor"), [("ab", "a.*"), ("b", "a"), ("a.b", "a"), ("a.b", "*.b")])
def test_other_events_are_refused(type, descriptor):
    with pytest.raises(EventError):
        assert_event({"type": type}, descriptor)


def test_refusal_shows_the_event_and_the_type():
    with pytest.raises(EventError) as refused:
        assert_event({"type": "x", "text": "é", "list": [1, None]}, "a.*")

    assert str(refused.value) == "expected an event of type 'a.*', not {'type': 'x', 'text': 'é', 'list': [1, None]}"


def test_refusal_shows_all_types():
    with pytest.raises(EventError) as refused:
        assert_event({"type": "x"}, ["a", "b"])

    assert str(refused.value) == "expected an event of type 'a' or 'b', not {'type': 'x'}"


def test_class_of_events_stands_for_the_types_it_has():
    assert assert_event({"type": "TEXT_CHUNK"}, Chunk)
    assert assert_event({"type": "key.down"}, Key)
    assert assert_event({"type": "key.up"}, Loud)
    with pytest.raises(EventError, match=r"of type 'key\.up' or 'key\.down', not"):
        assert_event({"type": "key"}, Key)


@pytest.mark.parametrize("kind", [Nameless, dict, TypedDict("Empty", {})])
def test_class_without_a_literal_type_is_refused(kind):
    with pytest.raises(EventError, match=f"{kind.__name__} is not an event type"):
        assert_event({"type": "x"}, kind)
    with pytest.raises(EventError, match=f"{kind.__name__} is not an event type"):
        takes(kind)


def test_function_that_takes_one_event_is_called_with_it():
    @takes(Chunk)
    def content(context: dict[str, str], event: Chunk) -> str:
        return context["text"] + event["content"]

    assert content({"text": "a"}, {"type": "TEXT_CHUNK", "content": "b"}) == "ab"
    assert content.__name__ == "content"


def test_function_that_takes_one_event_refuses_another():
    content = takes(Chunk)(lambda context, event: event["content"])

    with pytest.raises(EventError, match=r"expected an event of type 'TEXT_CHUNK', not {'type': 'x'}"):
        content({}, {"type": "x"})


def test_function_that_takes_one_event_may_take_params_and_scope():
    with_params = takes(Chunk)(lambda context, event, params: (event["content"], params))
    with_scope = takes(Chunk)(lambda context, event, scope: (event["content"], scope))
    event = {"type": "TEXT_CHUNK", "content": "a"}

    assert with_params({}, event, 1) == ("a", 1)
    assert with_scope({}, event, scope=2) == ("a", 2)
    assert shape(with_params).positional == 3
    with pytest.raises(EventError):
        with_params({}, {"type": "x"}, 1)


def test_machine_calls_a_function_that_takes_one_event():
    machine = create_machine(
        {"context": {"text": ""}, "on": {"TEXT_CHUNK": {"actions": {"type": "append", "params": "!"}}}},
        actions={
            "append": assign(
                {"text": takes(Chunk)(lambda context, event, params: context["text"] + event["content"] + params)}
            )
        },
    )
    snapshot, _ = initial_transition(machine)

    after, _ = transition(machine, snapshot, {"type": "TEXT_CHUNK", "content": "Hi"})
    assert after.context == {"text": "Hi!"}


def test_a_function_that_would_never_be_awaited_takes_no_kind_of_event():
    async def append(context, event):
        """Do nothing."""

    with pytest.raises(ChartError, match=r"takes\(Chunk\): append: the function is async"):
        takes(Chunk)(append)
