"""Shared parts of all commands: their description, exit codes, and errors as one line each.

1. Every end has an exit code of `EXIT_CODES`, and every failure one line on standard error.
2. When the reader closes the output pipe, a command that only prints has succeeded, and one that does work has failed.
"""

import argparse
import errno
import os
import shutil
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from antiphon.cli.render.plain import write
from antiphon.cli.render.text_width import break_row, sanitize_lines
from antiphon.errors import Code
from antiphon.providers.errors import ProviderError
from antiphon.runtime.errors import RuntimeFault
from antiphon.threads.errors import ThreadError
from antiphon.tools.errors import ToolsError, UndoError, UnusableUndoFolder

DONE = 0
FAILED = 1
BAD_USAGE = 2
INTERRUPTED = 130
HUNG_UP = 129
TERMINATED = 143
EXIT_CODES: Mapping[int, str] = {
    DONE: "done",
    FAILED: "failed, or not done",
    BAD_USAGE: "called wrongly; nothing was started",
    HUNG_UP: "its terminal was closed (SIGHUP)",
    INTERRUPTED: "interrupted or stopped by a person, as by Ctrl-C",
    TERMINATED: "ended by SIGTERM",
}
ENDED_BY = {HUNG_UP: "ended, because its terminal was closed", TERMINATED: "ended by SIGTERM"}
TRACEBACK = "ANTIPHON_TRACEBACK"  # the variable that shows where an unexpected error has happened
NO_FOLDER = "the current folder no longer exists; change to another one"
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
    return guard(name, lambda: command.run(options), interrupted=command.interrupted, works=command.works)


def guard(name: str, work: Callable[[], int], *, interrupted: str = "interrupted", works: bool = False) -> int:
    """Call a function that returns an exit code; print its errors as one line on standard error."""
    try:
        code = work()
        sys.stdout.flush()
    except PROBLEMS as error:
        return print_error(name, error_text(error), BAD_USAGE if _is_usage_error(error) else FAILED)
    except (KeyboardInterrupt, EOFError):
        return print_error(name, interrupted, INTERRUPTED)
    except SystemExit as ending:
        return _end(name, ending)
    except BrokenPipeError:
        _discard(sys.stdout)
        return FAILED if works else DONE
    except OSError as error:
        if error.errno in FULL:
            _discard(sys.stdout)
        return print_error(name, _system_error(error), FAILED)
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        return print_error(name, f"{_unexpected(error)}; {TRACEBACK}=1 shows where", FAILED)
    return code


def _end(name: str, ending: SystemExit) -> int:
    """Return the exit code of a signal, which is reported; let a parser end the command if its output was written."""
    code = ending.code if isinstance(ending.code, int) else DONE if ending.code is None else FAILED
    if code in ENDED_BY:
        return print_error(name, ENDED_BY[code], code)
    try:
        sys.stdout.flush()
    except OSError as error:
        _discard(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            return print_error(name, _system_error(error), FAILED)
    raise ending


def _system_error(error: OSError) -> str:
    if error.errno in FULL:
        return f"cannot write: {error.strerror}; free some space, or write elsewhere"
    if not _has_folder():
        return NO_FOLDER
    place = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
    return f"{place}{error.strerror or error}"


def _has_folder() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def _unexpected(error: Exception) -> str:
    if isinstance(error, UnicodeError):
        return f"text that cannot be written as UTF-8: {error}"
    return f"unexpected error: {type(error).__name__}: {error}"


def end_on_signals() -> None:
    """Let SIGTERM and SIGHUP end the command like an error, so that files and terminals are left in order."""

    def end(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # Whoever ignores a signal, as nohup does, wants it to be ignored.
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            with suppress(ValueError):  # not on the main thread
                signal.signal(number, end)


def open_missing_streams() -> None:
    """Open the null device for each standard stream that was closed, before another file gets its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _discard(stream: TextIO) -> None:
    # The rest of the buffer must not fail again at exit.
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _is_usage_error(error: Exception) -> bool:
    if isinstance(error, ProviderError):
        return error.code in USAGE_CODES
    if isinstance(error, UndoError):
        return isinstance(error, UnusableUndoFolder)
    return isinstance(error, UsageError | ToolsError)


def error_text(error: BaseException) -> str:
    """Return the message of an error without its code."""
    return error.message if isinstance(error, ProviderError) else str(error)


def command_name() -> str:
    """Return the command as the user called it, for hints."""
    return "python -m antiphon" if Path(sys.argv[0]).name == "__main__.py" else "antiphon"


def print_error(name: str, problem: str, code: int) -> int:
    """Print an error of a command, or of none, on standard error, if that is possible, and return `code`."""
    try:
        write(sys.stderr, f"{f'antiphon {name}'.rstrip()}: {sanitize_lines(problem)}\n")
    except OSError:
        _discard(sys.stderr)
    return code


def print_note(text: str) -> None:
    """Print a line about the output on standard error."""
    write(sys.stderr, f"{sanitize_lines(text)}\n")


def print_rows(rows: Sequence[str]) -> int:
    """Print the rows of a list, on a terminal broken between words; return the exit code of success."""
    if not sys.stdout.isatty():
        return print_lines(rows)
    columns = shutil.get_terminal_size().columns
    return print_lines([line for row in rows for line in break_row(sanitize_lines(row), columns)])


def print_lines(lines: Sequence[str]) -> int:
    """Print lines without control characters and return the exit code of success."""
    for line in lines:
        write(sys.stdout, sanitize_lines(line) + "\n")
    return DONE
