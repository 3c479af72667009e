"""Descriptions of the exit of child processes."""

import signal

LONGEST_LINE = 300


def describe_exit(code: int, errors: bytes = b"") -> str:
    """Describe an exit code, with the last line that the process wrote to its standard error."""
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    last_line = f", {lines[-1][:LONGEST_LINE]}" if lines else ""
    return f"{_exit_name(code)}{last_line}"


def _exit_name(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    if code == -signal.SIGILL:
        return "SIGILL: this processor lacks a required instruction"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
