"""The early start of the server of this machine, before the modules of a command load.

Nothing that is slow to load is imported here.
"""

import argparse
import os
from contextlib import suppress
from pathlib import Path

from antiphon.client import starting

STARTED = "started_server"  # name of the option that has the server which was started early


def start_early(options: argparse.Namespace, store: Path) -> None:
    """Start the server that a question will need, so that it loads its modules while this process loads its own."""
    if options.server is None and starting.is_enabled(os.environ, options):
        with suppress(starting.LocalServerError, OSError):  # it is reported when the server is needed
            setattr(options, STARTED, starting.start_early(store))
