"""Declared events: what is right, what is refused and why, and their JSON Schema."""

import json
from datetime import date
from types import MappingProxyType
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon import assign, create_actor, setup
from antiphon.chart.checks.event_types import EventField, EventTypes
from antiphon.chart.errors import EventError, EventRefused
from antiphon.json_schema import Checker
from tests.fixtures.string_events import Loose, Noted


class Part(TypedDict, total=False):
    """A part of a message."""

    text: str
    parts: "list[Part]"


class Note(TypedDict):
    """A part with a tag."""

    type: Literal["note"]
    words: str


class Mark(TypedDict):
    """Another part with a tag."""

    type: Literal["mark"]
    size: int


class Rewind(TypedDict):
    """Go back some turns, or to a checkpoint.

    More words.
    """

    type: Literal["rewind"]
    branch: str
    turns: NotRequired[int]
    factor: NotRequired[float]
    checkpointId: NotRequired[str | None]
    force: NotRequired[bool]
    mode: NotRequired[Literal["keep", "drop"]]
    parts: NotRequired[list[Part]]
    prices: NotRequired[dict[str, float | None]]
    more: NotRequired[Any]
    note: NotRequired[Note | Mark | None]


class Replied(TypedDict):
    """A reply has begun or ended."""

    type: Literal["REPLY.STARTED", "REPLY.ENDED"]


TYPES = EventTypes(Rewind | Replied, public=["rewind"])
RIGHT = {"type": "rewind", "branch": "main"}


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"turns": 2, "checkpointId": None, "force": True, "mode": "drop", "more": [{"anything": None}]},
        {"factor": 1.5},
        {"factor": 2},
        {"parts": [{"text": "a", "parts": [{"parts": []}]}, {}]},
        {"prices": {"a": 1, "b": None, "c": 0.5}},
        {"note": None},
        {"note": {"type": "mark", "size": 3}},
    ],
)
def test_a_right_event_has_no_problem(payload):
    assert TYPES.check_outside({**RIGHT, **payload}) is None


@pytest.mark.parametrize(
    ("payload", "path", "value", "expected"),
    [
        ({"turns": "2"}, "turns", '"2"', "a whole number"),
        ({"turns": True}, "turns", "true", "a whole number"),
        ({"turns": 2.0}, "turns", "2.0", "a whole number"),
        ({"factor": float("nan")}, "factor", "NaN", "a number"),
        ({"factor": float("inf")}, "factor", "Infinity", "a number"),
        ({"factor": False}, "factor", "false", "a number"),
        ({"force": 1}, "force", "1", "true or false"),
        ({"branch": None}, "branch", "null", "a text"),
        ({"checkpointId": 7}, "checkpointId", "7", "a text or null"),
        ({"mode": "both"}, "mode", '"both"', "one of 'keep', 'drop'"),
        ({"mode": ["keep"]}, "mode", '["keep"]', "one of 'keep', 'drop'"),
        ({"parts": {"text": "a"}}, "parts", '{"text": "a"}', "a list"),
        ({"parts": [{"text": "a"}, {"parts": [{"text": 1}]}]}, "parts[1].parts[0].text", "1", "a text"),
        ({"prices": {"a": "1"}}, "prices.a", '"1"', "a number or null"),
        ({"prices": 3}, "prices", "3", "an object"),
        ({"note": 3}, "note", "3", "an object or null"),
        ({"note": {"type": "mark", "size": "big"}}, "note.size", '"big"', "a whole number"),
        ({"note": {"type": "other"}}, "note", '{"type": "other"}', "an object or null"),
    ],
)
def test_a_wrong_value_is_named_with_its_path_and_what_was_expected(payload, path, value, expected):
    problem = TYPES.check_outside({**RIGHT, **payload})

    assert problem is not None
    assert problem[:4] == ("rewind", path, value, expected)
    assert str(problem) == f"rewind: {path} is {value}: expected {expected}"


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ({"type": "rewind"}, "rewind: branch is missing: expected a text"),
        ({**RIGHT, "note": {"type": "note"}}, "rewind: note.words is missing: expected a text"),
        ({**RIGHT, "checkpoint_id": "c1"}, "rewind: checkpoint_id is unknown: did you mean 'checkpointId'?"),
        ({**RIGHT, "turn": 1}, "rewind: turn is unknown: did you mean 'turns'?"),
        ({**RIGHT, "parts": [{"txt": "a"}]}, "rewind: parts[0].txt is unknown: did you mean 'text'?"),
        ({"type": "REPLY.STARTED", "zzz": 1}, "REPLY.STARTED: zzz is unknown: no key is known"),
    ],
)
def test_a_missing_or_unknown_key_is_named(event, text):
    assert str(TYPES.check(event)) == text


