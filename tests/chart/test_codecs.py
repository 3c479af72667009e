"""Codecs: values of registered types are read back as they were, and nothing else is taken for one."""

import json
import subprocess
import sys
from copy import copy
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from enum import Enum, Flag, IntEnum, StrEnum, auto
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon import assign, create_actor, create_machine, register_codec
from antiphon.chart import codecs
from antiphon.chart.codecs import TAG, find_codec
from antiphon.chart.errors import CodecError, SnapshotError
from antiphon.chart.persist import from_json_value, to_json_value


@register_codec
class Color(Enum):
    RED = object()
    BLUE = (1, 2)


@register_codec
class Right(Flag):
    READ = auto()
    WRITE = auto()


@register_codec
class Level(IntEnum):
    LOW = 1


@register_codec
@dataclass(frozen=True, slots=True)
class Price:
    amount: Decimal
    currency: str = "EUR"


@register_codec
@dataclass
class Order:
    id: UUID
    lines: list[Price]
    notes: dict[str, object]
    total: Decimal = field(init=False, default=Decimal(0))


@register_codec
class Point(msgspec.Struct):
    x: int
    y: Price | None = None


class Celsius:
    def __init__(self, degrees):
        self.degrees = degrees

    def __eq__(self, other):
        return type(other) is Celsius and other.degrees == self.degrees


register_codec(Celsius, tag="celsius", encode=lambda value: value.degrees, decode=Celsius)

zones = st.none() | st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30)), ZoneInfo("Europe/Berlin")])
prices = st.builds(Price, st.decimals(allow_nan=False), st.text(max_size=3))
keys = st.sampled_from([TAG, "value", "a"]) | st.text(max_size=3)
coded = st.one_of(
    st.datetimes(timezones=zones, allow_imaginary=True),
    st.dates(),
    st.decimals(allow_nan=False),
    st.uuids(),
    st.sampled_from([*Color, *Right, Right.READ | Right.WRITE, *Level]),
    prices,
    st.builds(Point, st.integers(), prices | st.none()),
    st.builds(Celsius, st.integers()),
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text() | coded,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(keys, inner, max_size=4)
        | st.builds(Order, st.uuids(), st.lists(prices, max_size=2), st.dictionaries(keys, inner, max_size=2))
    ),
    max_leaves=12,
)


