"""Scenarios of the fake server: replies and faults, independent of the wire format."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

# Characters of one to four bytes, so that splitting between bytes matters.
WORDS = ("Grüß", " dich,", " Welt: ", "こんにちは", " 🎼", ".")
THOUGHTS = ("Let me", " think", "…")
SIGNATURE = "c2lnbmF0dXJl"
TOOL = "get_weather"
ARGUMENTS = ('{"ci', 'ty": "Zür', 'ich"}')
LONG_LINE = 10 * 1024 * 1024
BURST = 2_000
FOREVER = 1_000_000

Fault = Literal["overload", "drop", "reset", "eof", "stall", "garbage", "long line", "html", "refusal"]
Ending = Literal["end", "tool_calls", "length"]


@dataclass(frozen=True, slots=True)
class Scenario:
    """Behaviour of a reply; the fault, if any, comes after the text."""

    about: str
    words: tuple[str, ...] = WORDS
    thoughts: tuple[str, ...] = ()
    calls: int = 0
    ending: Ending = "end"
    fault: Fault | None = None
    # Respond with this HTTP status instead of a stream.
    status: int = 200
    retry_after_s: int | None = None
    # Write the body byte by byte.
    split: bool = False
    # Repeat the text, with a pause after each piece.
    repeat: int = 1
    pause_ms: float = 0
    # Send nothing, or only keep-alive frames, before the text.
    silent: bool = False
    pings: bool = False
    unknown_events: bool = False
    usage: bool = True
    # Leave the body open after a complete reply.
    lingers: bool = False
    # Close the connection after a complete reply, without having announced it.
    closes: bool = False
    # Echo the last message, or send a value for the schema of the request.
    says: Literal["words", "echo", "json", "json at second try"] = "words"
    # Call the first tool of the request that has no result yet, with values for its schema.
    calls_offered: bool = False


HALF = WORDS[:2]

SCENARIOS: Mapping[str, Scenario] = {
    "ok": Scenario("a thought, words and a tool call", thoughts=THOUGHTS, calls=1, ending="tool_calls"),
    "text": Scenario("words only"),
    "parallel": Scenario("two tool calls at once", calls=2, ending="tool_calls"),
    "tools": Scenario("a call of each tool of the request, one in each reply, then words", calls_offered=True),
    "length": Scenario("words up to the token limit", ending="length"),
    "echo": Scenario("what the user said last", says="echo"),
    "json": Scenario("a value that fits the schema of the request", says="json"),
    "rejson": Scenario("no JSON at first, a fitting value when asked again", says="json at second try"),
    "nousage": Scenario("words without any token counts", usage=False),
    "overload": Scenario("words, then an error event under HTTP 200", words=HALF, fault="overload"),
    "refusal": Scenario("words, then a refusal", words=HALF, fault="refusal"),
    "drop": Scenario("words, then the connection is closed in the middle of the body", words=HALF, fault="drop"),
    "rst": Scenario("words, then the connection is reset", words=HALF, fault="reset"),
    "eof": Scenario("words, then a clean end without the terminal event", words=HALF, fault="eof"),
    "stall": Scenario("words, then silence", words=HALF, fault="stall"),
    "silent": Scenario("an accepted request, then silence", silent=True),
    "pings": Scenario("signs of life, but never a word", pings=True),
    "garbage": Scenario("words, then a frame that is not JSON", words=HALF, fault="garbage"),
    "longline": Scenario("words, then a line of 10 MB", words=HALF, fault="long line"),
    "html": Scenario("the web page of a proxy, under HTTP 200", fault="html"),
    "split": Scenario("everything byte by byte", thoughts=THOUGHTS, calls=1, ending="tool_calls", split=True),
    "unknown": Scenario("unknown events between the known ones", unknown_events=True),
    "linger": Scenario("words, and a connection that stays open after them", lingers=True),
    "close": Scenario("words, and a connection that the server closes after them", closes=True),
    "slow": Scenario("words without an end, 100 a second", repeat=FOREVER, pause_ms=10),
    "paced": Scenario("40 words, 20 a second", words=("word ",), repeat=40, pause_ms=50),
    "burst": Scenario("2,000 words as fast as they can be sent", words=("word ",), repeat=BURST),
    "400": Scenario("bad request", status=400),
    "401": Scenario("a wrong key", status=401),
    "403": Scenario("a key without permission", status=403),
    "404": Scenario("an unknown model", status=404),
    "413": Scenario("too long a request", status=413),
    "429": Scenario("too many requests, with Retry-After", status=429, retry_after_s=7),
    "500": Scenario("a broken server", status=500),
    "503": Scenario("an overloaded server", status=503, retry_after_s=2),
    "529": Scenario("an overloaded server, as Anthropic says it", status=529),
    "302": Scenario("a redirect to somewhere else", status=302),
}
"""Scenarios of the fake server by name."""


def scenario_of(model: str) -> tuple[str, Scenario]:
    """Return the scenario that a model name ends with, after its last dash; "echo" for other names."""
    name = model.rpartition("-")[2]
    return (name, SCENARIOS[name]) if name in SCENARIOS else ("echo", SCENARIOS["echo"])
