"""Running the command as a user would."""

import subprocess
import sys


def antiphon(*arguments, typed="", **options):
    """The command with these arguments, and events typed into it."""
    return subprocess.run(
        [sys.executable, "-m", "antiphon", *map(str, arguments)],
        input=typed,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        **options,
    )