def facts(value):
    """Everything that can be seen of a value; `==` alone ignores zones, exponents and types."""
    if isinstance(value, dict):
        return {key: facts(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [facts(inner) for inner in value]
    if isinstance(value, Order):
        return (Order, value.id, facts(value.lines), facts(value.notes), repr(value.total))
    return (type(value), value, repr(value) if type(value) is not Celsius else "")


@given(values)
def test_a_value_is_read_back_as_it_was(value):
    stored = json.loads(json.dumps(to_json_value(value, "value"), allow_nan=False))

    assert facts(from_json_value(stored)) == facts(value)


@given(values)
def test_a_value_in_a_context_is_restored_with_its_actor(value):
    machine = create_machine({"id": "m", "context": lambda value: {"x": value}, "on": {"END": {}}})
    actor = create_actor(machine, input=value).start()
    saved = json.loads(json.dumps(actor.get_persisted_snapshot()))

    again = create_actor(machine, snapshot=saved).start()

    assert facts(again.get_snapshot().context["x"]) == facts(value)


def test_an_output_is_restored_with_its_actor():
    machine = create_machine(
        {"initial": "f", "output": lambda: {"on": date(2026, 1, 2)}, "states": {"f": {"type": "final"}}}
    )
    saved = json.loads(json.dumps(create_actor(machine).start().get_persisted_snapshot()))

    assert create_actor(machine, snapshot=saved).start().get_snapshot().output == {"on": date(2026, 1, 2)}


def test_fields_that_are_not_initialised_are_read_back():
    order = Order(UUID(int=1), [], {})
    order.total = Decimal("1.50")

    assert from_json_value(to_json_value(order, "order")).total == Decimal("1.50")


def test_a_field_that_was_added_since_has_its_default():
    stored = to_json_value(Price(Decimal(1)), "price")
    del stored["value"]["currency"]

    assert from_json_value(stored) == Price(Decimal(1), "EUR")


def test_a_dict_with_the_key_of_tags_is_never_read_as_a_coded_value():
    innocent = {TAG: "datetime", "value": "2026-01-01T00:00:00"}

    stored = to_json_value({"x": innocent, "y": [{TAG: "nobody"}]}, "value")

    assert from_json_value(stored) == {"x": innocent, "y": [{TAG: "nobody"}]}


@pytest.mark.parametrize("old", [{TAG: "x"}, {TAG: 1, "value": 2}, {TAG: "x", "value": 1, "more": 2}])
def test_a_dict_of_another_shape_is_left_as_it_is(old):
    assert from_json_value(old) == old


def test_a_tag_without_a_codec_is_reported_with_what_to_do():
    with pytest.raises(CodecError, match=r"no codec has the tag 'os\.system'; call register_codec"):
        from_json_value({TAG: "os.system", "value": "true"})


def test_a_form_that_cannot_be_read_is_reported():
    with pytest.raises(CodecError, match="the stored form of a date cannot be read"):
        from_json_value({TAG: "date", "value": "yesterday"})


class Plain(Enum):
    A = 1


@dataclass
class Unknown:
    x: int


class Zone(tzinfo):
    def utcoffset(self, when):
        return timedelta(0)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (Plain.A, r"value\[0\]: a Plain is not JSON; .* register_codec"),
        (Unknown(1), r"value\[0\]: a Unknown is not JSON"),
        (b"", r"value\[0\]: a bytes is not JSON"),
        (Price(object()), r"value\[0\].amount: a object is not JSON"),
        (datetime(2026, 1, 1, tzinfo=Zone()), r"value\[0\]: .* time zone is neither"),
    ],
)
def test_a_value_without_a_codec_is_refused_with_its_path(value, problem):
    with pytest.raises(SnapshotError, match=problem):
        to_json_value([value], "value")


def test_strings_and_numbers_of_other_classes_become_plain():
    class Name(StrEnum):
        A = "a"

    stored = to_json_value([Name.A, True], "value")

    assert stored == ["a", True]
    assert type(stored[0]) is str


def test_a_subclass_needs_a_codec_of_its_own():
    class Later(datetime):
        pass

    assert find_codec(Later) is None
    assert find_codec(datetime) is not None
    assert find_codec(dict) is None


@pytest.mark.parametrize(
    ("arguments", "error", "problem"),
    [
        ({"cls": str}, TypeError, "is JSON already"),
        ({"cls": Zone}, TypeError, "give its codec encode and decode"),
        ({"cls": Zone, "encode": str}, TypeError, "needs both"),
        ({"cls": Plain, "tag": "Color"}, ValueError, "'Color' belongs to .*Color; give .*Plain another tag"),
        ({"cls": Plain, "tag": "uuid"}, ValueError, "'uuid' belongs to uuid.UUID"),
    ],
)
def test_a_codec_that_cannot_work_is_refused(arguments, error, problem):
    with pytest.raises(error, match=problem):
        register_codec(**arguments)
    assert find_codec(arguments["cls"]) is None


def test_a_class_that_is_defined_again_replaces_its_codec(monkeypatch):
    monkeypatch.setattr(codecs, "_by_tag", copy(codecs._by_tag))

    def define():
        @register_codec
        class Again(Enum):
            A = 1

        return Again

    define()
    second = define()

    assert from_json_value(to_json_value(second.A, "value")) is second.A


def test_an_assign_may_use_coded_values():
    machine = create_machine(
        {"id": "m", "context": {"n": Decimal(1)}, "on": {"ADD": {"actions": "add"}}},
        actions={"add": assign({"n": lambda context, event: context["n"] + event["n"]})},
    )
    actor = create_actor(machine).start()
    actor.send({"type": "ADD", "n": Decimal("0.5")})

    assert actor.get_persisted_snapshot()["context"] == {"n": {TAG: "decimal", "value": "1.5"}}


def test_importing_antiphon_imports_no_coded_type():
    script = "import sys, antiphon; print(*[name for name in ('decimal', 'uuid', 'msgspec') if name in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    assert printed.split() == []
