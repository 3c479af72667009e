"""Amounts of money are written in one way."""

from decimal import Decimal

import pytest

from antiphon.money import format_usd


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("0", "$0.00"),
        (0.5, "$0.50"),
        ("0.0123", "$0.0123"),
        (0.00456, "$0.0046"),
        (Decimal("1.23456"), "$1.23"),
        (12, "$12.00"),
    ],
)
def test_an_amount_is_as_exact_as_it_matters(amount, text):
    assert format_usd(amount) == text
