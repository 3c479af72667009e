"""Program that runs one command in the sandbox, as any user: the task on standard input, the outcome on the output."""

import asyncio
import json
import sys
from pathlib import Path

from antiphon.tools.access import Access
from antiphon.tools.sandbox.runner import ShellSettings, run_command


def main() -> None:
    """Run the command of the task."""
    task = json.load(sys.stdin)
    outcome = asyncio.run(
        run_command(
            Path(task["folder"]), task["command"], task["timeMs"], ShellSettings(**task["settings"]),
            task["environment"], Access.from_json(task["access"]),
        )
    )  # fmt: skip
    fields = ("reason", "output", "status", "problem", "denied", "refused")
    print(json.dumps({name: getattr(outcome, name) for name in fields}))


if __name__ == "__main__":
    main()
