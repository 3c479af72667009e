"""The library that runs embedded models: whether it is installed, and whether it loads here."""

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
# Where the extra `local` installs the library; elsewhere there is no wheel of it.
MACHINES: Mapping[str, tuple[str, ...]] = {
    "linux": ("x86_64", "aarch64"),
    "darwin": ("x86_64", "arm64"),
    "win32": ("AMD64",),
}
LOAD_S = 30


def installation_problem(library: str = XLLAMACPP, system: str = sys.platform, machine: str = MACHINE) -> str | None:
    """Say how to install the library, or that it cannot be installed here; None when it is installed."""
    if find_spec(library) is not None:
        return None
    if machine not in MACHINES.get(system, ()):
        return f"it needs {library}, of which there is no package for {system} on {machine}; use another model"
    return f"it needs {library}, which is not installed: pip install 'antiphon[local]'"


def library_problem(library: str = XLLAMACPP, processor: Path = PROCESSOR) -> str | None:
    """Say why the library cannot run here and what to do; None when it loads."""
    if problem := installation_problem(library):
        return problem
    if library == XLLAMACPP and _lacks_avx2(processor):
        return f"it needs {library}, which needs a processor with AVX2, and this one has none; use another model"
    if reason := _load_failure(library):
        return f"it needs {library}, which does not load here ({reason}); repair that, or use another model"
    return None


def _lacks_avx2(processor: Path) -> bool:
    # Loading the library need not show it: the missing instruction may come with the first computation only.
    try:
        flags = FLAGS.search(processor.read_text())
    except OSError:
        return False
    return flags is not None and "avx2" not in flags[1].split()


def _load_failure(library: str) -> str | None:
    # In a process of its own: native code that fails while it is loaded ends the process that loads it.
    command = (sys.executable, "-P", "-c", f"import {library}")
    try:
        loading = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=LOAD_S, check=False)
    except subprocess.TimeoutExpired:
        return f"not loaded after {LOAD_S} s"
    except OSError as error:
        return error.strerror or str(error)
    return describe_exit(loading.returncode, loading.stderr) if loading.returncode else None
