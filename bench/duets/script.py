"""What all contestants play: an arbiter that lets two agents speak in turn, and what each of them says."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Iterator
from functools import cache
from itertools import count
from pathlib import Path

from durable.turns import answer, serve, timed

AGENTS = ("asker", "answerer")
TASK = "Find out together why a chorus sings in two halves."
WORDS = 60
DELTAS = 4  # where a model streams what it says
CROWD = 16  # runs at once, as a server has them

Play = Callable[[int], Awaitable[list[str]]]  # plays the loop under a number, and gives all that was said


@cache  # what is said costs nothing, once everybody has warmed up
def decision(turn: int, turns: int) -> str:
    """What the arbiter's model says before a turn, or after the last."""
    if turn >= turns:
        return json.dumps({"type": "COMPLETE", "summary": "All was said."})
    return json.dumps({"type": "SELECT_MODE", "mode": AGENTS[turn % 2], "reason": f"turn {turn} is theirs"})


@cache
def words(turn: int) -> str:
    """What an agent's model says in a turn: a text of its own."""
    return " ".join(f"word{(turn * 7919 + place) % 1000:03d}" for place in range(WORDS))


def decisions(turns: int) -> Iterator[str]:
    """All that the arbiter's model says in a play."""
    return (decision(turn, turns) for turn in range(turns + 1))


def speeches(turns: int) -> Iterator[str]:
    """All that the agents' model says in a play."""
    return (words(turn) for turn in range(turns))


def deltas(text: str) -> list[str]:
    """A reply as a model streams it."""
    size = -(-len(text) // DELTAS)
    return [text[start : start + size] for start in range(0, len(text), size)]


class Stage:
    """Lets one contestant play: again and again when asked, or once, and then its files are weighed."""

    def __init__(self, turns: int, folder: Path, *, is_once: bool, crowd: int) -> None:
        self.turns, self.crowd, self._folder, self._is_once = turns, crowd, folder, is_once
        self._took: dict[str, float] = {}

    @property
    def file(self) -> Path:
        """Where a contestant stores what it stores."""
        return self._folder / "store.db"

    async def play(self, play: Play) -> None:
        """Play the loop, several at once in a crowd, and see each time that everything was said, in order."""
        numbers = count()
        wanted = [list(speeches(self.turns))] * self.crowd

        async def burst() -> int:
            assert await asyncio.gather(*(play(next(numbers)) for _ in wanted)) == wanted
            return self.turns * self.crowd

        if self._is_once:
            self._took = await timed(burst)
        else:
            await burst()
            await serve(burst, warm_up=burst)

    def weigh(self) -> None:
        """Say what the files weigh over what was said, once they are closed."""
        if self._is_once:
            payload = sum(map(len, speeches(self.turns)))
            weight = sum(file.stat().st_size for file in self._folder.glob(f"{self.file.name}*"))
            answer({**self._took, "over_payload": weight / payload})


def perform(main: Callable[[Stage, str], Awaitable[None]]) -> None:
    """Run a contestant as the command line says: `play`, `crowd` or `once`, with which store, where, how many turns."""
    step, store, folder, turns = sys.argv[1:]
    stage = Stage(int(turns), Path(folder), is_once=step == "once", crowd=CROWD if step == "crowd" else 1)

    async def run() -> None:
        await main(stage, store)
        stage.weigh()

    asyncio.run(run())
