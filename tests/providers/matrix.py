"""The fault matrix: what each format makes of each scenario of the fake server.

`python -m tests.providers.matrix` prints it.
"""

import asyncio
import json
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass

from antiphon.actors.clock import SimulatedClock
from antiphon.providers.base import SignatureDelta, Stop, TextDelta, ToolArgs, ToolStart, UsageDelta
from antiphon.testing.fake_llm.scenarios import ARGUMENTS, HALF, SIGNATURE, THOUGHTS, TOOL, WORDS
from tests.providers.stand import FORMATS, HELLO, TIMEOUTS, Outcome, Stand, read, read_past, stand

ALL = "".join(WORDS)
SOME = "".join(HALF)
# A cancelled stream may see this many deltas more before the server notices.
GRACE = 5


@dataclass(frozen=True, slots=True)
class Expected:
    """How a scenario must look to the reader."""

    text: str = ""
    code: str | None = None
    stop: Stop | None = None
    thoughts: str = ""
    calls: int = 0
    retry_after_ms: int | None = None
    estimated: bool = False


COMPLETE = Expected(ALL, stop="tool_calls", thoughts="".join(THOUGHTS), calls=1)
EXPECTED: Mapping[str, Expected] = {
    "ok": COMPLETE,
    "split": COMPLETE,
    "text": Expected(ALL, stop="end"),
    "parallel": Expected(ALL, stop="tool_calls", calls=2),
    "length": Expected(ALL, stop="length"),
    "nousage": Expected(ALL, stop="end", estimated=True),
    "unknown": Expected(ALL, stop="end"),
    "overload": Expected(SOME, "1002"),
    "refusal": Expected(SOME, "9002"),
    "drop": Expected(SOME, "1001"),
    "rst": Expected(SOME, "1001"),
    "eof": Expected(SOME, "1004"),
    "stall": Expected(SOME, "1003"),
    "silent": Expected("", "1003"),
    "pings": Expected("", "1003"),
    "garbage": Expected(SOME, "1005"),
    "longline": Expected(SOME, "1005"),
    "html": Expected("", "1005"),
    "302": Expected("", "9001"),
    "400": Expected("", "9001"),
    "401": Expected("", "2001"),
    "403": Expected("", "2002"),
    "404": Expected("", "9003"),
    "413": Expected("", "9004"),
    "429": Expected("", "3001", retry_after_ms=7_000),
    "500": Expected("", "1002"),
    "503": Expected("", "1002", retry_after_ms=2_000),
    "529": Expected("", "1002"),
    "slow": Expected(),
}
SILENT = {"stall": 2, "silent": 0, "pings": 0}


async def play(format: str, scenario: str) -> str:
    """Play one cell of the matrix; gives what it shows, or raises what is wrong."""
    clock = SimulatedClock()
    async with stand(clock=clock) as here:
        provider = here.open(format, scenario)
        if scenario == "slow":
            return await cancelled(here, format)
        if scenario in SILENT:
            wait = TIMEOUTS.between_deltas_ms if SILENT[scenario] else TIMEOUTS.first_delta_ms
            outcome = await read_past(provider, here.fake, clock, wait, SILENT[scenario])
        else:
            outcome = await read(provider)
        assert len(here.fake.seen) == 1, "one call is one request"
        check(format, outcome, EXPECTED[scenario])
        return outcome.error.code.value if outcome.error else "ok"


async def cancelled(here: Stand, format: str) -> str:
    """Close a stream after three words, and see when the server notices."""
    async with aclosing(here.open(format, "slow").stream(HELLO)) as stream:
        texts = 0
        async for delta in stream:
            texts += isinstance(delta, TextDelta)
            if texts == 3:
                break
    await here.fake.seen[0].over.wait()
    assert here.fake.seen[0].ended == "client closed"
    more = here.fake.seen[0].deltas - texts
    assert more <= GRACE, f"the server sent {more} more"
    return f"+{more}"


def check(format: str, outcome: Outcome, expected: Expected) -> None:
    """Compare what was seen with what must be."""
    assert outcome.text == expected.text
    assert outcome.thoughts == expected.thoughts
    assert (outcome.error.code.value if outcome.error else None) == expected.code
    assert (outcome.done.stop if outcome.done else None) == expected.stop
    if outcome.error is not None:
        assert outcome.error.retry_after_ms == expected.retry_after_ms
        return
    check_calls(format, outcome, expected)
    usage = [delta.usage for delta in outcome.deltas if isinstance(delta, UsageDelta)][-1]
    if expected.estimated:
        assert usage.estimated
        assert usage.output > 0
    else:
        assert (usage.input, usage.output, usage.cached_read, usage.reasoning) == (1032, 42, 1000, 8)
        assert not usage.estimated


def check_calls(format: str, outcome: Outcome, expected: Expected) -> None:
    """Compare tool calls and signatures."""
    starts = [delta for delta in outcome.deltas if isinstance(delta, ToolStart)]
    assert [start.name for start in starts] == [TOOL] * expected.calls
    for start in starts:
        text = "".join(delta.text for delta in outcome.deltas if isinstance(delta, ToolArgs) and delta.id == start.id)
        assert json.loads(text) == json.loads("".join(ARGUMENTS))
    signatures = [delta for delta in outcome.deltas if isinstance(delta, SignatureDelta)]
    if expected.thoughts and format in ("anthropic", "mistral"):
        assert signatures == [SignatureDelta(SIGNATURE)]
    if expected.calls and format == "google":
        assert signatures == [SignatureDelta(SIGNATURE, starts[0].id)]


def main() -> None:
    """Print the matrix."""
    print(f"{'scenario':10}" + "".join(f"{format:>12}" for format in FORMATS))
    for scenario in EXPECTED:
        cells = []
        for format in FORMATS:
            try:
                cells.append(asyncio.run(play(format, scenario)))
            except AssertionError as error:
                cells.append(f"FAIL {error}"[:11])
        print(f"{scenario:10}" + "".join(f"{cell:>12}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
