"""Sizes, times and counts for people."""

from datetime import UTC, datetime

AGES = (("d", 86_400), ("h", 3_600), ("min", 60))  # units of times, in seconds
UNITS = ("kB", "MB", "GB", "TB")


def format_size(count: int) -> str:
    """Format a number of bytes in a suitable unit."""
    if count < 1000:
        return plural(count, "byte")
    amount = float(count)
    for unit in UNITS:
        amount /= 1000
        if amount < 1000 or unit == UNITS[-1]:
            break
    return f"{amount:.1f} {unit}"


def format_time(at: int | None) -> str:
    """Format milliseconds since the epoch as date and time; None is "never"."""
    if at is None:
        return "never"
    try:
        return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        return f"{at} ms"


def format_age(duration_ms: int) -> str:
    """Format the time since something happened in its largest unit."""
    seconds = max(0, duration_ms) // 1000
    for unit, length in AGES:
        if seconds >= length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"


def plural(number: int, noun: str) -> str:
    """Format a number with its noun, in singular or plural."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
