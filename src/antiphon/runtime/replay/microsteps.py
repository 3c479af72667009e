"""The transitions of a step: an earlier step taken again while its actors are watched."""

from typing import NamedTuple

from antiphon.actors.inspection import MICROSTEP, Inspection
from antiphon.chart.nodes import Transition
from antiphon.runtime.errors import UnknownRoot
from antiphon.runtime.paths import path_of
from antiphon.runtime.records import Entry
from antiphon.runtime.replay.time_travel import FORKED, TimeTravel
from antiphon.runtime.store import Store
from antiphon.runtime.tree import MIGRATED, Tree

# Steps that begin with a snapshot, or with nothing, and take no transition.
BEGINNINGS = ("xstate.init", FORKED, MIGRATED)


class TakenTransition(NamedTuple):
    """A transition that an actor took, by its place in the chart of the actor."""

    actor: str  # address
    source: str  # id of the state that it belongs to
    event: str  # type of event as the chart has it; empty if it is eventless
    place: int  # among the transitions of that state for that event
    targets: tuple[str, ...]  # ids of states


class ObservedStep(NamedTuple):
    """A step, the tree after it, and the transitions that its actors took, in order."""

    entry: Entry
    tree: Tree
    taken: tuple[TakenTransition, ...]


async def observe_step(store: Store, time_travel: TimeTravel, root: str, seq: int) -> ObservedStep:
    """Take a step of a journal again; the tree of the result is not in the cache."""
    entries = await store.entries(root, seq - 1, 1)
    if not entries:
        raise UnknownRoot(f"{root!r} has no step {seq}")
    entry = entries[0]
    if entry.event["type"] in BEGINNINGS:
        return ObservedStep(entry, await time_travel.rebuild(root, seq), ())
    tree = await time_travel.rebuild(root, seq - 1)
    taken: list[TakenTransition] = []

    def note(inspection: Inspection) -> None:
        if inspection.type == MICROSTEP:
            actor = path_of(inspection.actor)
            taken.extend(_taken(actor, transition) for transition in inspection.transitions)

    tree.actor.system.inspect(note)
    tree.replay(entry)
    return ObservedStep(entry, tree, tuple(taken))


def _taken(actor: str, transition: Transition) -> TakenTransition:
    source = transition.source
    candidates = source.on.get(transition.event_type, ()) if transition.event_type else source.always
    place = next((number for number, candidate in enumerate(candidates) if candidate is transition), 0)
    targets = tuple(node.id for node in transition.targets or ())
    return TakenTransition(actor, source.id, transition.event_type, place, targets)
