"""The hashes that releases before hashes of behaviour stored for charts of the package.

Those releases hashed the whole text of a chart, descriptions included. `python -m tests.runtime.former_hashes` finds
every version of every chart in the history of the repository that describes the behaviour of a chart of today, and
writes the hashes of these texts to `src/antiphon/runtime/former_hashes.json`. Nothing is removed from that file: what
was stored once is recognised by every later release, also of a chart that is no longer the current version.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from antiphon.app import compose
from antiphon.chart.errors import ChartError
from antiphon.chart.machine import Machine
from antiphon.runtime.machines import AnyMachine, former_hashes, hash_alone, hash_by_text
from tests.paths import ROOT

FILE = ROOT / "src/antiphon/runtime/former_hashes.json"
FILES = {"chat": "flow", "rawko": "orchestrator"}  # charts whose file is not named after their id
LAST = "525245b"  # the last commit that hashed texts


def shipped_machines() -> dict[str, AnyMachine]:
    """Return the machines of the app by id: the thread machine and all machines below it."""
    machines: dict[str, AnyMachine] = {}

    def add(machine: AnyMachine) -> None:
        machines[machine.id] = machine
        names = machine.implementations
        for logic in (*names.actors.values(), *names.inline_actors.values()):
            if isinstance(logic, Machine):
                add(logic)

    add(compose(lambda reference: None))  # type: ignore[arg-type, return-value]
    return machines


def hashes_of_history() -> dict[str, set[str]]:
    """Return the hashes of all texts in the history with the behaviour of a chart of today, by its hash alone."""
    hashes: dict[str, set[str]] = {}
    for id, machine in shipped_machines().items():
        alone = hash_alone(machine)
        # Functions and what code adds to a chart are those of today.
        file = next((ROOT / "src").rglob(f"machine/{FILES.get(id, id)}.json"))
        today = json.loads(file.read_text("utf-8"))
        additions = {key: value for key, value in machine.config.items() if today.get(key) != value}
        for text in _texts(file.name):
            config = {**json.loads(text), **additions}
            try:
                past = Machine(config, machine.implementations, strict=False)
            except ChartError:
                continue
            if hash_alone(past) == alone:
                hashes.setdefault(alone, set()).add(hash_by_text(config))
    return hashes


def has_history() -> bool:
    """Return whether the history of the repository is available here."""
    return _git("cat-file", "-e", LAST) is not None


def _texts(name: str) -> Iterator[str]:
    """Yield every text that the history up to `LAST` has of a chart."""
    for line in (_git("log", "--format=%H", "--name-only", LAST, "--", f"src/*/{name}") or "").split():
        if "/" not in line:
            commit = line
        elif (text := _git("show", f"{commit}:{line}")) is not None:
            yield text


def _git(*arguments: str) -> str | None:
    try:
        result = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return None
    return result.stdout if result.returncode == 0 else None


def write(path: Path) -> None:
    """Add the hashes of the history to the file."""
    hashes: dict[str, Any] = {**former_hashes()}
    for alone, texts in hashes_of_history().items():
        hashes[alone] = sorted({*texts, *hashes.get(alone, ())})
    path.write_text(json.dumps(hashes, indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    write(FILE)
