"""A machine of the package whose behaviour changes gets a new version and a migration."""

from copy import deepcopy
from typing import Any

from antiphon.app import former_machines
from antiphon.chart.machine import Machine
from antiphon.runtime.machines import AnyMachine, chart_hash, descendants
from tests.machine_versions import problems, recorded_versions
from tests.runtime.former_hashes import shipped_machines


def changed(machine: AnyMachine, **changes: Any) -> AnyMachine:
    """Return a machine with another chart."""
    return Machine({**deepcopy(dict(machine.config)), **changes}, machine.implementations, migrate=machine.migrate)


def test_every_machine_has_the_behaviour_that_is_recorded_for_its_version() -> None:
    assert problems(shipped_machines(), recorded_versions()) == []


def test_changed_behaviour_without_a_new_version_is_reported_with_what_to_do() -> None:
    thread = shipped_machines()["thread"]
    (problem,) = problems({"thread": changed(thread, tags=["loud"])}, recorded_versions())
    assert f"has changed, but its version {thread.version} has not: raise `version`" in problem


def test_changed_behaviour_of_a_machine_below_is_reported_for_the_root() -> None:
    machines = shipped_machines()
    debate = changed(machines["debate"], tags=["loud"])
    (problem,) = problems({"thread": machines["thread"].provide(actors={"debate": debate})}, recorded_versions())
    assert problem.startswith("the behaviour of 'thread', or of a machine below it, has changed")


def test_a_new_version_needs_a_migration() -> None:
    machines = shipped_machines()
    newer = changed(machines["thread"], version=99)
    newer.migrate = None
    reported = problems({"thread": newer}, recorded_versions())
    assert [problem.partition(":")[0] for problem in reported] == [
        "version 99 of 'thread' is not recorded",
        "'thread' has had other versions",
    ]


def test_a_changed_description_is_no_problem() -> None:
    machines = shipped_machines()
    assert problems({"thread": changed(machines["thread"], description="Other.")}, recorded_versions()) == []


def test_the_former_versions_that_the_app_registers_have_the_behaviour_that_is_recorded() -> None:
    former = {machine.id: machine for thread in former_machines() for machine in descendants(thread)}
    assert problems({id: machine for id, machine in former.items() if id != "thread"}, recorded_versions()) == []
    assert [machine.version for machine in former_machines()] == [1]
    assert recorded_versions()["thread"]["1"] == chart_hash(former["thread"])
