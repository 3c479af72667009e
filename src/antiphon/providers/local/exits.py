"""Descriptions of the exit of child processes."""

import re
import signal

LONGEST_LINE = 300
LOAD_ERROR = re.compile(r"error loading model: (.+)")


def describe_exit(code: int, errors: bytes = b"") -> str:
    """Describe an exit code, with the last line that the process wrote to its standard error."""
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    last_line = f", {lines[-1][:LONGEST_LINE]}" if lines else ""
    return f"{_exit_name(code)}{last_line}"


def load_error(errors: bytes) -> str | None:
    """Return why the library could not load a file, from what it wrote to its standard error; None if it did."""
    match = LOAD_ERROR.search(errors.decode("utf-8", "replace"))
    return match[1].strip()[:LONGEST_LINE] if match else None


def _exit_name(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    if code == -signal.SIGILL:
        return "SIGILL: this processor lacks a required instruction"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
