"""Options of windows: which server they use, and the early start of the one on this machine.

Nothing that is slow to load is imported here, because the server is started before anything else.
"""

import argparse
import os
from contextlib import suppress
from pathlib import Path

from antiphon.cli.options import add_no_server
from antiphon.client import starting

STARTED = "started_server"  # name of the option that has the server which was started early


def add_server(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose a server."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--server", metavar="URL", help="use the threads of a server; ANTIPHON_TOKEN is its token")
    add_no_server(group)
    parser.add_argument("--token-file", type=Path, metavar="FILE", help="a private file with the token of --server")


def start_early(options: argparse.Namespace, store: Path) -> None:
    """Start the server that a question will need, so that it loads its modules while this process loads its own."""
    if options.server is None and starting.is_enabled(os.environ, options):
        with suppress(starting.LocalServerError, OSError):  # it is reported when the server is needed
            setattr(options, STARTED, starting.start_early(store))
