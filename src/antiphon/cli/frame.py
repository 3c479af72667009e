"""The frame of every command: its parser, its exit codes, and its errors as one line each.

Exit codes: 0 done, 1 failed, 2 called wrongly, 130 cut off by Ctrl-C.
When the reader of the output closes the pipe, a command that only prints is done, and one that was at work has failed.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from antiphon.cli.render.plain import write
from antiphon.cli.render.text_width import harmless_lines
from antiphon.errors import Code
from antiphon.providers.errors import ProviderError
from antiphon.runtime.errors import RuntimeFault
from antiphon.threads.errors import ThreadError
from antiphon.tools.errors import ToolsError

DONE = 0
FAILED = 1
MISUSED = 2
INTERRUPTED = 130
# A model or a setting that does not exist is the caller's mistake.
CALLERS_MISTAKE = (Code.BAD_REQUEST, Code.NOT_FOUND)


class Misuse(Exception):
    """The command was called with something that cannot be; the message says what to do instead."""


PROBLEMS = (Misuse, ThreadError, ProviderError, RuntimeFault, ToolsError)


@dataclass(frozen=True, slots=True)
class Command:
    """A command: what it is for, the options it takes, and what it does."""

    description: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    epilog: str = ""
    # The subcommand that stands for a call without one.
    default: str | None = None
    interrupted: str = "interrupted"
    # Whether it does work that is lost when nobody reads its output.
    works: bool = False


def run_command(name: str, command: Command, options: argparse.Namespace) -> int:
    """Run a command and return its exit code; every error becomes one line on the standard error."""
    try:
        code = command.run(options)
        sys.stdout.flush()
    except PROBLEMS as error:
        return complain(name, error_text(error), MISUSED if _is_callers_mistake(error) else FAILED)
    except (KeyboardInterrupt, EOFError):
        return complain(name, command.interrupted, INTERRUPTED)
    except BrokenPipeError:
        # What is left in the buffer must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED if command.works else DONE
    return code


def _is_callers_mistake(error: Exception) -> bool:
    if isinstance(error, ProviderError):
        return error.code in CALLERS_MISTAKE
    return isinstance(error, Misuse | ToolsError)


def error_text(error: BaseException) -> str:
    """The message of an error, without the code that only programs need."""
    return error.message if isinstance(error, ProviderError) else str(error)


def command_name() -> str:
    """The command as the user called it, to be shown in hints."""
    return "python -m antiphon" if Path(sys.argv[0]).name == "__main__.py" else "antiphon"


def complain(name: str, problem: str, code: int) -> int:
    """Print a problem on the standard error, and return an exit code."""
    write(sys.stderr, f"antiphon {name}: {harmless_lines(problem)}\n")
    return code


def say(lines: Sequence[str]) -> int:
    """Print lines without anything a terminal would obey, and return the exit code of success."""
    for line in lines:
        write(sys.stdout, harmless_lines(line) + "\n")
    return DONE