def test_an_unknown_key_without_a_near_one_lists_the_known_ones():
    problem = TYPES.check({**RIGHT, "zzz": 1})

    assert problem is not None
    assert problem.expected == "known: branch, checkpointId, factor, force, mode, more, note, parts, prices, turns"


def test_a_long_value_is_shortened():
    secret = "s3cret" * 100
    listed = TYPES.check({**RIGHT, "turns": [secret]})
    text = TYPES.check({**RIGHT, "turns": secret})

    assert listed is not None
    assert text is not None
    assert len(listed.value or "") == len(text.value or "") == 80
    assert len(str(text)) < 150


def test_an_internal_event_is_refused_from_outside_only():
    event = {"type": "REPLY.ENDED"}

    assert TYPES.check(event) is None
    assert str(TYPES.check_outside(event)).startswith("REPLY.ENDED is an internal event: ")


def test_an_event_that_is_not_listed_is_refused_with_a_near_name():
    assert str(TYPES.check_outside({"type": "REWIND"})).endswith("did you mean 'rewind'?")


def test_events_that_are_not_declared_are_left_to_the_machine_unless_the_public_ones_are_listed():
    assert EventTypes(Rewind).check_outside({"type": "other", "x": 1}) is None
    assert EventTypes(Rewind | Replied, ["*"]).check_outside({"type": "other"}) is None
    assert EventTypes(public=["a.*"]).check_outside({"type": "b"}) is not None
    assert EventTypes(public=["a.*"]).check_outside({"type": "a.b", "x": 1}) is None


def test_events_of_the_engine_are_not_its_business():
    assert TYPES.check_outside({"type": "xstate.route", "to": "#a"}) is None


@pytest.mark.parametrize("public", [["REPLY.*"], "REPLY.*", ["REPLY.STARTED", "REPLY.ENDED"]])
def test_public_events_may_be_patterns(public):
    types = EventTypes([Rewind, Replied], public)

    assert types.check_outside({"type": "REPLY.ENDED"}) is None
    assert types.check_outside(RIGHT) is not None


def test_other_events_can_be_made_public():
    types = TYPES.with_public(["REPLY.*"])

    assert types.check_outside({"type": "REPLY.ENDED", "x": 1}) is not None
    assert types.check_outside({"type": "REPLY.ENDED"}) is None
    assert TYPES.check_outside({"type": "REPLY.ENDED"}) is not None


class Same(TypedDict):
    """An event that is declared twice."""

    type: Literal["rewind"]


class Unchecked(TypedDict):
    """An event with a type that has no check."""

    type: Literal["x"]
    call: "type[int]"


class Unnamed(TypedDict):
    """A mapping that is no event."""

    words: str


@pytest.mark.parametrize(
    ("events", "public", "text"),
    [
        ([Rewind, Same], None, "two types declare the event 'rewind': Rewind, Same"),
        (Unchecked, None, "Unchecked.call: .* cannot be checked"),
        (Unnamed, None, "Unnamed is not an event type"),
        ([int], None, "<class 'int'> is not a TypedDict"),
        (Rewind, ["rewnd"], "public names 'rewnd', but no such event is declared: did you mean 'rewind'?"),
    ],
)
def test_wrong_declarations_are_refused(events, public, text):
    with pytest.raises(EventError, match=text):
        setup(events=events, public=public)


def test_an_event_is_not_taken_for_another_one_of_its_type_inside_a_value():
    """The type of an event selects its check; inside a value, a type is checked like any other key."""

    class Holder(TypedDict):
        type: Literal["hold"]
        note: NotRequired[Note]

    types = EventTypes([Holder, Note])

    assert types.check({"type": "note", "words": "a"}) is None
    assert str(types.check({"type": "hold", "note": {"type": "mark", "words": "a"}})).startswith("hold: note.type is")


@pytest.mark.parametrize("kind", [Noted, Loose])
def test_optional_keys_are_known_where_annotations_are_strings(kind):
    types = EventTypes(kind)
    type = types.names[0]

    assert types.check({"type": type, "text": "a"}) is None
    assert types.check({"type": type, "text": "a", "at": 1}) is None
    assert str(types.check({"type": type, "at": 1})).startswith(f"{type}: text is missing")


