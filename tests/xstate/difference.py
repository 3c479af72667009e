"""Where two JSON values first differ: object keys in any order, lists in order."""

from itertools import zip_longest
from typing import Any

MISSING = "(missing)"


def first_difference(expected: Any, actual: Any) -> str | None:
    """The first difference after its JSON path, or nothing."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in (*expected, *(actual.keys() - expected.keys())):
            found = first_difference(expected.get(key, MISSING), actual.get(key, MISSING))
            if found is not None:
                return f".{key}{found}"
        return None
    if isinstance(expected, list) and isinstance(actual, list):
        for index, (wanted, given) in enumerate(zip_longest(expected, actual, fillvalue=MISSING)):
            found = first_difference(wanted, given)
            if found is not None:
                return f"[{index}]{found}"
        return None
    # In Python True is 1, in JSON it is not.
    same = isinstance(expected, bool) is isinstance(actual, bool) and expected == actual
    return None if same else f": expected {expected!r}, got {actual!r}"
