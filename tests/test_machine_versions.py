"""A machine of the package whose behaviour changes gets a new version and a migration."""

from copy import deepcopy
from typing import Any

from antiphon.chart.machine import Machine
from antiphon.runtime.machines import AnyMachine
from tests.machine_versions import problems, recorded_versions
from tests.runtime.former_hashes import shipped_machines


def changed(machine: AnyMachine, **changes: Any) -> AnyMachine:
    """Return a machine with another chart."""
    return Machine({**deepcopy(dict(machine.config)), **changes}, machine.implementations)


def test_every_machine_has_the_behaviour_that_is_recorded_for_its_version() -> None:
    assert problems(shipped_machines(), recorded_versions()) == []


def test_changed_behaviour_without_a_new_version_is_reported_with_what_to_do() -> None:
    thread = shipped_machines()["thread"]
    (problem,) = problems({"thread": changed(thread, tags=["loud"])}, recorded_versions())
    assert "has changed, but its version 1 has not: raise `version`" in problem


def test_changed_behaviour_of_a_machine_below_is_reported_for_the_root() -> None:
    machines = shipped_machines()
    debate = changed(machines["debate"], tags=["loud"])
    (problem,) = problems({"thread": machines["thread"].provide(actors={"debate": debate})}, recorded_versions())
    assert problem.startswith("the behaviour of 'thread', or of a machine below it, has changed")


def test_a_new_version_needs_a_migration() -> None:
    machines = shipped_machines()
    newer = changed(machines["thread"], version=2)
    reported = problems({"thread": newer}, recorded_versions())
    assert [problem.partition(":")[0] for problem in reported] == [
        "version 2 of 'thread' is not recorded",
        "'thread' has had other versions",
    ]


def test_a_changed_description_is_no_problem() -> None:
    machines = shipped_machines()
    assert problems({"thread": changed(machines["thread"], description="Other.")}, recorded_versions()) == []