def test_a_json_value_may_be_a_tuple_or_an_object_of_another_kind():
    event = MappingProxyType({**RIGHT, "parts": (MappingProxyType({"text": "a"}),), "prices": MappingProxyType({})})

    assert TYPES.check(event) is None
    assert str(TYPES.check({**RIGHT, "prices": {1: 2}})) == "rewind: prices is 1: expected texts as keys"


class Dated(TypedDict):
    """An event with a value that has a codec."""

    type: Literal["at"]
    day: date
    any: object
    plain: NotRequired[list]  # type: ignore[type-arg]
    facts: NotRequired[dict]  # type: ignore[type-arg]
    note: NotRequired[Annotated[str, "a remark"]]


def test_other_classes_take_their_instances():
    types = EventTypes(Dated)

    assert types.check({"type": "at", "day": date(2026, 1, 1), "any": 1, "plain": [1], "facts": {}, "note": ""}) is None
    assert str(types.check({"type": "at", "day": "2026-01-01", "any": 1})).endswith("expected a date")
    assert types.json_schema("at")["properties"]["day"] == {}


def test_a_value_that_is_not_json_is_shown_as_python_writes_it():
    assert str(TYPES.check({**RIGHT, "turns": {1, 2}})) == "rewind: turns is {1, 2}: expected a whole number"


def test_fields_and_descriptions_can_be_listed():
    assert TYPES.names == ("rewind", "REPLY.STARTED", "REPLY.ENDED")
    assert TYPES.fields("rewind")[:2] == [
        EventField("branch", "a text", True),
        EventField("turns", "a whole number", False),
    ]
    assert TYPES.description("rewind") == "Go back some turns, or to a checkpoint."


def test_the_json_schema_allows_no_other_keys():
    schema = TYPES.json_schema("rewind")

    assert schema["additionalProperties"] is False
    assert schema["properties"]["type"] == {"const": "rewind"}
    assert schema["required"] == ["type", "branch"]
    assert schema["$defs"]["Part"]["properties"]["parts"] == {"type": "array", "items": {"$ref": "#/$defs/Part"}}
    assert "$defs" not in TYPES.json_schema("REPLY.ENDED")


SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from([0.5, 2.0, "keep", "a", ""])
KEYS = [*Rewind.__annotations__, "text", "words", "size", "turn"]
VALUES = st.recursive(
    SCALARS | st.sampled_from([{"type": "mark", "size": 1}, {"text": "a"}]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4), st.booleans())
def test_the_check_and_the_json_schema_agree(payload, has_branch):
    """JSON Schema takes 2.0 for an integer, which is the one difference."""
    event = {**payload, **({"branch": "main"} if has_branch else {}), "type": "rewind"}
    if "2.0" in json.dumps(event):
        return

    assert (TYPES.check(event) is None) == (not list(Checker(TYPES.json_schema("rewind")).problems(event)))


CHART = {"id": "c", "context": {"n": 0}, "on": {"rewind": {"actions": "count"}, "REPLY.*": {"actions": "count"}}}


def count(context: Any) -> Any:
    return {"n": context["n"] + 1}


def actor_of(**options):
    declared = setup(actions={"count": assign(count)}, events=Rewind | Replied, public=["rewind"], **options)
    return create_actor(declared.create_machine(CHART)).start()


def test_an_actor_in_process_is_not_checked_by_default():
    actor = actor_of()
    actor.send({"type": "rewind", "nonsense": 1})
    actor.send({"type": "REPLY.ENDED"})

    assert actor.get_snapshot().context == {"n": 2}


def test_an_actor_in_process_is_checked_on_request():
    actor = actor_of(check_events=True)
    for event in ({"type": "rewind", "nonsense": 1}, {"type": "REPLY.ENDED"}):
        with pytest.raises(EventRefused) as refused:
            actor.send(event)
        assert refused.value.problem.event == event["type"]
    actor.send(RIGHT)

    assert actor.get_snapshot().context == {"n": 1}


def test_a_machine_with_other_functions_keeps_its_declarations():
    machine = setup(events=Rewind | Replied, public=["rewind"]).extend(actions={"count": count}).create_machine(CHART)
    by_hand = machine.provide(actions={}).provide(public=["*"])

    assert machine.event_types is not None
    assert by_hand.event_types is not None
    assert machine.event_types.check_outside({"type": "REPLY.ENDED"}) is not None
    assert by_hand.event_types.check_outside({"type": "REPLY.ENDED"}) is None
    assert by_hand.event_types.check_outside({"type": "REPLY.ENDED", "x": 1}) is not None
