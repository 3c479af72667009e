"""The first difference of two JSON values: object keys in any order, lists in order, errors by kind and names."""

from itertools import zip_longest
from typing import Any

from conformance.error_texts import is_same_error

MISSING = "(missing)"


def first_difference(expected: Any, actual: Any) -> str | None:
    """Return the first difference after its JSON path, or None."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in (*expected, *(actual.keys() - expected.keys())):
            difference = first_difference(expected.get(key, MISSING), actual.get(key, MISSING))
            if difference is not None:
                return f".{key}{difference}"
        return None
    if isinstance(expected, list) and isinstance(actual, list):
        for index, (expected_item, actual_item) in enumerate(zip_longest(expected, actual, fillvalue=MISSING)):
            difference = first_difference(expected_item, actual_item)
            if difference is not None:
                return f"[{index}]{difference}"
        return None
    if isinstance(expected, str) and isinstance(actual, str) and is_same_error(expected, actual):
        return None
    # In Python True is 1, in JSON it is not.
    same = isinstance(expected, bool) is isinstance(actual, bool) and expected == actual
    return None if same else f": expected {expected!r}, got {actual!r}"
