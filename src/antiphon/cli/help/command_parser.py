"""The parser of commands, which works on terminals of any width and reports output that cannot be written."""

import argparse
import shutil
import sys
from collections.abc import Callable
from typing import Any

NARROWEST = 20  # columns of help


class CommandParser(argparse.ArgumentParser):
    """A parser whose subcommands have parsers of this class, too."""

    def _get_formatter(self) -> argparse.HelpFormatter:
        columns = max(NARROWEST, shutil.get_terminal_size().columns - 2)
        make: Callable[..., argparse.HelpFormatter] = self.formatter_class
        return make(prog=self.prog, width=columns)

    def _print_message(self, message: str, file: Any = None) -> None:
        (file or sys.stderr).write(message)  # argparse would ignore that the disk is full
