"""Rounds of the contest: every contestant in a process of its own, taking turns burst by burst."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from time import monotonic

from contestants.machines import NAMES as MACHINES
from lanes import Lane
from peers import PeerUnavailable, Toolchain
from results import Bursts, Contestant, Results

SLICE_MS = 5
LANE_LIMIT_S = 120

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a run takes; `limit_s` bounds the rounds together."""

    rounds: int
    turns: int
    warm_ms: int
    warm_node_ms: int
    limit_s: float


def run(tools: Toolchain, contestants: Iterable[Contestant], pace: Pace, report: Report) -> Results:
    """All rounds, or as many as the time allows."""
    results = Results()
    began = monotonic()
    for number in range(1, pace.rounds + 1):
        for machine in MACHINES:
            report(f"round {number}/{pace.rounds}: {machine}")
            present = [who for who in contestants if (who, machine) not in results.missing]
            play_round(tools, present, machine, pace, results)
        elapsed = monotonic() - began
        if number < pace.rounds and elapsed * (number + 1) / number > pace.limit_s:
            report(f"stopped after round {number} of {pace.rounds}: out of time\n")
            break
    return results


def play_round(tools: Toolchain, contestants: list[Contestant], machine: str, pace: Pace, results: Results) -> None:
    """One round on one machine: start every contestant, then let them take turns."""
    bursts: dict[Contestant, Bursts] = {}
    with ExitStack() as stack:
        lanes: dict[Contestant, Lane] = {}
        for who in contestants:
            with leaving_out(who, machine, results):
                lane = Lane(command(tools, who, machine, pace), limit_s=LANE_LIMIT_S)
                stack.enter_context(lane).hear()
                lanes[who] = lane
        for _ in range(pace.turns):
            for who, lane in lanes.items():
                with leaving_out(who, machine, results):
                    bursts.setdefault(who, []).append(lane.ask())
    for who, rates in bursts.items():
        if (who, machine) not in results.missing:
            results.rounds.setdefault((who, machine), []).append(rates)


@contextmanager
def leaving_out(who: Contestant, machine: str, results: Results) -> Iterator[None]:
    """A contestant that cannot go on is missing on this machine; the others go on."""
    try:
        yield
    except PeerUnavailable as reason:
        results.missing.setdefault((who, machine), str(reason))


def command(tools: Toolchain, who: Contestant, machine: str, pace: Pace) -> list[str]:
    """How to start a contestant on a machine."""
    is_node = who.name == "xstate"
    return [
        *(node_command(tools, who) if is_node else python_command(tools, who)),
        *("--machine", machine),
        *("--mode", who.mode),
        *("--warm-ms", str(pace.warm_node_ms if is_node else pace.warm_ms)),
        *("--slice-ms", str(SLICE_MS)),
    ]


def python_command(tools: Toolchain, who: Contestant) -> list[str]:
    """A Python library, on an interpreter that is the same for all of them."""
    return [tools.python, "-m", f"contestants.{who.name.replace('-', '_')}"]


def node_command(tools: Toolchain, who: Contestant) -> list[str]:
    """XState on Node, in its production build."""
    # Within some 100,000 events V8 wrongly decides that what `transition` allocates lives long, and its
    # speed halves for good; without that guess we compare with the better half. `send` is not affected.
    flags = ["--no-allocation-site-pretenuring"] if who.mode == "transition" else []
    return [tools.node(), *flags, "contestants/xstate.cjs", "--modules", tools.node_modules()]
