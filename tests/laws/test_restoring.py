"""Persisting and restoring lose nothing: a restored actor stands where the original did, and goes on like it."""

import json
from collections.abc import Callable

from hypothesis import assume, given
from hypothesis import strategies as st

from antiphon import (
    SimulatedClock,
    assign,
    create_actor,
    create_machine,
    from_transition,
    send_parent,
    send_to,
    spawn_child,
    stop_child,
)
from tests.laws.charts import EVENTS, Play, events, law, specs, standing


class CountingClock(SimulatedClock):
    """A clock that knows how many of its timers are pending."""

    def __init__(self, now: float = 0) -> None:
        super().__init__(now)
        self.pending: set[int] = set()

    def set_timeout(self, callback: Callable[[], None], delay_ms: float) -> int:
        handle = super().set_timeout(lambda: (self.pending.discard(handle), callback())[1], delay_ms)
        self.pending.add(handle)
        return handle

    def clear_timeout(self, handle: int) -> None:
        self.pending.discard(handle)
        super().clear_timeout(handle)


def walk_actor(spec, walk):
    """Return an actor after a walk."""
    play = Play(spec, clock=CountingClock()).start()
    for event in walk:
        play.send(event)
    play.took()
    return play


def restore_actor(spec, play, saved):
    """Return another actor, restored from that one at the same time."""
    return Play(spec, snapshot=json.loads(json.dumps(saved)), clock=CountingClock(play.clock.now()))


def nodes(play):
    """The active states."""
    return {node.id for node in play.actor.get_snapshot().nodes}


def unpersisted(play):
    """State that XState does not persist: the order of active leaves, and states exited without being entered again."""
    return [node.id for node in play.actor.get_snapshot().nodes if node.is_atomic], nodes(play)


@law(40)
@given(specs(), events())
def test_restored_actor_stands_where_the_original_does(spec, walk):
    play = walk_actor(spec, walk)
    saved = play.actor.get_persisted_snapshot()

    again = restore_actor(spec, play, saved)

    assume(play.actor.get_snapshot().status != "error")
    assert standing(again.actor.get_snapshot()) == standing(play.actor.get_snapshot())
    assert nodes(again) >= nodes(play)
    assert again.actor.get_persisted_snapshot() == saved
    assert again.start().actor.get_persisted_snapshot() == saved
    assert again.took()["did"] == []


@law(40)
@given(specs(), events(), events())
def test_restored_actor_goes_on_like_the_original(spec, walk, onward):
    play = walk_actor(spec, walk)
    assume(play.actor.get_snapshot().status == "active")
    again = restore_actor(spec, play, play.actor.get_persisted_snapshot()).start()
    assume(unpersisted(again) == unpersisted(play))

    for event in onward:
        play.send(event)
        again.send(event)
        assert again.took() == play.took()


def walks_in_time():
    """Events, and numbers for milliseconds that pass."""
    return st.lists(st.sampled_from([3, 5, 10, *({"type": type} for type in EVENTS)]), max_size=10)


def with_timers(spec, walk):
    """An actor after a walk, what was persisted of it, and another actor restored from that."""
    play = walk_actor(spec, walk)
    assume(play.actor.get_snapshot().status == "active")
    saved = play.actor.get_persisted_snapshot(timers=True)
    # Of two timers with one id only the later has a name, and only what has a name is persisted.
    assume(len(saved.get("timers", ())) == len(play.clock.pending))
    return play, saved, restore_actor(spec, play, saved).start()


def by_time(saved):
    """Persisted timers in the order in which they will fire."""
    return sorted(saved.get("timers", ()), key=lambda timer: (timer["due"], timer["id"]))


@law(40)
@given(specs(), walks_in_time())
def test_restored_timers_are_persisted_again_as_they_were(spec, walk):
    _, saved, again = with_timers(spec, walk)

    assert by_time(again.actor.get_persisted_snapshot(timers=True)) == by_time(saved)


@law(40)
@given(specs(), walks_in_time(), walks_in_time())
def test_restored_timers_fire_like_the_original_ones(spec, walk, onward):
    play, _, again = with_timers(spec, walk)
    assume(unpersisted(again) == unpersisted(play))

    for event in onward:
        play.send(event)
        again.send(event)
        assert again.took() == play.took()


BELL = {
    "id": "bell",
    "context": {"rung": 0},
    "initial": "idle",
    "states": {
        "idle": {
            "on": {"RING": {"target": "ringing", "actions": assign({"rung": lambda context: context["rung"] + 1})}}
        },
        "ringing": {"after": {10: "idle"}, "exit": send_parent({"type": "RANG"})},
    },
}


def adopt(context, event, *, scope):
    name = f"bell{len(context['bells'])}"
    return [*context["bells"], scope.spawn("bell", id=name)]


def ring_last(context):
    return context["bells"][-1] if context["bells"] else "tally"


TOWER = create_machine(
    {
        "id": "tower",
        "context": {"bells": [], "rang": 0},
        "invoke": {"src": "tally", "id": "tally", "systemId": "tally"},
        "initial": "low",
        "on": {
            "RANG": {
                "actions": [assign({"rang": lambda context: context["rang"] + 1}), send_to("tally", {"type": "RANG"})]
            },
            "ADOPT": {"actions": assign({"bells": adopt})},
            "RING": {"actions": send_to(ring_last, {"type": "RING"})},
            "LATER": {"actions": send_to(ring_last, {"type": "RING"}, delay=15)},
            "GUEST": {"actions": [stop_child("guest"), spawn_child("bell", id="guest")]},
            "LEAVE": {"actions": stop_child("guest")},
        },
        "states": {
            "low": {"on": {"UP": "high"}},
            "high": {
                "invoke": {"src": "bell", "id": "top", "onSnapshot": {}},
                "on": {"DOWN": "low", "TOP": {"actions": send_to("top", {"type": "RING"})}},
            },
        },
    },
    actors={"bell": create_machine(BELL), "tally": from_transition(lambda count, event: count + 1, 0)},
)
MOVES = ["ADOPT", "RING", "LATER", "GUEST", "LEAVE", "UP", "DOWN", "TOP"]


def moves():
    return st.lists(st.sampled_from([3, 10, *({"type": type} for type in MOVES)]), max_size=15)


def take(actor, clock, move):
    if isinstance(move, int):
        clock.increment(move)
    else:
        actor.send(move)


@law(100)
@given(moves(), moves())
def test_restored_system_goes_on_like_the_original(walk, onward):
    clock = SimulatedClock()
    later = SimulatedClock()
    actor = create_actor(TOWER, clock=clock).start()
    for move in walk:
        take(actor, clock, move)
    saved = json.loads(json.dumps(actor.get_persisted_snapshot(timers=True)))
    later.set(clock.now())

    again = create_actor(TOWER, snapshot=saved, clock=later).start()

    assert again.get_persisted_snapshot() == actor.get_persisted_snapshot()
    assert again.system.get_all().keys() == actor.system.get_all().keys()
    for move in onward:
        take(actor, clock, move)
        take(again, later, move)
        assert again.get_persisted_snapshot() == actor.get_persisted_snapshot()
