"""The host of a tree notes values that cannot be stored, and forgets them with their step."""

from antiphon import create_actor, create_machine
from antiphon.runtime.recording_host import RecordingHost


def test_a_problem_belongs_to_the_step_that_has_it():
    actor = create_actor(create_machine({"id": "m"}))
    host = RecordingHost("root", "origin", 1)
    host.begin(1, 0)
    host.emit(actor, {"type": "E", "n": float("nan")})
    host.emit(actor, {"type": "E", "n": object()})
    problem = host.problem
    host.begin(2, 0)

    assert str(problem).startswith("event.n: nan is not JSON")
    assert host.problem is None
