"""Sending an event to an actor does what the pure function says."""

import pytest
from hypothesis import given

from antiphon import initial_transition, transition
from antiphon.chart.effects import Call, Emit
from antiphon.chart.errors import EngineError
from tests.laws.charts import Play, events, law, specs, standing
from tests.xstate.expressions import clone


def predict(snapshot, effects):
    """Return what an actor should do, from the outcome of a pure function."""
    did = [
        {"a": effect.type, "c": clone(effect.context), "e": effect.event["type"]}
        for effect in effects
        if isinstance(effect, Call)
    ]
    emitted = [effect.event for effect in effects if isinstance(effect, Emit)]
    return {**standing(snapshot), "did": did, "emitted": emitted, "errors": []}


@law(60)
@given(specs(), events())
def test_actor_does_what_the_pure_function_says(spec, walk):
    play = Play(spec)
    if play.actor.get_snapshot().status == "error":
        with pytest.raises(EngineError):
            initial_transition(play.machine)
        return
    snapshot, effects = initial_transition(play.machine)
    assert play.start().took() == predict(snapshot, effects)

    for event in walk:
        if snapshot.status != "active":
            break
        play.send(event)
        if play.actor.get_snapshot().status == "error":
            with pytest.raises(EngineError) as raised:
                transition(play.machine, snapshot, event)
            assert play.errors == [str(raised.value)]
            break
        snapshot, effects = transition(play.machine, snapshot, event)
        assert play.took() == predict(snapshot, effects)
        assert [node.id for node in play.actor.get_snapshot().nodes] == [node.id for node in snapshot.nodes]


@law(30)
@given(specs(), events())
def test_pure_functions_leave_their_snapshot_alone(spec, walk):
    machine = Play(spec).machine
    try:
        snapshot, _ = initial_transition(machine)
        for event in walk:
            before = standing(snapshot)
            following, _ = transition(machine, snapshot, event)
            assert standing(snapshot) == before
            assert standing(transition(machine, snapshot, event)[0]) == standing(following)
            snapshot = following
    except EngineError:
        return
