"""Shared parts of all commands: their description, exit codes, and errors as one line each.

Exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted by Ctrl-C.
When the reader closes the output pipe, a command that only prints has succeeded, and one that does work has failed.
"""

import argparse
import errno
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from antiphon.cli.render.plain import write
from antiphon.cli.render.text_width import sanitize_lines
from antiphon.errors import Code
from antiphon.providers.errors import ProviderError
from antiphon.runtime.errors import RuntimeFault
from antiphon.threads.errors import ThreadError
from antiphon.tools.errors import ToolsError

DONE = 0
FAILED = 1
BAD_USAGE = 2
INTERRUPTED = 130
# The disk behind the output is full or broken.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
# An unknown model or an invalid setting is a usage error.
USAGE_CODES = (Code.BAD_REQUEST, Code.NOT_FOUND)


class UsageError(Exception):
    """Wrong usage of a command; the message says what to do instead."""


PROBLEMS = (UsageError, ThreadError, ProviderError, RuntimeFault, ToolsError)


@dataclass(frozen=True, slots=True)
class CliCommand:
    """A command: its description, its options, and the function that runs it."""

    description: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    epilog: str = ""
    # The subcommand that runs when none is named.
    default: str | None = None
    interrupted: str = "interrupted"
    # Whether it does more than print, so that a closed output pipe is a failure.
    works: bool = False


def run_command(name: str, command: CliCommand, options: argparse.Namespace) -> int:
    """Run a command and return its exit code; print errors as one line on standard error."""
    try:
        code = command.run(options)
        sys.stdout.flush()
    except PROBLEMS as error:
        return print_error(name, error_text(error), BAD_USAGE if _is_usage_error(error) else FAILED)
    except (KeyboardInterrupt, EOFError):
        return print_error(name, command.interrupted, INTERRUPTED)
    except BrokenPipeError:
        _discard_output()
        return FAILED if command.works else DONE
    except OSError as error:
        if error.errno not in FULL:
            raise
        _discard_output()
        return print_error(name, f"cannot write: {error.strerror}; free some space, or write elsewhere", FAILED)
    return code


def open_missing_streams() -> None:
    """Open the null device for each standard stream that was closed, before another file gets its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _discard_output() -> None:
    # The rest of the buffer must not fail again at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_usage_error(error: Exception) -> bool:
    if isinstance(error, ProviderError):
        return error.code in USAGE_CODES
    return isinstance(error, UsageError | ToolsError)


def error_text(error: BaseException) -> str:
    """Return the message of an error without its code."""
    return error.message if isinstance(error, ProviderError) else str(error)


def command_name() -> str:
    """Return the command as the user called it, for hints."""
    return "python -m antiphon" if Path(sys.argv[0]).name == "__main__.py" else "antiphon"


def print_error(name: str, problem: str, code: int) -> int:
    """Print an error on standard error and return `code`."""
    write(sys.stderr, f"antiphon {name}: {sanitize_lines(problem)}\n")
    return code


def print_note(text: str) -> None:
    """Print a line about the output on standard error."""
    write(sys.stderr, f"{sanitize_lines(text)}\n")


def print_lines(lines: Sequence[str]) -> int:
    """Print lines without control characters and return the exit code of success."""
    for line in lines:
        write(sys.stdout, sanitize_lines(line) + "\n")
    return DONE
