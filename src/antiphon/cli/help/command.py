"""The command `antiphon help`: a full page on all commands, on a command, or on a subcommand."""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from antiphon.cli.config.files import split_command
from antiphon.cli.frame import DONE, CliCommand, UsageError, print_lines
from antiphon.cli.help.formats import to_roff, to_text
from antiphon.cli.help.page import Page, command_page, root_page, subcommand_page
from antiphon.cli.help.parsers import parser_of, subparsers
from antiphon.cli.main import COMMANDS
from antiphon.settings import suggest
from antiphon.version import VERSION

PAGERS = ("less", "more")
LESS = "FRX"  # quit if it fits on one screen, keep colours, leave the text on the screen
EXAMPLES = """examples:
  antiphon help                       all commands
  antiphon help chat                  everything on antiphon chat
  antiphon help config set            everything on a subcommand
  antiphon help --man chat > antiphon-chat.1   the page for man

On a terminal the page is shown by the program that PAGER names, or by less.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("topic", metavar="COMMAND", nargs="*", help="a command, and maybe one of its subcommands")
    parser.add_argument("--man", action="store_true", help="print the page in the format of man (roff)")


def run(options: argparse.Namespace) -> int:
    """Show a page."""
    page = find_page(options.topic)
    if options.man:
        return print_lines(to_roff(page, VERSION))
    lines = to_text(page, shutil.get_terminal_size().columns)
    return show_lines(lines) if sys.stdout.isatty() else print_lines(lines)


def find_page(topic: Sequence[str]) -> Page:
    """Return the page on a command or a subcommand; raise `UsageError` if there is none."""
    if not topic:
        return root_page()
    name, *rest = topic
    if name not in COMMANDS:
        raise UsageError(f"there is no command {name!r}{suggest(name, [*COMMANDS])}")
    if not rest:
        return command_page(name)
    names = [*subparsers(parser_of(name))]
    if len(rest) > 1 or rest[0] not in names:
        known = suggest(rest[0], names) if names else "; it has none"
        raise UsageError(f"antiphon {name} has no subcommand {' '.join(rest)!r}{known}")
    return subcommand_page(name, rest[0])


def show_lines(lines: Sequence[str]) -> int:
    """Show lines with a pager; without one, print them."""
    words = split_command(os.environ.get("PAGER", ""), "PAGER") or [name for name in PAGERS if shutil.which(name)][:1]
    if not words:
        return print_lines(lines)
    environment = {**os.environ, "LESS": os.environ.get("LESS") or LESS}
    try:
        subprocess.run(words, input="\n".join([*lines, ""]), text=True, env=environment, check=False)
    except OSError:
        return print_lines(lines)
    return DONE


COMMAND = CliCommand(
    "Show a full page of help: synopsis, options, examples, exit codes, environment and files.",
    add_options,
    run,
    EXAMPLES,
)
