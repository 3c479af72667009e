"""The behaviour of every version of every machine of the package, by its hash.

`python -m tests.machine_versions` adds the versions of today to `tests/machine_versions.json`. A line that is there is
never changed: stores have trees of that version.
"""

import json
from pathlib import Path

from antiphon.runtime.machines import AnyMachine, chart_hash
from tests.runtime.former_hashes import shipped_machines

FILE = Path(__file__).with_suffix(".json")
RECORD = "run `python -m tests.machine_versions` and `python -m tests.stores.kept`"
Versions = dict[str, dict[str, str]]


def recorded_versions() -> Versions:
    """Return the recorded hashes by machine and version."""
    versions: Versions = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    return versions


def problems(machines: dict[str, AnyMachine], versions: Versions) -> list[str]:
    """Return what is wrong with the versions of machines, each with what to do."""
    listed = []
    for id, machine in machines.items():
        version = json.dumps(machine.version)
        recorded = versions.get(id, {})
        if version not in recorded:
            listed.append(f"version {version} of {id!r} is not recorded: {RECORD}")
        elif recorded[version] != chart_hash(machine):
            listed.append(
                f"the behaviour of {id!r}, or of a machine below it, has changed, but its version {version} has not: "
                "raise `version` in its chart and in those of the machines above it, give the root a `migrate` "
                f"function, let `App` register its earlier version too, and {RECORD}"
            )
        if id == "thread" and len({*recorded, version}) > 1 and machine.migrate is None:
            listed.append(f"{id!r} has had other versions: give it a `migrate` function")
    return listed


def write() -> None:
    """Record the versions of today."""
    versions = recorded_versions()
    for id, machine in shipped_machines().items():
        versions.setdefault(id, {}).setdefault(json.dumps(machine.version), chart_hash(machine))
    FILE.write_text(json.dumps(versions, indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    write()
