"""Sizes and times read well."""

import pytest

from antiphon.cli.render.units import format_size, format_time


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (2_345_678, "2.3 MB"), (10**16, "10000.0 TB")],
)
def test_sizes_have_the_unit_that_suits_them(count, text):
    assert format_size(count) == text


@pytest.mark.parametrize(
    ("at", "text"), [(None, "never"), (0, "1970-01-01 00:00:00 UTC"), (2**62, "4611686018427387904 ms")]
)
def test_times_are_in_utc_as_far_as_calendars_go(at, text):
    assert format_time(at) == text
