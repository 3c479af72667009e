"""The cache of a machine changes how fast it is, never what it does."""

import pytest
from hypothesis import given

from tests.laws.charts import Play, events, law, specs


def trace(spec, walk, memory):
    play = Play(spec, memory=memory).start()
    steps = [play.took()]
    for event in walk:
        play.send(event)
        steps.append({**play.took(), "order": [node.id for node in play.actor.get_snapshot().nodes]})
    return steps


@pytest.mark.parametrize("memory", [0, 3])
@law(40)
@given(specs(), events())
def test_machine_with_little_memory_does_what_one_with_much_does(memory, spec, walk):
    again = [*walk, *walk]

    assert trace(spec, again, memory) == trace(spec, again, 4096)
