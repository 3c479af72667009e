"""The command itself: its name, and its version."""

import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def command_name() -> str:
    """How the user called us, to be shown in hints."""
    return "python -m antiphon" if Path(sys.argv[0]).name == "__main__.py" else "antiphon"


def command_version() -> str:
    """Which version this is."""
    try:
        return version("antiphon")
    except PackageNotFoundError:
        return "(not installed)"
