"""Formatting of amounts of money."""

from decimal import Decimal

CENT = Decimal("0.01")


def format_usd(amount: Decimal | float | str) -> str:
    """Format an amount in USD: `$0.00`, `$0.0042`, `$0.50`, `$12.30`."""
    value = Decimal(str(amount))
    is_whole_cents = value == value.quantize(CENT)
    return f"${value:.2f}" if value >= 1 or is_whole_cents else f"${value:.4f}"
