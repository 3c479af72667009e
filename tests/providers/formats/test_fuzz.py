"""Whatever a server sends, a decoder gives deltas or a `ProviderError`, and nothing else."""

import json
import re
from dataclasses import astuple
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.messages import user
from antiphon.providers.base import Done, Request, SignatureDelta, Stop, UsageDelta
from antiphon.providers.errors import ProviderError
from antiphon.providers.formats.error_bodies import status_error
from antiphon.providers.hosted import COMPATIBLE, WIRES
from tests.fixtures.providers import FORMATS
from tests.providers.formats.test_splits import body

REQUEST = Request((user("Hello"),))
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def decode(format, raw):
    wire = COMPATIBLE if format == "compatible" else WIRES[format]
    decoder = wire.decoder("m", REQUEST, None)
    try:
        deltas = list(decoder.feed(raw))
        return deltas if decoder.finished else deltas + list(decoder.end())
    except ProviderError as error:
        return error


def places(value, path=()):
    """Every place in a JSON value."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


def replaced(value, path, new):
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_frame_of_another_shape_is_an_error_or_nothing(format, data):
    lines = body(format).split(b"\n")
    transports = [i for i, line in enumerate(lines) if line.startswith(b"data: {")]
    index = data.draw(st.sampled_from(transports))
    frame = json.loads(lines[index][6:])
    place = data.draw(st.sampled_from(list(places(frame))))
    lines[index] = b"data: " + json.dumps(replaced(frame, place, data.draw(anything))).encode()

    deltas = decode(format, b"\n".join(lines))
    assert isinstance(deltas, ProviderError) or all(is_sound(delta) for delta in deltas)


def is_sound(delta):
    """Whether every field of a delta has the type it should."""
    match delta:
        case UsageDelta(usage, model):
            return isinstance(model, str) and all(isinstance(count, int) for count in astuple(usage))
        case Done(stop):
            return stop in get_args(Stop)
        case SignatureDelta(signature, call_id):
            return isinstance(signature, str) and isinstance(call_id, str | None)
        case _:
            return all(isinstance(value, str) and value for value in astuple(delta))


@pytest.mark.parametrize("format", FORMATS)
def test_a_tool_without_a_name_is_an_error(format):
    raw = body(format)
    (name,) = set(re.findall(rb'"name": ?"(\w+)"', raw))

    assert isinstance(decode(format, raw.replace(b'"' + name + b'"', b'""')), ProviderError)


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=60, deadline=None)
@given(raw=st.binary(max_size=60))
def test_noise_is_never_a_complete_reply(format, raw):
    assert isinstance(decode(format, raw), ProviderError)


@pytest.mark.parametrize("format", FORMATS)
def test_a_reply_that_is_cut_anywhere_is_never_a_complete_one(format):
    whole = body(format)
    # The last frame of Google is complete one line feed earlier than its body.
    complete = len(whole.rstrip())
    for end in range(0, complete - 1, 7):
        deltas = decode(format, whole[:end])
        if not isinstance(deltas, ProviderError):
            assert format == "compatible", whole[:end][-40:]
            assert b'"finish_reason": "tool_calls"' in whole[:end]


@settings(max_examples=200, deadline=None)
@given(st.integers(100, 599).filter(lambda status: status != 200), st.binary(max_size=40) | anything.map(json.dumps))
def test_any_error_body_becomes_an_error(status, raw):
    error = status_error(status, {}, raw if isinstance(raw, bytes) else raw.encode())

    assert error.status == status
