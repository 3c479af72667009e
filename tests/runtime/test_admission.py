"""Values from outside: checked with their paths, and copied as they would be read back from the store."""

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon import EventError, GrowingText, register_codec
from antiphon.chart.codecs import TAG
from antiphon.chart.frozen import freeze
from antiphon.runtime.admission import check_external_event, check_value, copy_value, take_value
from antiphon.runtime.encoding import decode, encode
from antiphon.runtime.errors import Unstorable


@register_codec
@dataclass
class Basket:
    items: list[object]


keys = st.sampled_from([TAG, "a", "value"]) | st.text(max_size=3)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=3),
    st.uuids(),
    st.decimals(allow_nan=False),
    st.datetimes(),
    st.builds(GrowingText, st.text(max_size=3)),
)
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(keys, inner, max_size=4)
        | st.dictionaries(keys, inner, max_size=4).map(freeze)
        | st.builds(Basket, st.lists(inner, max_size=2))
    ),
    max_leaves=12,
)


def shared(value, copy):
    """Return whether two values share a part that can change."""
    return bool(containers(value) & containers(copy))


def containers(value):
    if isinstance(value, dict):
        inner = list(value.values())
    elif isinstance(value, list | tuple):
        inner = list(value)
    elif isinstance(value, Basket):
        inner = [value.items]
    else:
        return set()
    return ({id(value)} if not isinstance(value, tuple) else set()).union(*map(containers, inner))


@given(values)
def test_a_tree_gets_the_value_that_would_be_read_back_and_shares_nothing_with_the_caller(value):
    own = take_value(value, "value")

    assert repr(own) == repr(decode(encode(value)))
    assert not shared(value, own)


@given(values)
def test_a_function_gets_a_value_that_shares_nothing_with_the_tree(value):
    own = copy_value(value)

    assert repr(own) == repr(decode(encode(value)))
    assert not shared(value, own)


@pytest.mark.parametrize(
    ("price", "problem"),
    [
        (float("nan"), r"event.items\[3\].price: nan is not JSON; use None or a text in its place"),
        (float("inf"), r"event.items\[3\].price: inf is not JSON"),
        ({1: 2}, r"event.items\[3\].price: the key 1 is not a string, as keys in JSON are; use a string"),
        ({1, 2}, r"event.items\[3\].price: a set is not JSON; use JSON values, or call register_codec for its class"),
        (ValueError("no"), r"event.items\[3\].price: a ValueError is not JSON"),
        (Basket([object()]), r"event.items\[3\].price.items\[0\]: a object is not JSON"),
        (datetime(2026, 1, 1, tzinfo=type("Zone", (type(UTC).__base__,), {})()), r"event.items\[3\].price: .*zone"),
    ],
)
def test_an_event_that_cannot_be_stored_is_refused_with_the_path(price, problem):
    with pytest.raises(EventError, match=f"the event 'BUY' cannot be stored: {problem}"):
        check_external_event({"type": "BUY", "items": [1, 2.5, {}, {"price": price}]})


@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: {"x": value}, lambda value: (value,)])
def test_an_event_that_contains_itself_is_refused(wrap):
    inner = []
    inner.append(wrap(inner))

    with pytest.raises(EventError, match="contains itself or is nested too deeply"):
        check_external_event({"type": "E", "x": inner})


def test_a_value_that_an_actor_has_made_is_checked_and_not_changed():
    check_value({"text": GrowingText("a"), "n": Decimal(1), "error": ValueError("no")}, "event")
    with pytest.raises(Unstorable, match=r"event\.n: nan is not JSON"):
        check_value({"n": float("nan")}, "event")
