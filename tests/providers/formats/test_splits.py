"""However the network cuts a stream, every format reads the same from it."""

import re

import pytest

from antiphon.messages import user
from antiphon.providers.base import Request, SignatureDelta, ToolArgs, ToolStart
from antiphon.providers.hosted import COMPATIBLE, WIRES
from antiphon.testing.fake_llm.encoders import ENCODERS
from antiphon.testing.fake_llm.playback import after_words, before_words
from antiphon.testing.fake_llm.scenarios import SCENARIOS
from tests.fixtures.providers import FORMATS

REQUEST = Request((user("Hello"),))
LINE_ENDS = {"LF": b"\n", "CRLF": b"\r\n", "CR": b"\r"}


def body(format, end=b"\n"):
    """The bytes of a reply with thought, words in many scripts, and tool calls."""
    scenario = SCENARIOS["ok"]
    encoder = ENCODERS[format]("fake-ok", {"stream_options": {"include_usage": True}})
    words = [b"".join(encoder.words(word)) for word in scenario.words]
    whole = b"".join([*before_words(scenario, encoder), *words, *after_words(scenario, encoder)])
    return whole.replace(b"\n", end)


def decode(format, pieces):
    """The deltas of a reply that comes in pieces, with ids that do not depend on chance."""
    wire = COMPATIBLE if format == "compatible" else WIRES[format]
    decoder = wire.decoder("fake-ok", REQUEST, None)
    deltas = [delta for piece in pieces for delta in decoder.feed(piece)]
    if not decoder.finished:
        deltas += decoder.end()
    return [stable(delta) for delta in deltas]


def stable(delta):
    match delta:
        case ToolStart(id, name):
            return ToolStart(re.sub("[0-9a-f]{32}", "…", id), name)
        case ToolArgs(id, text):
            return ToolArgs(re.sub("[0-9a-f]{32}", "…", id), text)
        case SignatureDelta(signature, str(id)):
            return SignatureDelta(signature, re.sub("[0-9a-f]{32}", "…", id))
    return delta


@pytest.mark.parametrize("format", FORMATS)
def test_a_cut_at_any_byte_changes_nothing(format):
    whole = body(format)
    expected = decode(format, [whole])

    for place in range(len(whole) + 1):
        assert decode(format, [whole[:place], whole[place:]]) == expected


@pytest.mark.parametrize("end", LINE_ENDS.values(), ids=LINE_ENDS)
@pytest.mark.parametrize("format", FORMATS)
def test_byte_by_byte_changes_nothing(format, end):
    expected = decode(format, [body(format)])

    whole = body(format, end)
    assert decode(format, [whole[i : i + 1] for i in range(len(whole))]) == expected
    assert decode(format, [whole]) == expected
