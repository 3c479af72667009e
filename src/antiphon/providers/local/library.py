"""Checks that the library of embedded models is installed and loads."""

import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from antiphon.providers.local.exits import describe_exit

XLLAMACPP = "xllamacpp"
MACHINE = platform.machine()
PROCESSOR = Path("/proc/cpuinfo")
# Only x86 has a line of this name.
FLAGS = re.compile(r"^flags\s*:(.*)$", re.MULTILINE)
# Platforms with a wheel of the library, where the extra `local` installs it.
MACHINES: Mapping[str, tuple[str, ...]] = {
    "linux": ("x86_64", "aarch64"),
    "darwin": ("x86_64", "arm64"),
    "win32": ("AMD64",),
}
LOAD_S = 30


def installation_problem(library: str = XLLAMACPP, system: str = sys.platform, machine: str = MACHINE) -> str | None:
    """Return how to install the library, or that it cannot be installed here; None if it is installed."""
    if find_spec(library) is not None:
        return None
    if machine not in MACHINES.get(system, ()):
        return f"it needs {library}, which has no package for {system} on {machine}; use another model"
    return f"it needs {library}, which is not installed: pip install 'antiphon[local]'"


def library_problem(library: str = XLLAMACPP, processor: Path = PROCESSOR) -> str | None:
    """Return why the library cannot run here and what to do; None if it loads."""
    if problem := installation_problem(library):
        return problem
    if library == XLLAMACPP and _lacks_avx2(processor):
        return f"it needs {library}, which needs a processor with AVX2, and this one has no AVX2; use another model"
    if reason := _load_failure(library):
        return f"it needs {library}, which does not load here ({reason}); fix that, or use another model"
    return None


def _lacks_avx2(processor: Path) -> bool:
    # Importing the library may succeed anyway: the missing instruction may occur only in the first computation.
    try:
        flags = FLAGS.search(processor.read_text())
    except OSError:
        return False
    return flags is not None and "avx2" not in flags[1].split()


def _load_failure(library: str) -> str | None:
    # In a separate process, because native code that fails to load ends the process.
    command = (sys.executable, "-P", "-c", f"import {library}")
    try:
        loading = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=LOAD_S, check=False)
    except subprocess.TimeoutExpired:
        return f"not loaded after {LOAD_S} s"
    except OSError as error:
        return error.strerror or str(error)
    return describe_exit(loading.returncode, loading.stderr) if loading.returncode else None
