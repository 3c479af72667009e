"""The cache of a machine is bounded, whatever events it gets."""

from antiphon import create_actor, create_machine
from antiphon.chart.tables import LIMIT

CHART = {"initial": "a", "states": {"a": {"on": {"GO": "b", "*": {"actions": "count"}}}, "b": {"on": {"GO": "a"}}}}


def test_a_stream_of_ever_new_event_types_does_not_eat_the_memory():
    counts = []
    machine = create_machine(CHART, actions={"count": lambda context, event: counts.append(event["type"])})
    actor = create_actor(machine).start()
    for number in range(3 * LIMIT):
        actor.send({"type": f"E{number}"})

    configuration = actor.get_snapshot().configuration
    assert len(counts) == 3 * LIMIT
    assert machine.tables.count <= LIMIT
    assert len(configuration.decisions) <= LIMIT
    assert len(configuration.quick) <= LIMIT


def test_a_machine_that_has_forgotten_goes_on_as_before():
    machine = create_machine(CHART, actions={"count": lambda context, event: None})
    actor = create_actor(machine).start()
    for number in range(LIMIT + 10):
        actor.send({"type": f"E{number}"})
    actor.send({"type": "GO"})
    actor.send({"type": "GO"})

    assert actor.get_snapshot().value == "a"
