"""Break the code as the list of mutants says, and run the tests that are marked with the row of each.

    python -m tests.mutants [ROW ...]

The sources are copied, and only the copy is changed. The exit code is 1 if a mutant survives.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutants.mutants import MUTANTS, Mutant
from tests.paths import PACKAGE, ROOT
from tests.requirements import find_tests


def run(source: Path, tests: list[str]) -> bool:
    """Run some tests with a copy of the sources, and return whether all pass."""
    environment = {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stdout.decode())
    return done.returncode == 0


def survives(mutant: Mutant, source: Path, tests: list[str]) -> bool:
    """Return whether all tests pass with the mutant, too."""
    module = source / "antiphon" / mutant.module
    whole = module.read_text("utf-8")
    module.write_text(whole.replace(mutant.text, mutant.instead), "utf-8")
    try:
        return run(source, tests)
    finally:
        module.write_text(whole, "utf-8")


def main(rows: list[str]) -> int:
    """Try the mutants of some rows, or all; return the number of those that survive."""
    chosen = [mutant for mutant in MUTANTS if not rows or mutant.row in rows]
    marked = find_tests()
    survivors = 0
    with TemporaryDirectory() as folder:
        source = Path(folder)
        shutil.copytree(PACKAGE, source / "antiphon", ignore=shutil.ignore_patterns("__pycache__"))
        if not run(source, sorted({test for mutant in chosen for test in marked[mutant.row]})):
            raise SystemExit("a test of these rows fails without a mutant; fix it first")
        for mutant in chosen:
            survived = survives(mutant, source, marked[mutant.row])
            survivors += survived
            print(
                f"{'SURVIVED' if survived else 'killed'} {mutant.row} {mutant.module}: {mutant.instead!r}", flush=True
            )
    print(f"{len(chosen) - survivors} of {len(chosen)} mutants killed")
    return survivors


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])))
