"""Sizes and times as people read them."""

from datetime import UTC, datetime


def size(count: int) -> str:
    """Bytes in the unit that suits them."""
    amount, units = float(count), ["bytes", "kB", "MB", "GB", "TB"]
    while amount >= 1000 and len(units) > 1:
        amount, units = amount / 1000, units[1:]
    return f"{count:,} bytes" if units[0] == "bytes" else f"{amount:.1f} {units[0]}"


def moment(at: int | None) -> str:
    """Milliseconds since the epoch as a date and time."""
    if at is None:
        return "never"
    try:
        return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        return f"{at} ms"


def plural(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
